// SPDX-License-Identifier: Apache-2.0
#include "record/events/file_events.h"

#include <utility>

namespace perftape::record {

FileEvents::FileEvents(std::vector<PlannedEvent> sampling, const SidebandContent& content)
    : sideband_attr_(SidebandAttr(content)),
      format_(perfdata::FormatOf(sideband_attr_)),
      sampling_(std::move(sampling)) {}

std::vector<perfdata::Event> FileEvents::AttributeTable() const {
  const auto row = [&](const perfdata::EventAttr& attr, std::uint32_t event, std::string name) {
    return perfdata::Event{.attr = attr,
                           .format = perfdata::FormatOf(attr),
                           .ids = ids_.IdsOf(event),
                           .name = std::move(name)};
  };
  std::vector<perfdata::Event> table;
  for (std::uint32_t number = 0; const PlannedEvent& event : sampling_) {
    table.push_back(row(event.attr, number++, event.name));
  }
  table.push_back(
      row(sideband_attr_, sideband_event(), perfdata::DefaultEventName(sideband_attr_)));
  return table;
}

perfdata::GroupDesc FileEvents::Groups() const {
  perfdata::GroupDesc groups;
  for (std::uint32_t number = 0; const PlannedEvent& event : sampling_) {
    if (event.leader == number) {
      groups.groups.push_back({.name = event.group_name, .leader = number, .members = 1});
    } else if (!groups.groups.empty()) {
      auto& [name, leader, members] = groups.groups.back();
      if (event.leader == leader && leader + members == number) ++members;
    }
    ++number;
  }
  std::erase_if(groups.groups, [](const auto& group) { return group.members < 2; });
  return groups;
}

perfdata::SampleId FileEvents::TrailerOf(std::uint32_t event, std::uint32_t cpu,
                                         std::uint64_t time_ns) const {
  return {.time = time_ns, .id = ids_.Find(event, cpu).value_or(0), .cpu = cpu};
}

SampleFormats FileEvents::sample_formats() const {
  std::vector<std::uint64_t> with_address;
  for (std::uint32_t number = 0; const PlannedEvent& event : sampling_) {
    const std::vector<std::uint64_t> ids = ids_.IdsOf(number++);
    if ((event.attr.sample_type & perfdata::kAddr) == 0) continue;
    with_address.insert(with_address.end(), ids.begin(), ids.end());
  }
  return {format_, std::move(with_address)};
}

std::vector<perfdata::SampleFormat> FileEvents::FormatsByEvent() const {
  std::vector<perfdata::SampleFormat> formats;
  for (const PlannedEvent& event : sampling_) {
    formats.push_back(perfdata::FormatOf(event.attr));
  }
  return formats;
}

}  // namespace perftape::record

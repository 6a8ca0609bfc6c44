// SPDX-License-Identifier: Apache-2.0
#include "convert/import/converted.h"

#include <algorithm>
#include <optional>

#include "convert/model/mappings_without_files.h"
#include "convert/model/saturating.h"
#include "formats/perfdata/converted.h"

namespace perftape::convert {

using perfdata::ConvertedEvent;

bool IsConverted(const perfdata::EventTable& events) {
  return std::ranges::any_of(events.all(), [](const perfdata::Event& event) {
    return perfdata::ConvertedEventOf(event.attr).has_value();
  });
}

bool HasPlainValues(const perfdata::Event& event) {
  const std::optional<ConvertedEvent> mark = perfdata::ConvertedEventOf(event.attr);
  return mark && mark->is_plain;
}

void AddUnit(const perfdata::RecordView& record, UnitsById& units) {
  const auto update = perfdata::Decode<perfdata::EventUpdate>(record, {});
  if (!update || update->update_type != perfdata::EventUpdate::kUnit) return;
  units[update->id] = update->text;
}

void ApplyMark(const perfdata::Event& marked, const UnitsById& units, ProfileBuilder& builder,
               Event& event) {
  const std::optional<ConvertedEvent> mark = perfdata::ConvertedEventOf(marked.attr);
  if (!mark) return;
  event.values = mark->is_plain ? EventValues::kPlain : EventValues::kSampled;
  event.decimals = mark->decimals;
  for (const std::uint64_t id : marked.ids) {
    if (const auto unit = units.find(id); unit != units.end()) {
      event.unit = builder.Add(unit->second);
    }
  }
}

bool KnowsArch(const perfdata::EventTable& events) {
  return std::ranges::none_of(events.all(), [](const perfdata::Event& event) {
    const std::optional<ConvertedEvent> mark = perfdata::ConvertedEventOf(event.attr);
    return mark && mark->arch_made_up;
  });
}

std::int64_t ConvertedDuration(const perfdata::Reader& reader) {
  for (const perfdata::Event& event : reader.events().all()) {
    const std::optional<ConvertedEvent> mark = perfdata::ConvertedEventOf(event.attr);
    if (mark && mark->times_made_up) return 0;
  }
  const auto value = reader.DecodedFeature(perfdata::FeatureBit::kSampleTime);
  const auto* times = value ? std::get_if<perfdata::SampleTime>(&*value) : nullptr;
  if (times == nullptr || times->last_ns < times->first_ns) return 0;
  return ToSigned(times->last_ns - times->first_ns);
}

LocationId AddConvertedFrame(const perfdata::Region& function, ProfileBuilder& builder) {
  const bool is_kernel = perfdata::IsKernelFunction(function.start);
  const MappingId mapping = AddFoldedMapping(
      builder, is_kernel ? MappingType::kKernel : MappingType::kUser, {.functions = true});
  const Line line{.function = builder.Add(Function{.name = builder.Add(function.dso->symbol)})};
  return builder.Add(Location{.mapping = mapping, .lines = {&line, 1}});
}

}  // namespace perftape::convert

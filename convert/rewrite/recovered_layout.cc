// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/recovered_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "convert/rewrite/header_recovery.h"
#include "convert/rewrite/pipe_header.h"
#include "convert/rewrite/record_walk.h"
#include "convert/rewrite/tracing_data.h"
#include "formats/perfdata/attr_table.h"
#include "formats/perfdata/tracepoints.h"

namespace perftape::rewrite {
namespace {

// Offset of the attributes' section in struct perf_file_header.
constexpr std::uint64_t kAttrsField = 0x18;

using perfdata::Container;
using perfdata::Event;
using perfdata::EventTable;
using perfdata::FeatureBit;
using perfdata::FileHeader;
using Problems = std::vector<std::string>;

EventTable TableOf(std::vector<Event> events) {
  EventTable table;
  for (Event& event : events) table.Add(std::move(event));
  return table;
}

// Events from one source, and the problems in reading them.
struct Candidate {
  AttributesFrom from;
  EventTable events;
  Problems problems = {};
};

bool ReadAlike(const EventTable& one, const EventTable& other) {
  return std::ranges::equal(one.all(), other.all(), [](const Event& a, const Event& b) {
    return a.format.sample_type == b.format.sample_type &&
           a.format.read_format == b.format.read_format &&
           a.format.branch_sample_type == b.format.branch_sample_type &&
           a.format.regs_user_mask == b.format.regs_user_mask &&
           a.format.regs_intr_mask == b.format.regs_intr_mask &&
           a.format.simd_regs == b.format.simd_regs &&
           a.format.sample_id_all == b.format.sample_id_all && a.ids == b.ids;
  });
}

// Returns how many of the first records have exactly the size that these events require.
std::size_t RecordsThatFit(const RecoveredLayout& layout, const EventTable& events) {
  constexpr std::size_t kEnough = 5000;
  std::size_t seen = 0, fit = 0;
  const RecordVisitor visitor = {
      .record = [&](const FoundRecord& found) -> Result<Onward> {
        const bool is_kernel_record =
            std::to_underlying(found.view.type) < perfdata::kFirstToolType;
        if (is_kernel_record && CheckRecord(found.view, events).fit == Fit::kExact) ++fit;
        return ++seen < kEnough ? Onward::kGoOn : Onward::kStop;
      },
      .dropped = [](const Stretch&) {},
      .guessed = [](const std::string&) {}};
  // Cannot fail: neither the visitor nor the walk returns an error.
  (void)RecordWalk(events, layout.order, visitor).Run(layout.stream, layout.stream_offset);
  return fit;
}

// Returns the source with which most records can be read; the first of equal ones.
Candidate Best(std::vector<Candidate> candidates, const RecoveredLayout& layout) {
  const auto differs = [&](const Candidate& candidate) {
    return !ReadAlike(candidate.events, candidates.front().events);
  };
  if (std::ranges::none_of(candidates, differs)) return std::move(candidates.front());
  const auto best = std::ranges::max_element(candidates, {}, [&](const Candidate& candidate) {
    return RecordsThatFit(layout, candidate.events);
  });
  return std::move(*best);
}

std::string_view NameOf(AttributesFrom from) {
  switch (from) {
    case AttributesFrom::kTable:
      return "the attribute table";
    case AttributesFrom::kEventDesc:
      return "the feature EVENT_DESC";
    case AttributesFrom::kRecords:
      return "ATTR records";
  }
  return "";
}

// perf 6.1 rejects larger attributes. Few events use the additional fields; their loss is reported.
void CutAttrs(EventTable& events, Problems& corrections) {
  constexpr std::uint32_t kLargestRead = 128;  // PERF_ATTR_SIZE_VER7
  std::uint32_t size = 0;
  for (const Event& event : events.all()) size = std::max(size, event.attr.size);
  size = std::min(size, kLargestRead);
  for (std::size_t i = 0; i < events.size(); ++i) {
    perfdata::EventAttr& attr = events[i].attr;
    if (attr.size > kLargestRead && (attr.config3 != 0 || attr.config4 != 0)) {
      corrections.push_back(fmt::format(
          "event {}: its attribute is cut to {} bytes, without config3 {:#x}, config4 {:#x}", i,
          kLargestRead, attr.config3, attr.config4));
    }
    attr.size = size;
  }
}

// Names from EVENT_UPDATE are preferred to those from EVENT_DESC, these to those of tracepoints in
// TRACING_DATA, and these to the attribute's. Missing ids are taken from EVENT_DESC.
void NameEvents(EventTable& events, const EventTable& described, const PipeHeader& head,
                const perfdata::Tracepoints& tracepoints) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    Event& event = events[i];
    event.name = DefaultEventName(event.attr);
    if (const auto tracepoint = tracepoints.find(event.attr.config);
        event.attr.type == perfdata::kTypeTracepoint && tracepoint != tracepoints.end()) {
      event.name = tracepoint->second->name;
    }
    if (described.size() == events.size()) {
      event.name = described[i].name;
      if (event.ids.empty()) {
        for (const std::uint64_t id : described[i].ids) events.AddId(i, id);
      }
    }
    for (const std::uint64_t id : event.ids) {
      if (const auto update = head.names.find(id); update != head.names.end()) {
        event.name = update->second;
      }
    }
    if (event.ids.empty() && i == 0 && head.names.contains(0)) event.name = head.names.at(0);
  }
}

EventTable DescribedEvents(const RecoveredLayout& layout) {
  const auto found = layout.features.find(FeatureBit::kEventDesc);
  if (found == layout.features.end()) return {};
  const auto value = perfdata::DecodeFeature(found->first, found->second, layout.order, 0);
  const auto* description = value ? std::get_if<perfdata::EventDesc>(&*value) : nullptr;
  return description == nullptr ? EventTable() : TableOf(description->events);
}

// Returns the tracepoints of the feature, or else of a record.
perfdata::Tracepoints TracepointsOf(const RecoveredLayout& layout, PipeHeader& head) {
  if (const auto found = layout.features.find(FeatureBit::kTracingData);
      found != layout.features.end()) {
    return perfdata::ReadTracepoints(found->second);
  }
  if (!head.tracepoints.empty()) return std::move(head.tracepoints);
  return TracepointsOfFirstRecord(layout.stream, layout.stream_offset, layout.order);
}

// Returns the formats of tracepoints between the attributes and the records. perftape-record writes
// them there, and points to them from the feature table, which may be cut off.
std::optional<Bytes> FindTracingData(Bytes file, const FileHeader& header) {
  const std::optional<Bytes> attrs = perfdata::BytesOf(header.attrs, file);
  const std::uint64_t end = header.attrs.offset + header.attrs.size;
  if (!attrs || header.data.offset <= end || header.data.offset > file.size()) return {};
  const Bytes between = file.subspan(end, header.data.offset - end);
  return IsTracingData(between) ? std::optional(between) : std::nullopt;
}

// Finds the header, the attribute table, the features and the range of the records.
Result<std::vector<Candidate>> OutlineFile(Bytes file, RecoveredLayout& layout) {
  TRY_ASSIGN(FileHeader header, perfdata::ReadFileHeader(file, layout.order, layout.corrections));
  RecoverHeader(file, layout.order, header, layout.corrections);
  std::vector<Candidate> candidates;
  Problems problems;
  EventTable events = TableOf(perfdata::ReadAttrTable(file, header, layout.order, problems));

  const RecordsExtent records = FindRecords(file, layout.order, header, events, layout.corrections);
  layout.stream = file.subspan(records.offset, records.size);
  layout.stream_offset = records.offset;
  layout.unclaimed_from = records.unclaimed_from;
  if (records.table) {
    layout.features = records.table->sections;
    layout.lost_features = records.table->lost;
  } else {
    layout.lost_features = FeaturesOf(header);
  }
  if (const std::optional<Bytes> formats = FindTracingData(file, header);
      formats && layout.features.try_emplace(FeatureBit::kTracingData, *formats).second) {
    std::erase(layout.lost_features, FeatureBit::kTracingData);
  }
  if (events.size() != 0) {
    candidates.push_back({AttributesFrom::kTable, std::move(events), std::move(problems)});
  } else {
    problems.push_back("at 0x18: no attribute table is at the offset in the header");
    layout.corrections.insert(layout.corrections.end(), problems.begin(), problems.end());
  }
  return candidates;
}

Status ChooseEvents(std::vector<Candidate> candidates, RecoveredLayout& layout) {
  const EventTable described = DescribedEvents(layout);
  if (described.size() != 0) candidates.push_back({AttributesFrom::kEventDesc, described});
  // A pipe has its attributes in records. In a file they are used if no other source is left.
  PipeHeader head;
  if (layout.container == Container::kPipe || candidates.empty()) {
    head = ReadPipeHeader(layout.stream, layout.stream_offset, layout.order);
    layout.corrections.insert(layout.corrections.end(), head.problems.begin(), head.problems.end());
    layout.features.insert(head.features.begin(), head.features.end());
    if (head.events.size() != 0) {
      candidates.insert(candidates.begin(), {AttributesFrom::kRecords, head.events});
    }
    if (const EventTable later = DescribedEvents(layout);
        described.size() == 0 && later.size() != 0) {
      candidates.push_back({AttributesFrom::kEventDesc, later});
    }
  }
  if (candidates.empty()) {
    return Fail(
        ErrorCode::kCorrupt,
        fmt::format("at {:#x}: no attribute was found in the attribute table, in EVENT_DESC or "
                    "in ATTR records: the format of the samples is unknown",
                    layout.stream_offset));
  }
  const AttributesFrom usual =
      layout.container == Container::kPipe ? AttributesFrom::kRecords : AttributesFrom::kTable;
  Candidate best = Best(std::move(candidates), layout);
  if (best.from != usual) {
    const std::uint64_t offset =
        layout.container == Container::kPipe ? layout.stream_offset : kAttrsField;
    layout.corrections.push_back(
        fmt::format("at {:#x}: the attributes are read from {}, not from {}", offset,
                    NameOf(best.from), NameOf(usual)));
  }
  layout.corrections.insert(layout.corrections.end(), best.problems.begin(), best.problems.end());
  layout.attributes_from = best.from;
  layout.events = std::move(best.events);
  const perfdata::Tracepoints tracepoints = TracepointsOf(layout, head);
  NameEvents(layout.events, DescribedEvents(layout), head, tracepoints);
  CutAttrs(layout.events, layout.corrections);
  return {};
}

}  // namespace

Result<RecoveredLayout> RecoverLayout(Bytes file) {
  RecoveredLayout layout;
  layout.file = file;
  layout.unclaimed_from = file.size();
  TRY_ASSIGN(const perfdata::Preamble preamble, FindPreamble(file, layout.corrections));
  layout.order = preamble.order;
  layout.container = preamble.container;
  std::vector<Candidate> candidates;
  if (preamble.container == Container::kFile) {
    TRY_ASSIGN(candidates, OutlineFile(file, layout));
  } else {
    layout.stream_offset = FileHeader::kPipeSize;
    layout.stream = file.subspan(FileHeader::kPipeSize);
  }
  TRY(ChooseEvents(std::move(candidates), layout));
  return layout;
}

}  // namespace perftape::rewrite

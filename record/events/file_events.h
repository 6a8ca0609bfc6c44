// SPDX-License-Identifier: Apache-2.0
// The events of a recording as its file lists them: attributes, ids and names, and the layouts of
// their records.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/record.h"
#include "record/events/event_attrs.h"
#include "record/events/event_plan.h"
#include "record/rings/event_ids.h"
#include "record/rings/sample_formats.h"

namespace perftape::record {

// The index of the first sampling event's attribute in the file. The sideband event comes after the
// last sampling event.
inline constexpr std::uint32_t kFirstEvent = 0;

class FileEvents {
 public:
  // The sampling events, at least one, and a sideband event that reports `content`.
  FileEvents(std::vector<PlannedEvent> sampling, const SidebandContent& content);

  // The index is the number of the event.
  std::span<const PlannedEvent> sampling() const { return sampling_; }
  std::uint32_t sideband_event() const { return static_cast<std::uint32_t>(sampling_.size()); }
  const perfdata::EventAttr& sideband_attr() const { return sideband_attr_; }
  const EventIds& ids() const { return ids_; }
  EventIds& ids() { return ids_; }

  // The events as the file's attribute table lists them.
  std::vector<perfdata::Event> AttributeTable() const;
  // The groups whose events follow each other, which is all that the feature can say. perf shows
  // the events of a group side by side.
  perfdata::GroupDesc Groups() const;
  // The trailer of a record that the recorder itself writes about an event. The id is 0 if the
  // event has none on this CPU.
  perfdata::SampleId TrailerOf(std::uint32_t event, std::uint32_t cpu, std::uint64_t time_ns) const;

  // The layout of the records of all events, without the fields after the callchain of a sample and
  // without the addresses of wakeups.
  const perfdata::SampleFormat& format() const { return format_; }
  // The layout of the samples of each sampling event.
  std::vector<perfdata::SampleFormat> FormatsByEvent() const;
  // The layouts of all samples up to the callchain.
  SampleFormats sample_formats() const;

 private:
  perfdata::EventAttr sideband_attr_;
  perfdata::SampleFormat format_;
  std::vector<PlannedEvent> sampling_;
  EventIds ids_;
};

}  // namespace perftape::record

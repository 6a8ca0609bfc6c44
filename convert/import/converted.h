// SPDX-License-Identifier: Apache-2.0
// Reads back what WritePerfData wrote: a perf.data that was converted from a profile of another
// format. formats/perfdata/converted.h describes the marks in it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "convert/model/profile_builder.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"

namespace perftape::convert {

// Whether any event is marked.
bool IsConverted(const perfdata::EventTable& events);

bool HasPlainValues(const perfdata::Event& event);

// The units of events from EVENT_UPDATE records, by event id.
using UnitsById = std::unordered_map<std::uint64_t, std::string>;
void AddUnit(const perfdata::RecordView& record, UnitsById& units);

// Of a marked event: what the mark says, put into `event`, which is as one of a recording would be.
void ApplyMark(const perfdata::Event& marked, const UnitsById& units, ProfileBuilder& builder,
               Event& event);

// Whether the file's architecture is that of the profile.
bool KnowsArch(const perfdata::EventTable& events);

// The profile's own duration in nanoseconds; 0 if it has none.
std::int64_t ConvertedDuration(const perfdata::Reader& reader);

// The frame that a function of the file stands for. It has no address; it is in the mapping of
// folded stacks' frames, or in that of the kernel's.
LocationId AddConvertedFrame(const perfdata::Region& function, ProfileBuilder& builder);

}  // namespace perftape::convert

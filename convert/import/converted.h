// SPDX-License-Identifier: Apache-2.0
// Reads what WritePerfData wrote: a perf.data that was converted from a profile in another format.
// formats/perfdata/converted.h describes the marks in it.
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

// Returns whether any event is marked.
bool IsConverted(const perfdata::EventTable& events);

bool HasPlainValues(const perfdata::Event& event);

// The units of events from EVENT_UPDATE records, by event id.
using UnitsById = std::unordered_map<std::uint64_t, std::string>;
void AddUnit(const perfdata::RecordView& record, UnitsById& units);

// Sets in `event` what the mark of `marked` contains. Before the call, `event` has the values of a
// recording's event.
void ApplyMark(const perfdata::Event& marked, const UnitsById& units, ProfileBuilder& builder,
               Event& event);

// Returns whether the file's architecture is that of the profile.
bool KnowsArch(const perfdata::EventTable& events);

// Returns the profile's own duration in nanoseconds; 0 if it has none.
std::int64_t ConvertedDuration(const perfdata::Reader& reader);

// Adds the frame that a function of the file stands for. The frame has no address. Its mapping is
// the one of folded stacks, or the one of the kernel.
LocationId AddConvertedFrame(const perfdata::Region& function, ProfileBuilder& builder);

}  // namespace perftape::convert

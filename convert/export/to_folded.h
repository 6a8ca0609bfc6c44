// SPDX-License-Identifier: Apache-2.0
// Profile -> folded stacks, as flamegraph.pl reads them. A frame is written as
//
//   its function's name               the callers of an inlined function are frames before it
//   "[libc.so.6]"                     if it has no name: the base name of the mapped file
//   "[unknown]"                       if nothing is mapped there, or the mapping has no name
//
// A stack without frames is the single frame "[unknown]". Lines are sorted by their bytes, and each
// stack occurs once. formats/folded/escape.h describes how names are written that contain the end
// of a frame or of a line.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"
#include "formats/folded/root.h"

namespace perftape::convert {

enum class FoldedValue : std::uint8_t { kSamples, kPeriod };

struct FoldedOptions {
  FoldedValue value = FoldedValue::kSamples;  // for sampled events; plain ones have one number
  // A line has one number, so a file has one event. DefaultEvent if none is given.
  std::optional<EventId> event = {};
  folded::Root root = folded::Root::kComm;  // only for samples whose thread is known
  bool differential = false;  // two numbers a line, before and after: export/differential.h
  bool mark_kernel = false;   // append "_[k]" to kernel frames, which flamegraph.pl colours
  unsigned threads = 1;       // number of threads; the file does not depend on it
};

// Returns the event to write if none is chosen. That is the one that the metadata names, otherwise
// the first sampled event that has samples. Otherwise it is the last event, as in pprof. Nothing
// for a profile without events.
std::optional<EventId> DefaultEvent(const Profile& profile);

// Returns the events with samples: DefaultEvent first if it is one of them, then in their order.
std::vector<EventId> EventsWithSamples(const Profile& profile);

// Returns whether FoldedNumber is the number of samples for this event.
bool CountsSamples(const Profile& profile, FoldedValue value, EventId event);

// Returns the number of a sample: its count or its period, as `value` says; the number of a plain
// value.
std::int64_t FoldedNumber(const Profile& profile, FoldedValue value, const Sample& sample);

// Fails as the output does, and with kNotFound if a differential file is requested and the profile
// has no pair of events. Stacks whose sum is 0 are left out for a sampled event. For
// plain values they are kept, because some input had such a line.
Status WriteFolded(const Profile& profile, const FoldedOptions& options, OutputFile& out);

}  // namespace perftape::convert

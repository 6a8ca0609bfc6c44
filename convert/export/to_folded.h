// SPDX-License-Identifier: Apache-2.0
// Profile -> folded stacks, as flamegraph.pl reads them. A frame is
//
//   its function's name               with its callers, where it was inlined, as frames before it
//   "[libc.so.6]"                     without a name: the base name of what is mapped there
//   "[unknown]"                       where nothing is, or has no name either
//
// and a stack without frames is one frame "[unknown]". Lines are sorted by their bytes, and each
// stack is there once. formats/folded/escape.h says how names are written that would end a frame
// or a line.
#pragma once

#include <cstdint>
#include <optional>

#include "convert/model/profile.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"
#include "formats/folded/root.h"

namespace perftape::convert {

enum class FoldedValue : std::uint8_t { kSamples, kPeriod };

struct FoldedOptions {
  FoldedValue value = FoldedValue::kSamples;  // of sampled events; plain ones have one number
  // A line has one number, so the file is of one event; DefaultEvent where none is named.
  std::optional<EventId> event = {};
  folded::Root root = folded::Root::kComm;  // of samples whose thread is known
  bool differential = false;  // two numbers a line, of the events "before" and "after"
  bool mark_kernel = false;   // "_[k]" behind kernel frames, as flamegraph.pl colours them
  unsigned threads = 1;       // that may work at once; the file does not depend on it
};

// The event to show where none is named: what the metadata say, else the first sampled event that
// has samples, else the last event, as pprof does. Nothing for a profile without events.
std::optional<EventId> DefaultEvent(const Profile& profile);

// Fails as the output does, and with kNotFound where a differential file is asked for and the
// profile has no events "before" and "after". Stacks whose sum is 0 are left out where the event is
// a sampled one, and kept where its values are plain, as some file had such a line.
Status WriteFolded(const Profile& profile, const FoldedOptions& options, OutputFile& out);

}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
// Profile -> folded stacks, as flamegraph.pl reads them. A frame is
//
//   its function's name               with its callers, where it was inlined, as frames before it
//   "[libc.so.6]"                     without a name: the base name of what is mapped there
//   "[unknown]"                       where nothing is, or has no name either
//
// Lines are sorted by the bytes of the stack, and each stack is there once. What folded.h says of
// characters that the format cannot hold goes for all of them.
#pragma once

#include <cstdint>
#include <optional>

#include "convert/model/profile.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/folded/root.h"

namespace perftape {

enum class FoldedValue : std::uint8_t { kSamples, kPeriod };

struct FoldedOptions {
  FoldedValue value = FoldedValue::kSamples;
  // A line has one number, so the file is of one event; FirstSampledEvent where none is named.
  std::optional<EventId> event = {};
  folded::Root root = folded::Root::kComm;  // of samples whose thread is known
  bool differential = false;  // two numbers a line, of the events "before" and "after"
  bool mark_kernel = false;   // "_[k]" behind kernel frames, as flamegraph.pl colours them
};

// The first event that has any samples. Nothing for a profile without samples.
std::optional<EventId> FirstSampledEvent(const Profile& profile);

// Fails only as the output does. Stacks of value 0 are left out.
Status WriteFolded(const Profile& profile, const FoldedOptions& options, OutputFile& out);

}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
// Profile -> folded stacks, as flamegraph.pl reads them. A frame is written as
//
//   its function's name               the callers of an inlined function are frames before it
//   "[libc.so.6]"                     if it has no name: the base name of the mapped file
//   "[unknown]"                       if nothing is mapped there, or the mapping has no name
//   "name+0x1f"                       with FoldedOptions::offsets: the offset of its address in the
//                                     symbol, if that is known, as perf script prints it: of a
//                                     caller, that of the return address
//
// A stack without frames is the single frame "[unknown]". Lines are sorted by their bytes, and each
// stack occurs once. formats/folded/escape.h describes how names are escaped that contain the end
// of a frame or of a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convert/export/shown_numbers.h"
#include "convert/model/profile.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"
#include "formats/folded/root.h"

namespace perftape::convert {

struct FoldedOptions {
  std::optional<FoldedValue> value = {};  // for sampled events; ChooseValue if none is given
  // A line has one number, so a file has one event. DefaultEvent if none is given.
  std::optional<EventId> event = {};
  folded::Root root = folded::Root::kComm;  // only for samples whose thread is known
  bool differential = false;  // two numbers a line, before and after: export/differential.h
  // Both sides of a differential profile are averages of windows, so flame graphs compare their
  // numbers instead of their shares.
  bool per_window = false;
  bool mark_kernel = false;  // append "_[k]" to kernel frames, which flamegraph.pl colours
  bool offsets = false;      // append "+0x1f" to names of symbols; flame graphs ignore it
  unsigned threads = 1;      // number of threads; the file does not depend on it
  // Facts about the profile that its metadata does not have, for a page: "losses: 12 samples".
  std::vector<std::string> facts = {};
};

// Fails as the output does, and with kNotFound if a differential file is requested and the profile
// has no pair of events. Stacks whose sum is 0 are left out for a sampled event. For
// plain values they are kept, because some input had such a line.
Status WriteFolded(const Profile& profile, const FoldedOptions& options, OutputFile& out);

}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
// What a reader read and what it left out. Every sample of a file is either in the Profile or
// counted here. The tools decide what to print.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace perftape::convert {

struct ImportReport {
  std::uint64_t samples = 0;          // in the profile; one record may count for several events
  std::uint64_t lost_samples = 0;     // the file says that they were lost (LOST_SAMPLES)
  std::uint64_t lost_records = 0;     // the same of records of whatever kind (LOST)
  std::uint64_t skipped_samples = 0;  // there, but not in the profile: undecodable or of no event
  std::uint64_t unknown_events = 0;   // of those, the ones with an id that no event has
  std::string first_skipped = {};     // where the first of them is: "0x1f40"
  std::uint64_t outside_time = 0;     // left out, as ImportOptions::time asks
  std::uint64_t skipped_lines = 0;    // of a folded file: without a count
  std::uint64_t frames = 0;           // read
  std::uint64_t unmapped_frames = 0;  // of those, the ones in no mapping
  std::uint64_t damaged_records = 0;  // could not be decoded; passed over
  std::uint64_t late_records = 0;     // behind newer ones; read in the state of their own time
  std::uint64_t unknown_records = 0;  // of types that this version does not know
  std::uint64_t jit_dumps = 0;        // of just-in-time compiled code, that were found and used
  std::uint64_t jit_functions = 0;    // that these tell of
  // What could not be used that names would need, in words; no damage to the profile.
  std::vector<std::string> notes = {};
  std::vector<std::string> problems;  // what else was wrong, in words: "feature BUILD_ID: ..."
};

}  // namespace perftape::convert

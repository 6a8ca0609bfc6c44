// SPDX-License-Identifier: Apache-2.0
// When the processes of a recording started and ended, and in which pid namespace they were. Who
// looks for the files of a recorded process later needs this: its number may mean another process
// by then (formats/base/process_identity.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "formats/base/process_identity.h"
#include "formats/base/result.h"
#include "formats/perfdata/reader.h"

namespace perftape::perfdata {

// The last process of a recording that had a number.
struct ProcessLife {
  // Since 1970; nothing if it started before the recording.
  std::optional<std::int64_t> started_ns = {};
  std::int64_t recorded_since_ns = 0;  // the first time in the recording, since 1970
  std::int64_t slack_ns = 0;           // how inexact these times are
  bool has_ended = false;
  std::uint64_t pid_namespace = 0;  // inode; 0 if unknown
  auto operator<=>(const ProcessLife&) const = default;

  // Returns whether `now`, which has the same number, can be this process.
  bool CanBe(const ProcessIdentity& now) const;
  // Returns why a file with its number in its name is not its file; empty if it can be.
  std::string WhyNotItsFile(const struct stat& file) const;
};

// By pid. Only processes with a record of their own are in it.
using ProcessLives = std::map<std::uint32_t, ProcessLife>;

// Reads the FORK, EXIT and NAMESPACES records of a recording that was made in this boot. Without
// CLOCK_DATA, its times are taken for CLOCK_MONOTONIC: perf's clock counts from the boot, too.
ProcessLives ReadProcessLives(const Reader& reader);

}  // namespace perftape::perfdata

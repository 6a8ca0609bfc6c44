// SPDX-License-Identifier: Apache-2.0
// The tracepoints of the running kernel, in tracefs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::record {

class Tracefs {
 public:
  // Finds the mount in `mounts` (proc(5), /proc/mounts), as perf does: tracefs, or the directory
  // "tracing" of debugfs. Fails with kUnsupported if there is none, with kPermission if its list of
  // events cannot be read; the messages say what to do.
  static Result<Tracefs> Find(const std::filesystem::path& mounts = "/proc/mounts");

  // `root` has the directory "events".
  explicit Tracefs(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }
  // Returns the names, sorted: "sched", and "sched_switch" of a subsystem. None if it is not there.
  std::vector<std::string> Subsystems() const;
  std::vector<std::string> TracepointsOf(std::string_view subsystem) const;
  // Returns the format file of a tracepoint, or another file of tracefs ("events/header_page").
  Result<std::string> ReadFormat(std::string_view subsystem, std::string_view name) const;
  Result<std::string> Read(std::string_view file) const;

 private:
  std::filesystem::path root_;
};

}  // namespace perftape::record

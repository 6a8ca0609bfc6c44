// SPDX-License-Identifier: Apache-2.0
// The processes that run when a recording starts, as records: FORK, COMM and MMAP2 at time 0 with a
// zero trailer. perf does the same (tools/perf/util/synthetic-events.c,
// __event__synthesize_thread).
//
// /proc changes while it is read. A process or thread that ends before it is read is left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/attr.h"

namespace perftape::record {

struct SnapshotContent {
  bool data_mappings = false;  // also MMAP2 for other mappings that can be read
  // A process whose mappings are left out, because it has not called exec yet; 0: none. perf keeps
  // the mappings from before an exec, and unwinds by the lowest one of a file.
  std::uint32_t before_exec = 0;
  bool namespaces = false;  // also NAMESPACES for each thread, after FORK
};

// Appends the records of every process under `proc_root` (/proc, or a directory that a test made)
// to `out`: FORK and COMM for each thread, MMAP2 for each executable mapping, only COMM for kernel
// threads. Fails if `proc_root` cannot be read.
Status SnapshotAll(const std::filesystem::path& proc_root, const perfdata::SampleFormat& format,
                   std::vector<std::byte>& out, const SnapshotContent& content = {});

// The same for the given processes (thread-group ids) only.
Status SnapshotProcesses(const std::filesystem::path& proc_root,
                         std::span<const std::uint32_t> pids, const perfdata::SampleFormat& format,
                         std::vector<std::byte>& out, const SnapshotContent& content = {});

// Returns all descendants of `pid` in ascending order, without `pid` itself. May miss processes
// that are forked meanwhile.
Result<std::vector<std::uint32_t>> Descendants(const std::filesystem::path& proc_root,
                                               std::uint32_t pid);

// Returns the threads of these processes that run now. Leaves out processes that have ended.
Result<std::vector<std::uint32_t>> ThreadsOf(const std::filesystem::path& proc_root,
                                             std::span<const std::uint32_t> pids);

// Returns the process (thread-group id) of a thread; kNotFound if the thread does not exist.
Result<std::uint32_t> ProcessOf(const std::filesystem::path& proc_root, std::uint32_t tid);

}  // namespace perftape::record

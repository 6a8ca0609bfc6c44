// SPDX-License-Identifier: Apache-2.0
// What already runs when a recording starts, as the records that the kernel would have written had
// it been watched from its first fork on: FORK, COMM and MMAP2, at time 0 with a zero trailer (perf
// does the same: tools/perf/util/synthetic-events.c, __event__synthesize_thread).
//
// /proc changes while it is read. A process or thread that is gone when its turn comes is left out;
// that is no error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/attr.h"

namespace perftape::record {

// Appends the records of every process under `proc_root` (/proc, or a tree made for a test) to
// `out`: for each thread FORK and COMM, for each process MMAP2 of its executable mappings, for
// kernel threads COMM only. Fails where `proc_root` cannot be read at all.
Status SnapshotAll(const std::filesystem::path& proc_root, const perfdata::SampleFormat& format,
                   std::vector<std::byte>& out);

// The same of the given processes (thread-group ids) only.
Status SnapshotProcesses(const std::filesystem::path& proc_root,
                         std::span<const std::uint32_t> pids, const perfdata::SampleFormat& format,
                         std::vector<std::byte>& out);

// All processes under `pid`: its children, their children, and so on, in ascending order, without
// `pid` itself. Those that fork while this reads may be missed.
Result<std::vector<std::uint32_t>> Descendants(const std::filesystem::path& proc_root,
                                               std::uint32_t pid);

// The process (thread-group id) that a thread belongs to. kNotFound where there is no such thread.
Result<std::uint32_t> ProcessOf(const std::filesystem::path& proc_root, std::uint32_t tid);

}  // namespace perftape::record

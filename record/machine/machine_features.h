// SPDX-License-Identifier: Apache-2.0
// The features that describe the recorded machine, as perf 6.1 writes them
// (tools/perf/util/header.c, the functions write_*).
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/features.h"

namespace perftape::record {

struct MachineRoots {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
};

// Returns the VERSION feature. hotspot and perf_data_converter read the number at its start as the
// version of perf, and choose the file layout by it: that of perf 6.1.
std::string PerfVersion(std::string_view perftape_version);

struct MachineOptions {
  std::string_view version = {};  // of perftape
  // The command line. The path of the running executable replaces the first argument.
  std::span<const std::string> arguments = {};
  clockid_t clock = CLOCK_MONOTONIC;  // of the records
};

// Returns HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS, CPUDESC, CPUID, TOTAL_MEM, CMDLINE,
// CPU_TOPOLOGY, NUMA_TOPOLOGY, PMU_MAPPINGS, CLOCKID and CLOCK_DATA, in the order of their bits.
// Leaves out features that cannot be read, because no feature is worth a failed recording.
std::vector<perfdata::Feature> DescribeMachine(const MachineRoots& roots,
                                               const MachineOptions& options);

// Returns "GenuineIntel,6,167,8": vendor, family, model and stepping from /proc/cpuinfo of x86;
// empty if they are missing. perf selects its event tables by it.
std::string CpuIdOf(std::string_view cpuinfo);

// Returns the name of the model with single spaces; empty if it is missing.
std::string CpuNameOf(std::string_view cpuinfo);

// Returns CLOCK_REALTIME and `clock` at the same time, with an error of at most the microsecond
// that three clock reads take. Uses the best of a few tries.
Result<perfdata::ClockData> ReadClocks(clockid_t clock);

// Returns the end of the user address space; user frames are below it. On x86 this is 2^56 with
// five-level page tables (LA57 in /proc/cpuinfo, if the kernel enabled them), else 2^47; on arm64
// at most 2^52.
std::uint64_t UserAddressLimit(const std::filesystem::path& proc_root = "/proc");

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
// What a perf.data says about the machine it was made on: the header's features, as perf 6.1 writes
// them (tools/perf/util/header.c, the functions write_*).
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

// The recorder's version as readers of perf.data take it. hotspot and perf_data_converter read the
// number in front as perf's own, and know by it how the file is laid out: as by perf 6.1.
std::string PerfVersion(std::string_view perftape_version);

struct MachineOptions {
  std::string_view version = {};  // of perftape
  // The command line; the first argument's place is taken by the path of the running executable.
  std::span<const std::string> arguments = {};
  clockid_t clock = CLOCK_MONOTONIC;  // of the records
};

// HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS, CPUDESC, CPUID, TOTAL_MEM, CMDLINE, CPU_TOPOLOGY,
// NUMA_TOPOLOGY, PMU_MAPPINGS, CLOCKID and CLOCK_DATA, in the order of their bits. What this
// machine does not tell is left out; nothing here is worth failing a recording for.
std::vector<perfdata::Feature> DescribeMachine(const MachineRoots& roots,
                                               const MachineOptions& options);

// "GenuineIntel,6,167,8": vendor, family, model and stepping from /proc/cpuinfo of x86; empty where
// they are missing. perf picks its event tables by it.
std::string CpuIdOf(std::string_view cpuinfo);

// The model's name, runs of spaces squeezed; empty where it is missing.
std::string CpuNameOf(std::string_view cpuinfo);

// CLOCK_REALTIME and `clock` at one instant, to within the microsecond or less that reading three
// clocks takes: the closest of a few tries.
Result<perfdata::ClockData> ReadClocks(clockid_t clock);

// The first address that is not user space's, which user frames must be below. With five-level
// page tables (LA57 in /proc/cpuinfo, where the kernel turned them on) x86 has 2^56, else 2^47;
// arm64 at most 2^52.
std::uint64_t UserAddressLimit(const std::filesystem::path& proc_root = "/proc");

}  // namespace perftape::record

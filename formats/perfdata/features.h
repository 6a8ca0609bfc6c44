// SPDX-License-Identifier: Apache-2.0
// The feature sections (HEADER_*) as values: one struct and one layout each. Which tool writes them
// how: tools/perf/util/header.c, the functions write_* and process_*.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC and CPUID are a text each.
struct TextFeature {
  std::string text;
};

struct NrCpus {
  std::uint32_t available = 0;  // stored first, whatever perf.data-file-format.txt says
  std::uint32_t online = 0;
};

struct TotalMem {
  std::uint64_t kilobytes = 0;
};

struct Cmdline {
  std::vector<std::string> arguments;
};

struct EventDesc {
  std::vector<Event> events;  // attr, ids and name
};

struct CpuTopology {
  struct Cpu {
    std::uint32_t core = 0, socket = 0;
  };
  std::vector<std::string> packages;  // CPU lists, "0-7"
  std::vector<std::string> cores;     // CPU lists of the threads of each core
  std::vector<Cpu> cpus;              // one for each available CPU
  std::vector<std::string> dies;      // since Linux 5.3; with one die id for each CPU
  std::vector<std::uint32_t> die_of_cpu;
};

struct NumaTopology {
  struct Node {
    std::uint32_t node = 0;
    std::uint64_t total_kilobytes = 0, free_kilobytes = 0;
    std::string cpus;
  };
  std::vector<Node> nodes;
};

struct PmuMappings {
  struct Pmu {
    std::uint32_t type = 0;
    std::string name;
  };
  std::vector<Pmu> pmus;
};

struct SampleTime {
  std::uint64_t first_ns = 0, last_ns = 0;
};

struct ClockResolution {  // CLOCKID
  std::uint64_t nanoseconds = 0;
};

struct ClockData {
  std::uint32_t version = 1;
  std::uint32_t clockid = 0;
  std::uint64_t wall_ns = 0;     // CLOCK_REALTIME …
  std::uint64_t clockid_ns = 0;  // … and the clock of the records, at one instant
};

// BUILD_ID: the entries are shaped like HEADER_BUILD_ID records.
struct BuildIdEntry {
  CpuMode mode = CpuMode::kUser;
  BuildId build_id = {};
  std::string filename;
};
struct BuildIds {
  std::vector<BuildIdEntry> entries;
};

// BPF_PROG_INFO: programs as bpf_prog_info of include/uapi/linux/bpf.h gives them.
struct BpfProgInfo {
  struct Program {
    std::uint64_t arrays = 0;     // which of the info's pointers hold an offset into `data`
    std::vector<std::byte> info;  // struct bpf_prog_info, as large as the kernel filled it
    std::vector<std::byte> data;  // the arrays, one behind the other, each 8-byte aligned
  };
  std::vector<Program> programs;
};

// A section that is not decoded, or not known.
struct RawFeature {
  std::vector<std::byte> payload;
};

using FeatureValue = std::variant<RawFeature, TextFeature, NrCpus, TotalMem, Cmdline, EventDesc,
                                  CpuTopology, NumaTopology, PmuMappings, SampleTime,
                                  ClockResolution, ClockData, BuildIds, BpfProgInfo>;

struct Feature {
  FeatureBit bit;
  FeatureValue value;
};

// "HOSTNAME"; "feature 77" for what is not known here.
std::string FeatureName(FeatureBit bit);

// The typed value of a section, RawFeature for those without a type. `cpus_available` is what
// NRCPUS said, which CPU_TOPOLOGY needs. kTruncated where the section ends early; the error does
// not name the section's offset, which the caller knows.
Result<FeatureValue> DecodeFeature(FeatureBit bit, Bytes section, std::endian order,
                                   std::uint32_t cpus_available);

// Appends the section's bytes as perf 6.1 writes them.
void EncodeFeature(const FeatureValue& value, std::vector<std::byte>& out);

}  // namespace perftape::perfdata

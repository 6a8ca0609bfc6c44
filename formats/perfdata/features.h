// SPDX-License-Identifier: Apache-2.0
// The feature sections (HEADER_*) as values, one struct for each. feature_layout.h has their
// layouts. Source: the functions write_* and process_* of tools/perf/util/header.c.
#pragma once

#include <bit>
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

// BUILD_ID: the entries are shaped like HEADER_BUILD_ID records. Before Linux 2.6.35 they had no
// pid, which perf tells by where the name "[kernel.kallsyms]" begins, and so do we.
struct BuildIdEntry {
  CpuMode mode = CpuMode::kUser;
  BuildId build_id = {};
  std::string filename;
  std::int32_t pid = -1;  // of a guest's machine; -1 is the host
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

// BPF_BTF: the types of those programs, in the format of include/uapi/linux/btf.h, which tells its
// own byte order.
struct BpfBtf {
  struct Node {
    std::uint32_t id = 0;
    std::vector<std::byte> btf;
  };
  std::vector<Node> nodes;
};

// TRACING_DATA: how the raw bytes of tracepoints read (tools/perf/util/trace-event-info.c). It
// tells its own byte order. tracepoints.h reads the names out of it.
struct TracingData {
  std::string version;  // "0.6"
  std::endian order = std::endian::native;
  std::uint8_t long_size = 8;
  std::uint32_t page_size = 4096;
  std::vector<std::byte> formats;  // all that follows: copies of tracefs files
};

struct GroupDesc {
  struct Group {
    std::string name;           // "{cycles,instructions}" has none but what the user gave it
    std::uint32_t leader = 0;   // index of the event
    std::uint32_t members = 0;  // events, with the leader
  };
  std::vector<Group> groups;
};

// AUXTRACE: where the AUXTRACE records are.
struct AuxtraceIndex {
  struct Entry {
    std::uint64_t file_offset = 0, size = 0;
  };
  std::vector<Entry> entries;
  bool has_count = true;  // simpleperf writes the entries alone
};

struct CacheInfo {  // CACHE
  struct Cache {
    std::uint32_t level = 0, line_size = 0, sets = 0, ways = 0;
    std::string type;  // "Data", "Instruction", "Unified"
    std::string size;  // "32K"
    std::string cpus;  // "0-1"
  };
  std::uint32_t version = 1;
  std::vector<Cache> caches;
};

struct MemTopology {
  struct Node {
    std::uint64_t node = 0;
    std::uint64_t size = 0;             // in blocks
    std::uint64_t bit_count = 0;        // of the set
    std::vector<std::uint64_t> blocks;  // bit i is set where block i belongs to the node
  };
  std::uint64_t version = 1;
  std::uint64_t block_size = 0;  // bytes
  std::vector<Node> nodes;
};

struct DirFormat {
  std::uint64_t version = 0;  // 0: a directory with the one file "data"; 1: with data.N too
};

struct CompressionInfo {  // COMPRESSED
  std::uint32_t version = 1;
  std::uint32_t type = 1;  // PERF_COMP_ZSTD
  std::uint32_t level = 0;
  std::uint32_t ratio = 0;     // as it came out
  std::uint32_t mmap_len = 0;  // bytes; perf refuses a record that expands to more
};

struct NamedValue {
  std::string name, value;  // "max_precise", "3"
};
struct CpuPmuCaps {
  std::vector<NamedValue> caps;
};
struct PmuCaps {  // of the PMUs of a hybrid machine, and those that are none of a CPU's
  struct Pmu {
    std::vector<NamedValue> caps;
    std::string name;
  };
  std::vector<Pmu> pmus;
};

struct HybridTopology {
  struct Pmu {
    std::string name;  // "cpu_core"
    std::string cpus;  // "0-15"
  };
  std::vector<Pmu> pmus;
};

struct CpuDomainInfo {  // since Linux 6.19: scheduling domains, for perf sched stats
  struct Domain {
    std::uint32_t number = 0;
    std::string name;  // "SMT"; none before schedstat version 17
    std::string cpu_mask, cpu_list;
  };
  struct Cpu {
    std::uint32_t cpu = 0;
    std::vector<Domain> domains;
  };
  std::uint32_t schedstat_version = 0;
  std::uint32_t max_domains = 0;
  std::vector<Cpu> cpus;
};

struct ElfMachine {  // E_MACHINE, as in the ELF header; widened for alignment
  std::uint32_t machine = 0, flags = 0;
};

struct CacheLineSize {  // CLN_SIZE
  std::uint32_t bytes = 0;
};

// simpleperf's META_INFO: facts by name.
struct MetaInfo {
  std::vector<NamedValue> facts;
};

// BRANCH_STACK and STAT are there or not. An empty section of a number that is some perf's
// HEADER_LAST_FEATURE is how that perf ends the features of a pipe.
struct EmptyFeature {};

// A section that is not decoded, or not known.
struct RawFeature {
  std::vector<std::byte> payload;
};

using FeatureValue =
    std::variant<RawFeature, TextFeature, NrCpus, TotalMem, Cmdline, EventDesc, CpuTopology,
                 NumaTopology, PmuMappings, SampleTime, ClockResolution, ClockData, BuildIds,
                 BpfProgInfo, BpfBtf, TracingData, GroupDesc, AuxtraceIndex, CacheInfo, MemTopology,
                 DirFormat, CompressionInfo, CpuPmuCaps, PmuCaps, HybridTopology, CpuDomainInfo,
                 ElfMachine, CacheLineSize, MetaInfo, EmptyFeature>;

struct Feature {
  FeatureBit bit;
  FeatureValue value;
};

// "HOSTNAME"; "feature 77" for what is not known here.
std::string FeatureName(FeatureBit bit);

// The typed value of a section, RawFeature for those without a type. `cpus_available` is what
// NRCPUS said, which CPU_TOPOLOGY needs. kTruncated where the section ends early or contradicts
// itself; the error does not name the section's offset, which the caller knows.
Result<FeatureValue> DecodeFeature(FeatureBit bit, Bytes section, std::endian order,
                                   std::uint32_t cpus_available);

// Appends the section's bytes as perf 6.1 writes them.
void EncodeFeature(const FeatureValue& value, std::vector<std::byte>& out);

}  // namespace perftape::perfdata

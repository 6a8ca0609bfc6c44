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

// HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC or CPUID.
struct TextFeature {
  std::string text;
};

struct NrCpus {
  std::uint32_t available = 0;  // stored first; perf.data-file-format.txt is wrong about this
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
  std::vector<std::string> dies;      // since Linux 5.3, with one die id for each CPU
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
  std::uint64_t wall_ns = 0;     // CLOCK_REALTIME
  std::uint64_t clockid_ns = 0;  // the clock of the records at the same time
};

// BUILD_ID. The entries have the layout of HEADER_BUILD_ID records. Before Linux 2.6.35 they had no
// pid. Like perf, the reader detects this by the offset of the name "[kernel.kallsyms]".
struct BuildIdEntry {
  CpuMode mode = CpuMode::kUser;
  BuildId build_id = {};
  std::string filename;
  std::int32_t pid = -1;  // the pid of a guest machine; -1 is the host
};
struct BuildIds {
  std::vector<BuildIdEntry> entries;
};

// BPF_PROG_INFO: programs, each with its bpf_prog_info of include/uapi/linux/bpf.h.
struct BpfProgInfo {
  struct Program {
    std::uint64_t arrays = 0;     // bit set: the pointers of `info` that are offsets into `data`
    std::vector<std::byte> info;  // the bytes of struct bpf_prog_info that the kernel filled in
    std::vector<std::byte> data;  // the arrays, one after the other, each 8-byte aligned
  };
  std::vector<Program> programs;
};

// BPF_BTF: the types of these programs, in the format of include/uapi/linux/btf.h, which contains
// its own byte order.
struct BpfBtf {
  struct Node {
    std::uint32_t id = 0;
    std::vector<std::byte> btf;
  };
  std::vector<Node> nodes;
};

// TRACING_DATA: the formats of the raw bytes of tracepoints (tools/perf/util/trace-event-info.c).
// It contains its own byte order. tracepoints.h reads the names from it.
struct TracingData {
  std::string version;  // "0.6"
  std::endian order = std::endian::native;
  std::uint8_t long_size = 8;
  std::uint32_t page_size = 4096;
  std::vector<std::byte> formats;  // the rest: copies of tracefs files
};

struct GroupDesc {
  struct Group {
    std::string name;          // only if the user named the group: "{cycles,instructions}" has none
    std::uint32_t leader = 0;  // the index of the event
    std::uint32_t members = 0;  // the number of events with the leader
  };
  std::vector<Group> groups;
};

// AUXTRACE: the offsets of the AUXTRACE records.
struct AuxtraceIndex {
  struct Entry {
    std::uint64_t file_offset = 0, size = 0;
  };
  std::vector<Entry> entries;
  bool has_count = true;  // false for simpleperf, which writes only the entries
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
    std::uint64_t bit_count = 0;        // the number of bits in `blocks`
    std::vector<std::uint64_t> blocks;  // bit i is set if block i belongs to the node
  };
  std::uint64_t version = 1;
  std::uint64_t block_size = 0;  // bytes
  std::vector<Node> nodes;
};

struct DirFormat {
  std::uint64_t version = 0;  // 0: the directory has only the file "data"; 1: also data.N
};

struct CompressionInfo {  // COMPRESSED
  // perf never sets comp_ver, so all its files contain 0 (tools/perf/util/header.c,
  // write_compressed).
  std::uint32_t version = 0;
  std::uint32_t type = 1;  // PERF_COMP_ZSTD
  std::uint32_t level = 0;
  std::uint32_t ratio = 0;     // the size before compression divided by the size after it
  std::uint32_t mmap_len = 0;  // bytes; perf refuses a record that expands to more
};

struct NamedValue {
  std::string name, value;  // "max_precise", "3"
};
struct CpuPmuCaps {
  std::vector<NamedValue> caps;
};
struct PmuCaps {  // for the PMUs of a hybrid machine, and for PMUs that are not of a CPU
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
    std::string name;  // "SMT"; empty before schedstat version 17
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

struct ElfMachine {  // E_MACHINE: the fields of the ELF header, widened for alignment
  std::uint32_t machine = 0, flags = 0;
};

struct CacheLineSize {  // CLN_SIZE
  std::uint32_t bytes = 0;
};

struct MemoryRanges {  // MEMORY_RANGES: where memory of which kind is
  struct Range {
    std::uint64_t base = 0, length = 0;  // bytes
    std::int32_t node = 0;               // NUMA node; -1 if unknown
    // The region in the data source of a sample (PERF_MEM_REGION_*) that means this memory, for an
    // access from the own node and from another one.
    std::uint8_t local_region = 0, remote_region = 0;
  };
  std::vector<Range> ranges;
};

// simpleperf's META_INFO: facts by name.
struct MetaInfo {
  std::vector<NamedValue> facts;
};

// BRANCH_STACK and STAT have no content. The features of a pipe end with an empty section whose
// number is the HEADER_LAST_FEATURE of the perf that writes it.
struct EmptyFeature {};

// A section that is not decoded, or whose feature is unknown.
struct RawFeature {
  std::vector<std::byte> payload;
};

using FeatureAlternatives =
    std::variant<RawFeature, TextFeature, NrCpus, TotalMem, Cmdline, EventDesc, CpuTopology,
                 NumaTopology, PmuMappings, SampleTime, ClockResolution, ClockData, BuildIds,
                 BpfProgInfo, BpfBtf, TracingData, GroupDesc, AuxtraceIndex, CacheInfo, MemTopology,
                 DirFormat, CompressionInfo, CpuPmuCaps, PmuCaps, HybridTopology, CpuDomainInfo,
                 ElfMachine, CacheLineSize, MemoryRanges, MetaInfo, EmptyFeature>;

// To copy, move or destroy one of so many types takes a compiler seconds; so only features.cc does.
struct FeatureValue : FeatureAlternatives {
  using FeatureAlternatives::variant;
  FeatureValue(const FeatureValue& other);
  FeatureValue(FeatureValue&& other) noexcept;
  FeatureValue& operator=(const FeatureValue& other);
  FeatureValue& operator=(FeatureValue&& other) noexcept;
  ~FeatureValue();
};

struct Feature {
  FeatureBit bit;
  FeatureValue value;
};

// "HOSTNAME"; "feature 77" for an unknown feature.
std::string FeatureName(FeatureBit bit);

// The typed value of a section, or a RawFeature if it has no type. CPU_TOPOLOGY needs
// `cpus_available`, the value of NRCPUS. kTruncated if the section ends early or contradicts
// itself. The error does not contain the offset of the section; the caller adds it.
Result<FeatureValue> DecodeFeature(FeatureBit bit, Bytes section, std::endian order,
                                   std::uint32_t cpus_available);

// Appends the section's bytes as perf 6.1 writes them.
void EncodeFeature(const FeatureValue& value, std::vector<std::byte>& out);

}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
// The records that perf itself writes, as values, with the names of
// tools/lib/perf/include/perf/event.h. They have no sample_id trailer. Numbers are copied. Strings
// and arrays are views into the record and live as long as its bytes. tool_layout.h contains the
// layouts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/attr.h"

namespace perftape::perfdata {

using BuildId = perftape::BuildId;

struct HeaderAttr {
  static constexpr RecordType kType = RecordType::kHeaderAttr;
  static constexpr std::string_view kRecordName = "ATTR";
  EventAttr attr = {};
  WordArray ids = {};
};

// The name of an event. perf does not write it since Linux 3.11.
struct HeaderEventType {
  static constexpr RecordType kType = RecordType::kHeaderEventType;
  static constexpr std::string_view kRecordName = "EVENT_TYPE";
  std::uint64_t event_id = 0;
  Bytes name = {};  // at most 64 bytes, with the padding after the NUL
};

struct HeaderTracingData {
  static constexpr RecordType kType = RecordType::kHeaderTracingData;
  static constexpr std::string_view kRecordName = "TRACING_DATA";
  std::uint32_t size = 0;
  Bytes data = {};  // by simpleperf; perf writes it after the record (RecordView::appended)
};

struct HeaderBuildId {
  static constexpr RecordType kType = RecordType::kHeaderBuildId;
  static constexpr std::string_view kRecordName = "BUILD_ID";
  std::int32_t pid = -1;
  BuildId build_id = {};
  std::string_view filename = {};
};

struct IdIndex {
  static constexpr RecordType kType = RecordType::kIdIndex;
  static constexpr std::string_view kRecordName = "ID_INDEX";
  WordArray words = {};   // for each entry: id, index of the CPU among those of the event, cpu, tid
  WordArray guests = {};  // machine_pid and vcpu of each entry; empty before Linux 6.0
};

struct AuxtraceInfo {
  static constexpr RecordType kType = RecordType::kAuxtraceInfo;
  static constexpr std::string_view kRecordName = "AUXTRACE_INFO";
  std::uint32_t auxtrace_type = 0;
  WordArray priv = {};
};

struct Auxtrace {
  static constexpr RecordType kType = RecordType::kAuxtrace;
  static constexpr std::string_view kRecordName = "AUXTRACE";
  std::uint64_t size = 0;  // of the trace, which follows the record (RecordView::appended)
  std::uint64_t offset = 0, reference = 0;
  std::uint32_t index = 0, tid = 0, cpu = 0;
};

struct AuxtraceError {
  static constexpr RecordType kType = RecordType::kAuxtraceError;
  static constexpr std::string_view kRecordName = "AUXTRACE_ERROR";
  std::uint32_t error_type = 0, code = 0, cpu = 0, pid = 0, tid = 0;
  std::uint32_t format = 0;  // 0: without time; from 2 on: with the guest
  std::uint64_t ip = 0, time = 0;
  std::string_view message = {};
  std::uint32_t machine_pid = 0, vcpu = 0;
};

struct ThreadMap {
  static constexpr RecordType kType = RecordType::kThreadMap;
  static constexpr std::string_view kRecordName = "THREAD_MAP";
  struct Thread {
    std::uint64_t pid = 0;
    std::string_view comm = {};
  };
  std::vector<Thread> threads;
};

// A set of CPUs, in one of three layouts.
struct CpuSet {
  std::uint16_t map_type = kList;
  FixedArray<std::uint16_t> cpus = {};  // kList; 0xffff is any CPU
  std::uint16_t long_size = 0;          // kMask: 4 or 8
  FixedArray<std::uint32_t> mask32 = {};
  WordArray mask64 = {};
  std::uint8_t any_cpu = 0;  // kRange
  std::uint16_t start_cpu = 0, end_cpu = 0;

  static constexpr std::uint16_t kList = 0, kMask = 1, kRange = 2;
};

struct CpuMap {
  static constexpr RecordType kType = RecordType::kCpuMap;
  static constexpr std::string_view kRecordName = "CPU_MAP";
  CpuSet cpus;
};

struct StatConfig {
  static constexpr RecordType kType = RecordType::kStatConfig;
  static constexpr std::string_view kRecordName = "STAT_CONFIG";
  WordArray terms = {};  // pairs of tag and value
};

struct Stat {
  static constexpr RecordType kType = RecordType::kStat;
  static constexpr std::string_view kRecordName = "STAT";
  std::uint64_t id = 0;
  std::uint32_t cpu = 0, thread = 0;
  std::uint64_t value = 0, enabled = 0, running = 0;
};

struct StatRound {
  static constexpr RecordType kType = RecordType::kStatRound;
  static constexpr std::string_view kRecordName = "STAT_ROUND";
  std::uint64_t round_type = 0, time = 0;  // 0 an interval, 1 the end
};

struct EventUpdate {
  static constexpr RecordType kType = RecordType::kEventUpdate;
  static constexpr std::string_view kRecordName = "EVENT_UPDATE";
  std::uint64_t update_type = 0;
  std::uint64_t id = 0;
  std::string_view text = {};  // kUnit, kName
  double scale = 0;            // kScale
  CpuSet cpus = {};            // kCpus
  Bytes unknown = {};          // any other type

  static constexpr std::uint64_t kUnit = 0, kScale = 1, kName = 2, kCpus = 3;
};

struct TimeConv {
  static constexpr RecordType kType = RecordType::kTimeConv;
  static constexpr std::string_view kRecordName = "TIME_CONV";
  std::uint64_t time_shift = 0, time_mult = 0, time_zero = 0;
  bool has_cycles = true;  // whether the fields below are present: since Linux 5.10
  std::uint64_t time_cycles = 0, time_mask = 0;
  std::uint8_t cap_time_zero = 0, cap_time_short = 0;
};

struct HeaderFeature {
  static constexpr RecordType kType = RecordType::kHeaderFeature;
  static constexpr std::string_view kRecordName = "FEATURE";
  std::uint64_t bit = 0;
  Bytes payload = {};
};

struct CompressedData {
  static constexpr RecordType kType = RecordType::kCompressed;
  static constexpr std::string_view kRecordName = "COMPRESSED";
  Bytes data = {};
};

struct Compressed2Data {
  static constexpr RecordType kType = RecordType::kCompressed2;
  static constexpr std::string_view kRecordName = "COMPRESSED2";
  std::uint64_t data_size = 0;  // the size of `data` without padding
  Bytes data = {};
};

struct BpfMetadata {
  static constexpr RecordType kType = RecordType::kBpfMetadata;
  static constexpr std::string_view kRecordName = "BPF_METADATA";
  struct Entry {
    std::string_view key = {}, value = {};
  };
  std::string_view program = {};
  std::vector<Entry> entries;
};

// The lines of /proc/schedstat for a CPU and for one of its scheduling domains.
struct SchedstatCpu {
  static constexpr RecordType kType = RecordType::kSchedstatCpu;
  static constexpr std::string_view kRecordName = "SCHEDSTAT_CPU";
  std::uint64_t timestamp = 0;
  std::uint32_t cpu = 0;
  std::uint16_t version = 0;                // of the lines, 15 to 17
  FixedArray<std::uint32_t> counters = {};  // yld_count to ttwu_local
  WordArray times = {};                     // rq_cpu_time, run_delay, pcount
};
struct SchedstatDomain {
  static constexpr RecordType kType = RecordType::kSchedstatDomain;
  static constexpr std::string_view kRecordName = "SCHEDSTAT_DOMAIN";
  std::uint64_t timestamp = 0;
  std::uint32_t cpu = 0;
  std::uint16_t version = 0, domain = 0;
  FixedArray<std::uint32_t> counters = {};
};

struct FinishedRound {
  static constexpr RecordType kType = RecordType::kFinishedRound;
  static constexpr std::string_view kRecordName = "FINISHED_ROUND";
};
struct FinishedInit {
  static constexpr RecordType kType = RecordType::kFinishedInit;
  static constexpr std::string_view kRecordName = "FINISHED_INIT";
};

}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
// The numbers of the perf.data format, with the names of the kernel and of perf. Sources, of Linux
// 6.12: "U" is include/uapi/linux/perf_event.h, "E" is tools/lib/perf/include/perf/event.h, "H" is
// tools/perf/util/header.h. Later additions name their release.
#pragma once

#include <cstdint>

namespace perftape::perfdata {

// U: enum perf_event_type; E: enum perf_user_event_type (from 64 on, written by perf itself).
enum class RecordType : std::uint32_t {
  kMmap = 1,
  kLost = 2,
  kComm = 3,
  kExit = 4,
  kThrottle = 5,
  kUnthrottle = 6,
  kFork = 7,
  kRead = 8,
  kSample = 9,
  kMmap2 = 10,
  kAux = 11,
  kItraceStart = 12,
  kLostSamples = 13,
  kSwitch = 14,
  kSwitchCpuWide = 15,
  kNamespaces = 16,
  kKsymbol = 17,
  kBpfEvent = 18,
  kCgroup = 19,
  kTextPoke = 20,
  kAuxOutputHwId = 21,
  kCallchainDeferred = 22,  // Linux 6.19

  kHeaderAttr = 64,
  kHeaderEventType = 65,
  kHeaderTracingData = 66,
  kHeaderBuildId = 67,
  kFinishedRound = 68,
  kIdIndex = 69,
  kAuxtraceInfo = 70,
  kAuxtrace = 71,
  kAuxtraceError = 72,
  kThreadMap = 73,
  kCpuMap = 74,
  kStatConfig = 75,
  kStat = 76,
  kStatRound = 77,
  kEventUpdate = 78,
  kTimeConv = 79,
  kHeaderFeature = 80,
  kCompressed = 81,
  kFinishedInit = 82,  // Linux 6.0
  kCompressed2 = 83,   // Linux 6.16
  kBpfMetadata = 84,   // Linux 6.17
  kSchedstatCpu = 85,
  kSchedstatDomain = 86,
};

// The kernel writes records of the types below this one. They end in a sample_id trailer if
// sample_id_all is set.
inline constexpr std::uint32_t kFirstToolType = 64;

// U: bits 0 to 2 of misc.
enum class CpuMode : std::uint8_t {
  kUnknown = 0,
  kKernel = 1,
  kUser = 2,
  kHypervisor = 3,
  kGuestKernel = 4,
  kGuestUser = 5,
};
inline constexpr std::uint16_t kMiscCpumodeMask = 7;

// U: the meaning of bits 13 to 15 of misc depends on the record type.
inline constexpr std::uint16_t kMiscMmapData = 1 << 13;     // MMAP, MMAP2
inline constexpr std::uint16_t kMiscCommExec = 1 << 13;     // COMM: the task called exec
inline constexpr std::uint16_t kMiscForkExec = 1 << 13;     // FORK by perf: do not clone the maps
inline constexpr std::uint16_t kMiscSwitchOut = 1 << 13;    // SWITCH, SWITCH_CPU_WIDE
inline constexpr std::uint16_t kMiscExactIp = 1 << 14;      // SAMPLE
inline constexpr std::uint16_t kMiscMmapBuildId = 1 << 14;  // MMAP2
inline constexpr std::uint16_t kMiscSwitchOutPreempt = 1 << 14;  // SWITCH, SWITCH_CPU_WIDE
inline constexpr std::uint16_t kMiscBuildIdSize = 1 << 15;       // HEADER_BUILD_ID
inline constexpr std::uint16_t kMiscLostSamplesBpf = 1 << 15;  // LOST_SAMPLES: dropped by a filter

// U: enum perf_type_id
inline constexpr std::uint32_t kTypeHardware = 0;
inline constexpr std::uint32_t kTypeSoftware = 1;
inline constexpr std::uint32_t kTypeTracepoint = 2;
inline constexpr std::uint32_t kTypeHardwareCache = 3;
inline constexpr std::uint32_t kTypeRaw = 4;
inline constexpr std::uint32_t kTypeBreakpoint = 5;

// U: enum perf_sw_ids
inline constexpr std::uint64_t kSoftwareCpuClock = 0;
inline constexpr std::uint64_t kSoftwareTaskClock = 1;
inline constexpr std::uint64_t kSoftwareDummy = 9;
inline constexpr std::uint64_t kSoftwareBpfOutput = 10;

// U: enum perf_event_sample_format, as masks.
enum SampleBit : std::uint64_t {
  kIp = std::uint64_t{1} << 0,
  kTid = std::uint64_t{1} << 1,
  kTime = std::uint64_t{1} << 2,
  kAddr = std::uint64_t{1} << 3,
  kRead = std::uint64_t{1} << 4,
  kCallchain = std::uint64_t{1} << 5,
  kId = std::uint64_t{1} << 6,
  kCpu = std::uint64_t{1} << 7,
  kPeriod = std::uint64_t{1} << 8,
  kStreamId = std::uint64_t{1} << 9,
  kRaw = std::uint64_t{1} << 10,
  kBranchStack = std::uint64_t{1} << 11,
  kRegsUser = std::uint64_t{1} << 12,
  kStackUser = std::uint64_t{1} << 13,
  kWeight = std::uint64_t{1} << 14,
  kDataSrc = std::uint64_t{1} << 15,
  kIdentifier = std::uint64_t{1} << 16,
  kTransaction = std::uint64_t{1} << 17,
  kRegsIntr = std::uint64_t{1} << 18,
  kPhysAddr = std::uint64_t{1} << 19,
  kAux = std::uint64_t{1} << 20,
  kSampleCgroup = std::uint64_t{1} << 21,
  kDataPageSize = std::uint64_t{1} << 22,
  kCodePageSize = std::uint64_t{1} << 23,
  kWeightStruct = std::uint64_t{1} << 24,
};

// U: enum perf_event_read_format
enum ReadBit : std::uint64_t {
  kReadTotalTimeEnabled = 1 << 0,
  kReadTotalTimeRunning = 1 << 1,
  kReadId = 1 << 2,
  kReadGroup = 1 << 3,
  kReadLost = 1 << 4,
};

// U: the bit-field word of struct perf_event_attr, as masks.
enum AttrFlag : std::uint64_t {
  kDisabled = std::uint64_t{1} << 0,
  kInherit = std::uint64_t{1} << 1,
  kPinned = std::uint64_t{1} << 2,
  kExclusive = std::uint64_t{1} << 3,
  kExcludeUser = std::uint64_t{1} << 4,
  kExcludeKernel = std::uint64_t{1} << 5,
  kExcludeHv = std::uint64_t{1} << 6,
  kExcludeIdle = std::uint64_t{1} << 7,
  kAttrMmap = std::uint64_t{1} << 8,
  kAttrComm = std::uint64_t{1} << 9,
  kFreq = std::uint64_t{1} << 10,
  kEnableOnExec = std::uint64_t{1} << 12,
  kTask = std::uint64_t{1} << 13,
  kWatermark = std::uint64_t{1} << 14,
  kAttrMmapData = std::uint64_t{1} << 17,
  kSampleIdAll = std::uint64_t{1} << 18,
  kExcludeHost = std::uint64_t{1} << 19,
  kExcludeGuest = std::uint64_t{1} << 20,
  kExcludeCallchainKernel = std::uint64_t{1} << 21,
  kExcludeCallchainUser = std::uint64_t{1} << 22,
  kAttrMmap2 = std::uint64_t{1} << 23,
  kCommExec = std::uint64_t{1} << 24,
  kUseClockid = std::uint64_t{1} << 25,
  kContextSwitch = std::uint64_t{1} << 26,
  kAttrNamespaces = std::uint64_t{1} << 28,
  kAttrKsymbol = std::uint64_t{1} << 29,
  kAttrBpfEvent = std::uint64_t{1} << 30,
  kAttrCgroup = std::uint64_t{1} << 32,
  kAttrTextPoke = std::uint64_t{1} << 33,
  kAttrBuildId = std::uint64_t{1} << 34,
  kDeferCallchain = std::uint64_t{1} << 38,  // Linux 6.19: user frames come in record 22
  kDeferOutput = std::uint64_t{1} << 39,     // Linux 6.19: this event gets these records
};
inline constexpr unsigned kPreciseIpShift = 15;  // precise_ip has two bits, 15 and 16

// U: enum perf_sample_regs_abi. Up to Linux 7.3 the word is 0, 1 or 2. After it, the word is a sum
// of these, and kRegsAbiSimd says that vector registers follow the general ones.
inline constexpr std::uint64_t kRegsAbi32 = 1;
inline constexpr std::uint64_t kRegsAbi64 = 2;
inline constexpr std::uint64_t kRegsAbiSimd = 4;

// U: enum perf_callchain_context. These entries of a callchain are not addresses. Each gives the
// mode of the entries after it. All are at or above kContextMax.
inline constexpr std::uint64_t kContextHv = static_cast<std::uint64_t>(-32);
inline constexpr std::uint64_t kContextKernel = static_cast<std::uint64_t>(-128);
inline constexpr std::uint64_t kContextUser = static_cast<std::uint64_t>(-512);
inline constexpr std::uint64_t kContextUserDeferred = static_cast<std::uint64_t>(-640);
inline constexpr std::uint64_t kContextGuest = static_cast<std::uint64_t>(-2048);
inline constexpr std::uint64_t kContextGuestKernel = static_cast<std::uint64_t>(-2176);
inline constexpr std::uint64_t kContextGuestUser = static_cast<std::uint64_t>(-2560);
inline constexpr std::uint64_t kContextMax = static_cast<std::uint64_t>(-4095);

// U: a bit of branch_sample_type: the branch stack contains the calls that have not returned.
inline constexpr std::uint64_t kBranchCallStack = std::uint64_t{1} << 11;
// U: the layout of PERF_BRANCH_STACK depends on these two bits of branch_sample_type.
inline constexpr std::uint64_t kBranchHwIndex = std::uint64_t{1} << 17;
inline constexpr std::uint64_t kBranchCounters = std::uint64_t{1} << 19;

// H: the enum of the feature bits in the file header.
enum class FeatureBit : std::uint32_t {
  kReserved = 0,  // H: always clear
  kTracingData = 1,
  kBuildId = 2,
  kHostname = 3,
  kOsRelease = 4,
  kVersion = 5,
  kArch = 6,
  kNrCpus = 7,
  kCpuDesc = 8,
  kCpuId = 9,
  kTotalMem = 10,
  kCmdline = 11,
  kEventDesc = 12,
  kCpuTopology = 13,
  kNumaTopology = 14,
  kBranchStack = 15,
  kPmuMappings = 16,
  kGroupDesc = 17,
  kAuxtrace = 18,
  kStat = 19,
  kCache = 20,
  kSampleTime = 21,
  kMemTopology = 22,
  kClockid = 23,
  kDirFormat = 24,
  kBpfProgInfo = 25,
  kBpfBtf = 26,
  kCompressed = 27,
  kCpuPmuCaps = 28,
  kClockData = 29,
  kHybridTopology = 30,
  kPmuCaps = 31,
  kCpuDomainInfo = 32,  // Linux 6.19
  kEMachine = 33,
  kClnSize = 34,       // Linux 7.1
  kMemoryRanges = 35,  // after Linux 7.3

  // Written by Android's simpleperf (record_file_format.h of platform_system_extras).
  kSimpleperfFile = 128,
  kSimpleperfMetaInfo = 129,
  kSimpleperfDebugUnwind = 130,
  kSimpleperfDebugUnwindFile = 131,
  kSimpleperfFile2 = 132,
  kSimpleperfEtmBranchList = 133,
  kSimpleperfInitMap = 134,
};
inline constexpr unsigned kFeatureBits = 256;  // H: HEADER_FEAT_BITS

// The size of the largest record: the size field is a u16, and records are 8-byte aligned.
inline constexpr std::size_t kMaxRecordSize = 65528;

// U: struct perf_event_header
struct RecordHeader {
  RecordType type;
  std::uint16_t misc;
  std::uint16_t size;  // of the whole record, this header included
};
static_assert(sizeof(RecordHeader) == 8);

}  // namespace perftape::perfdata

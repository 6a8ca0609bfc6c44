// SPDX-License-Identifier: Apache-2.0
// The records that the kernel writes, as values, with the names of include/uapi/linux/perf_event.h.
// Numbers are copied. Strings and arrays are views into the record and live as long as its bytes.
// kernel_layout.h and sample_layout.h contain the layouts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/perfdata/abi.h"

namespace perftape::perfdata {

using BuildId = perftape::BuildId;

// The sample_id trailer of a kernel record. Fields that the event does not record are zero.
struct SampleId {
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t time = 0;
  std::uint64_t id = 0;  // from ID or IDENTIFIER
  std::uint64_t stream_id = 0;
  std::uint32_t cpu = 0;
};

struct Mmap {
  static constexpr RecordType kType = RecordType::kMmap;
  static constexpr std::string_view kRecordName = "MMAP";
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t start = 0, length = 0, page_offset = 0;
  std::string_view filename = {};
};

struct Mmap2 {
  static constexpr RecordType kType = RecordType::kMmap2;
  static constexpr std::string_view kRecordName = "MMAP2";
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t start = 0, length = 0, page_offset = 0;
  // Either device and inode, or a build id (misc bit kMiscMmapBuildId, since Linux 5.12).
  std::uint32_t device_major = 0, device_minor = 0;
  std::uint64_t inode = 0, inode_generation = 0;
  BuildId build_id = {};
  // RHEL 7.0 did not record them (HasProtection in kernel_layout.h). For it, the protection of a
  // mapping of code is PROT_EXEC.
  std::uint32_t protection = 0, flags = 0;
  std::string_view filename = {};

  static constexpr std::uint32_t kProtectionExec = 4;  // PROT_EXEC
};

struct Comm {
  static constexpr RecordType kType = RecordType::kComm;
  static constexpr std::string_view kRecordName = "COMM";
  std::uint32_t pid = 0, tid = 0;
  std::string_view comm = {};
};

// FORK and EXIT. pid == ppid in a FORK means a new thread.
struct Task {
  std::uint32_t pid = 0, ppid = 0, tid = 0, ptid = 0;
  std::uint64_t time = 0;
};
struct Fork : Task {
  static constexpr RecordType kType = RecordType::kFork;
  static constexpr std::string_view kRecordName = "FORK";
};
struct Exit : Task {
  static constexpr RecordType kType = RecordType::kExit;
  static constexpr std::string_view kRecordName = "EXIT";
};

struct Lost {
  static constexpr RecordType kType = RecordType::kLost;
  static constexpr std::string_view kRecordName = "LOST";
  std::uint64_t event_id = 0, count = 0;
};

struct LostSamples {
  static constexpr RecordType kType = RecordType::kLostSamples;
  static constexpr std::string_view kRecordName = "LOST_SAMPLES";
  std::uint64_t count = 0;
};

// THROTTLE and UNTHROTTLE.
struct ThrottleChange {
  std::uint64_t time = 0, id = 0, stream_id = 0;
};
struct Throttle : ThrottleChange {
  static constexpr RecordType kType = RecordType::kThrottle;
  static constexpr std::string_view kRecordName = "THROTTLE";
};
struct Unthrottle : ThrottleChange {
  static constexpr RecordType kType = RecordType::kUnthrottle;
  static constexpr std::string_view kRecordName = "UNTHROTTLE";
};

// The counter values of a task that ends, if its event counts inherited tasks (inherit_stat).
struct Read {
  static constexpr RecordType kType = RecordType::kRead;
  static constexpr std::string_view kRecordName = "READ";
  std::uint32_t pid = 0, tid = 0;
  WordArray read = {};  // as in Sample::read
};

// The hardware has written trace data to the AUX area.
struct Aux {
  static constexpr RecordType kType = RecordType::kAux;
  static constexpr std::string_view kRecordName = "AUX";
  std::uint64_t aux_offset = 0, aux_size = 0;
  std::uint64_t flags = 0;  // 1 truncated, 2 overwrite, 4 partial, 8 collision

  static constexpr std::uint64_t kTruncated = 1;
};

struct ItraceStart {
  static constexpr RecordType kType = RecordType::kItraceStart;
  static constexpr std::string_view kRecordName = "ITRACE_START";
  std::uint32_t pid = 0, tid = 0;
};

struct AuxOutputHwId {
  static constexpr RecordType kType = RecordType::kAuxOutputHwId;
  static constexpr std::string_view kRecordName = "AUX_OUTPUT_HW_ID";
  std::uint64_t hw_id = 0;
};

// The user half of the callchains that ended in PERF_CONTEXT_USER_DEFERRED and this cookie.
struct CallchainDeferred {
  static constexpr RecordType kType = RecordType::kCallchainDeferred;
  static constexpr std::string_view kRecordName = "CALLCHAIN_DEFERRED";
  std::uint64_t cookie = 0;
  WordArray callchain = {};  // leaf first, PERF_CONTEXT_USER before it
};

struct Namespaces {
  static constexpr RecordType kType = RecordType::kNamespaces;
  static constexpr std::string_view kRecordName = "NAMESPACES";
  std::uint32_t pid = 0, tid = 0;
  // A pair of device and inode for each namespace: net, uts, ipc, pid, user, mnt, cgroup.
  WordArray links = {};
};

struct Ksymbol {
  static constexpr RecordType kType = RecordType::kKsymbol;
  static constexpr std::string_view kRecordName = "KSYMBOL";
  std::uint64_t address = 0;
  std::uint32_t length = 0;
  std::uint16_t symbol_type = 0;  // 1 BPF program, 2 out of line (trampolines)
  std::uint16_t flags = 0;        // 1: the symbol is removed
  std::string_view name = {};

  static constexpr std::uint16_t kTypeBpf = 1;
  static constexpr std::uint16_t kTypeOutOfLine = 2;
  static constexpr std::uint16_t kUnregister = 1;
};

struct BpfEvent {
  static constexpr RecordType kType = RecordType::kBpfEvent;
  static constexpr std::string_view kRecordName = "BPF_EVENT";
  std::uint16_t event_type = 0;  // 1 load, 2 unload
  std::uint16_t flags = 0;
  std::uint32_t id = 0;
  std::array<std::uint8_t, 8> tag = {};

  static constexpr std::uint16_t kLoad = 1;
};

struct Cgroup {
  static constexpr RecordType kType = RecordType::kCgroup;
  static constexpr std::string_view kRecordName = "CGROUP";
  std::uint64_t id = 0;
  std::string_view path = {};
};

// A context switch of the task in the trailer. A misc bit is set if the task is switched out.
struct Switch {
  static constexpr RecordType kType = RecordType::kSwitch;
  static constexpr std::string_view kRecordName = "SWITCH";
};
struct SwitchCpuWide {
  static constexpr RecordType kType = RecordType::kSwitchCpuWide;
  static constexpr std::string_view kRecordName = "SWITCH_CPU_WIDE";
  std::uint32_t next_prev_pid = 0, next_prev_tid = 0;
};

struct TextPoke {
  static constexpr RecordType kType = RecordType::kTextPoke;
  static constexpr std::string_view kRecordName = "TEXT_POKE";
  std::uint64_t address = 0;
  std::uint16_t old_length = 0, new_length = 0;
  Bytes bytes = {};  // old, then new, then padding
};

// A SAMPLE. The event's SampleFormat defines which of the fields are recorded.
struct Sample {
  static constexpr RecordType kType = RecordType::kSample;
  static constexpr std::string_view kRecordName = "SAMPLE";
  std::uint64_t id = 0;  // from IDENTIFIER or ID
  std::uint64_t ip = 0;
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t time = 0;
  std::uint64_t addr = 0;
  std::uint64_t stream_id = 0;
  std::uint32_t cpu = 0;
  std::uint64_t period = 0;
  WordArray read = {};       // the READ block, as words; its layout depends on read_format
  WordArray callchain = {};  // leaf first, context markers included
  Bytes raw = {};
  std::uint64_t branch_hw_index = 0;
  WordArray branches = {};         // three words each: from, to, flags (see BranchFlagsAt)
  WordArray branch_counters = {};  // one word each, if recorded
  std::uint64_t regs_user_abi = 0;
  WordArray regs_user = {};
  // With kRegsAbiSimd: four words (number of vectors, words of each, number of predicates, words of
  // each), then the vectors and the predicates.
  WordArray regs_user_simd = {};
  Bytes stack_user = {};              // only the valid bytes
  std::uint64_t stack_user_size = 0;  // the bytes that the record reserves
  // For WEIGHT_STRUCT: var1_dw in the low 32 bits, then var2_w and var3_w with 16 bits each.
  std::uint64_t weight = 0;
  std::uint64_t data_src = 0;
  std::uint64_t transaction = 0;
  std::uint64_t regs_intr_abi = 0;
  WordArray regs_intr = {};
  WordArray regs_intr_simd = {};  // as regs_user_simd
  std::uint64_t phys_addr = 0;
  std::uint64_t cgroup = 0;
  std::uint64_t data_page_size = 0;
  std::uint64_t code_page_size = 0;
  Bytes aux = {};
};

// The flags of the branch with this index, in the bit order of a little-endian machine: mispred is
// bit 0. A big-endian machine allocates these bit-fields from the most significant bit.
std::uint64_t BranchFlagsAt(const WordArray& branches, std::size_t index);

}  // namespace perftape::perfdata

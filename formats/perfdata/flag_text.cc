// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/flag_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>

#include "formats/base/text.h"
#include "formats/perfdata/abi.h"

namespace perftape::perfdata {
namespace {

// Names by bit number, from include/uapi/linux/perf_event.h. Empty ones have no name.
constexpr std::string_view kSampleBits[] = {"IP",
                                            "TID",
                                            "TIME",
                                            "ADDR",
                                            "READ",
                                            "CALLCHAIN",
                                            "ID",
                                            "CPU",
                                            "PERIOD",
                                            "STREAM_ID",
                                            "RAW",
                                            "BRANCH_STACK",
                                            "REGS_USER",
                                            "STACK_USER",
                                            "WEIGHT",
                                            "DATA_SRC",
                                            "IDENTIFIER",
                                            "TRANSACTION",
                                            "REGS_INTR",
                                            "PHYS_ADDR",
                                            "AUX",
                                            "CGROUP",
                                            "DATA_PAGE_SIZE",
                                            "CODE_PAGE_SIZE",
                                            "WEIGHT_STRUCT"};
constexpr std::string_view kReadBits[] = {"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP",
                                          "LOST"};
constexpr std::string_view kAttrBits[] = {"disabled",
                                          "inherit",
                                          "pinned",
                                          "exclusive",
                                          "exclude_user",
                                          "exclude_kernel",
                                          "exclude_hv",
                                          "exclude_idle",
                                          "mmap",
                                          "comm",
                                          "freq",
                                          "inherit_stat",
                                          "enable_on_exec",
                                          "task",
                                          "watermark",
                                          "",
                                          "",
                                          "mmap_data",
                                          "sample_id_all",
                                          "exclude_host",
                                          "exclude_guest",
                                          "exclude_callchain_kernel",
                                          "exclude_callchain_user",
                                          "mmap2",
                                          "comm_exec",
                                          "use_clockid",
                                          "context_switch",
                                          "write_backward",
                                          "namespaces",
                                          "ksymbol",
                                          "bpf_event",
                                          "aux_output",
                                          "cgroup",
                                          "text_poke",
                                          "build_id",
                                          "inherit_thread",
                                          "remove_on_exec",
                                          "sigtrap",
                                          "defer_callchain",
                                          "defer_output"};
constexpr std::string_view kBranchBits[] = {
    "USER",     "KERNEL",    "HV",        "ANY",      "ANY_CALL",   "ANY_RETURN", "IND_CALL",
    "ABORT",    "IN_TX",     "NO_TX",     "COND",     "CALL_STACK", "IND_JUMP",   "CALL",
    "NO_FLAGS", "NO_CYCLES", "TYPE_SAVE", "HW_INDEX", "PRIV_SAVE",  "COUNTERS"};
constexpr std::string_view kTypes[] = {"hardware", "software", "tracepoint",
                                       "hw-cache", "raw",      "breakpoint"};

std::string BitsText(std::uint64_t bits, std::span<const std::string_view> names) {
  if (bits == 0) return "none";
  std::string text;
  std::uint64_t unnamed = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    if (bit >= names.size() || names[bit].empty()) {
      unnamed |= std::uint64_t{1} << bit;
      continue;
    }
    if (!text.empty()) text += '|';
    text += names[bit];
  }
  if (unnamed != 0) text += fmt::format("{}{:#x}", text.empty() ? "" : "|", unnamed);
  return text;
}

// Names by bit, or by number.
enum class Coding : std::uint8_t { kBits, kNumber };

struct Field {
  std::string_view name;
  unsigned shift = 0, width = 0;
  Coding coding = Coding::kBits;
  std::span<const std::string_view> names;
};

constexpr std::string_view kOps[] = {"na", "load", "store", "prefetch", "exec"};
constexpr std::string_view kLevels[] = {"na",       "hit",      "miss",    "L1",       "LFB",
                                        "L2",       "L3",       "loc_ram", "rem_ram1", "rem_ram2",
                                        "rem_cce1", "rem_cce2", "IO",      "uncached"};
constexpr std::string_view kSnoops[] = {"na", "none", "hit", "miss", "hitm"};
constexpr std::string_view kLocks[] = {"na", "locked"};
constexpr std::string_view kTlbs[] = {"na", "hit", "miss", "L1", "L2", "walker", "fault"};
// L0 was added after Linux 7.3, L2_MHB and MSC in 6.6 and 6.19.
constexpr std::string_view kLevelNumbers[] = {"",    "L1",  "L2",       "L3",  "L4", "L2_MHB",
                                              "MSC", "L0",  "uncached", "CXL", "IO", "any_cache",
                                              "LFB", "RAM", "PMEM",     "na"};
constexpr std::string_view kSnoopsX[] = {"forward", "peer"};
constexpr std::string_view kBlocks[] = {"na", "data", "address"};
constexpr std::string_view kRemotes[] = {"", "yes"};
constexpr std::string_view kHops[] = {"", "core", "node", "socket", "board"};
// Added after Linux 7.3; MEMORY_RANGES says which memory the regions are.
constexpr std::string_view kRegions[] = {"",
                                         "reserved",
                                         "local_shared",
                                         "local_non_shared",
                                         "other_io",
                                         "other_shared",
                                         "other_non_shared",
                                         "mmio",
                                         "mem0",
                                         "mem1",
                                         "mem2",
                                         "mem3",
                                         "mem4",
                                         "mem5",
                                         "mem6",
                                         "mem7"};

// union perf_mem_data_src
constexpr Field kFields[] = {
    {"op", 0, 5, Coding::kBits, kOps},
    {"lvl", 5, 14, Coding::kBits, kLevels},
    {"snoop", 19, 5, Coding::kBits, kSnoops},
    {"lock", 24, 2, Coding::kBits, kLocks},
    {"dtlb", 26, 7, Coding::kBits, kTlbs},
    {"lvl_num", 33, 4, Coding::kNumber, kLevelNumbers},
    {"remote", 37, 1, Coding::kNumber, kRemotes},
    {"snoopx", 38, 2, Coding::kBits, kSnoopsX},
    {"blk", 40, 3, Coding::kBits, kBlocks},
    {"hops", 43, 3, Coding::kNumber, kHops},
    {"region", 46, 5, Coding::kNumber, kRegions},
};

std::string ValueText(const Field& field, std::uint64_t value) {
  if (field.coding == Coding::kNumber) {
    const bool has_name = value < field.names.size();
    return has_name ? std::string(field.names[value]) : fmt::format("{}", value);
  }
  std::string text;
  for (unsigned bit = 0; bit < field.width; ++bit) {
    if ((value >> bit & 1) == 0) continue;
    if (!text.empty()) text += '+';
    text += bit < field.names.size() ? std::string(field.names[bit]) : fmt::format("bit{}", bit);
  }
  return text;
}

}  // namespace

std::string SampleTypeText(std::uint64_t sample_type) {
  return BitsText(sample_type, kSampleBits);
}

std::string ReadFormatText(std::uint64_t read_format) {
  return BitsText(read_format, kReadBits);
}

std::vector<FlagValue> AttrFlagValues(std::uint64_t flags) {
  std::vector<FlagValue> values;
  for (unsigned bit = 0; bit < std::size(kAttrBits); ++bit) {
    if (bit == kPreciseIpShift) {
      const auto precise = static_cast<unsigned>(flags >> kPreciseIpShift & 3);
      if (precise != 0) values.push_back({"precise_ip", precise});
    } else if ((flags >> bit & 1) != 0 && !kAttrBits[bit].empty()) {
      values.push_back({kAttrBits[bit], 1});
    }
  }
  return values;
}

std::string BranchFilterText(std::uint64_t branch_sample_type) {
  return BitsText(branch_sample_type, kBranchBits);
}

std::string AttrFlagsText(std::uint64_t flags) {
  const std::uint64_t precise = flags >> kPreciseIpShift & 3;
  const std::uint64_t rest = flags & ~(std::uint64_t{3} << kPreciseIpShift);
  if (precise == 0) return BitsText(rest, kAttrBits);
  return fmt::format("{}precise_ip={}", rest == 0 ? "" : BitsText(rest, kAttrBits) + "|", precise);
}

std::string AttrText(const EventAttr& attr) {
  std::string text = attr.type < std::size(kTypes) ? fmt::format("type {}", kTypes[attr.type])
                                                   : fmt::format("type {}", attr.type);
  AppendFormat(text, " size {} config {:#x} {} {}", attr.size, attr.config,
               attr.Has(kFreq) ? "sample_freq" : "sample_period", attr.sample_period);
  AppendFormat(text, " sample_type {}", SampleTypeText(attr.sample_type));
  if (attr.read_format != 0) {
    AppendFormat(text, " read_format {}", ReadFormatText(attr.read_format));
  }
  AppendFormat(text, " flags {}", AttrFlagsText(attr.flags));
  ForEachRareField(
      attr, [&](const char* name, auto value) { AppendFormat(text, " {} {}", name, value); },
      [&](const char* name, std::uint64_t value) { AppendFormat(text, " {} {:#x}", name, value); });
  return text;
}

std::string ProtectionText(std::uint32_t protection) {
  // PROT_READ, PROT_WRITE, PROT_EXEC
  return {(protection & 1) != 0 ? 'r' : '-', (protection & 2) != 0 ? 'w' : '-',
          (protection & 4) != 0 ? 'x' : '-'};
}

std::string CallchainEntryText(std::uint64_t entry) {
  if (entry < kContextMax) return fmt::format("{:x}", entry);
  switch (entry) {
    case kContextHv:
      return "[hypervisor]";
    case kContextKernel:
      return "[kernel]";
    case kContextUser:
      return "[user]";
    case kContextUserDeferred:
      return "[user_deferred]";
    case kContextGuest:
      return "[guest]";
    case kContextGuestKernel:
      return "[guest_kernel]";
    case kContextGuestUser:
      return "[guest_user]";
    default:
      return fmt::format("[{}]", static_cast<std::int64_t>(entry));
  }
}

std::string DataSourceText(std::uint64_t data_src) {
  std::string text;
  for (const Field& field : kFields) {
    const std::uint64_t value = data_src >> field.shift & ((std::uint64_t{1} << field.width) - 1);
    if (value == 0) continue;
    if (!text.empty()) text += '|';
    text += fmt::format("{}={}", field.name, ValueText(field, value));
  }
  return text;
}

}  // namespace perftape::perfdata

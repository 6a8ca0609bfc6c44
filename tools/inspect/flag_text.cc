// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/flag_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>

#include "formats/perfdata/abi.h"

namespace perftape::inspect {
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

}  // namespace

std::string SampleTypeText(std::uint64_t sample_type) {
  return BitsText(sample_type, kSampleBits);
}

std::string ReadFormatText(std::uint64_t read_format) {
  return BitsText(read_format, kReadBits);
}

std::string AttrFlagsText(std::uint64_t flags) {
  const std::uint64_t precise = flags >> perfdata::kPreciseIpShift & 3;
  const std::uint64_t rest = flags & ~(std::uint64_t{3} << perfdata::kPreciseIpShift);
  if (precise == 0) return BitsText(rest, kAttrBits);
  return fmt::format("{}precise_ip={}", rest == 0 ? "" : BitsText(rest, kAttrBits) + "|", precise);
}

std::string AttrText(const perfdata::EventAttr& attr) {
  std::string text = attr.type < std::size(kTypes) ? fmt::format("type {}", kTypes[attr.type])
                                                   : fmt::format("type {}", attr.type);
  const auto end = std::back_inserter(text);
  fmt::format_to(end, " size {} config {:#x} {} {}", attr.size, attr.config,
                 attr.Has(perfdata::kFreq) ? "sample_freq" : "sample_period", attr.sample_period);
  fmt::format_to(end, " sample_type {}", SampleTypeText(attr.sample_type));
  if (attr.read_format != 0) {
    fmt::format_to(end, " read_format {}", ReadFormatText(attr.read_format));
  }
  fmt::format_to(end, " flags {}", AttrFlagsText(attr.flags));
  ForEachRareField(
      attr, [&](const char* name, auto value) { fmt::format_to(end, " {} {}", name, value); },
      [&](const char* name, std::uint64_t value) {
        fmt::format_to(end, " {} {:#x}", name, value);
      });
  return text;
}

std::string ProtectionText(std::uint32_t protection) {
  // PROT_READ, PROT_WRITE, PROT_EXEC
  return {(protection & 1) != 0 ? 'r' : '-', (protection & 2) != 0 ? 'w' : '-',
          (protection & 4) != 0 ? 'x' : '-'};
}

std::string CallchainEntryText(std::uint64_t entry) {
  using namespace perfdata;  // the markers
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

}  // namespace perftape::inspect

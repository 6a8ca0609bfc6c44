// SPDX-License-Identifier: Apache-2.0
#include "convert/histogram/keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "formats/base/unknown_name.h"
#include "formats/perfdata/attr.h"

namespace perftape::histogram {
namespace {

using Identity = Key::Identity;
using Column = Key::Column;

constexpr unsigned kTimeWidth = 12;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

// Compares texts byte by byte, "unknown" (0) last.
std::weak_ordering CompareTexts(std::uint32_t a, std::uint32_t b, const NameTable& names) {
  if (a == 0 || b == 0) return (a == 0) <=> (b == 0);
  return names.texts[a].compare(names.texts[b]) <=> 0;
}

// A key whose value is a number of the hit.
template <auto Member>
constexpr Identity NumberIdentity(const Hit& hit, const NameTable&) {
  return {0, static_cast<std::uint64_t>(hit.*Member)};
}
template <auto Member>
constexpr std::weak_ordering NumberOrder(const Hit& a, const Hit& b, const NameTable&) {
  return a.*Member <=> b.*Member;
}
template <auto Member>
constexpr std::weak_ordering TextOrder(const Hit& a, const Hit& b, const NameTable& names) {
  return CompareTexts(a.*Member, b.*Member, names);
}
template <auto Member>
std::string HexText(const Hit& hit, const NameTable&, const TextStyle&) {
  return fmt::format("{:#x}", hit.*Member);
}

// perf compares tids, and shows the last name of the thread.
std::string PidText(const Hit& hit, const NameTable& names, const TextStyle&) {
  const auto last = names.last_comms.find(hit.tid);
  const std::uint32_t comm = last == names.last_comms.end() ? hit.comm : last->second;
  return fmt::format("{:7}:{}", static_cast<std::int32_t>(hit.tid), names.texts[comm]);
}

std::string CommText(const Hit& hit, const NameTable& names, const TextStyle&) {
  return names.texts[hit.comm];
}

std::string DsoText(const Hit& hit, const NameTable& names, const TextStyle&) {
  return hit.leaf.dso == 0 ? std::string(kUnknownName) : names.texts[hit.leaf.dso];
}
Identity DsoIdentity(const Hit& hit, const NameTable&) {
  return {0, hit.leaf.dso};
}
std::weak_ordering DsoOrder(const Hit& a, const Hit& b, const NameTable& names) {
  return CompareTexts(a.leaf.dso, b.leaf.dso, names);
}

std::string SymbolText(const Hit& hit, const NameTable& names, const TextStyle&) {
  const Frame& frame = hit.leaf;
  // As printf("%#.16llx"), which has no 0x for zero.
  if (frame.symbol == 0 && frame.address == 0) return fmt::format("[{}] {:016}", frame.level, 0);
  if (frame.symbol == 0) return fmt::format("[{}] {:#018x}", frame.level, frame.address);
  const Symbol& symbol = names.symbols[frame.symbol];
  return fmt::format("[{}] {}{}", frame.level, names.texts[symbol.name],
                     symbol.is_inlined ? " (inlined)" : "");
}
// Functions are compared by their start, unknown ones by the address alone.
Identity SymbolIdentity(const Hit& hit, const NameTable&) {
  if (hit.leaf.symbol != 0) return {1, hit.leaf.symbol};
  return {0, hit.leaf.address};
}
std::weak_ordering SymbolOrder(const Hit& a, const Hit& b, const NameTable& names) {
  return CompareTexts(names.symbols[a.leaf.symbol].name, names.symbols[b.leaf.symbol].name, names);
}

std::string ParentText(const Hit& hit, const NameTable& names, const TextStyle&) {
  return hit.parent == 0 ? "[other]" : names.texts[hit.parent];
}

std::string CpuText(const Hit& hit, const NameTable&, const TextStyle&) {
  return hit.cpu < 0 ? fmt::format("-{:03}", -hit.cpu) : fmt::format("{:03}", hit.cpu);
}

// Without debug information: the function and the distance in it, or the binary and the address.
std::string SourceLine(const Hit& hit, const NameTable& names, const TextStyle& style) {
  const Frame& frame = hit.leaf;
  if (frame.srcline != 0) {
    const std::string& line = names.texts[frame.srcline];
    return style.full_source_path ? line : line.substr(line.rfind('/') + 1);
  }
  if (frame.dso == 0) return "??:0";
  if (frame.symbol == 0) return fmt::format("{}[{:x}]", names.texts[frame.dso], frame.address);
  const Symbol& symbol = names.symbols[frame.symbol];
  return fmt::format("{}+{}", names.texts[symbol.name], frame.address - symbol.start);
}
Identity SourceLineIdentity(const Hit& hit, const NameTable&) {
  if (hit.leaf.srcline != 0) return {1, hit.leaf.srcline};
  return hit.leaf.dso == 0 ? Identity{} : Identity{2 + hit.leaf.dso, hit.leaf.address};
}
std::weak_ordering SourceLineOrder(const Hit& a, const Hit& b, const NameTable& names) {
  return SourceLine(a, names, {}).compare(SourceLine(b, names, {})) <=> 0;
}

std::string SourceFileText(const Hit& hit, const NameTable& names, const TextStyle& style) {
  const std::string& file = names.texts[hit.leaf.srcfile];
  return style.full_source_path ? file : file.substr(file.rfind('/') + 1);
}
Identity SourceFileIdentity(const Hit& hit, const NameTable&) {
  return {0, hit.leaf.srcfile};
}
std::weak_ordering SourceFileOrder(const Hit& a, const Hit& b, const NameTable& names) {
  return names.texts[a.leaf.srcfile].compare(names.texts[b.leaf.srcfile]) <=> 0;
}

std::string CgroupText(const Hit& hit, const NameTable& names, const TextStyle&) {
  return hit.cgroup == 0 ? "N/A" : names.texts[hit.cgroup];
}

std::string TimeText(const Hit& hit, const NameTable&, const TextStyle& style) {
  const std::uint64_t part = hit.time_ns % kSecondNs;
  if (style.nanoseconds) return fmt::format("{}.{:09}", hit.time_ns / kSecondNs, part);
  // perf cuts it to the width of the column.
  return fmt::format("{}.{:06}", hit.time_ns / kSecondNs, part / 1000).substr(0, kTimeWidth);
}

// PERF_TXN_* of perf_event.h, in perf's words and order.
std::string TransactionText(const Hit& hit, const NameTable&, const TextStyle&) {
  struct Flag {
    std::uint64_t bit;
    std::string_view word;
  };
  static constexpr Flag kFlags[] = {
      {1, "EL "}, {2, "TX "}, {4, "SYNC "}, {8, "ASYNC "}, {16, "RETRY "}, {32, "CON "},
  };
  constexpr std::uint64_t kWrite = 64, kRead = 128;
  std::string text;
  for (const Flag& flag : kFlags) {
    if ((hit.transaction & flag.bit) != 0) text += flag.word;
  }
  if (hit.transaction != 0 && (hit.transaction & (4 | 8)) == 0) text += "? ";
  if ((hit.transaction & kWrite) != 0) text += "CAP-WRITE ";
  if ((hit.transaction & kRead) != 0) text += "CAP-READ ";
  if (const std::uint64_t code = hit.transaction >> 32; code != 0)
    text += fmt::format(":{:x} ", code);
  return text;
}

std::string WeightText(const Hit& hit, const NameTable&, const TextStyle&) {
  return fmt::format("{}", hit.weight);
}

std::string PageSizeText(const Hit& hit, const NameTable&, const TextStyle&) {
  constexpr std::uint64_t kKilo = 1024;
  const std::uint64_t size = hit.code_page_size;
  if (size == 0) return "N/A";
  if (size >= kKilo * kKilo * kKilo) return fmt::format("{}G", size / (kKilo * kKilo * kKilo));
  if (size >= kKilo * kKilo) return fmt::format("{}M", size / (kKilo * kKilo));
  return fmt::format("{}K", size / kKilo);
}

constexpr std::string_view kBranches =
    "it is a fact of single branches; 'perftape-inspect --samples' and 'perf script -F brstack' "
    "show them";
constexpr std::string_view kMemory =
    "it is a fact of memory accesses, which perftape keeps but does not add up; 'perf mem report' "
    "does";
constexpr std::string_view kLatencies = "it is a fact of single instructions of some processors";
constexpr std::string_view kTrace =
    "--by label:FIELD adds up the samples of a tracepoint by a field, and 'perftape-convert --to "
    "script' prints all fields";
constexpr std::string_view kSizes = "perftape keeps the start of functions, not their size";

#define PERFTAPE_NUMBER(member) [](const Amounts& amounts) { return amounts.member; }

constexpr Key kKeys[] = {
    {.word = "pid",
     .heading = "    Pid:Command",
     .identity = &NumberIdentity<&Hit::tid>,
     .order = [](const Hit& a, const Hit& b, const NameTable&) -> std::weak_ordering {
       return static_cast<std::int32_t>(a.tid) <=> static_cast<std::int32_t>(b.tid);
     },
     .text = &PidText},
    {.word = "comm",
     .heading = "Command",
     .identity = &NumberIdentity<&Hit::comm>,
     .order = &TextOrder<&Hit::comm>,
     .text = &CommText},
    {.word = "dso",
     .heading = "Shared Object",
     .identity = &DsoIdentity,
     .order = &DsoOrder,
     .text = &DsoText},
    {.word = "symbol",
     .heading = "Symbol",
     .identity = &SymbolIdentity,
     .order = &SymbolOrder,
     .text = &SymbolText},
    {.word = "parent",
     .heading = "Parent symbol",
     .identity = &NumberIdentity<&Hit::parent>,
     .order = &TextOrder<&Hit::parent>,
     .text = &ParentText},
    {.word = "cpu",
     .heading = "CPU",
     .width = 3,
     .identity = &NumberIdentity<&Hit::cpu>,
     .order = &NumberOrder<&Hit::cpu>,
     .text = &CpuText},
    {.word = "socket",
     .heading = "Socket",
     .refusal = "use --sort cpu; 'perftape-inspect --header' shows which CPUs a socket has"},
    {.word = "srcline",
     .heading = "Source:Line",
     .identity = &SourceLineIdentity,
     .order = &SourceLineOrder,
     .text = &SourceLine},
    {.word = "srcfile",
     .heading = "Source File",
     .identity = &SourceFileIdentity,
     .order = &SourceFileOrder,
     .text = &SourceFileText},
    {.word = "local_weight",
     .heading = "Local Weight",
     .width = 12,
     .identity = &NumberIdentity<&Hit::weight>,
     .order = &NumberOrder<&Hit::weight>,
     .text = &WeightText,
     .sample_bit = perfdata::kWeight | perfdata::kWeightStruct},
    {.word = "weight",
     .heading = "Weight",
     .refusal = "use --sort local_weight, the weight of one sample"},
    {.word = "transaction",
     .heading = "Transaction                ",
     .identity = &NumberIdentity<&Hit::transaction>,
     .order = &NumberOrder<&Hit::transaction>,
     .text = &TransactionText,
     .sample_bit = perfdata::kTransaction},
    {.word = "trace", .heading = "Trace output", .refusal = kTrace},
    {.word = "symbol_size", .heading = "Symbol size", .refusal = kSizes},
    {.word = "dso_size", .heading = "DSO size", .refusal = kSizes},
    {.word = "cgroup",
     .heading = "Cgroup",
     .identity = &NumberIdentity<&Hit::cgroup>,
     .order = &TextOrder<&Hit::cgroup>,
     .text = &CgroupText},
    {.word = "cgroup_id",
     .heading = "cgroup id (dev/inode)",
     .refusal = "use --sort cgroup, which shows the path"},
    {.word = "ipc_null", .heading = "IPC   [IPC Coverage]", .refusal = kBranches},
    {.word = "time",
     .heading = "Time",
     .width = kTimeWidth,
     .width_of_nanoseconds = 16,
     .identity = &NumberIdentity<&Hit::time_ns>,
     .order = &NumberOrder<&Hit::time_ns>,
     .text = &TimeText},
    {.word = "code_page_size",
     .heading = "Code Page Size",
     .identity = &NumberIdentity<&Hit::code_page_size>,
     .order = &NumberOrder<&Hit::code_page_size>,
     .text = &PageSizeText,
     .sample_bit = perfdata::kCodePageSize},
    {.word = "local_ins_lat", .heading = "Local INSTR Latency", .refusal = kLatencies},
    {.word = "ins_lat", .heading = "INSTR Latency", .refusal = kLatencies},
    {.word = "local_p_stage_cyc", .heading = "Local Pipeline Stage Cycle", .refusal = kLatencies},
    {.word = "p_stage_cyc", .heading = "Pipeline Stage Cycle", .refusal = kLatencies},
    {.word = "addr",
     .heading = "Address",
     .width = 18,
     .identity = &NumberIdentity<&Hit::address>,
     .order = &NumberOrder<&Hit::address>,
     .text = &HexText<&Hit::address>,
     .sample_bit = perfdata::kAddr},
    {.word = "dso_from", .heading = "Source Shared Object", .refusal = kBranches},
    {.word = "dso_to", .heading = "Target Shared Object", .refusal = kBranches},
    {.word = "symbol_from", .heading = "Source Symbol", .refusal = kBranches},
    {.word = "symbol_to", .heading = "Target Symbol", .refusal = kBranches},
    {.word = "mispredict", .heading = "Branch Mispredicted", .refusal = kBranches},
    {.word = "abort", .heading = "Transaction abort", .refusal = kBranches},
    {.word = "in_tx", .heading = "Branch in transaction", .refusal = kBranches},
    {.word = "cycles", .heading = "Basic Block Cycles", .refusal = kBranches},
    {.word = "srcline_from", .heading = "From Source:Line", .refusal = kBranches},
    {.word = "srcline_to", .heading = "To Source:Line", .refusal = kBranches},
    {.word = "ipc_lbr", .heading = "IPC   [IPC Coverage]", .refusal = kBranches},
    {.word = "addr_from", .heading = "Source Address", .refusal = kBranches},
    {.word = "addr_to", .heading = "Target Address", .refusal = kBranches},
    {.word = "callchain_branch_predicted", .heading = "Predicted", .refusal = kBranches},
    {.word = "callchain_branch_abort", .heading = "Abort", .refusal = kBranches},
    {.word = "callchain_branch_cycles", .heading = "Cycles", .refusal = kBranches},
    {.word = "branch_counter", .heading = "Branch Counter", .refusal = kBranches},
    {.word = "symbol_daddr", .heading = "Data Symbol", .refusal = kMemory},
    {.word = "dso_daddr", .heading = "Data Object", .refusal = kMemory},
    {.word = "locked", .heading = "Locked", .refusal = kMemory},
    {.word = "tlb", .heading = "TLB access", .refusal = kMemory},
    {.word = "mem", .heading = "Memory access", .refusal = kMemory},
    {.word = "snoop", .heading = "Snoop", .refusal = kMemory},
    {.word = "dcacheline", .heading = "Data Cacheline", .refusal = kMemory},
    {.word = "symbol_iaddr", .heading = "Code Symbol", .refusal = kMemory},
    {.word = "phys_daddr", .heading = "Data Physical Address", .refusal = kMemory},
    {.word = "data_page_size", .heading = "Data Page Size", .refusal = kMemory},
    {.word = "blocked", .heading = "Blocked", .refusal = kMemory},
    {.word = "tid",
     .heading = "    Tid:Command",
     .identity = &NumberIdentity<&Hit::tid>,
     .order = &NumberOrder<&Hit::tid>,
     .text = &PidText},
    {.word = "type", .heading = "Data Type", .refusal = "it needs the types of variables"},
    {.word = "typeoff",
     .heading = "Data Type Offset",
     .refusal = "it needs the types of variables"},
    {.word = "typecln",
     .heading = "Data Type Cacheline",
     .refusal = "it needs the types of variables"},
    {.word = "symoff", .heading = "Symbol Offset", .refusal = kSizes},
    {.word = "simd", .heading = "Simd", .refusal = kLatencies},
    {.word = "retire_lat", .heading = "Retire Latency", .refusal = kLatencies},
    {.word = "local_retire_lat", .heading = "Local Retire Latency", .refusal = kLatencies},
    {.word = "parallelism",
     .heading = "Parallelism",
     .refusal = "'perftape-report --parallelism' shows it"},
    {.word = "latency", .heading = "Latency", .refusal = "'perftape-report --latency' shows it"},
    {.word = "overhead",
     .heading = "Overhead",
     .column = Column::kShare,
     .width = 8,
     .amount = PERFTAPE_NUMBER(period)},
    {.word = "overhead_sys",
     .heading = "sys",
     .column = Column::kShare,
     .width = 8,
     .amount = PERFTAPE_NUMBER(kernel)},
    {.word = "overhead_us",
     .heading = "usr",
     .column = Column::kShare,
     .width = 8,
     .amount = PERFTAPE_NUMBER(user)},
    {.word = "overhead_guest_sys",
     .heading = "guest sys",
     .column = Column::kShare,
     .width = 9,
     .amount = PERFTAPE_NUMBER(guest_kernel)},
    {.word = "overhead_guest_us",
     .heading = "guest usr",
     .column = Column::kShare,
     .width = 9,
     .amount = PERFTAPE_NUMBER(guest_user)},
    {.word = "overhead_children",
     .heading = "Children",
     .column = Column::kShare,
     .width = 8,
     .amount = PERFTAPE_NUMBER(period),
     .of_total = true},
    {.word = "sample",
     .heading = "Samples",
     .column = Column::kNumber,
     .width = 12,
     .amount = PERFTAPE_NUMBER(samples)},
    {.word = "period",
     .heading = "Period",
     .column = Column::kNumber,
     .width = 12,
     .amount = PERFTAPE_NUMBER(period)},
};

#undef PERFTAPE_NUMBER

bool BeginsWith(std::string_view word, std::string_view start) {
  return word.size() >= start.size() &&
         std::ranges::equal(
             word.substr(0, start.size()), start,
             [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

}  // namespace

std::span<const Key> Keys() {
  return kKeys;
}

Result<const Key*> FindKey(std::string_view option, std::string_view word) {
  const auto* const found = std::ranges::find_if(
      kKeys, [&](const Key& key) { return !word.empty() && BeginsWith(key.word, word); });
  if (found == std::end(kKeys)) {
    std::string known;
    for (const Key& key : kKeys) {
      if (!key.refusal.empty()) continue;
      known += known.empty() ? "" : ", ";
      known += key.word;
    }
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: unknown key '{}': choose from {}", option, word, known));
  }
  if (!found->refusal.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{} {}: perftape does not have this key: {}", option, found->word,
                            found->refusal));
  }
  return found;
}

std::weak_ordering CompareAddresses(const Hit& a, const Hit& b, const NameTable& names) {
  const Symbol& symbol_a = names.symbols[a.leaf.symbol];
  const Symbol& symbol_b = names.symbols[b.leaf.symbol];
  const std::uint64_t at_a = a.leaf.symbol == 0 ? a.leaf.address : symbol_a.start;
  const std::uint64_t at_b = b.leaf.symbol == 0 ? b.leaf.address : symbol_b.start;
  return static_cast<std::int64_t>(at_a - at_b) <=> 0;
}

}  // namespace perftape::histogram

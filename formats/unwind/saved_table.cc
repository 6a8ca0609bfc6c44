// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/saved_table.h"

#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "formats/unwind/rule_set.h"

namespace perftape::unwind {
namespace {

// "unwind11". The last two digits are the version of the format, and of the rules that the same
// call frame information gives.
constexpr std::uint64_t kMagic = 0x3131646e69776e75;

struct TableHeader {
  std::uint64_t magic = kMagic;
  std::uint64_t fingerprint = 0;
  std::uint64_t base = 0;
  std::uint64_t row_count = 0;
  std::uint32_t rule_count = 0;
  Machine machine = Machine::kX86_64;
  std::uint8_t padding[3] = {};
};

// The types are written as they are in memory, so they must have no padding bytes.
static_assert(std::has_unique_object_representations_v<TableHeader>);
static_assert(std::has_unique_object_representations_v<Rule>);
static_assert(std::has_unique_object_representations_v<Row>);
static_assert(sizeof(TableHeader) % alignof(Rule) == 0);

template <class T>
void AppendAll(std::span<const T> values, std::vector<std::byte>& out) {
  const Bytes bytes = std::as_bytes(values);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

bool IsValid(const Rule& rule) {
  constexpr std::uint8_t kAllFlags = Rule::kSignalFrame | Rule::kFromStackPointer |
                                     Rule::kSignedReturn | Rule::kFpFromFp | Rule::kReturnInCx |
                                     Rule::kInGap | Rule::kDerived | Rule::kOtherStack;
  return rule.cfa <= CfaRule::kUnsupported && (rule.flags & ~kAllFlags) == 0 && rule.reserved == 0;
}

bool AreValid(std::span<const Rule> rules) {
  if (rules.size() <= RuleSet::kEndOfStack) return false;
  if (rules[RuleSet::kNone].cfa != CfaRule::kNone) return false;
  if (rules[RuleSet::kEndOfStack].cfa != CfaRule::kEndOfStack) return false;
  for (const Rule& rule : rules) {
    if (!IsValid(rule)) return false;
  }
  return true;
}

bool AreValid(std::span<const Row> rows, std::size_t rule_count) {
  if (rows.empty()) return true;
  std::uint64_t next = 0;  // the lowest pc that may follow
  bool valid = true;
  for (const Row& row : rows) {
    valid &= row.pc >= next && row.rule < rule_count;
    next = std::uint64_t{row.pc} + 1;
  }
  return valid && rows.back().rule == RuleSet::kNone;
}

}  // namespace

std::vector<std::byte> EncodeTable(const Table& table, std::uint64_t fingerprint) {
  const TableHeader header = {.magic = kMagic,
                              .fingerprint = fingerprint,
                              .base = table.base().value,
                              .row_count = table.rows().size(),
                              .rule_count = static_cast<std::uint32_t>(table.rules().size()),
                              .machine = table.machine(),
                              .padding = {}};
  std::vector<std::byte> out;
  out.reserve(sizeof(header) + table.rules().size_bytes() + table.rows().size_bytes());
  AppendAll(std::span(&header, 1), out);
  AppendAll(table.rules(), out);
  AppendAll(table.rows(), out);
  return out;
}

std::optional<Table> DecodeTable(Bytes bytes, std::uint64_t fingerprint,
                                 std::shared_ptr<const void> memory) {
  TableHeader header;
  if (bytes.size() < sizeof(header)) return std::nullopt;
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(Rule) != 0) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != kMagic || header.fingerprint != fingerprint) return std::nullopt;
  if (header.machine > Machine::kAArch64) return std::nullopt;
  const Bytes arrays = bytes.subspan(sizeof(header));
  const std::uint64_t rule_bytes = std::uint64_t{header.rule_count} * sizeof(Rule);
  if (rule_bytes > arrays.size()) return std::nullopt;
  const Bytes row_bytes = arrays.subspan(rule_bytes);
  if (row_bytes.size() % sizeof(Row) != 0 || header.row_count != row_bytes.size() / sizeof(Row)) {
    return std::nullopt;
  }
  const std::span rules(reinterpret_cast<const Rule*>(arrays.data()), header.rule_count);
  const std::span rows(reinterpret_cast<const Row*>(row_bytes.data()), header.row_count);
  if (!AreValid(rules) || !AreValid(rows, rules.size())) return std::nullopt;
  return Table(header.machine, ImageAddress{header.base}, rows, rules, std::move(memory));
}

}  // namespace perftape::unwind

// SPDX-License-Identifier: Apache-2.0
// Unwind tables as lines, for expectations.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/elf/elf_file.h"
#include "formats/unwind/rule_text.h"
#include "formats/unwind/table.h"

namespace perftape::unwind {

// "sp+8 ra-8", "*(fp-16)+8 fp@fp+0 ra-8", "end", "none": registers that are not saved are left out,
// and offsets are from the CFA unless a register is named.
inline std::string OneLine(const Rule& rule) {
  static constexpr std::string_view kGeneral[] = {"ax",  "dx",  "cx",  "bx", "si",  "di",
                                                  "fp",  "sp",  "r8",  "r9", "r10", "r11",
                                                  "r12", "r13", "r14", "r15"};
  const RuleText text = TextOf(
      rule,
      {.sp = "sp", .fp = "fp", .link = "link", .base = "bx", .count = "cx", .general = kGeneral});
  const auto saved = [](const std::string& name, std::int32_t offset, const std::string& where) {
    if (offset == Rule::kInRegister || where.empty()) return std::string();
    return " " + name + (where.front() == 'c' ? where.substr(1) : "@" + where);
  };
  std::string line = text.cfa;
  line += saved("fp", rule.fp_offset, text.fp);
  if (text.bx == "?") line += " bx?";
  if (text.bx.starts_with('c')) line += " bx" + text.bx.substr(1);
  line += saved("ra", rule.ra_offset, text.ra);
  if ((rule.flags & Rule::kReturnInCx) != 0) line += " ra@" + text.ra;
  return text.flags.empty() ? line : line + " " + text.flags;
}

// (address, rule) for each row.
inline std::vector<std::pair<std::uint64_t, std::string>> RowsOf(const Table& table) {
  std::vector<std::pair<std::uint64_t, std::string>> rows;
  for (const Row& row : table.rows()) {
    rows.emplace_back(table.base().value + row.pc, OneLine(table.rules()[row.rule]));
  }
  return rows;
}

inline Table TableOf(const std::vector<std::byte>& image) {
  const auto file = elf::ElfFile::FromBytes(image);
  return file ? Table::Build(*file).value() : Table();
}

}  // namespace perftape::unwind

// SPDX-License-Identifier: Apache-2.0
// Unwind tables as lines, for expectations.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "formats/elf/elf_file.h"
#include "formats/unwind/table.h"

namespace perftape::unwind {

// "sp+8 ra-8", "*(fp-16)+8 fp@fp+0 ra-8", "end", "none".
inline std::string RuleText(const Rule& rule) {
  const auto offset = [](std::int32_t value) {
    return (value < 0 ? "" : "+") + std::to_string(value);
  };
  const std::string addend = rule.cfa_addend == 0 ? "" : "+" + std::to_string(rule.cfa_addend);
  std::string text;
  switch (rule.cfa) {
    case CfaRule::kNone:
      return "none";
    case CfaRule::kEndOfStack:
      return "end";
    case CfaRule::kStackPointer:
      text = "sp" + offset(rule.cfa_offset);
      break;
    case CfaRule::kFramePointer:
      text = "fp" + offset(rule.cfa_offset);
      break;
    case CfaRule::kAtStackPointer:
      text = "*(sp" + offset(rule.cfa_offset) + ")" + addend;
      break;
    case CfaRule::kAtFramePointer:
      text = "*(fp" + offset(rule.cfa_offset) + ")" + addend;
      break;
    case CfaRule::kPlt:
      text = "plt" + offset(rule.cfa_offset) + "@" + std::to_string(rule.plt_push_end);
      break;
  }
  const std::string base = (rule.flags & Rule::kFromStackPointer) != 0 ? "@sp" : "";
  const std::string fp_base = (rule.flags & Rule::kFpFromFp) != 0 ? "@fp" : base;
  if (rule.fp_offset != Rule::kInRegister) text += " fp" + fp_base + offset(rule.fp_offset);
  if (rule.ra_offset != Rule::kInRegister) text += " ra" + base + offset(rule.ra_offset);
  if ((rule.flags & Rule::kSignalFrame) != 0) text += " signal";
  if ((rule.flags & Rule::kSignedReturn) != 0) text += " signed";
  return text;
}

// (address, rule) for each row.
inline std::vector<std::pair<std::uint64_t, std::string>> RowsOf(const Table& table) {
  std::vector<std::pair<std::uint64_t, std::string>> rows;
  for (const Row& row : table.rows()) {
    rows.emplace_back(table.base().value + row.pc, RuleText(table.rules()[row.rule]));
  }
  return rows;
}

inline Table TableOf(const std::vector<std::byte>& image) {
  const auto file = elf::ElfFile::FromBytes(image);
  return file ? Table::Build(*file).value() : Table();
}

}  // namespace perftape::unwind

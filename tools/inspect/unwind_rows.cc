// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/unwind_rows.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/common/cli/json_text.h"

namespace perftape::inspect {
namespace {

using unwind::CfaRule;
using unwind::Machine;
using unwind::Rule;

using UnwindRowFields = std::vector<std::pair<std::string_view, std::string>>;

struct RegisterNames {
  std::string_view sp, fp;
};

RegisterNames NamesOf(Machine machine) {
  if (machine == Machine::kX86_64) return {.sp = "rsp", .fp = "rbp"};
  return {.sp = "sp", .fp = "x29"};
}

std::string CfaText(const Rule& rule, const RegisterNames& names) {
  const auto at = [&](std::string_view name) {
    const std::string addend = rule.cfa_addend == 0 ? "" : fmt::format("+{}", rule.cfa_addend);
    return fmt::format("*({}{:+}){}", name, rule.cfa_offset, addend);
  };
  switch (rule.cfa) {
    case CfaRule::kNone:
      return "none";
    case CfaRule::kEndOfStack:
      return "end";
    case CfaRule::kStackPointer:
      return fmt::format("{}{:+}", names.sp, rule.cfa_offset);
    case CfaRule::kFramePointer:
      return fmt::format("{}{:+}", names.fp, rule.cfa_offset);
    case CfaRule::kAtStackPointer:
      return at(names.sp);
    case CfaRule::kAtFramePointer:
      return at(names.fp);
    case CfaRule::kPlt:
      return fmt::format("{}{:+},+8@{}", names.sp, rule.cfa_offset, rule.plt_push_end);
  }
  return "?";
}

std::string SavedText(std::int32_t offset, std::string_view base, std::string_view in_register) {
  if (offset == Rule::kInRegister) return std::string(in_register);
  return fmt::format("{}{:+}", base, offset);
}

std::string FlagText(const Rule& rule) {
  std::string text;
  if ((rule.flags & Rule::kSignalFrame) != 0) text = "signal";
  if ((rule.flags & Rule::kSignedReturn) != 0) text += text.empty() ? "signed" : ",signed";
  return text;
}

UnwindRowFields FieldsOf(const unwind::Table& table, std::size_t row) {
  const Rule& rule = table.rules()[table.rows()[row].rule];
  const RegisterNames names = NamesOf(table.machine());
  UnwindRowFields fields = {{"cfa", CfaText(rule, names)}};
  if (rule.cfa == CfaRule::kNone || rule.cfa == CfaRule::kEndOfStack) return fields;
  const std::string_view base = (rule.flags & Rule::kFromStackPointer) != 0 ? names.sp : "c";
  const std::string_view fp_base = (rule.flags & Rule::kFpFromFp) != 0 ? names.fp : base;
  fields.emplace_back("fp", SavedText(rule.fp_offset, fp_base, names.fp));
  fields.emplace_back("ra", SavedText(rule.ra_offset, base, "x30"));
  if (const std::string flags = FlagText(rule); !flags.empty()) {
    fields.emplace_back("flags", flags);
  }
  return fields;
}

std::uint64_t AddressOf(const unwind::Table& table, std::size_t row) {
  return table.base().value + table.rows()[row].pc;
}

}  // namespace

std::string UnwindTableHead() {
  return "address\tcfa\tfp\tra\tflags\n";
}

std::string UnwindRowText(const unwind::Table& table, std::size_t row) {
  constexpr std::size_t kColumns = 4;
  std::string line = fmt::format("{:x}", AddressOf(table, row));
  const UnwindRowFields fields = FieldsOf(table, row);
  for (const auto& [name, value] : fields) line.append("\t").append(value);
  for (std::size_t i = fields.size(); i < kColumns; ++i) line += "\t-";
  return line + '\n';
}

std::string UnwindRowJson(const unwind::Table& table, std::size_t row) {
  nlohmann::ordered_json json = {{"address", fmt::format("{:#x}", AddressOf(table, row))}};
  for (const auto& [name, value] : FieldsOf(table, row)) json[std::string(name)] = value;
  return cli::JsonText({{"unwind_row", std::move(json)}}, cli::JsonLayout::kOneLine);
}

}  // namespace perftape::inspect

// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/unwind_rows.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "formats/unwind/rule_text.h"
#include "tools/common/cli/json_text.h"

namespace perftape::inspect {
namespace {

using UnwindRowFields = std::vector<std::pair<std::string_view, std::string>>;

UnwindRowFields FieldsOf(const unwind::Table& table, std::size_t row) {
  const unwind::RuleText text = unwind::TextOf(table.rules()[table.rows()[row].rule],
                                               unwind::RegisterNamesOf(table.machine()));
  UnwindRowFields fields = {{"cfa", text.cfa}};
  if (text.ra.empty()) return fields;
  fields.emplace_back("fp", text.fp);
  fields.emplace_back("ra", text.ra);
  fields.emplace_back("bx", text.bx);
  if (!text.flags.empty()) fields.emplace_back("flags", text.flags);
  return fields;
}

std::uint64_t AddressOf(const unwind::Table& table, std::size_t row) {
  return table.base().value + table.rows()[row].pc;
}

}  // namespace

std::string UnwindTableHead() {
  return "address\tcfa\tfp\tra\tbx\tflags\n";
}

std::string UnwindRowText(const unwind::Table& table, std::size_t row) {
  constexpr std::size_t kColumns = 5;
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

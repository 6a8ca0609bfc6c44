// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/symbol_text.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "formats/base/counted.h"

namespace perftape::cli {
namespace {

// Returns "12 no file, 3 another build": the result of `count` for each Miss except kNone; empty if
// there are none.
template <class Count>
std::string MissesText(Count count) {
  constexpr std::pair<symbolize::Miss, std::string_view> kMisses[] = {
      {symbolize::Miss::kNoFile, "no file"},
      {symbolize::Miss::kWrongBuildId, "another build"},
      {symbolize::Miss::kNoSymbol, "no symbol"}};
  std::string text;
  for (const auto& [miss, words] : kMisses) {
    if (const std::uint64_t addresses = count(miss); addresses != 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", addresses, words);
    }
  }
  return text;
}

}  // namespace

std::string SymbolLine(const symbolize::SymbolizeReport& report, SymbolDetail detail) {
  const auto count = [&](symbolize::Miss miss) { return report.count(miss); };
  std::string line = fmt::format(
      "symbols: {} named", Counted(report.count(symbolize::Miss::kNone) + report.kept, "location"));
  const std::string misses = MissesText(count);
  if (!misses.empty()) line += fmt::format("; without a name: {}", misses);
  if (report.unmapped != 0) {
    line += fmt::format("{}{} in no mapping", misses.empty() ? "; without a name: " : ", ",
                        report.unmapped);
  }
  const bool has_reasons =
      count(symbolize::Miss::kNoFile) != 0 || count(symbolize::Miss::kWrongBuildId) != 0;
  if (has_reasons && detail == SymbolDetail::kSummary)
    line += " (--show-sources prints the reasons)";
  return line;
}

std::vector<std::string> MappingLines(const symbolize::SymbolizeReport& report) {
  std::vector<std::string> lines;
  for (const symbolize::MappingSymbols& mapping : report.mappings) {
    const auto count = [&](symbolize::Miss miss) { return mapping.count(miss); };
    const std::string misses = MissesText(count);
    lines.push_back(fmt::format("{}{}: {} named{}{}{}{}", mapping.filename,
                                mapping.build_id.empty() ? "" : " " + mapping.build_id,
                                Counted(mapping.count(symbolize::Miss::kNone), "location"),
                                misses.empty() ? "" : ", ", misses,
                                mapping.problem.empty() ? "" : ": ", mapping.problem));
  }
  return lines;
}

std::vector<std::string> SymbolSourceLines(const symbolize::SymbolizeReport& report) {
  std::vector<std::string> lines;
  for (const symbolize::MappingSymbols& mapping : report.mappings) {
    lines.push_back(fmt::format("{}{}: {}", mapping.filename,
                                mapping.build_id.empty() ? "" : " " + mapping.build_id,
                                mapping.source.empty() ? "no names" : mapping.source));
    for (const std::string& tried : mapping.tried) lines.push_back("  not used: " + tried);
    // If there are names, the problem is about lines. Otherwise `tried` contains the same reason.
    const bool is_in_tried = mapping.source.empty() && !mapping.tried.empty();
    if (!is_in_tried && !mapping.problem.empty()) lines.push_back("  " + mapping.problem);
  }
  return lines;
}

}  // namespace perftape::cli

// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/symbol_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "formats/base/counted.h"
#include "formats/json/value.h"
#include "formats/perf_map/jit_runtimes.h"
#include "formats/perfdata/mapping_name.h"

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

using Json = json::Value;

template <class Count>
Json LocationCountsJson(Count count) {
  return {{"named", count(symbolize::Miss::kNone)},
          {"no_file", count(symbolize::Miss::kNoFile)},
          {"wrong_build_id", count(symbolize::Miss::kWrongBuildId)},
          {"no_symbol", count(symbolize::Miss::kNoSymbol)}};
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

std::string JitLine(const symbolize::SymbolizeReport& report) {
  std::uint64_t all = report.kept, unnamed = 0;
  std::vector<const perf_map::JitRuntime*> runtimes;
  for (const symbolize::MappingSymbols& mapping : report.mappings) {
    for (const std::uint64_t count : mapping.counts) all += count;
    if (perfdata::MayHoldJitCode(mapping.filename) && mapping.problem.empty()) {
      unnamed += mapping.count(symbolize::Miss::kNoFile);  // it has no perf map
    }
    const perf_map::JitRuntime* const runtime = perf_map::FindJitRuntime(mapping.filename);
    if (runtime != nullptr && std::ranges::find(runtimes, runtime) == runtimes.end()) {
      runtimes.push_back(runtime);
    }
  }
  if (unnamed == 0 || unnamed < all / 10) return {};
  return fmt::format("{} without a name: {}", Counted(unnamed, "location"),
                     perf_map::NamingAdvice(runtimes));
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

json::Value SymbolsJson(const symbolize::SymbolizeReport& report) {
  Json json = LocationCountsJson([&](symbolize::Miss miss) { return report.count(miss); });
  json["named_before"] = report.kept;
  json["unmapped"] = report.unmapped;
  json["mappings"] = Json::EmptyList();
  for (const symbolize::MappingSymbols& mapping : report.mappings) {
    Json one = {{"filename", mapping.filename}, {"build_id", mapping.build_id}};
    one.Merge(LocationCountsJson([&](symbolize::Miss miss) { return mapping.count(miss); }));
    if (!mapping.problem.empty()) one["problem"] = mapping.problem;
    if (!mapping.source.empty()) one["source"] = mapping.source;
    if (!mapping.tried.empty()) one["tried"] = mapping.tried;
    json["mappings"].push_back(std::move(one));
  }
  return json;
}

}  // namespace perftape::cli

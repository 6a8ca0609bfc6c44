// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/symbol_json.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace perftape::cli {
namespace {

using Json = nlohmann::ordered_json;

template <class Count>
Json LocationCountsJson(Count count) {
  return {{"named", count(symbolize::Miss::kNone)},
          {"no_file", count(symbolize::Miss::kNoFile)},
          {"wrong_build_id", count(symbolize::Miss::kWrongBuildId)},
          {"no_symbol", count(symbolize::Miss::kNoSymbol)}};
}

}  // namespace

nlohmann::ordered_json SymbolsJson(const symbolize::SymbolizeReport& report) {
  Json json = LocationCountsJson([&](symbolize::Miss miss) { return report.count(miss); });
  json["named_before"] = report.kept;
  json["unmapped"] = report.unmapped;
  json["mappings"] = Json::array();
  for (const symbolize::MappingSymbols& mapping : report.mappings) {
    Json one = {{"filename", mapping.filename}, {"build_id", mapping.build_id}};
    one.update(LocationCountsJson([&](symbolize::Miss miss) { return mapping.count(miss); }));
    if (!mapping.problem.empty()) one["problem"] = mapping.problem;
    if (!mapping.source.empty()) one["source"] = mapping.source;
    if (!mapping.tried.empty()) one["tried"] = mapping.tried;
    json["mappings"].push_back(std::move(one));
  }
  return json;
}

}  // namespace perftape::cli

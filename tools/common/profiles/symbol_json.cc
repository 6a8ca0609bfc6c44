// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/symbol_json.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace perftape::cli {
namespace {

using Json = nlohmann::ordered_json;

template <class Count>
Json PlacesJson(Count count) {
  return {{"named", count(Miss::kNone)},
          {"no_file", count(Miss::kNoFile)},
          {"wrong_build_id", count(Miss::kWrongBuildId)},
          {"no_symbol", count(Miss::kNoSymbol)}};
}

}  // namespace

nlohmann::ordered_json SymbolsJson(const SymbolizeReport& report) {
  Json json = PlacesJson([&](Miss miss) { return report.count(miss); });
  json["named_before"] = report.kept;
  json["unmapped"] = report.unmapped;
  json["mappings"] = Json::array();
  for (const MappingSymbols& mapping : report.mappings) {
    Json one = {{"filename", mapping.filename}, {"build_id", mapping.build_id}};
    one.update(PlacesJson([&](Miss miss) { return mapping.count(miss); }));
    if (!mapping.problem.empty()) one["problem"] = mapping.problem;
    if (!mapping.source.empty()) one["source"] = mapping.source;
    if (!mapping.tried.empty()) one["tried"] = mapping.tried;
    json["mappings"].push_back(std::move(one));
  }
  return json;
}

}  // namespace perftape::cli

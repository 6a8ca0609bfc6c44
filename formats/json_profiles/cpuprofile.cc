// SPDX-License-Identifier: Apache-2.0
#include "formats/json_profiles/cpuprofile.h"

#include <utility>

#include "formats/json_profiles/json_walk.h"

namespace perftape::json_profiles {
namespace {

enum CpuProfilePart : JsonNode {
  kCpuFile,
  kCpuNodes,
  kCpuNode,
  kCpuId,
  kCpuHitCount,
  kCpuChildren,
  kCpuChild,
  kCpuCallFrame,
  kCpuFunction,
  kCpuUrl,
  kCpuLine,
  kCpuSamples,
  kCpuSample,
  kCpuDeltas,
  kCpuDelta,
  kCpuStartTime,
  kCpuEndTime,
};

constexpr JsonRule kCpuRules[] = {
    {kCpuFile, "nodes", kCpuNodes},
    {kCpuNodes, "*", kCpuNode},
    {kCpuNode, "id", kCpuId},
    {kCpuNode, "hitCount", kCpuHitCount},
    {kCpuNode, "children", kCpuChildren},
    {kCpuChildren, "*", kCpuChild},
    {kCpuNode, "callFrame", kCpuCallFrame},
    {kCpuCallFrame, "functionName", kCpuFunction},
    {kCpuCallFrame, "url", kCpuUrl},
    {kCpuCallFrame, "lineNumber", kCpuLine},
    {kCpuFile, "samples", kCpuSamples},
    {kCpuSamples, "*", kCpuSample},
    {kCpuFile, "timeDeltas", kCpuDeltas},
    {kCpuDeltas, "*", kCpuDelta},
    {kCpuFile, "startTime", kCpuStartTime},
    {kCpuFile, "endTime", kCpuEndTime},
};

class CpuProfileVisitor final : public JsonVisitor {
 public:
  CpuProfileFile file;

  void Begin(JsonNode node) override {
    if (node == kCpuNode) file.nodes.emplace_back();
  }

  void Number(JsonNode node, const JsonNumber& number) override {
    switch (node) {
      case kCpuId:
        file.nodes.back().id = number.integer;
        return;
      case kCpuHitCount:
        file.nodes.back().hit_count = number.integer;
        return;
      case kCpuChild:
        return file.nodes.back().children.push_back(number.integer);
      case kCpuLine:
        file.nodes.back().line = number.integer;
        return;
      case kCpuSample:
        return file.samples.push_back(number.integer);
      case kCpuDelta:
        return file.time_deltas.push_back(number.integer);
      case kCpuStartTime:
        file.start_time = number.integer;
        return;
      case kCpuEndTime:
        file.end_time = number.integer;
        return;
      default:
        return;
    }
  }

  void String(JsonNode node, std::string_view text) override {
    if (node == kCpuFunction) file.nodes.back().function = text;
    if (node == kCpuUrl) file.nodes.back().url = text;
  }
};

}  // namespace

bool IsCpuProfile(std::string_view beginning) {
  const std::size_t start = beginning.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || beginning[start] != '{') return false;
  const auto has = [&](std::string_view text) {
    return beginning.find(text) != std::string_view::npos;
  };
  return has("\"nodes\"") && has("\"callFrame\"") && has("\"functionName\"");
}

Result<CpuProfileFile> ReadCpuProfileFile(std::string_view text) {
  CpuProfileVisitor visitor;
  TRY(WalkJson(text, kCpuRules, visitor));
  return std::move(visitor.file);
}

}  // namespace perftape::json_profiles

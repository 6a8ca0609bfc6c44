// SPDX-License-Identifier: Apache-2.0
#include "formats/json_profiles/cpuprofile.h"

#include <cmath>
#include <utility>

#include "formats/json/walk.h"

namespace perftape::json_profiles {
namespace {

enum CpuProfilePart : json::Node {
  kCpuFile,
  kCpuNodes,
  kCpuNode,
  kCpuId,
  kCpuHitCount,
  kCpuSelfSize,
  kCpuChildren,
  kCpuChild,  // an id, or a node
  kCpuCallFrame,
  kCpuFunction,
  kCpuUrl,
  kCpuLine,
  kCpuSamples,
  kCpuSample,
  kCpuDeltas,
  kCpuDelta,
  kCpuTimestamps,
  kCpuTimestamp,
  kCpuStartTime,
  kCpuEndTime,
  kCpuOldFunction,
  kCpuOldUrl,
  kCpuOldLine,
};

constexpr json::Rule kCpuRules[] = {
    {kCpuFile, "profile", kCpuFile},
    {kCpuFile, "result", kCpuFile},
    {kCpuFile, "nodes", kCpuNodes},
    {kCpuNodes, "*", kCpuNode},
    {kCpuFile, "head", kCpuChild},
    {kCpuNode, "id", kCpuId},
    {kCpuNode, "hitCount", kCpuHitCount},
    {kCpuNode, "children", kCpuChildren},
    {kCpuNode, "callFrame", kCpuCallFrame},
    {kCpuChild, "id", kCpuId},
    {kCpuChild, "hitCount", kCpuHitCount},
    {kCpuChild, "selfSize", kCpuSelfSize},
    {kCpuChild, "children", kCpuChildren},
    {kCpuChild, "callFrame", kCpuCallFrame},
    {kCpuChild, "functionName", kCpuOldFunction},
    {kCpuChild, "url", kCpuOldUrl},
    {kCpuChild, "lineNumber", kCpuOldLine},
    {kCpuChildren, "*", kCpuChild},
    {kCpuCallFrame, "functionName", kCpuFunction},
    {kCpuCallFrame, "url", kCpuUrl},
    {kCpuCallFrame, "lineNumber", kCpuLine},
    {kCpuFile, "samples", kCpuSamples},
    {kCpuSamples, "*", kCpuSample},
    {kCpuFile, "timeDeltas", kCpuDeltas},
    {kCpuDeltas, "*", kCpuDelta},
    {kCpuFile, "timestamps", kCpuTimestamps},
    {kCpuTimestamps, "*", kCpuTimestamp},
    {kCpuFile, "startTime", kCpuStartTime},
    {kCpuFile, "endTime", kCpuEndTime},
};

class CpuProfileVisitor final : public json::Visitor {
 public:
  CpuProfileFile Finish() && {
    if (!timestamps_.empty() && file_.time_deltas.empty()) UseTimestamps();
    return std::move(file_);
  }

  void Begin(json::Node part) override {
    if (part != kCpuNode && part != kCpuChild) return;
    open_.push_back(file_.nodes.size());
    file_.nodes.emplace_back();
  }

  void End(json::Node part) override {
    if (part != kCpuNode && part != kCpuChild) return;
    const std::size_t ended = open_.back();
    open_.pop_back();
    // Nodes in each other have ids in most files, but not in all.
    if (!open_.empty()) node().children.push_back(file_.nodes[ended].id);
  }

  void Number(json::Node part, const json::Number& number) override {
    switch (part) {
      case kCpuId:
        node().id = number.integer;
        return;
      case kCpuHitCount:
        node().hit_count = number.integer;
        return;
      case kCpuSelfSize:
        node().self_size = number.integer;
        file_.is_heap = true;
        return;
      case kCpuChild:
        // The head of a file can be a number, too.
        if (!open_.empty()) node().children.push_back(number.integer);
        return;
      case kCpuLine:
        node().line = number.integer;
        return;
      case kCpuOldLine:
        node().line = number.integer > 0 ? number.integer - 1 : -1;
        return;
      case kCpuSample:
        return file_.samples.push_back(number.integer);
      case kCpuDelta:
        return file_.time_deltas.push_back(number.integer);
      case kCpuTimestamp:
        return timestamps_.push_back(number.integer);
      case kCpuStartTime:
        file_.start_time = number.integer;
        return;
      case kCpuEndTime:
        file_.end_time = number.integer;
        end_time_ = number.value;
        return;
      default:
        return;
    }
  }

  void String(json::Node part, std::string_view text) override {
    if (part == kCpuFunction || part == kCpuOldFunction) node().function = text;
    if (part == kCpuUrl || part == kCpuOldUrl) node().url = text;
  }

 private:
  // The rules lead to the parts of a node only below one, whose Begin was called.
  CpuProfileNode& node() { return file_.nodes[open_.back()]; }

  void UseTimestamps() {
    constexpr double kMicroseconds = 1e6, kMost = 9e18;
    file_.start_time = timestamps_.front();
    std::int64_t last = timestamps_.front();
    for (const std::int64_t time : timestamps_) {
      std::int64_t delta = 0;
      if (__builtin_sub_overflow(time, last, &delta)) delta = 0;
      file_.time_deltas.push_back(delta);
      last = time;
    }
    const double end = end_time_ * kMicroseconds;
    file_.end_time = end > 0 && end < kMost ? std::llround(end) : 0;
  }

  CpuProfileFile file_;
  std::vector<std::size_t> open_;  // nodes in each other
  std::vector<std::int64_t> timestamps_;
  double end_time_ = 0;
};

}  // namespace

bool IsCpuProfile(std::string_view beginning) {
  const std::uint64_t nodes = json::NodesIn(beginning, kCpuRules);
  return (nodes & (json::NodeBit(kCpuFunction) | json::NodeBit(kCpuOldFunction))) != 0;
}

Result<CpuProfileFile> ReadCpuProfileFile(std::string_view text) {
  CpuProfileVisitor visitor;
  TRY(json::Walk(text, kCpuRules, visitor));
  return std::move(visitor).Finish();
}

}  // namespace perftape::json_profiles

// SPDX-License-Identifier: Apache-2.0
#include "formats/json_profiles/chrome_trace.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "formats/json/walk.h"

namespace perftape::json_profiles {
namespace {

enum TracePart : json::Node {
  kTrace,
  kTraceEvents,
  kTraceMetadata,
  kTraceSource,
  kTraceEvent,
  kTracePhase,
  kTraceName,
  kTraceId,
  kTracePid,
  kTraceTid,
  kTraceArgs,
  kTraceThreadName,
  kTraceData,
  kTraceStartTime,
  kTraceEndTime,
  kTraceProfile,
  kTraceNodes,
  kTraceNode,
  kTraceNodeId,
  kTraceNodeParent,
  kTraceCallFrame,
  kTraceFunction,
  kTraceUrl,
  kTraceLine,
  kTraceIds,
  kTraceSampleId,
  kTraceDeltas,
  kTraceDelta,
  kTraceFrames,
  kTraceFrame,
  kTraceFrameName,
  kTraceFrameParent,
  kTraceSamples,
  kTraceSample,
  kTraceSamplePid,
  kTraceSampleTid,
  kTraceSampleTime,
  kTraceSampleFrame,
};

constexpr json::Rule kTraceRules[] = {
    {kTrace, "*", kTraceEvent},
    {kTrace, "traceEvents", kTraceEvents},
    {kTrace, "metadata", kTraceMetadata},
    {kTraceMetadata, "source", kTraceSource},
    {kTraceEvents, "*", kTraceEvent},
    {kTraceEvent, "ph", kTracePhase},
    {kTraceEvent, "name", kTraceName},
    {kTraceEvent, "id", kTraceId},
    {kTraceEvent, "pid", kTracePid},
    {kTraceEvent, "tid", kTraceTid},
    {kTraceEvent, "args", kTraceArgs},
    {kTraceArgs, "name", kTraceThreadName},
    {kTraceArgs, "data", kTraceData},
    {kTraceData, "startTime", kTraceStartTime},
    {kTraceData, "endTime", kTraceEndTime},
    {kTraceData, "cpuProfile", kTraceProfile},
    {kTraceData, "timeDeltas", kTraceDeltas},
    {kTraceProfile, "nodes", kTraceNodes},
    {kTraceProfile, "samples", kTraceIds},
    {kTraceProfile, "timeDeltas", kTraceDeltas},
    {kTraceNodes, "*", kTraceNode},
    {kTraceNode, "id", kTraceNodeId},
    {kTraceNode, "parent", kTraceNodeParent},
    {kTraceNode, "callFrame", kTraceCallFrame},
    {kTraceCallFrame, "functionName", kTraceFunction},
    {kTraceCallFrame, "url", kTraceUrl},
    {kTraceCallFrame, "lineNumber", kTraceLine},
    {kTraceIds, "*", kTraceSampleId},
    {kTraceDeltas, "*", kTraceDelta},
    {kTrace, "stackFrames", kTraceFrames},
    {kTraceFrames, json::kAnyKey, kTraceFrame},
    {kTraceFrame, "name", kTraceFrameName},
    {kTraceFrame, "parent", kTraceFrameParent},
    {kTrace, "samples", kTraceSamples},
    {kTraceSamples, "*", kTraceSample},
    {kTraceSample, "pid", kTraceSamplePid},
    {kTraceSample, "tid", kTraceSampleTid},
    {kTraceSample, "ts", kTraceSampleTime},
    {kTraceSample, "sf", kTraceSampleFrame},
};

std::optional<std::int64_t> IntegerIn(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || parsed != end) return {};
  return number;
}

std::optional<std::uint32_t> ThreadIdOf(std::int64_t number) {
  if (number < 0 || number > std::numeric_limits<std::uint32_t>::max()) return {};
  return static_cast<std::uint32_t>(number);
}

struct TraceEvent {
  std::string phase, name, id, thread_name;
  std::int64_t pid = 0, tid = 0;
  CpuProfileFile chunk;
};

struct TraceSample {
  std::int64_t pid = 0, tid = 0, time = 0, frame = 0;
};

class TraceVisitor final : public json::Visitor {
 public:
  std::vector<CpuProfileFile> Finish() && {
    AddSamplesBesideEvents();
    std::vector<CpuProfileFile> files;
    for (CpuProfileFile& file : files_) {
      if (file.samples.empty()) continue;
      const auto name = thread_names_.find({file.pid, file.tid});
      if (name != thread_names_.end()) file.thread_name = name->second;
      files.push_back(std::move(file));
    }
    return files;
  }

  void Begin(json::Node part) override {
    if (part == kTraceEvent) event_ = {};
    if (part == kTraceNode) event_.chunk.nodes.emplace_back();
    if (part == kTraceFrame) frames_.push_back({.id = frame_id_});
    if (part == kTraceSample) samples_.emplace_back();
  }

  void End(json::Node part) override {
    if (part == kTraceEvent) AddEvent();
  }

  void Key(json::Node part, std::string_view key) override {
    if (part == kTraceFrame) frame_id_ = IntegerIn(key).value_or(-1);
  }

  void Number(json::Node part, const json::Number& number) override {
    CpuProfileFile& chunk = event_.chunk;
    switch (part) {
      case kTraceId:
        event_.id = std::to_string(number.integer);
        return;
      case kTracePid:
        event_.pid = number.integer;
        return;
      case kTraceTid:
        event_.tid = number.integer;
        return;
      case kTraceStartTime:
        chunk.start_time = number.integer;
        return;
      case kTraceEndTime:
        chunk.end_time = number.integer;
        return;
      case kTraceNodeId:
        chunk.nodes.back().id = number.integer;
        return;
      case kTraceNodeParent:
        chunk.nodes.back().parent = number.integer;
        return;
      case kTraceLine:
        chunk.nodes.back().line = number.integer;
        return;
      case kTraceSampleId:
        return chunk.samples.push_back(number.integer);
      case kTraceDelta:
        return chunk.time_deltas.push_back(number.integer);
      default:
        return SetOfSample(part, number.integer);
    }
  }

  void String(json::Node part, std::string_view text) override {
    CpuProfileFile& chunk = event_.chunk;
    if (part == kTracePhase) event_.phase = text;
    if (part == kTraceName) event_.name = text;
    if (part == kTraceId) event_.id = text;
    if (part == kTraceThreadName) event_.thread_name = text;
    if (part == kTraceFunction) chunk.nodes.back().function = text;
    if (part == kTraceUrl) chunk.nodes.back().url = text;
    if (part == kTraceFrameName) frames_.back().function = text;
    // Hermes writes numbers as strings.
    if (const auto number = IntegerIn(text)) SetOfSample(part, *number);
  }

 private:
  void SetOfSample(json::Node part, std::int64_t number) {
    if (part == kTraceFrameParent) frames_.back().parent = number;
    if (part == kTraceSamplePid) samples_.back().pid = number;
    if (part == kTraceSampleTid) samples_.back().tid = number;
    if (part == kTraceSampleTime) samples_.back().time = number;
    if (part == kTraceSampleFrame) samples_.back().frame = number;
  }

  void AddEvent() {
    if (event_.name == "thread_name") {
      thread_names_[{ThreadIdOf(event_.pid), ThreadIdOf(event_.tid)}] = event_.thread_name;
    }
    const bool begins = event_.name == "Profile";
    if (!begins && event_.name != "ProfileChunk") return;
    CpuProfileFile& file = FileOf(event_);
    CpuProfileFile& chunk = event_.chunk;
    // Chunks are of the thread of V8's sampler.
    if (begins || !file.tid) file.tid = ThreadIdOf(event_.tid);
    if (begins) file.start_time = chunk.start_time;
    file.end_time = std::max(file.end_time, chunk.end_time);
    std::ranges::move(chunk.nodes, std::back_inserter(file.nodes));
    chunk.time_deltas.resize(chunk.samples.size());
    std::ranges::copy(chunk.samples, std::back_inserter(file.samples));
    std::ranges::copy(chunk.time_deltas, std::back_inserter(file.time_deltas));
  }

  CpuProfileFile& FileOf(const TraceEvent& event) {
    const auto [known, is_new] = file_indexes_.try_emplace({event.pid, event.id}, files_.size());
    if (is_new) files_.emplace_back().pid = ThreadIdOf(event.pid);
    return files_[known->second];
  }

  // Programs that write such samples have one thread.
  void AddSamplesBesideEvents() {
    if (samples_.empty()) return;
    std::ranges::stable_sort(samples_, {}, &TraceSample::time);
    CpuProfileFile& file = files_.emplace_back();
    file.nodes = std::move(frames_);
    file.pid = ThreadIdOf(samples_.front().pid);
    file.tid = ThreadIdOf(samples_.front().tid);
    file.start_time = samples_.front().time;
    std::int64_t last = file.start_time;
    for (const TraceSample& sample : samples_) {
      std::int64_t delta = 0;
      if (__builtin_sub_overflow(sample.time, last, &delta)) delta = 0;
      file.samples.push_back(sample.frame);
      file.time_deltas.push_back(delta);
      last = sample.time;
    }
  }

  TraceEvent event_;
  std::vector<CpuProfileFile> files_;
  std::map<std::pair<std::int64_t, std::string>, std::size_t> file_indexes_;  // by pid and id
  std::map<std::pair<std::optional<std::uint32_t>, std::optional<std::uint32_t>>, std::string>
      thread_names_;
  std::int64_t frame_id_ = -1;
  std::vector<CpuProfileNode> frames_;  // beside the events
  std::vector<TraceSample> samples_;
};

}  // namespace

bool IsChromeTrace(std::string_view beginning) {
  const std::uint64_t nodes = json::NodesIn(beginning, kTraceRules);
  const auto has = [&](json::Node node) { return (nodes & json::NodeBit(node)) != 0; };
  const bool has_event = has(kTraceEvent) && has(kTracePhase) && has(kTraceName);
  return has(kTraceEvents) || has_event || has(kTraceSampleFrame) || has(kTraceFrameName) ||
         (has(kTraceSource) && beginning.find("\"DevTools\"") != std::string_view::npos);
}

Result<std::vector<CpuProfileFile>> ReadChromeTrace(std::string_view text) {
  TraceVisitor visitor;
  TRY(json::Walk(text, kTraceRules, visitor));
  return std::move(visitor).Finish();
}

}  // namespace perftape::json_profiles

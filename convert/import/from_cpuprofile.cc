// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "convert/import/from_other_programs.h"
#include "convert/import/named_frames.h"
#include "convert/model/profile_builder.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "formats/base/utf8_text.h"
#include "formats/json_profiles/chrome_trace.h"
#include "formats/json_profiles/cpuprofile.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::convert {
namespace {

using json_profiles::CpuProfileFile;
using json_profiles::CpuProfileNode;

// The name of the root in V8, and in Hermes.
bool IsRoot(const CpuProfileNode& node) {
  return node.function == "(root)" || node.function == "[root]";
}

constexpr std::int64_t kNsPerMicrosecond = 1000;
constexpr std::size_t kNoNode = SIZE_MAX;

class CpuProfileImporter {
 public:
  CpuProfileImporter(const ImportOptions& options, ImportReport& report)
      : report_(report), frames_(builder_, options.map_kernel_addresses) {}

  // Adds the samples of one thread. `file` is used during the call.
  void Add(const CpuProfileFile& file) {
    file_ = &file;
    AddStacks();
    thread_ = {};
    if (file.pid || file.tid || !file.thread_name.empty()) {
      thread_ = builder_.Add(Thread{.pid = file.pid.value_or(kUnknownId),
                                    .tid = file.tid.value_or(kUnknownId),
                                    .comm = builder_.Add(file.thread_name)});
    }
    if (file.is_heap) return AddSizes();
    event_ = builder_.Add(
        Event{.name = builder_.Add("cpu"), .unit = builder_.Add(perfdata::kNanoseconds)});
    file.samples.empty() ? AddHits() : AddSamples();
    if (file.end_time <= file.start_time) return;
    duration_ns_ = std::max(duration_ns_, InNs(SubtractUpToLimit(file.end_time, file.start_time)));
  }

  Profile Finish() && {
    builder_.SetMetadata({.duration_ns = duration_ns_});
    return std::move(builder_).Finish();
  }

 private:
  static std::int64_t InNs(std::int64_t microseconds) {
    std::int64_t ns = 0;
    return __builtin_mul_overflow(microseconds, kNsPerMicrosecond, &ns) ? INT64_MAX : ns;
  }

  // Builds the stack of each node, those of callers first. A node in a cycle, or below none, is a
  // root.
  void AddStacks() {
    const std::size_t size = file_->nodes.size();
    index_.clear();
    for (std::size_t i = 0; i < size; ++i) index_.try_emplace(file_->nodes[i].id, i);
    callers_.assign(size, kNoNode);
    for (std::size_t i = 0; i < size; ++i) {
      for (const std::int64_t child : file_->nodes[i].children) {
        const auto found = index_.find(child);
        if (found != index_.end() && callers_[found->second] == kNoNode)
          callers_[found->second] = i;
      }
      if (!file_->nodes[i].parent) continue;
      const auto found = index_.find(*file_->nodes[i].parent);
      if (found != index_.end() && callers_[i] == kNoNode) callers_[i] = found->second;
    }
    stacks_.resize(size);
    depths_.resize(size);
    enum class State : std::uint8_t { kNew, kOpen, kDone };
    std::vector<State> states(size, State::kNew);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t at = i; at != kNoNode && states[at] == State::kNew; at = callers_[at]) {
        states[at] = State::kOpen;
        open.push_back(at);
      }
      while (!open.empty()) {
        const std::size_t at = open.back();
        open.pop_back();
        const std::size_t caller = callers_[at];
        const bool has_caller = caller != kNoNode && states[caller] == State::kDone;
        depths_[at] = (has_caller ? depths_[caller] : 0) + 1;
        stacks_[at] = StackOf(file_->nodes[at], has_caller ? stacks_[caller] : StackId{});
        states[at] = State::kDone;
      }
    }
  }

  StackId StackOf(const CpuProfileNode& node, StackId caller) {
    if (IsRoot(node)) return caller;
    const std::string_view name =
        node.function.empty() ? std::string_view("(anonymous)") : std::string_view(node.function);
    return builder_.Push(caller, frames_.Add({.name = name,
                                              .file = node.url,
                                              .start_line = std::max<std::int64_t>(
                                                  node.line < INT32_MAX ? node.line + 1 : 0, 0)}));
  }

  // A sample lasts until the next one, the last one until the end.
  void AddSamples() {
    const std::vector<std::int64_t>& deltas = file_->time_deltas;
    std::int64_t time = file_->start_time;
    for (std::size_t i = 0; i < file_->samples.size(); ++i) {
      if (i < deltas.size()) time = AddUpToLimit(time, deltas[i]);
      std::int64_t lasted = 0;
      if (i + 1 < file_->samples.size()) {
        lasted = i + 1 < deltas.size() ? deltas[i + 1] : 0;
      } else if (file_->end_time > time && time > 0) {
        lasted = SubtractUpToLimit(file_->end_time, time);
      }
      const auto node = index_.find(file_->samples[i]);
      if (node == index_.end()) {
        ++report_.skipped_samples;
        continue;
      }
      AddSample(node->second, 1, InNs(std::max<std::int64_t>(lasted, 0)));
    }
  }

  void AddHits() {
    for (std::size_t i = 0; i < file_->nodes.size(); ++i) {
      const std::int64_t hits = file_->nodes[i].hit_count;
      if (hits > 0) AddSample(i, hits, 0);
    }
  }

  void AddSizes() {
    event_ = builder_.Add(Event{.name = builder_.Add("alloc_space"),
                                .unit = builder_.Add("bytes"),
                                .values = EventValues::kPlain});
    for (std::size_t i = 0; i < file_->nodes.size(); ++i) {
      if (file_->nodes[i].self_size > 0) AddSample(i, 0, file_->nodes[i].self_size);
    }
  }

  void AddSample(std::size_t node, std::int64_t count, std::int64_t period) {
    // The root has samples only to end the time of the one before.
    if (IsRoot(file_->nodes[node])) return;
    builder_.Add(Sample{.stack = stacks_[node],
                        .thread = thread_,
                        .event = event_,
                        .count = count,
                        .period = period});
    report_.samples += count == 0 ? 1 : static_cast<std::uint64_t>(count);
    report_.frames += depths_[node] - 1;
  }

  const CpuProfileFile* file_ = nullptr;  // that is being added
  ImportReport& report_;
  ProfileBuilder builder_;
  NamedFrames frames_;
  EventId event_ = {};
  ThreadId thread_ = {};
  std::int64_t duration_ns_ = 0;
  std::unordered_map<std::int64_t, std::size_t> index_;  // of nodes, by id
  std::vector<std::size_t> callers_;
  std::vector<StackId> stacks_;
  std::vector<std::uint64_t> depths_;  // the root counts as one
};

}  // namespace

bool IsCpuProfileFile(const Input& input) {
  return json_profiles::IsCpuProfile(Utf8Text(input.first()).view());
}

Result<Profile> ReadCpuProfile(Input& input, const ImportOptions& options, ImportReport& report) {
  TRY_ASSIGN(const Bytes bytes, input.All());
  const Utf8Text text(bytes);
  TRY_ASSIGN(const CpuProfileFile file, json_profiles::ReadCpuProfileFile(text.view()));
  CpuProfileImporter importer(options, report);
  importer.Add(file);
  if (report.skipped_samples != 0) report.first_skipped = "a node that is not in the file";
  return std::move(importer).Finish();
}

bool IsChromeTraceFile(const Input& input) {
  return json_profiles::IsChromeTrace(Utf8Text(input.first()).view());
}

Result<Profile> ReadChromeTrace(Input& input, const ImportOptions& options, ImportReport& report) {
  TRY_ASSIGN(const Bytes bytes, input.All());
  const Utf8Text text(bytes);
  TRY_ASSIGN(const std::vector<CpuProfileFile> files, json_profiles::ReadChromeTrace(text.view()));
  if (files.empty()) {
    return Fail(
        ErrorCode::kUnsupported,
        "the trace has no samples (events \"ProfileChunk\"), only other events; `node --cpu-prof` "
        "and the inspector's Profiler.stop write a .cpuprofile, which perftape reads");
  }
  CpuProfileImporter importer(options, report);
  for (const CpuProfileFile& file : files) importer.Add(file);
  if (report.skipped_samples != 0) report.first_skipped = "a node that is not in the file";
  return std::move(importer).Finish();
}

}  // namespace perftape::convert

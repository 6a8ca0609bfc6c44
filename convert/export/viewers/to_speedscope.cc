// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/export/flame_graph/stack_tree.h"
#include "convert/export/rank.h"
#include "convert/export/viewers/firefox_threads.h"
#include "convert/export/viewers/text_output.h"
#include "convert/export/viewers/viewers.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "formats/base/text.h"
#include "formats/base/unknown_name.h"
#include "formats/folded/count.h"
#include "formats/json/string.h"

namespace perftape::viewers {
namespace {

using convert::EventId;
using convert::Profile;
using flame_graph::FrameId;
using flame_graph::RootedFrameTable;
using flame_graph::StackForest;
using flame_graph::StackNode;
using flame_graph::StackTree;

// The units of speedscope's FileFormat.ValueUnit, besides "none".
constexpr std::array<std::string_view, 5> kSpeedscopeUnits = {"nanoseconds", "microseconds",
                                                              "milliseconds", "seconds", "bytes"};

std::string_view UnitOf(const Profile& profile, convert::FoldedValue value, EventId event) {
  if (convert::CountsSamples(profile, value, event)) return "none";
  const std::string_view unit = profile.text(profile[event].unit);
  const auto* known = std::ranges::find(kSpeedscopeUnits, unit);
  return known == kSpeedscopeUnits.end() ? "none" : *known;
}

// The frames of the file. speedscope tells frames apart by their index, so frames that look the
// same have the same one.
class SharedFrames {
 public:
  // `ranks` are RootedFrameTable::Ranks.
  SharedFrames(const Profile& profile, const RootedFrameTable& frames,
               const std::vector<std::uint32_t>& ranks)
      : of_frames_(frames.size()) {
    std::vector<FrameId> by_rank(frames.size());
    for (FrameId frame = 0; frame < frames.size(); ++frame) by_rank[ranks[frame]] = frame;
    std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> known;
    for (const FrameId frame : by_rank) {
      const convert::StringId file =
          frames[frame].source == convert::StringId{} ? frames[frame].dso : frames[frame].source;
      const auto [entry, is_new] =
          known.emplace(std::pair(frames.NameOf(frame), profile.text(file)), frames_.size());
      of_frames_[frame] = entry->second;
      const std::int64_t line = frames[frame].first_line;
      if (is_new) {
        frames_.push_back({.name = entry->first.first, .file = entry->first.second, .line = line});
      } else if (std::int64_t& first = frames_[entry->second].line; line != 0) {
        first = first == 0 ? line : std::min(first, line);
      }
    }
  }

  std::uint32_t operator[](FrameId frame) const { return of_frames_[frame]; }

  Status Write(TextOutput& out) const {
    out.text += "\"shared\":{\"frames\":[";
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      out.text += i == 0 ? "\n{\"name\":" : ",\n{\"name\":";
      json::AppendString(out.text, frames_[i].name);
      if (!frames_[i].file.empty()) {
        out.text += ",\"file\":";
        json::AppendString(out.text, frames_[i].file);
      }
      if (frames_[i].line > 0) {
        AppendFormat(out.text, ",\"line\":{}", frames_[i].line);
      }
      out.text += '}';
      TRY(out.FlushIfLarge());
    }
    out.text += "]}";
    return {};
  }

 private:
  struct SharedFrame {
    std::string_view name, file;
    std::int64_t line = 0;  // 0 if unknown
  };

  std::vector<SharedFrame> frames_;
  std::vector<std::uint32_t> of_frames_;  // by FrameId
};

// Writes the stack of each node with samples of its own, root first: "[0,7,12]".
Status WriteStacks(const StackTree& tree, const SharedFrames& frames, TextOutput& out) {
  std::string path;
  std::vector<std::size_t> ends = {0};  // of the frames, in `path`; the first one is of no frame
  bool is_first = true;
  for (const StackNode& node : tree.nodes) {
    ends.resize(node.depth + std::size_t{1});
    path.resize(ends.back());
    AppendFormat(path, "{}{}", node.depth == 0 ? "" : ",", frames[node.frame]);
    ends.push_back(path.size());
    if (node.self == 0) continue;
    if (!std::exchange(is_first, false)) out.text += ',';
    out.text += "\n[";
    out.text += path;
    out.text += ']';
    TRY(out.FlushIfLarge());
  }
  return {};
}

Status WriteWeights(const StackTree& tree, unsigned decimals, TextOutput& out) {
  bool is_first = true;
  for (const StackNode& node : tree.nodes) {
    if (node.self == 0) continue;
    if (!std::exchange(is_first, false)) out.text += ',';
    folded::AppendFixed(out.text, node.self, decimals);
    TRY(out.FlushIfLarge());
  }
  return {};
}

struct SpeedscopeProfile {
  EventId event = {};
  StackTree tree;
};

// Without "endValue", speedscope 1.25 hangs.
Status WriteProfile(const Profile& profile, const SpeedscopeProfile& written, std::string_view unit,
                    const SharedFrames& frames, TextOutput& out) {
  const convert::Event& event = profile[written.event];
  out.text += "{\"type\":\"sampled\",\"name\":";
  json::AppendString(out.text, profile.text(event.name));
  AppendFormat(out.text, ",\"unit\":\"{}\",\"startValue\":0,\"endValue\":", unit);
  folded::AppendFixed(out.text, written.tree.total(), event.decimals);
  out.text += ",\"samples\":[";
  TRY(WriteStacks(written.tree, frames, out));
  out.text += "],\n\"weights\":[";
  TRY(WriteWeights(written.tree, event.decimals, out));
  out.text += "]}";
  return out.FlushIfLarge();
}

// Writes the file up to its profiles.
Status WriteBeginning(const SharedFrames& frames, std::size_t active, TextOutput& out) {
  AppendFormat(out.text,
               "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
               "\"exporter\":\"perftape\",\"activeProfileIndex\":{},\n",
               active);
  TRY(frames.Write(out));
  out.text += ",\n\"profiles\":[";
  return {};
}

Status WriteEnd(TextOutput& out) {
  out.text += "]}\n";
  return out.Flush();
}

// The file of a profile with times: one profile for each event and thread, with an entry for each
// sample.
class TimedFile {
 public:
  TimedFile(const Profile& profile, const convert::FoldedOptions& options, TextOutput& out)
      : profile_(profile),
        table_(profile, options),
        no_frames_(table_.OfNoFrames()),
        values_(convert::ChooseValues(profile, options.value)),
        threads_(FirefoxThreadsOf(profile, options, convert::RankAll(profile)).threads),
        frames_(profile, table_, table_.Ranks()),
        out_(out) {}

  Result<ViewReport> Write() {
    TRY(WriteBeginning(frames_, Largest(), out_));
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      out_.text += i == 0 ? "\n" : ",\n";
      TRY(WriteThread(threads_[i]));
    }
    TRY(WriteEnd(out_));
    return report_;
  }

 private:
  // Returns the thread with the most samples: the one that is shown first.
  std::size_t Largest() const {
    const auto largest = std::ranges::max_element(
        threads_, {}, [](const FirefoxThread& thread) { return thread.samples.size(); });
    return static_cast<std::size_t>(largest - threads_.begin());
  }

  // Returns "app 17/18", with the event if the file has several.
  std::string NameOf(const FirefoxThread& thread) const {
    std::string name(thread.comm.empty() ? kUnknownName : thread.comm);
    if (thread.tid != -1) name += fmt::format(" {}/{}", thread.pid, thread.tid);
    const bool is_of_several = std::ranges::any_of(
        threads_, [&](const FirefoxThread& other) { return other.event != thread.event; });
    if (is_of_several) name.append(": ").append(profile_.text(profile_[thread.event].name));
    return name;
  }

  Status WriteThread(const FirefoxThread& thread) {
    std::int64_t sum = 0;
    for (const FirefoxSample& sample : thread.samples) {
      if (sample.number < 0) ++report_.negative_samples;
      sum = convert::AddUpToLimit(sum, std::max<std::int64_t>(sample.number, 0));
    }
    const unsigned decimals = profile_[thread.event].decimals;
    out_.text += "{\"type\":\"sampled\",\"name\":";
    json::AppendString(out_.text, NameOf(thread));
    AppendFormat(out_.text, ",\"unit\":\"{}\",\"startValue\":0,\"endValue\":",
                 UnitOf(profile_, values_[thread.event.index], thread.event));
    folded::AppendFixed(out_.text, sum, decimals);
    out_.text += ",\"samples\":[";
    bool is_first = true;
    for (const FirefoxSample& sample : thread.samples) {
      if (sample.number < 0) continue;
      out_.text += std::exchange(is_first, false) ? "\n[" : ",\n[";
      AppendFrames(sample.stack);
      out_.text += ']';
      TRY(out_.FlushIfLarge());
    }
    out_.text += "],\n\"weights\":[";
    is_first = true;
    for (const FirefoxSample& sample : thread.samples) {
      if (sample.number < 0) continue;
      if (!std::exchange(is_first, false)) out_.text += ',';
      folded::AppendFixed(out_.text, sample.number, decimals);
      TRY(out_.FlushIfLarge());
    }
    out_.text += "]}";
    return out_.FlushIfLarge();
  }

  // Appends the frames of a stack, the outermost first: "0,7,12".
  void AppendFrames(convert::StackId stack) {
    path_.clear();
    convert::AppendFrames(profile_, table_, stack, path_);
    if (path_.empty()) path_.push_back(no_frames_);
    for (std::size_t i = path_.size(); i-- > 0;) {
      AppendFormat(out_.text, "{}{}", frames_[path_[i]], i == 0 ? "" : ",");
    }
  }

  const Profile& profile_;
  RootedFrameTable table_;
  const FrameId no_frames_;
  const std::vector<convert::FoldedValue> values_;  // by EventId
  const std::vector<FirefoxThread> threads_;
  const SharedFrames frames_;
  TextOutput& out_;
  ViewReport report_;
  std::vector<FrameId> path_;  // scratch of AppendFrames
};

}  // namespace

Result<ViewReport> WriteSpeedscope(const Profile& profile, const convert::FoldedOptions& options,
                                   OutputFile& file) {
  TextOutput out(file);
  if (convert::HasTimes(profile)) return TimedFile(profile, options, out).Write();
  RootedFrameTable table(profile, options);
  std::vector<SpeedscopeProfile> profiles;
  std::vector<StackForest> forests;
  for (const EventId event : convert::EventsWithSamples(profile)) {
    profiles.push_back({.event = event, .tree = {}});
    forests.push_back(StackForest::Of(profile, event, table));
  }
  const std::vector<std::uint32_t> ranks = table.Ranks();
  const SharedFrames frames(profile, table, ranks);
  TRY(WriteBeginning(frames, 0, out));
  ViewReport report;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    profiles[i].tree = forests[i].Join(ranks);
    forests[i] = {};
    report.negative_samples += profiles[i].tree.negative_samples;
    out.text += i == 0 ? "\n" : ",\n";
    TRY(WriteProfile(profile, profiles[i],
                     UnitOf(profile, profiles[i].tree.value, profiles[i].event), frames, out));
    profiles[i].tree = {};
  }
  TRY(WriteEnd(out));
  return report;
}

}  // namespace perftape::viewers

// SPDX-License-Identifier: Apache-2.0
#include "convert/export/viewers/to_speedscope.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/export/flame_graph/call_tree.h"
#include "convert/export/flame_graph/frame_table.h"
#include "convert/export/viewers/json_string.h"
#include "convert/export/viewers/text_output.h"
#include "formats/folded/count.h"

namespace perftape::viewers {
namespace {

using convert::EventId;
using convert::Profile;
using flame_graph::CallNode;
using flame_graph::CallTree;
using flame_graph::FrameId;
using flame_graph::FrameTable;
using flame_graph::StackForest;

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
  // `ranks` are FrameTable::Ranks.
  SharedFrames(const Profile& profile, const FrameTable& frames,
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
      AppendJsonString(out.text, frames_[i].name);
      if (!frames_[i].file.empty()) {
        out.text += ",\"file\":";
        AppendJsonString(out.text, frames_[i].file);
      }
      if (frames_[i].line > 0) {
        fmt::format_to(std::back_inserter(out.text), ",\"line\":{}", frames_[i].line);
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
Status WriteStacks(const CallTree& tree, const SharedFrames& frames, TextOutput& out) {
  std::string path;
  std::vector<std::size_t> ends = {0};  // of the frames, in `path`; the first one is of no frame
  bool is_first = true;
  for (const CallNode& node : tree.nodes) {
    ends.resize(node.depth + std::size_t{1});
    path.resize(ends.back());
    fmt::format_to(std::back_inserter(path), "{}{}", node.depth == 0 ? "" : ",",
                   frames[node.frame]);
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

Status WriteWeights(const CallTree& tree, unsigned decimals, TextOutput& out) {
  bool is_first = true;
  for (const CallNode& node : tree.nodes) {
    if (node.self == 0) continue;
    if (!std::exchange(is_first, false)) out.text += ',';
    folded::AppendFixed(out.text, node.self, decimals);
    TRY(out.FlushIfLarge());
  }
  return {};
}

struct SpeedscopeProfile {
  EventId event = {};
  CallTree tree;
};

// Without "endValue", speedscope 1.25 hangs.
Status WriteProfile(const Profile& profile, const SpeedscopeProfile& written, std::string_view unit,
                    const SharedFrames& frames, TextOutput& out) {
  const convert::Event& event = profile[written.event];
  out.text += "{\"type\":\"sampled\",\"name\":";
  AppendJsonString(out.text, profile.text(event.name));
  fmt::format_to(std::back_inserter(out.text),
                 ",\"unit\":\"{}\",\"startValue\":0,\"endValue\":", unit);
  folded::AppendFixed(out.text, written.tree.total(), event.decimals);
  out.text += ",\"samples\":[";
  TRY(WriteStacks(written.tree, frames, out));
  out.text += "],\n\"weights\":[";
  TRY(WriteWeights(written.tree, event.decimals, out));
  out.text += "]}";
  return out.FlushIfLarge();
}

}  // namespace

Result<ViewReport> WriteSpeedscope(const Profile& profile, const convert::FoldedOptions& options,
                                   OutputFile& file) {
  FrameTable table(profile, options);
  std::vector<SpeedscopeProfile> profiles;
  std::vector<StackForest> forests;
  for (const EventId event : convert::EventsWithSamples(profile)) {
    profiles.push_back({.event = event, .tree = {}});
    forests.push_back(StackForest::Of(profile, event, table));
  }
  const std::vector<std::uint32_t> ranks = table.Ranks();
  const SharedFrames frames(profile, table, ranks);

  TextOutput out(file);
  out.text =
      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
      "\"exporter\":\"perftape\",\"activeProfileIndex\":0,\n";
  TRY(frames.Write(out));
  out.text += ",\n\"profiles\":[";
  ViewReport report;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    profiles[i].tree = forests[i].Join(ranks);
    forests[i] = {};
    report.negative_samples += profiles[i].tree.negative_samples;
    out.text += i == 0 ? "\n" : ",\n";
    TRY(WriteProfile(profile, profiles[i], UnitOf(profile, options.value, profiles[i].event),
                     frames, out));
    profiles[i].tree = {};
  }
  out.text += "]}\n";
  TRY(out.Flush());
  return report;
}

}  // namespace perftape::viewers

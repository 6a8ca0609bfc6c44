// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convert/export/flame_graph/stack_tree.h"
#include "convert/export/viewers/text_output.h"
#include "convert/export/viewers/viewers.h"
#include "convert/model/saturating.h"
#include "formats/base/text.h"
#include "formats/folded/count.h"
#include "formats/json/string.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::viewers {
namespace {

using convert::EventId;
using convert::Profile;
using flame_graph::RootedFrameTable;
using flame_graph::StackForest;
using flame_graph::StackNode;
using flame_graph::StackTree;

constexpr std::size_t kRootId = 1;
constexpr std::size_t kFirstId = 2;  // of the tree's first node

// The children of each node, as indexes in the tree.
struct Children {
  std::vector<std::uint32_t> begins;  // of each node in `indexes`; one more entry for the end
  std::vector<std::uint32_t> indexes;
  std::vector<std::uint32_t> roots;
};

// The nodes of a tree are in preorder.
Children ChildrenOf(const StackTree& tree) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  const auto size = static_cast<std::uint32_t>(tree.nodes.size());
  std::vector<std::uint32_t> parents(size, kNone);
  std::vector<std::uint32_t> path;
  Children children;
  children.begins.assign(size + std::size_t{1}, 0);
  for (std::uint32_t i = 0; i < size; ++i) {
    path.resize(tree.nodes[i].depth);
    if (path.empty()) {
      children.roots.push_back(i);
    } else {
      parents[i] = path.back();
      ++children.begins[path.back() + 1];
    }
    path.push_back(i);
  }
  for (std::size_t i = 1; i < children.begins.size(); ++i) {
    children.begins[i] += children.begins[i - 1];
  }
  children.indexes.resize(children.begins.back());
  std::vector<std::uint32_t> next(children.begins.begin(), children.begins.end() - 1);
  for (std::uint32_t i = 0; i < size; ++i) {
    if (parents[i] != kNone) children.indexes[next[parents[i]]++] = i;
  }
  return children;
}

class CpuProfileExport {
 public:
  // `times` are those of the nodes themselves, in microseconds.
  CpuProfileExport(const Profile& profile, const RootedFrameTable& frames, const StackTree& tree,
                   const std::vector<std::int64_t>& times, OutputFile& file)
      : profile_(profile),
        frames_(frames),
        tree_(tree),
        times_(times),
        children_(ChildrenOf(tree)),
        out_(file) {}

  Status Run() {
    out_.text = "{\"nodes\":[\n";
    AddRoot();
    for (std::uint32_t i = 0; i < tree_.nodes.size(); ++i) {
      AddNode(i);
      TRY(out_.FlushIfLarge());
    }
    out_.text += "],\n\"startTime\":0,\"endTime\":";
    std::int64_t total = 0;
    for (const std::int64_t time : times_) total = convert::AddUpToLimit(total, time);
    AppendFormat(out_.text, "{},\n\"samples\":[", total);
    TRY(AddSamples());
    out_.text += "],\n\"timeDeltas\":[0";
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      if (tree_.nodes[i].self == 0) continue;
      AppendFormat(out_.text, ",{}", times_[i]);
      TRY(out_.FlushIfLarge());
    }
    out_.text += "]}\n";
    return out_.Flush();
  }

 private:
  void AddChildren(std::span<const std::uint32_t> indexes) {
    if (indexes.empty()) return;
    out_.text += ",\"children\":[";
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      AppendFormat(out_.text, "{}{}", i == 0 ? "" : ",", indexes[i] + kFirstId);
    }
    out_.text += ']';
  }

  void AddRoot() {
    AppendFormat(out_.text,
                 "{{\"id\":{},\"callFrame\":{{\"functionName\":\"(root)\",\"scriptId\":\"0\","
                 "\"url\":\"\",\"lineNumber\":-1,\"columnNumber\":-1}},\"hitCount\":0",
                 kRootId);
    AddChildren(children_.roots);
    out_.text += '}';
  }

  void AddNode(std::uint32_t index) {
    const StackNode& node = tree_.nodes[index];
    const auto& frame = frames_[node.frame];
    const convert::StringId url = frame.source == convert::StringId{} ? frame.dso : frame.source;
    AppendFormat(out_.text, ",\n{{\"id\":{},\"callFrame\":{{\"functionName\":", index + kFirstId);
    json::AppendString(out_.text, frames_.NameOf(node.frame));
    out_.text += ",\"scriptId\":\"0\",\"url\":";
    json::AppendString(out_.text, profile_.text(url));
    AppendFormat(out_.text, ",\"lineNumber\":{},\"columnNumber\":-1}},\"hitCount\":{}",
                 frame.first_line - 1, node.self == 0 ? 0 : 1);
    const std::span<const std::uint32_t> all(children_.indexes);
    AddChildren(all.subspan(children_.begins[index],
                            children_.begins[index + 1] - children_.begins[index]));
    out_.text += '}';
  }

  // A sample lasts until the next one. So one of the root follows the last one.
  Status AddSamples() {
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      if (tree_.nodes[i].self == 0) continue;
      AppendFormat(out_.text, "{},", i + kFirstId);
      TRY(out_.FlushIfLarge());
    }
    AppendFormat(out_.text, "{}", kRootId);
    return {};
  }

  const Profile& profile_;
  const RootedFrameTable& frames_;
  const StackTree& tree_;
  const std::vector<std::int64_t>& times_;
  const Children children_;
  TextOutput out_;
};

// Returns the microseconds of each node itself.
std::vector<std::int64_t> TimesOf(const Profile& profile, EventId event, const StackTree& tree) {
  constexpr std::int64_t kNsPerMicrosecond = 1000;
  const bool is_time = profile.text(profile[event].unit) == perfdata::kNanoseconds &&
                       !convert::CountsSamples(profile, tree.value, event);
  std::vector<std::int64_t> times;
  for (const StackNode& node : tree.nodes) {
    const std::int64_t value = folded::RoundFixed(node.self, profile[event].decimals);
    const bool rounds_up = value % kNsPerMicrosecond >= kNsPerMicrosecond / 2;
    times.push_back(is_time ? value / kNsPerMicrosecond + (rounds_up ? 1 : 0) : value);
  }
  return times;
}

}  // namespace

Result<ViewReport> WriteCpuProfile(const Profile& profile, const convert::FoldedOptions& options,
                                   OutputFile& file) {
  const std::vector<EventId> events = convert::EventsWithSamples(profile);
  std::optional<EventId> event = options.event;
  if (!event && !events.empty()) event = events.front();
  RootedFrameTable table(profile, options);
  ViewReport report;
  StackTree tree;
  std::vector<std::int64_t> times;
  if (event) {
    const StackForest forest = StackForest::Of(profile, *event, table);
    tree = forest.Join(table.Ranks());
    times = TimesOf(profile, *event, tree);
    report.negative_samples = tree.negative_samples;
    if (profile[*event].decimals != 0) {
      report.rounded_events.emplace_back(profile.text(profile[*event].name));
    }
  }
  TRY(CpuProfileExport(profile, table, tree, times, file).Run());
  return report;
}

}  // namespace perftape::viewers

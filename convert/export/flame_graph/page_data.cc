// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/page_data.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>

#include "convert/export/flame_graph/page_encoder.h"
#include "convert/export/flame_graph/time_data.h"
#include "convert/model/profile_facts.h"

namespace perftape::flame_graph {
namespace {

using convert::Profile;

constexpr std::uint32_t kNoTime = convert::Sample::kNoTime;

// Returns the frames that the trees contain, the most frequent first: small numbers compress
// better. Equally frequent ones are in the order of `ranks`.
std::vector<FrameId> FramesInOrder(const RootedFrameTable& frames,
                                   const std::vector<PageTab>& tabs) {
  std::vector<std::uint64_t> uses(frames.size());
  for (const PageTab& tab : tabs) {
    for (const StackNode& node : tab.tree.nodes) ++uses[node.frame];
  }
  const std::vector<std::uint32_t> ranks = frames.Ranks();
  std::vector<FrameId> order;
  for (FrameId frame = 0; frame < frames.size(); ++frame) {
    if (uses[frame] != 0) order.push_back(frame);
  }
  std::ranges::sort(order, [&](FrameId a, FrameId b) {
    return uses[a] != uses[b] ? uses[a] > uses[b] : ranks[a] < ranks[b];
  });
  return order;
}

enum class Numbers : std::uint8_t { kShown, kOther };

std::string_view UnitOf(const Profile& profile, const PageTab& tab, Numbers numbers) {
  const convert::Event& event = profile[tab.events.event];
  const bool is_shown = numbers == Numbers::kShown;
  const bool is_count = event.values == convert::EventValues::kSampled &&
                        is_shown == (tab.tree.value == convert::FoldedValue::kSamples);
  return is_count ? "samples" : profile.text(event.unit);
}

class PageEncoder {
 public:
  PageEncoder(const Profile& profile, const RootedFrameTable& frames)
      : profile_(profile), frames_(frames) {}

  std::vector<std::byte> Encode(const std::vector<PageTab>& tabs, const TimeLanes* lanes,
                                const ComparedWindows& compared) && {
    AppendFacts();
    AppendFrames(FramesInOrder(frames_, tabs));
    tables_.Number(tabs.size());
    for (const PageTab& tab : tabs) AppendTab(tab);
    AppendComparison(compared);
    AppendTime(lanes, texts_, tables_);
    Encoder whole;
    whole.Number(kPageVersion);
    whole.Number(texts_.joined().size());
    whole.Append(AsBytes(texts_.joined()));
    whole.Append(std::move(tables_).Finish());
    return std::move(whole).Finish();
  }

 private:
  void AppendFacts() {
    std::vector<std::string> facts = convert::FactsOf(profile_.metadata());
    const std::vector<std::string>& more = frames_.options().facts;
    facts.insert(facts.end(), more.begin(), more.end());
    tables_.Number(facts.size());
    for (const std::string& fact : facts) tables_.Number(texts_.Add(fact));
  }

  void AppendFrames(const std::vector<FrameId>& order) {
    numbers_.resize(frames_.size());
    for (std::size_t i = 0; i < order.size(); ++i) numbers_[order[i]] = i;
    tables_.Number(order.size());
    const auto column = [&](auto number_of) {
      for (const FrameId frame : order) tables_.Number(number_of(frame));
    };
    column([&](FrameId id) { return texts_.Add(frames_.NameOf(id)); });
    column([&](FrameId id) { return static_cast<std::uint64_t>(frames_[id].type); });
    column([&](FrameId id) { return texts_.Add(profile_.text(frames_[id].dso)); });
    column([&](FrameId id) { return texts_.Add(profile_.text(frames_[id].source)); });
    column([&](FrameId id) { return FirstLine(frames_[id]); });
    column([&](FrameId id) {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(frames_[id].last_line, 0)) -
             FirstLine(frames_[id]);
    });
  }

  static std::uint64_t FirstLine(const Frame& frame) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(frame.first_line, 0));
  }

  void AppendTab(const PageTab& tab) {
    const std::vector<StackNode>& nodes = tab.tree.nodes;
    const bool has_before = tab.events.before.has_value();
    const std::vector<std::uint32_t> times = TimesOf(tab);
    // A tracepoint's samples stand for one hit each: both numbers are the same.
    const std::optional<std::uint64_t> factor = OtherPerNumber(nodes);
    const bool has_other = factor != 1;
    tables_.Number(texts_.Add(tab.name));
    tables_.Number(texts_.Add(ShownUnit(profile_, tab)));
    tables_.Number((has_before ? kBeforeColumn : 0) | (times.empty() ? 0 : kFirstColumn) |
                   (has_other ? kOtherNumbers : 0) |
                   (has_before && frames_.options().per_window ? kPerWindow : 0));
    const std::int64_t scale = AppendDecimalsAndScale(tab.events.event, nodes, &StackNode::self);
    const std::int64_t scale_before =
        has_before ? AppendDecimalsAndScale(*tab.events.before, nodes, &StackNode::before) : 1;
    if (has_other) {
      tables_.Number(texts_.Add(UnitOf(profile_, tab, Numbers::kOther)));
      tables_.Number(factor.value_or(0));
    }
    const std::int64_t scale_other = factor ? 1 : AppendScale(nodes, &StackNode::other);
    const std::int64_t scale_other_before =
        factor || !has_before ? 1 : AppendScale(nodes, &StackNode::other_before);
    tables_.Number(nodes.size());
    std::uint32_t child_depth = 0;  // of a child of the node before
    for (const StackNode& node : nodes) {
      tables_.Number(child_depth - node.depth);
      child_depth = node.depth + 1;
    }
    for (const StackNode& node : nodes) tables_.Number(numbers_[node.frame]);
    AppendNumbers(nodes, &StackNode::self, scale);
    for (const StackNode& node : nodes) tables_.Number(node.folded);
    if (has_before) AppendNumbers(nodes, &StackNode::before, scale_before);
    if (!factor) AppendNumbers(nodes, &StackNode::other, scale_other);
    if (!factor && has_before) AppendNumbers(nodes, &StackNode::other_before, scale_other_before);
    AppendTimes(nodes, times);
  }

  void AppendComparison(const ComparedWindows& compared) {
    tables_.Number(texts_.Add(compared.caption));
    if (compared.caption.empty()) return;
    tables_.Number(compared.reasons.size());
    const auto column = [&](auto number_of) {
      for (const ComparedWindows::Reason& reason : compared.reasons) {
        tables_.Number(static_cast<std::uint64_t>(number_of(reason)));
      }
    };
    column([](const ComparedWindows::Reason& reason) { return reason.depth; });
    column([](const ComparedWindows::Reason& reason) { return reason.after_ns; });
    column([](const ComparedWindows::Reason& reason) { return reason.before_ns; });
    column([this](const ComparedWindows::Reason& reason) { return texts_.Add(reason.text); });
  }

  // Returns the number by which all numbers must be multiplied to become the other ones; nothing if
  // there is none. 1 if there are no other numbers.
  static std::optional<std::uint64_t> OtherPerNumber(const std::vector<StackNode>& nodes) {
    const auto has_others = [](const StackNode& node) {
      return node.other != 0 || node.other_before != 0;
    };
    const auto first = std::ranges::find_if(nodes, has_others);
    if (first == nodes.end()) return 1;
    const bool is_after = first->other != 0;
    const std::int64_t other = is_after ? first->other : first->other_before;
    const std::int64_t number = is_after ? first->self : first->before;
    if (number <= 0 || other % number != 0) return {};
    const std::int64_t factor = other / number;
    const auto is_multiple = [factor](std::int64_t part, std::int64_t whole) {
      std::int64_t product = 0;
      return !__builtin_mul_overflow(part, factor, &product) && product == whole;
    };
    const bool are_all = std::ranges::all_of(nodes, [&](const StackNode& node) {
      return is_multiple(node.self, node.other) && is_multiple(node.before, node.other_before);
    });
    return are_all ? std::optional(static_cast<std::uint64_t>(factor)) : std::nullopt;
  }

  // Returns the times of the nodes; empty if none is known. Two recordings have no common time.
  static std::vector<std::uint32_t> TimesOf(const PageTab& tab) {
    if (tab.events.before) return {};
    std::vector<std::uint32_t> times = FirstTimesOf(tab.tree);
    const bool are_known =
        std::ranges::any_of(times, [](std::uint32_t time) { return time != kNoTime; });
    return are_known ? times : std::vector<std::uint32_t>();
  }

  // Nodes without a time get that of their callers.
  void AppendTimes(const std::vector<StackNode>& nodes, const std::vector<std::uint32_t>& times) {
    std::vector<std::uint32_t> open = {0};  // the times of the path to a node
    for (std::size_t i = 0; i < times.size(); ++i) {
      open.resize(nodes[i].depth + std::size_t{1});
      const std::uint32_t of_caller = open.back();
      open.push_back(times[i] == kNoTime ? of_caller : times[i]);
      tables_.Number(open.back() - of_caller);
    }
  }

  // Both append the greatest common divisor of the numbers, and return it; the first one after the
  // decimals of an event.
  std::int64_t AppendDecimalsAndScale(convert::EventId event, const std::vector<StackNode>& nodes,
                                      std::int64_t StackNode::*number) {
    tables_.Number(profile_[event].decimals);
    return AppendScale(nodes, number);
  }
  std::int64_t AppendScale(const std::vector<StackNode>& nodes, std::int64_t StackNode::*number) {
    std::int64_t scale = 0;
    for (const StackNode& node : nodes) scale = std::gcd(scale, node.*number);
    scale = std::max<std::int64_t>(scale, 1);
    tables_.Number(static_cast<std::uint64_t>(scale));
    return scale;
  }

  void AppendNumbers(const std::vector<StackNode>& nodes, std::int64_t StackNode::*number,
                     std::int64_t scale) {
    for (const StackNode& node : nodes) {
      tables_.Number(static_cast<std::uint64_t>(node.*number / scale));
    }
  }

  const Profile& profile_;
  const RootedFrameTable& frames_;
  TextColumn texts_;
  Encoder tables_;                      // everything after the texts
  std::vector<std::uint64_t> numbers_;  // in the page, by FrameId
};

}  // namespace

std::string_view ShownUnit(const Profile& profile, const PageTab& tab) {
  return UnitOf(profile, tab, Numbers::kShown);
}

std::vector<std::byte> EncodePage(const Profile& profile, const RootedFrameTable& frames,
                                  const std::vector<PageTab>& tabs, const TimeLanes* lanes,
                                  const ComparedWindows& compared) {
  return PageEncoder(profile, frames).Encode(tabs, lanes, compared);
}

}  // namespace perftape::flame_graph

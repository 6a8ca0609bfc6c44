// SPDX-License-Identifier: Apache-2.0
#include "convert/export/to_folded.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "convert/model/saturating.h"
#include "formats/folded/folded.h"

namespace perftape {
namespace {

// The id of a text in FrameTexts.
using TextId = std::uint32_t;

std::uint64_t Pair(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

// Spreads the low bits, by which robin_map chooses the bucket.
struct PairHash {
  std::size_t operator()(std::uint64_t pair) const {
    return (pair ^ pair >> 32) * 0x9e37'79b9'7f4a'7c15;
  }
};
template <class T>
using MapOfPairs = tsl::robin_map<std::uint64_t, T, PairHash>;

std::string NameOfUnresolved(const Profile& profile, const Location& location) {
  const std::string_view name = BaseName(profile.text(profile[location.mapping].filename));
  if (name.empty()) return "[unknown]";
  return name.front() == '[' ? std::string(name) : "[" + std::string(name) + "]";
}

// What each location is written as, ready for the line: several frames where calls were inlined.
class FrameTexts {
 public:
  FrameTexts(const Profile& profile, const FoldedOptions& options)
      : profile_(profile), options_(options) {
    for (const Location& location : profile.locations()) {
      of_locations_.push_back(Intern(Render(location)));
    }
  }

  TextId Of(LocationId location) const { return of_locations_[location.index]; }
  TextId OfComm(StringId comm) {
    std::string text;
    folded::AppendFrame(text, profile_.text(comm));
    return Intern(std::move(text));
  }
  std::string_view operator[](TextId id) const { return texts_[id]; }

 private:
  std::string Render(const Location& location) const {
    std::string text;
    if (location.lines.empty()) AppendFrame(text, NameOfUnresolved(profile_, location), location);
    for (const Line& line : location.lines | std::views::reverse) {
      const std::string_view name = profile_.text(profile_[line.function].name);
      if (!text.empty()) text.push_back(';');
      AppendFrame(text, name.empty() ? NameOfUnresolved(profile_, location) : name, location);
    }
    return text;
  }

  void AppendFrame(std::string& text, std::string_view name, const Location& location) const {
    folded::AppendFrame(text, name);
    const bool is_kernel = profile_[location.mapping].kind == MappingKind::kKernel;
    if (options_.mark_kernel && is_kernel) text += "_[k]";
  }

  TextId Intern(std::string text) {
    const auto [known, is_new] = ids_.try_emplace(text, static_cast<TextId>(texts_.size()));
    if (is_new) texts_.push_back(std::move(text));
    return known->second;
  }

  const Profile& profile_;
  const FoldedOptions& options_;
  std::vector<std::string> texts_;
  tsl::robin_map<std::string, TextId> ids_;
  std::vector<TextId> of_locations_;
};

// The stacks of the profile as a tree of texts: stacks that are written alike, of whatever
// addresses, are one node. Node 0 is the empty stack.
class TextTree {
 public:
  TextTree(const Profile& profile, const FrameTexts& texts) : texts_(texts) {
    MapOfPairs<std::uint32_t> known;
    for (const Stack& stack : profile.stacks().subspan(1)) {
      const Node node = {of_stacks_[stack.caller.index], texts.Of(stack.leaf)};
      const auto [place, is_new] = known.try_emplace(Pair(node.caller, node.text),
                                                     static_cast<std::uint32_t>(nodes_.size()));
      if (is_new) nodes_.push_back(node);
      of_stacks_.push_back(place->second);
    }
  }

  std::uint32_t Of(StackId stack) const { return of_stacks_[stack.index]; }

  // "caller;...;leaf", behind whatever `line` holds.
  void AppendStack(std::string& line, std::uint32_t node) {
    frames_.clear();
    for (; node != 0; node = nodes_[node].caller) frames_.push_back(texts_[nodes_[node].text]);
    for (const std::string_view frame : frames_ | std::views::reverse) {
      if (!line.empty()) line.push_back(';');
      line += frame;
    }
  }

 private:
  struct Node {
    std::uint32_t caller;
    TextId text;
  };

  const FrameTexts& texts_;
  std::vector<Node> nodes_ = {{}};
  std::vector<std::uint32_t> of_stacks_ = {0};
  std::vector<std::string_view> frames_;  // scratch of AppendStack
};

struct Row {
  std::string stack;
  std::int64_t value;
};

std::vector<Row> CollectRows(const Profile& profile, const FoldedOptions& options, EventId event) {
  FrameTexts texts(profile, options);
  TextTree tree(profile, texts);
  MapOfPairs<std::int64_t> sums;  // by text of the comm, and node
  const bool is_count =
      options.value == FoldedValue::kSamples && profile[event].values == EventValues::kSampled;
  constexpr auto kNoComm = static_cast<TextId>(-1);
  for (const Sample& sample : profile.samples()) {
    if (sample.event != event) continue;
    const TextId comm = options.root != folded::Root::kNone && sample.thread != ThreadId{}
                            ? texts.OfComm(profile[sample.thread].comm)
                            : kNoComm;
    std::int64_t& sum = sums[Pair(comm, tree.Of(sample.stack))];
    sum = AddUpToLimit(sum, is_count ? sample.count : sample.period);
  }

  std::vector<Row> rows;
  rows.reserve(sums.size());
  for (const auto& [key, sum] : sums) {
    if (sum == 0) continue;
    const auto comm = static_cast<TextId>(key >> 32);
    Row& row = rows.emplace_back(Row{comm == kNoComm ? "" : std::string(texts[comm]), sum});
    tree.AppendStack(row.stack, static_cast<std::uint32_t>(key));
    if (row.stack.empty()) folded::AppendFrame(row.stack, "");
  }
  return rows;
}

}  // namespace

std::optional<EventId> FirstSampledEvent(const Profile& profile) {
  const auto samples = profile.samples();
  if (samples.empty()) return {};
  return std::ranges::min(samples, {}, &Sample::event).event;
}

Status WriteFolded(const Profile& profile, const FoldedOptions& options, OutputFile& out) {
  const std::optional<EventId> event = options.event ? options.event : FirstSampledEvent(profile);
  if (!event) return {};
  std::vector<Row> rows = CollectRows(profile, options, *event);
  std::ranges::sort(rows, {}, &Row::stack);
  for (auto row = rows.begin(); row != rows.end();) {
    // An inlined call and a real one of the same names are written alike, but were other nodes.
    std::int64_t value = 0;
    const auto first = row;
    for (; row != rows.end() && row->stack == first->stack; ++row) {
      value = AddUpToLimit(value, row->value);
    }
    TRY(out.Write(first->stack));
    TRY(out.Write(" " + std::to_string(value) + "\n"));
  }
  return {};
}

}  // namespace perftape

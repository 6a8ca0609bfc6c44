// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/export/differential.h"
#include "convert/export/flame_graph/flame_graph.h"
#include "convert/export/flame_graph/page_files.h"
#include "convert/export/flame_graph/stack_tree.h"
#include "convert/model/saturating.h"
#include "formats/base/counted.h"
#include "formats/base/text.h"
#include "formats/base/utf8.h"
#include "formats/escape/escape.h"
#include "formats/folded/count.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::flame_graph {
namespace {

using convert::Profile;

// flamegraph.pl's sizes, in pixels.
constexpr double kWidth = 1200;
constexpr double kSide = 10;  // on the left and on the right
constexpr int kRow = 16;
constexpr int kTop = 36;
constexpr int kBottom = 34;
constexpr double kNarrowest = 0.1;
constexpr double kLetter = 12 * 0.59;  // the average width

// The picture of a profile without events.
constexpr std::string_view kNoSamples =
    R"svg(<svg version="1.1" width="1200" height="60" xmlns="http://www.w3.org/2000/svg">
<title>Flame Graph</title>
<text x="600" y="35" text-anchor="middle" font-family="sans-serif">no samples</text>
</svg>
)svg";

// Ranges of red, green and blue, as in flamegraph.pl's palettes.
struct Palette {
  int red, red_range, green, green_range, blue, blue_range;
};

Palette PaletteOf(FrameType type) {
  switch (type) {
    case FrameType::kThread:
      return {205, 0, 208, 0, 214, 0};
    case FrameType::kKernel:
      return {110, 45, 160, 45, 215, 35};  // "blue"
    case FrameType::kInlined:
      return {190, 30, 160, 40, 225, 25};  // "purple"
    case FrameType::kJit:
      return {90, 50, 200, 40, 90, 50};  // "green"
    case FrameType::kUser:
      break;
  }
  return {205, 50, 70, 150, 0, 55};  // "hot"
}

std::uint32_t HashOf(std::string_view text) {
  std::uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return hash;
}

std::string FillOf(FrameType type, std::string_view name) {
  const Palette palette = PaletteOf(type);
  const std::uint32_t hash = HashOf(name);
  const auto vary = [hash](int base, int range, unsigned shift) {
    return base + static_cast<int>((hash >> shift & 0xff) * static_cast<unsigned>(range) / 255);
  };
  return fmt::format("rgb({},{},{})", vary(palette.red, palette.red_range, 0),
                     vary(palette.green, palette.green_range, 8),
                     vary(palette.blue, palette.blue_range, 16));
}

// Returns a colour from blue by grey to red for a change from -largest to largest. Small changes
// are visible, too, and no change differs from the background.
std::string FillOfChange(double change, double largest) {
  constexpr double kLeast = 0.15;  // the strength of the smallest change
  constexpr int kSame = 222;
  const double part = largest > 0 ? std::sqrt(std::min(std::abs(change) / largest, 1.0)) : 0;
  const double strength = part > 0 ? kLeast + (1 - kLeast) * part : 0;
  const auto mix = [strength](int full) {
    return static_cast<int>(std::lround(kSame + (full - kSame) * strength));
  };
  return change < 0 ? fmt::format("rgb({},{},{})", mix(70), mix(120), mix(225))
                    : fmt::format("rgb({},{},{})", mix(235), mix(70), mix(60));
}

// Returns as much of the text as fits into the width, with ".." if it is cut; nothing if less than
// three letters fit.
std::string FittedText(const std::string& text, double width) {
  const double room = (width - 6) / kLetter;
  if (room < 3) return "";
  const auto letters = static_cast<std::size_t>(room);
  std::size_t at = 0, count = 0, cut = 0;  // where the ".." would begin
  for (; at < text.size() && count <= letters; ++count) {
    if (count == letters - 2) cut = at;
    at += std::max<std::size_t>(FirstCodePoint(std::string_view(text).substr(at)).size, 1);
  }
  return count <= letters ? text : text.substr(0, cut) + "..";
}

// Returns "1.6 s" of 1,600,000,000.
std::string TimeText(std::int64_t time_ns) {
  constexpr std::array<std::pair<std::string_view, double>, 3> kUnits = {
      {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}}};
  const auto value = static_cast<double>(time_ns);
  for (const auto& [unit, size] : kUnits) {
    if (std::abs(value) >= size) return fmt::format("{:.4g} {}", value / size, unit);
  }
  return fmt::format("{} ns", time_ns);
}

class SvgWriter {
 public:
  // `changes` is null if the tree is of one event.
  SvgWriter(const Profile& profile, const RootedFrameTable& frames, const TreeEvents& events,
            const StackTree& tree, const SideChanges* changes)
      : profile_(profile),
        frames_(frames),
        events_(events),
        event_(profile[events.event]),
        name_(NameOf(profile, events)),
        tree_(tree),
        changes_(changes),
        totals_(TotalsOf(tree)),
        total_(tree.total()) {
    for (const StackNode& node : tree.nodes) deepest_ = std::max(deepest_, node.depth + 1);
    is_count_ = convert::CountsSamples(profile, tree.value, events.event);
  }

  Status Write(OutputFile& out) {
    TRY(out.Write(Beginning()));
    if (changes_ != nullptr) AppendLegend();
    text_ += changes_ == nullptr ? "<g id=\"frames\">\n" : "<g id=\"frames\" class=\"changes\">\n";
    AppendBox("all", {.frame = 0, .y = RowOf(-1), .width = kWidth - 2 * kSide, .total = total_},
              changes_ == nullptr ? "rgb(250,200,120)"
                                  : FillOfChange(changes_->OfAll(), changes_->largest()),
              LinesAboutAll());
    std::vector<std::int64_t> next = {0};  // where the next node of each depth begins
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      const StackNode& node = tree_.nodes[i];
      next.resize(node.depth + std::size_t{1});
      next.push_back(next.back());
      AppendNode(i, next[node.depth]);
      next[node.depth] = convert::AddUpToLimit(next[node.depth], totals_[i]);
      if (text_.size() >= 65536) TRY(Flush(out));
    }
    text_ += "</g>\n</svg>\n";
    return Flush(out);
  }

 private:
  struct Box {
    FrameId frame = 0;
    double x = kSide;
    int y = 0;
    double width = 0;
    std::int64_t total = 0;
  };

  Status Flush(OutputFile& out) {
    TRY(out.Write(text_));
    text_.clear();
    return {};
  }

  int Height() const { return static_cast<int>(deepest_ + 1) * kRow + kTop + kBottom; }
  int RowOf(int depth) const { return Height() - kBottom - (depth + 2) * kRow; }

  std::string Beginning() const {
    std::string unit;
    escape::AppendMarkup(unit, name_);
    return fmt::format(
        R"svg(<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<svg version="1.1" width="{0}" height="{1}" viewBox="0 0 {0} {1}" xmlns="http://www.w3.org/2000/svg">
<!-- made by perftape -->
<title>Flame Graph</title>
<defs><linearGradient id="background" y1="0" y2="1" x1="0" x2="0">
<stop stop-color="#eeeeee" offset="5%"/><stop stop-color="#eeeeb0" offset="95%"/>
</linearGradient></defs>
<style>
text {{ font-family: Verdana, "DejaVu Sans", sans-serif; font-size: 12px; fill: rgb(0,0,0); }}
#title {{ text-anchor: middle; font-size: 17px; }}
#search, #matched {{ text-anchor: end; }}
#search, #reset {{ cursor: pointer; opacity: 0.7; }}
#search:hover, #search.on, #reset:hover {{ opacity: 1; }}
#frames text {{ pointer-events: none; }}
#frames g {{ cursor: pointer; }}
.changes rect {{ stroke: rgb(140,140,140); stroke-width: 0.4; }}
#frames g:hover rect {{ stroke: black; stroke-width: 0.5; }}
#legend text {{ font-size: 11px; }}
.hidden {{ display: none; }}
.above {{ opacity: 0.5; }}
</style>
<script><![CDATA[
{2}]]></script>
<rect id="back" width="{0}" height="{1}" fill="url(#background)"/>
<text id="title" x="{3}" y="24">{7}: {4}{8}</text>
<text id="reset" x="10" y="24" class="hidden">Reset Zoom</text>
<text id="search" x="{5}" y="24">Search</text>
<text id="details" x="10" y="{6}"> </text>
<text id="matched" x="{5}" y="{6}"> </text>
)svg",
        kWidth, Height(), UnpackText(kSvgScript), kWidth / 2, unit, kWidth - kSide, Height() - 17,
        changes_ == nullptr ? "Flame Graph" : "Differential Flame Graph", ByValue());
  }

  // Returns what the widths are; nothing for plain values.
  std::string_view ByValue() const {
    if (event_.values == convert::EventValues::kPlain) return "";
    if (is_count_) return ", by samples";
    return profile_.text(event_.unit) == perfdata::kNanoseconds ? ", by time" : ", by count";
  }

  // Returns "cycles"; of a pair, what the names of both have in common.
  static std::string_view NameOf(const Profile& profile, const TreeEvents& events) {
    for (const convert::EventPair& pair : convert::EventPairsOf(profile)) {
      if (events.before && pair.after == events.event) {
        return pair.name.empty() ? "samples" : pair.name;
      }
    }
    return profile.text(profile[events.event].name);
  }

  // Appends the colours of the largest changes and all between.
  void AppendLegend() {
    const double largest = changes_->largest();
    text_ += "<defs><linearGradient id=\"changes\">";
    for (int step = -4; step <= 4; ++step) {
      AppendFormat(text_, "<stop stop-color=\"{}\" offset=\"{}%\"/>", FillOfChange(step, 4),
                   (step + 4) * 12.5);
    }
    AppendFormat(text_,
                 "</linearGradient></defs>\n<g id=\"legend\"><text x=\"920\" y=\"24\" "
                 "text-anchor=\"end\">{0}</text><rect x=\"925\" y=\"14\" width=\"80\" "
                 "height=\"12\" fill=\"url(#changes)\" stroke=\"#999999\"/><text x=\"1010\" "
                 "y=\"24\">{1}</text></g>\n",
                 ChangeText(-largest), LargestText());
  }

  // Returns "+1.25", in points, or "+1.5 ms".
  std::string ChangeText(double change) const {
    if (changes_->compared() == Compared::kShares) return fmt::format("{:+.2f}", change);
    return (change < 0 ? "-" : "+") + Amount(std::llround(std::abs(change)));
  }

  std::string LargestText() const {
    return ChangeText(changes_->largest()) +
           (changes_->compared() == Compared::kShares ? " points" : " per window");
  }

  // Returns "before: 12.50%, +1.25 points".
  std::string ChangeLine(std::size_t index) const {
    const double change = changes_->Of(index);
    if (changes_->compared() == Compared::kNumbers) {
      return fmt::format("before: {}, {}", AmountBefore(changes_->NumberBefore(index)),
                         ChangeText(change));
    }
    return fmt::format("before: {:.2f}%, {} points", changes_->Before(index), ChangeText(change));
  }

  std::vector<std::string> LinesAboutAll() const {
    if (changes_ == nullptr) return {};
    std::vector<std::string> lines = {"before: " + AmountBefore(changes_->total_before())};
    if (changes_->gone() != 0) {
      lines.push_back(
          fmt::format("only before: {} in calls that are gone", AmountBefore(changes_->gone())));
    }
    return lines;
  }

  void AppendNode(std::size_t index, std::int64_t start) {
    const StackNode& node = tree_.nodes[index];
    const std::int64_t total = totals_[index];
    const double scale =
        (kWidth - 2 * kSide) / static_cast<double>(std::max<std::int64_t>(total_, 1));
    const Frame& frame = frames_[node.frame];
    std::vector<std::string> more;
    if (changes_ != nullptr) more.push_back(ChangeLine(index));
    if (const std::string_view dso = profile_.text(frame.dso); !dso.empty()) {
      more.emplace_back(dso);
    }
    if (const std::string_view source = profile_.text(frame.source); !source.empty()) {
      more.push_back(frame.first_line == 0 ? std::string(source)
                                           : fmt::format("{}:{}", source, frame.first_line));
    }
    if (node.folded != 0) {
      more.push_back(Counted(node.folded, "call") + " too narrow to show");
    }
    const std::string_view name = frames_.NameOf(node.frame);
    AppendBox(name,
              {.frame = node.frame,
               .x = kSide + static_cast<double>(start) * scale,
               .y = RowOf(static_cast<int>(node.depth)),
               .width = static_cast<double>(total) * scale,
               .total = total},
              changes_ == nullptr ? FillOf(frame.type, name)
                                  : FillOfChange(changes_->Of(index), changes_->largest()),
              more);
  }

  // `more` are lines for the title after the first one.
  void AppendBox(std::string_view name, const Box& box, std::string_view fill,
                 const std::vector<std::string>& more) {
    text_ += "<g><title>";
    escape::AppendMarkup(text_, name);
    AppendFormat(text_, " ({}, {:.2f}%)", Amount(box.total),
                 100 * static_cast<double>(box.total) /
                     static_cast<double>(std::max<std::int64_t>(total_, 1)));
    for (const std::string& line : more) {
      text_ += "&#10;";
      escape::AppendMarkup(text_, line);
    }
    AppendFormat(text_,
                 "</title><rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" "
                 "fill=\"{}\" rx=\"2\" ry=\"2\"/><text x=\"{:.1f}\" y=\"{}\">",
                 box.x, box.y, box.width, kRow - 1, fill, box.x + 3, box.y + kRow - 5);
    escape::AppendMarkup(text_, FittedText(escape::DisplayText(name), box.width));
    text_ += "</text></g>\n";
  }

  std::string Amount(std::int64_t value) const { return AmountOf(value, event_.decimals); }
  std::string AmountBefore(std::int64_t value) const {
    return AmountOf(value, profile_[events_.before.value_or(events_.event)].decimals);
  }

  std::string AmountOf(std::int64_t value, unsigned decimals) const {
    std::string text;
    folded::AppendFixed(text, value, decimals);
    const std::size_t whole = std::min(text.find('.'), text.size());
    for (std::size_t at = whole; at > 3; at -= 3) text.insert(at - 3, ",");
    const std::string_view unit = is_count_ ? "samples" : profile_.text(event_.unit);
    if (unit == perfdata::kNanoseconds && decimals == 0) return TimeText(value);
    if (unit.empty() || unit == "count") return text;
    return text + " " + std::string(unit);
  }

  const Profile& profile_;
  const RootedFrameTable& frames_;
  const TreeEvents events_;
  const convert::Event& event_;
  const std::string_view name_;  // of the event or the pair
  const StackTree& tree_;
  const SideChanges* const changes_;
  const std::vector<std::int64_t> totals_;
  const std::int64_t total_;
  std::uint32_t deepest_ = 0;  // number of rows without that of "all"
  bool is_count_ = false;
  std::string text_;
};

std::optional<TreeEvents> ChooseEvents(const Profile& profile,
                                       const convert::FoldedOptions& options) {
  if (options.differential) {
    const auto pair = convert::ChooseEventPair(profile, options.event);
    if (!pair) return {};
    return TreeEvents(pair->after, pair->before);
  }
  const auto event = options.event ? options.event : convert::DefaultEvent(profile);
  if (!event) return {};
  return TreeEvents(*event);
}

}  // namespace

Result<FlameGraphReport> WriteSvg(const Profile& profile, const convert::FoldedOptions& options,
                                  OutputFile& out) {
  if (options.differential) TRY(convert::CheckDifferential(profile));
  const std::optional<TreeEvents> events = ChooseEvents(profile, options);
  if (!events) {
    TRY(out.Write(kNoSamples));
    return FlameGraphReport();
  }
  RootedFrameTable frames(profile, options);
  const StackForest forest = StackForest::Of(profile, *events, frames);
  StackTree tree = forest.Join(frames.Ranks());
  const std::int64_t gone = GoneSamples(tree);
  const double smallest = static_cast<double>(tree.total()) * kNarrowest / (kWidth - 2 * kSide);
  FoldSmallCalls(tree, TotalsOf(tree), static_cast<std::int64_t>(std::ceil(smallest)));
  std::optional<SideChanges> changes;
  const Compared compared = options.per_window ? Compared::kNumbers : Compared::kShares;
  if (events->before) changes.emplace(tree, gone, compared);
  TRY(SvgWriter(profile, frames, *events, tree, changes ? &*changes : nullptr).Write(out));
  return FlameGraphReport{.negative_samples = tree.negative_samples};
}

}  // namespace perftape::flame_graph

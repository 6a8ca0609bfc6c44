// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/to_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/flame_graph/call_tree.h"
#include "convert/export/flame_graph/display_text.h"
#include "convert/export/flame_graph/page_files.h"
#include "convert/model/saturating.h"
#include "formats/base/utf8.h"
#include "formats/folded/count.h"

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

class SvgWriter {
 public:
  SvgWriter(const Profile& profile, const FrameTable& frames, convert::EventId event,
            const CallTree& tree)
      : profile_(profile),
        frames_(frames),
        event_(profile[event]),
        tree_(tree),
        totals_(TotalsOf(tree)),
        total_(tree.total()) {
    for (const CallNode& node : tree.nodes) deepest_ = std::max(deepest_, node.depth + 1);
    is_count_ = event_.values == convert::EventValues::kSampled &&
                frames.options().value == convert::FoldedValue::kSamples;
  }

  Status Write(OutputFile& out) {
    TRY(out.Write(Beginning()));
    AppendBox("all", {.frame = 0, .y = RowOf(-1), .width = kWidth - 2 * kSide, .total = total_},
              "rgb(250,200,120)", {});
    std::vector<std::int64_t> next = {0};  // where the next node of each depth begins
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      const CallNode& node = tree_.nodes[i];
      next.resize(node.depth + std::size_t{1});
      next.push_back(next.back());
      AppendNode(node, next[node.depth], totals_[i]);
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
    AppendMarkup(unit, profile_.text(event_.name));
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
#search, #reset {{ cursor: pointer; opacity: 0.3; }}
#search:hover, #search.on, #reset:hover {{ opacity: 1; }}
#frames text {{ pointer-events: none; }}
#frames g {{ cursor: pointer; }}
#frames g:hover rect {{ stroke: black; stroke-width: 0.5; }}
.hidden {{ display: none; }}
.above {{ opacity: 0.5; }}
</style>
<script><![CDATA[
{2}]]></script>
<rect id="back" width="{0}" height="{1}" fill="url(#background)"/>
<text id="title" x="{3}" y="24">Flame Graph: {4}</text>
<text id="reset" x="10" y="24" class="hidden">Reset Zoom</text>
<text id="search" x="{5}" y="24">Search</text>
<text id="details" x="10" y="{6}"> </text>
<text id="matched" x="{5}" y="{6}"> </text>
<g id="frames">
)svg",
        kWidth, Height(), kSvgScript, kWidth / 2, unit, kWidth - kSide, Height() - 17);
  }

  void AppendNode(const CallNode& node, std::int64_t start, std::int64_t total) {
    const double scale =
        (kWidth - 2 * kSide) / static_cast<double>(std::max<std::int64_t>(total_, 1));
    const Frame& frame = frames_[node.frame];
    std::vector<std::string> more;
    if (const std::string_view dso = profile_.text(frame.dso); !dso.empty()) {
      more.emplace_back(dso);
    }
    if (const std::string_view source = profile_.text(frame.source); !source.empty()) {
      more.push_back(frame.first_line == 0 ? std::string(source)
                                           : fmt::format("{}:{}", source, frame.first_line));
    }
    if (node.folded != 0) {
      more.push_back(
          fmt::format("{} call{} too narrow to show", node.folded, node.folded == 1 ? "" : "s"));
    }
    const std::string_view name = frames_.NameOf(node.frame);
    AppendBox(name,
              {.frame = node.frame,
               .x = kSide + static_cast<double>(start) * scale,
               .y = RowOf(static_cast<int>(node.depth)),
               .width = static_cast<double>(total) * scale,
               .total = total},
              FillOf(frame.type, name), more);
  }

  // `more` are lines for the title after the first one.
  void AppendBox(std::string_view name, const Box& box, std::string_view fill,
                 const std::vector<std::string>& more) {
    const auto out = std::back_inserter(text_);
    text_ += "<g><title>";
    AppendMarkup(text_, name);
    fmt::format_to(out, " ({}, {:.2f}%)", Amount(box.total),
                   100 * static_cast<double>(box.total) /
                       static_cast<double>(std::max<std::int64_t>(total_, 1)));
    for (const std::string& line : more) {
      text_ += "&#10;";
      AppendMarkup(text_, line);
    }
    fmt::format_to(out,
                   "</title><rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" "
                   "fill=\"{}\" rx=\"2\" ry=\"2\"/><text x=\"{:.1f}\" y=\"{}\">",
                   box.x, box.y, box.width, kRow - 1, fill, box.x + 3, box.y + kRow - 5);
    AppendMarkup(text_, FittedText(DisplayText(name), box.width));
    text_ += "</text></g>\n";
  }

  std::string Amount(std::int64_t value) const {
    std::string text;
    folded::AppendFixed(text, value, event_.decimals);
    const std::size_t whole = std::min(text.find('.'), text.size());
    for (std::size_t at = whole; at > 3; at -= 3) text.insert(at - 3, ",");
    const std::string_view unit = is_count_ ? "samples" : profile_.text(event_.unit);
    if (unit.empty() || unit == "count") return text;
    return text + " " + std::string(unit);
  }

  const Profile& profile_;
  const FrameTable& frames_;
  const convert::Event& event_;
  const CallTree& tree_;
  const std::vector<std::int64_t> totals_;
  const std::int64_t total_;
  std::uint32_t deepest_ = 0;  // number of rows without that of "all"
  bool is_count_ = false;
  std::string text_;
};

}  // namespace

Result<FlameGraphReport> WriteSvg(const Profile& profile, const convert::FoldedOptions& options,
                                  OutputFile& out) {
  const auto event = options.event ? options.event : convert::DefaultEvent(profile);
  if (!event) {
    TRY(out.Write(kNoSamples));
    return FlameGraphReport();
  }
  FrameTable frames(profile, options);
  const StackForest forest = StackForest::Of(profile, *event, frames);
  CallTree tree = forest.Join(frames.Ranks());
  const double smallest = static_cast<double>(tree.total()) * kNarrowest / (kWidth - 2 * kSide);
  FoldSmallCalls(tree, static_cast<std::int64_t>(std::ceil(smallest)));
  TRY(SvgWriter(profile, frames, *event, tree).Write(out));
  return FlameGraphReport{.negative_samples = tree.negative_samples};
}

}  // namespace perftape::flame_graph

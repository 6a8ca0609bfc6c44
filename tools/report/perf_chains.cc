// SPDX-License-Identifier: Apache-2.0
#include "tools/report/perf_chains.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/common/cli/escape.h"

namespace perftape::report_tool {
namespace {

using histogram::ChainMode;
using histogram::ChainNode;
using histogram::Frame;
using Nodes = std::vector<const ChainNode*>;

constexpr std::size_t kMargin = 12;
constexpr std::string_view kLevel = "|          ";

// The depths of branches at which a vertical line continues. As in perf, 32 bits hold all depths,
// so that a depth shares its bit with that 32 levels above.
class LineMask {
 public:
  bool Has(std::size_t depth) const { return (bits_ & BitOf(depth)) != 0; }
  LineMask With(std::size_t depth) const { return LineMask(bits_ | BitOf(depth)); }
  LineMask Without(std::size_t depth) const { return LineMask(bits_ & ~BitOf(depth)); }
  LineMask() = default;

 private:
  explicit LineMask(std::uint32_t bits) : bits_(bits) {}
  static std::uint32_t BitOf(std::size_t depth) { return 1U << (depth % 32); }
  std::uint32_t bits_ = 0;
};

class ChainText {
 public:
  ChainText(const histogram::Settings& settings, const histogram::NameTable& names,
            const PerfLayout& layout, std::string& text)
      : settings_(settings), names_(names), layout_(layout), text_(text) {}

  // `of_entry` is the period of the entry.
  void AppendGraph(const Nodes& top, std::uint64_t total, std::uint64_t of_entry);
  void AppendFlat(const Nodes& nodes, std::uint64_t total);
  void AppendFolded(const Nodes& nodes, std::uint64_t total);

 private:
  struct Level {
    std::uint64_t total = 0;
    std::size_t depth = 0;
    LineMask lines;
  };

  bool is_fractal() const { return settings_.chain_mode == ChainMode::kFractal; }
  std::string NameOf(const Frame& frame) const;
  std::string ValueOf(std::uint64_t period, std::uint64_t count, std::uint64_t total) const;
  bool AppendOnlyRoot(const ChainNode& root);
  void AppendLevel(const Nodes& nodes, const Level& level);
  void AppendNode(const ChainNode& node, const Level& level, LineMask lines);
  void AppendIndent(LineMask lines, std::size_t levels);
  void AppendRest(std::uint64_t rest, std::uint64_t rest_count, const Level& level);
  void AppendFrames(const ChainNode& node, std::vector<const Frame*>& frames) const;

  const histogram::Settings& settings_;
  const histogram::NameTable& names_;
  const PerfLayout& layout_;
  std::string& text_;
  std::size_t margin_ = kMargin;
};

std::string ChainText::NameOf(const Frame& frame) const {
  if (frame.symbol == 0 && frame.address == 0) return "0";  // as printf("%#llx")
  if (frame.symbol == 0) return fmt::format("{:#x}", frame.address);
  const histogram::Symbol& symbol = names_.symbols[frame.symbol];
  std::string name = names_.texts[symbol.name];
  if (settings_.chain_key == histogram::ChainKey::kSourceLine && frame.srcline != 0) {
    const std::string& line = names_.texts[frame.srcline];
    name += ' ';
    name += layout_.style.full_source_path ? line : line.substr(line.rfind('/') + 1);
  }
  if (symbol.is_inlined) name += " (inlined)";
  return cli::EscapeForTerminal(name);
}

std::string ChainText::ValueOf(std::uint64_t period, std::uint64_t count,
                               std::uint64_t total) const {
  switch (layout_.chain_value) {
    case ChainValue::kPeriod:
      return fmt::format("{}", period);
    case ChainValue::kCount:
      return fmt::format("{}", count);
    case ChainValue::kPercent:
      break;
  }
  const double percent =
      total == 0 ? 0 : static_cast<double>(period) * 100 / static_cast<double>(total);
  return fmt::format("{:.2f}%", percent);
}

// A single root without a share of its own needs no percentage, and saves one level.
bool ChainText::AppendOnlyRoot(const ChainNode& root) {
  bool is_first = true, has_begun = false;
  std::size_t printed = 0;
  for (const Frame& frame : root.frames) {
    if (std::exchange(is_first, false) && layout_.skips_first_frame) continue;
    if (!has_begun) {
      text_.append(margin_, ' ').append("|\n").append(margin_, ' ').append("---");
      margin_ += 3;
      has_begun = true;
    } else {
      text_.append(margin_, ' ');
    }
    text_.append(NameOf(frame)).append("\n");
    if (++printed == layout_.chain_limit) break;
  }
  return has_begun;
}

void ChainText::AppendGraph(const Nodes& top, std::uint64_t total, std::uint64_t of_entry) {
  const std::size_t before = text_.size();
  const Nodes* nodes = &top;
  if (top.size() == 1 && top.front()->total_hits() == of_entry) {
    AppendOnlyRoot(*top.front());
    nodes = &top.front()->sorted;
  }
  AppendLevel(*nodes,
              {.total = is_fractal() ? of_entry : total, .depth = 1, .lines = LineMask().With(0)});
  if (text_.size() != before) text_ += '\n';
}

void ChainText::AppendIndent(LineMask lines, std::size_t levels) {
  text_.append(margin_, ' ');
  for (std::size_t i = 0; i < levels; ++i) {
    text_ += lines.Has(i) ? kLevel : std::string_view("           ");
  }
}

void ChainText::AppendNode(const ChainNode& node, const Level& level, LineMask lines) {
  bool is_first = true;
  for (const Frame& frame : node.frames) {
    AppendIndent(lines, level.depth - 1);
    text_ += lines.Has(level.depth - 1) ? '|' : ' ';
    if (std::exchange(is_first, false)) {
      text_.append("--");
      text_.append(ValueOf(node.total_hits(), node.total_count(), level.total));
      text_.append("--");
    } else {
      text_.append("          ");
    }
    text_.append(NameOf(frame)).append("\n");
  }
}

void ChainText::AppendLevel(const Nodes& nodes, const Level& level) {
  std::uint64_t rest = level.total, count = 0;
  std::size_t printed = 0;
  LineMask lines = level.lines;
  for (const ChainNode* node : nodes) {
    rest -= std::min(rest, node->total_hits());
    count += node->total_count();
    const bool is_last = node == nodes.back();
    if (is_last && (!is_fractal() || rest == 0)) lines = lines.Without(level.depth - 1);
    AppendIndent(level.lines, level.depth);
    text_ += '\n';
    AppendNode(*node, level, lines);
    AppendLevel(node->sorted, {.total = is_fractal() ? node->children_hits : level.total,
                               .depth = level.depth + 1,
                               .lines = lines.With(level.depth)});
    if (++printed == layout_.chain_limit) break;
  }
  if (!is_fractal() || rest == 0 || rest == level.total) return;
  AppendRest(rest,
             nodes.front()->parent->children_count -
                 std::min(count, nodes.front()->parent->children_count),
             level);
}

// What the branches below the threshold add up to.
void ChainText::AppendRest(std::uint64_t rest, std::uint64_t rest_count, const Level& level) {
  if (layout_.chain_value == ChainValue::kCount && rest_count == 0) return;
  AppendIndent(level.lines, level.depth - 1);
  text_.append(" --").append(ValueOf(rest, rest_count, level.total)).append("--[...]\n");
}

void ChainText::AppendFrames(const ChainNode& node, std::vector<const Frame*>& frames) const {
  if (node.parent != nullptr) AppendFrames(*node.parent, frames);
  for (const Frame& frame : node.frames) frames.push_back(&frame);
}

void ChainText::AppendFlat(const Nodes& nodes, std::uint64_t total) {
  std::size_t printed = 0;
  for (const ChainNode* node : nodes) {
    text_.append(11, ' ');
    text_.append(ValueOf(node->total_hits(), node->total_count(), total)).append("\n");
    std::vector<const Frame*> frames;
    AppendFrames(*node, frames);
    for (const Frame* frame : frames) {
      text_.append(16, ' ').append(NameOf(*frame)).append("\n");
    }
    text_ += '\n';
    if (++printed == layout_.chain_limit) break;
  }
}

void ChainText::AppendFolded(const Nodes& nodes, std::uint64_t total) {
  const std::string separator = layout_.separator.empty() ? ";" : layout_.separator;
  std::size_t printed = 0;
  for (const ChainNode* node : nodes) {
    text_.append(ValueOf(node->hits, node->count, total)).append(" ");
    std::vector<const Frame*> frames;
    AppendFrames(*node, frames);
    bool is_first = true;
    for (const Frame* frame : frames) {
      if (!std::exchange(is_first, false)) text_ += separator;
      text_ += NameOf(*frame);
    }
    text_ += '\n';
    if (++printed == layout_.chain_limit) break;
  }
}

}  // namespace

void AppendChains(histogram::Entry& entry, std::uint64_t total, const histogram::Settings& settings,
                  const histogram::NameTable& names, const PerfLayout& layout, std::string& text) {
  const double share = layout.chain_percent / 100;
  const auto fewest = static_cast<std::uint64_t>(static_cast<double>(total) * share);
  const Nodes nodes = entry.chains.Sort(settings.chain_mode, fewest, share);
  ChainText chains(settings, names, layout, text);
  switch (settings.chain_mode) {
    case ChainMode::kNone:
      return;
    case ChainMode::kGraph:
    case ChainMode::kFractal:
      return chains.AppendGraph(nodes, total,
                                settings.adds_callees ? entry.total.period : entry.self.period);
    case ChainMode::kFlat:
      return chains.AppendFlat(nodes, total);
    case ChainMode::kFolded:
      return chains.AppendFolded(nodes, total);
  }
}

}  // namespace perftape::report_tool

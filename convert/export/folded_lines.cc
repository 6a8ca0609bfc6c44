// SPDX-License-Identifier: Apache-2.0
#include "convert/export/folded_lines.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convert/model/saturating.h"
#include "formats/base/parallel.h"
#include "formats/base/unknown_name.h"
#include "formats/base/utf8_text.h"
#include "formats/folded/count.h"

namespace perftape::convert {
namespace {

using Node = LineTree::Node;

// A node as a caller or as the end of a line, depending on the type of its key.
struct Item {
  std::uint32_t key, node;
  auto operator<=>(const Item&) const = default;
};

// Appends the items of all children of `parents`, in reverse order.
void AppendItems(const FoldedLines& lines, std::span<const std::uint32_t> parents,
                 std::vector<Item>& items) {
  const auto begin = static_cast<std::ptrdiff_t>(items.size());
  for (const std::uint32_t parent : parents) {
    for (std::uint32_t i = lines.tree[parent].first_child; i != 0; i = lines.tree[i].next_sibling) {
      const Node& node = lines.tree[i];
      if (node.line != 0) items.push_back({lines.keys.OfLeaf(node.text), i});
      if (node.first_child != 0) items.push_back({lines.keys.OfCaller(node.text), i});
    }
  }
  std::ranges::sort(items.begin() + begin, items.end(), std::greater());
}

// Removes the items with the last key from `items`, but none before `begin`. Stores their nodes in
// `nodes`.
std::uint32_t PopLast(std::vector<Item>& items, std::size_t begin,
                      std::vector<std::uint32_t>& nodes) {
  const std::uint32_t key = items.back().key;
  nodes.clear();
  for (; items.size() > begin && items.back().key == key; items.pop_back()) {
    nodes.push_back(items.back().node);
  }
  return key;
}

// Lines that one thread formats: those of `items`, in reverse order, and of all nodes below them.
struct Piece {
  std::string path;  // the callers, each with its ';'
  std::vector<Item> items;
};

// Divides a tree into pieces of some hundred lines, in the order of the lines.
class Cutter {
 public:
  explicit Cutter(const FoldedLines& lines) : lines_(lines), line_counts_(CountLines(lines.tree)) {}

  std::vector<Piece> Cut() && {
    levels_.push_back({.path = {}, .items = {}});
    AppendItems(lines_, std::array{0U}, levels_.back().items);
    while (!levels_.empty()) {
      if (levels_.back().items.empty()) {
        EndPiece();
        levels_.pop_back();
      } else {
        CutNext();
      }
    }
    return std::move(pieces_);
  }

 private:
  static constexpr std::uint32_t kLines = 256;  // size of a piece

  // Returns for each node the number of lines that end at it or below it.
  static std::vector<std::uint32_t> CountLines(const LineTree& tree) {
    std::vector<std::uint32_t> counts(tree.nodes().size());
    for (std::size_t i = counts.size(); i-- > 0;) {  // children before parents
      const Node& node = tree.nodes()[i];
      counts[i] = node.line != 0 ? 1 : 0;
      for (std::uint32_t called = node.first_child; called != 0;
           called = tree[called].next_sibling) {
        counts[i] += counts[called];
      }
    }
    return counts;
  }

  // Moves the next key of the innermost level into the piece, or makes it a level of its own.
  void CutNext() {
    Piece& level = levels_.back();
    const std::uint32_t key = level.items.back().key;
    const bool is_caller = lines_.keys.IsCaller(key);
    std::uint32_t count = 0;
    for (auto it = level.items.rbegin(); it != level.items.rend() && it->key == key; ++it) {
      count += is_caller ? line_counts_[it->node] : 1;
    }
    if (is_caller && count > kLines) {
      EndPiece();
      PopLast(level.items, 0, nodes_);
      Piece inner = {.path = level.path + std::string(lines_.keys[key]), .items = {}};
      AppendItems(lines_, nodes_, inner.items);
      levels_.push_back(std::move(inner));
      return;
    }
    for (; !level.items.empty() && level.items.back().key == key; level.items.pop_back()) {
      piece_.push_back(level.items.back());
    }
    piece_lines_ += count;
    if (piece_lines_ >= kLines) EndPiece();
  }

  // Ends the current piece, whose items are in the innermost level.
  void EndPiece() {
    if (piece_.empty()) return;
    std::ranges::reverse(piece_);
    pieces_.push_back({.path = levels_.back().path, .items = std::exchange(piece_, {})});
    piece_lines_ = 0;
  }

  const FoldedLines& lines_;
  const std::vector<std::uint32_t> line_counts_;
  std::vector<Piece> levels_;  // the items left on each level
  std::vector<Item> piece_;    // in order
  std::uint32_t piece_lines_ = 0;
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> nodes_;  // scratch of CutNext
};

// Walks a part of the tree in the order of its texts. Nodes of equal text are joined.
class LineFormatter {
 public:
  explicit LineFormatter(const FoldedLines& lines) : lines_(lines) {}

  std::string Format(Piece piece) {
    text_.clear();
    path_ = std::move(piece.path);
    items_ = std::move(piece.items);
    levels_ = {{0, path_.size()}};
    while (!levels_.empty()) {
      const Level level = levels_.back();
      path_.resize(level.path_size);
      if (items_.size() == level.begin) {
        levels_.pop_back();
        continue;
      }
      const std::uint32_t key = PopLast(items_, level.begin, last_nodes_);
      if (lines_.keys.IsCaller(key)) {
        path_ += lines_.keys[key];
        levels_.push_back({items_.size(), path_.size()});
        AppendItems(lines_, last_nodes_, items_);
      } else {
        AppendLine(key);
      }
    }
    return std::move(text_);
  }

 private:
  // The items of nodes with the same callers, in reverse order.
  struct Level {
    std::size_t begin;      // in items_
    std::size_t path_size;  // of the callers, in path_
  };

  void AppendLine(std::uint32_t key) {
    Sums sums = {};
    bool is_kept = false;
    for (std::size_t column = 0; column < lines_.columns.count; ++column) {
      for (const std::uint32_t node : last_nodes_) {
        sums[column] = AddUpToLimit(sums[column], lines_.tree.SumsOf(lines_.tree[node])[column]);
      }
      is_kept |= sums[column] != 0 || EventOf(column).values == EventValues::kPlain;
    }
    if (!is_kept) return;
    text_ += path_;
    text_ += lines_.keys[key];
    for (std::size_t column = 0; column < lines_.columns.count; ++column) {
      text_.push_back(' ');
      folded::AppendFixed(text_, sums[column], EventOf(column).decimals);
    }
    text_.push_back('\n');
  }

  const Event& EventOf(std::size_t column) const {
    return lines_.profile[lines_.columns.events[column]];
  }

  const FoldedLines& lines_;
  std::vector<Item> items_;
  std::vector<Level> levels_;
  std::vector<std::uint32_t> last_nodes_;  // nodes
  std::string path_;                       // the callers of the level, each with its ';'
  std::string text_;
};

}  // namespace

void LineTree::StartRoot(TextId text) {
  trie_.StartBelow(text == kNoText ? 0 : trie_.AddChild(0, {.text = text}));
}

void LineTree::Add(StackId stack, std::size_t column, std::int64_t value) {
  const auto add = [this](std::uint32_t at, LocationId location, AddressKind kind) {
    const auto frames = has_offsets_ ? texts_.WithOffset(location, kind) : texts_.Of(location);
    for (const TextId text : frames) at = trie_.AddChild(at, {.text = text});
    return at;
  };
  std::uint32_t node = trie_.NodeOf(stack, add);
  if (node == 0) node = trie_.AddChild(0, {.text = texts_.Intern(kUnknownName)});
  std::uint32_t& line = trie_[node].line;
  if (line == 0) {
    line = static_cast<std::uint32_t>(sums_.size());
    sums_.push_back({});
  }
  sums_[line][column] = AddUpToLimit(sums_[line][column], value);
}

Status WriteLines(const FoldedLines& lines, unsigned threads, OutputFile& out) {
  std::vector<Piece> pieces = Cutter(lines).Cut();
  bool is_first = true;
  const auto format = [&](std::size_t piece) {
    return LineFormatter(lines).Format(std::move(pieces[piece]));
  };
  const auto write = [&](const std::string& text) -> Status {
    if (!text.empty() && std::exchange(is_first, false)) TRY(out.Write(MarkBefore(text)));
    return out.Write(text);
  };
  return MakeAndWriteInOrder(pieces.size(), threads, format, write);
}

}  // namespace perftape::convert

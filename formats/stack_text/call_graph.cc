// SPDX-License-Identifier: Apache-2.0
#include "formats/stack_text/call_graph.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "formats/base/text.h"
#include "formats/stack_text/frame_names.h"

namespace perftape::stack_text {
namespace {

constexpr std::string_view kStart = "Call graph:";

struct Node {
  std::size_t column = 0;
  std::int64_t count = 0;  // of the frame and of what it calls
  std::int64_t of_callees = 0;
  std::string_view name = {};
};

// Parses "    +   ! 1999 work  (in app) + 7,9  [0x10b5d2e00]".
std::optional<Node> ParseNode(std::string_view line) {
  Node node = {.column = line.find_first_not_of(" +!:|")};
  if (node.column == std::string_view::npos) return {};
  std::string_view text = line.substr(node.column);
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return {};
  const auto count = ParseCount(text.substr(0, blank));
  if (!count || *count < 0) return {};
  node.count = *count;
  text = Trimmed(text.substr(blank));
  // The binary, the offset and the address follow two blanks.
  node.name = text.substr(0, text.find("  "));
  return node;
}

class CallGraphReader {
 public:
  explicit CallGraphReader(const StackSink& sink) : sink_(sink) {}

  TextCounts Read(std::string_view text) {
    bool is_inside = false;
    for (std::string_view line; ReadLine(text, line);) {
      ++number_;
      if (!is_inside) {
        is_inside = line == kStart;
        continue;
      }
      if (line.empty()) break;
      const auto node = ParseNode(line);
      if (!node || path_.size() >= kMostFrames) {
        if (counts_.bad_lines++ == 0) counts_.first_bad = number_;
        continue;
      }
      CloseTo(node->column);
      if (!path_.empty()) path_.back().of_callees += std::min(node->count, kMost);
      path_.push_back(*node);
    }
    CloseTo(0);
    return counts_;
  }

 private:
  // Ends the frames at this column and right of it.
  void CloseTo(std::size_t column) {
    while (!path_.empty() && path_.back().column >= column) {
      const Node& node = path_.back();
      if (node.count > node.of_callees) {
        CountedStack stack = {.comm = path_.front().name, .count = node.count - node.of_callees};
        for (std::size_t i = path_.size(); i-- > 1;) stack.frames.push_back(path_[i].name);
        ++counts_.stacks;
        sink_(stack);
      }
      path_.pop_back();
    }
  }

  static constexpr std::int64_t kMost = std::int64_t{1} << 40;  // so that sums cannot overflow

  const StackSink& sink_;
  TextCounts counts_;
  std::vector<Node> path_;
  std::uint64_t number_ = 0;
};

}  // namespace

bool IsCallGraph(std::string_view beginning) {
  if (!beginning.starts_with("Analysis of sampling ") &&
      !beginning.starts_with("Sampling process "))
    return beginning.starts_with(kStart);
  return true;
}

TextCounts ReadCallGraph(std::string_view text, const StackSink& sink) {
  return CallGraphReader(sink).Read(text);
}

}  // namespace perftape::stack_text

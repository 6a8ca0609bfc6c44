// SPDX-License-Identifier: Apache-2.0
#include "formats/stack_text/bpftrace.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "formats/base/text.h"
#include "formats/stack_text/frame_names.h"

namespace perftape::stack_text {
namespace {

// Returns where the key of a map's entry begins; npos if the line begins no entry.
std::size_t FindKey(std::string_view line) {
  if (!line.starts_with('@')) return std::string_view::npos;
  const std::size_t open = line.find('[');
  if (open == std::string_view::npos) return open;
  const std::string_view name = line.substr(1, open - 1);
  const bool is_name = std::ranges::all_of(name, [](char c) {
    return c == '_' || ('0' <= c && c <= '9') || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z');
  });
  return is_name ? open : std::string_view::npos;
}

bool EndsEntry(std::string_view line) {
  return line.find("]: ") != std::string_view::npos;
}

// Removes the parentheses of a tuple from its first and last part, and keeps those of "(sd-pam)".
std::string_view WithoutTuple(std::string_view key) {
  auto open = std::ranges::count(key, '(') - std::ranges::count(key, ')');
  for (; open > 0 && key.starts_with('('); --open) key.remove_prefix(1);
  for (; open < 0 && key.ends_with(')'); ++open) key.remove_suffix(1);
  return Trimmed(key);
}

// Parses the number after "]: ". Nothing for other values.
std::optional<std::int64_t> ParseValue(std::string_view text) {
  constexpr std::string_view kCount = "count ";
  text = Trimmed(text);
  if (text.starts_with(kCount)) {
    text.remove_prefix(kCount.size());
    text = text.substr(0, text.find(','));
  }
  return ParseCount(text);
}

class BpftraceReader {
 public:
  explicit BpftraceReader(const StackSink& sink) : sink_(sink) {}

  TextCounts Read(std::string_view text) {
    FindMapsOfStacks(text);
    for (std::string_view line; ReadLine(text, line);) {
      ++number_;
      if (is_inside_) {
        AddLine(line);
      } else if (line.starts_with('@')) {
        Begin(line);
      }
    }
    return counts_;
  }

 private:
  struct Stack {
    std::vector<std::string_view> frames = {};
    bool has_kernel_address = false;

    // The kernel is called by the program, whatever the order in the script.
    bool is_kernel() const {
      return !frames.empty() && (has_kernel_address || IsKernelEntry(frames.back()));
    }
  };

  void FindMapsOfStacks(std::string_view text) {
    for (std::string_view line; ReadLine(text, line);) {
      const std::size_t open = FindKey(line);
      if (open != std::string_view::npos && !EndsEntry(line)) {
        maps_of_stacks_.insert(line.substr(1, open - 1));
      }
    }
  }

  // A line outside an entry: "@[", "@stacks[nginx, 1234,", "@total: 7", "@[bash]: 7".
  void Begin(std::string_view line) {
    const std::size_t open = FindKey(line);
    const bool has_key = open != std::string_view::npos;
    if (!has_key || !maps_of_stacks_.contains(line.substr(1, open - 1))) {
      ++counts_.others;
      return;
    }
    entry_ = {.map = line.substr(1, open - 1)};
    stacks_.assign(1, {});
    is_inside_ = true;
    line.remove_prefix(open + 1);
    EndsEntry(line) ? End(line) : AddKeys(line);
  }

  // "sh]: 7"
  void End(std::string_view line) {
    const std::size_t close = line.rfind("]: ");
    AddKeys(line.substr(0, close));
    Finish(line.substr(close + 3));
  }

  void AddLine(std::string_view line) {
    // A frame can have brackets, but is indented.
    const bool is_indented = line.starts_with(' ') || line.starts_with('\t');
    if (!is_indented && EndsEntry(line)) return End(line);
    if (line.starts_with(',')) {
      stacks_.emplace_back();
      return AddKeys(line.substr(1));
    }
    const std::string_view frame = FrameName(line);
    if (frame.empty()) return;
    if (frames_++ >= kMostFrames) return CountBadLine();
    stacks_.back().frames.push_back(frame);
    stacks_.back().has_kernel_address |= HasKernelAddress(line);
  }

  void AddKeys(std::string_view keys) {
    while (!keys.empty()) {
      const std::size_t comma = std::min(keys.find(','), keys.size());
      const std::string_view key = WithoutTuple(Trimmed(keys.substr(0, comma)));
      keys.remove_prefix(std::min(comma + 1, keys.size()));
      if (key.empty()) continue;
      const bool is_number = ParseCount(key).has_value();
      if (!is_number && entry_.comm.empty()) {
        entry_.comm = key;
      } else {
        entry_.keys.push_back(key);
      }
    }
  }

  void Finish(std::string_view value) {
    is_inside_ = false;
    frames_ = 0;
    const auto count = ParseValue(value);
    if (!count) {
      ++counts_.others;
      return;
    }
    std::ranges::stable_partition(stacks_, &Stack::is_kernel);
    for (const Stack& stack : stacks_) {
      entry_.frames.insert(entry_.frames.end(), stack.frames.begin(), stack.frames.end());
      if (stack.is_kernel()) entry_.kernel_frames = entry_.frames.size();
    }
    entry_.count = *count;
    ++counts_.stacks;
    sink_(std::exchange(entry_, {}));
  }

  void CountBadLine() {
    if (counts_.bad_lines++ == 0) counts_.first_bad = number_;
  }

  const StackSink& sink_;
  TextCounts counts_;
  CountedStack entry_;
  std::set<std::string_view> maps_of_stacks_;
  std::vector<Stack> stacks_;
  std::size_t frames_ = 0;
  std::uint64_t number_ = 0;
  bool is_inside_ = false;
};

}  // namespace

bool IsBpftrace(std::string_view beginning) {
  bool is_attached = false;
  for (std::string_view line; ReadLine(beginning, line);) {
    is_attached |= line.starts_with("Attaching ") || line.starts_with("Attached ");
    if (FindKey(line) == std::string_view::npos || line.find("]:") != std::string_view::npos)
      continue;
    return line.ends_with('[') || line.ends_with(',') || is_attached;
  }
  return false;
}

bool IsPrintedByBpftrace(std::string_view beginning) {
  std::size_t frames = 0;
  bool is_attached = false;
  for (std::string_view line; ReadLine(beginning, line);) {
    is_attached |= line.starts_with("Attaching ") || line.starts_with("Attached ");
    const bool is_indented = line.starts_with(' ') || line.starts_with('\t');
    if (line.starts_with('@') || (is_indented && ParseCount(Trimmed(line)))) return false;
    if (is_indented && HasDecimalOffset(line)) ++frames;
  }
  return frames >= (is_attached ? 1U : 2U);
}

TextCounts ReadBpftrace(std::string_view text, const StackSink& sink) {
  return BpftraceReader(sink).Read(text);
}

}  // namespace perftape::stack_text

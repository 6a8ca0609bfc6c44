// SPDX-License-Identifier: Apache-2.0
#include "formats/stack_text/bpftrace.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "formats/base/text.h"
#include "formats/stack_text/frame_names.h"

namespace perftape::stack_text {
namespace {

// Removes "7f1e2215d058 " from the start of a frame of mode perf.
std::string_view WithoutAddress(std::string_view frame) {
  constexpr std::size_t kFewest = 6;
  const std::size_t blank = std::min(frame.find(' '), frame.size());
  const bool is_address =
      blank >= kFewest && blank < frame.size() &&
      frame.substr(0, blank).find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_address ? frame.substr(blank + 1) : frame;
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
  // A line outside an entry: "@[", "@stacks[nginx, 1234,", "@total: 7", "@[bash]: 7".
  void Begin(std::string_view line) {
    const std::size_t open = line.find('[');
    if (open == std::string_view::npos || line.find("]: ") != std::string_view::npos) {
      ++counts_.others;
      return;
    }
    entry_ = {.map = line.substr(1, open - 1)};
    stacks_.assign(1, {});
    is_inside_ = true;
    AddKeys(line.substr(open + 1));
  }

  void AddLine(std::string_view line) {
    const std::size_t close = line.find("]: ");
    // A frame can have brackets, but is indented.
    const bool ends =
        close != std::string_view::npos && !line.starts_with(' ') && !line.starts_with('\t');
    if (ends) {
      AddKeys(line.substr(0, close));
      return Finish(line.substr(close + 3));
    }
    if (line.starts_with(',')) {
      stacks_.emplace_back();
      return AddKeys(line.substr(1));
    }
    const std::string_view frame = FrameName(WithoutAddress(Trimmed(line)));
    if (frame.empty()) return;
    if (frames_++ >= kMostFrames) return CountBadLine();
    stacks_.back().push_back(frame);
  }

  void AddKeys(std::string_view keys) {
    while (!keys.empty()) {
      const std::size_t comma = std::min(keys.find(','), keys.size());
      const std::string_view key = Trimmed(keys.substr(0, comma));
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
    // The kernel is called by the program, whatever the order in the script.
    std::ranges::stable_partition(stacks_, [](const std::vector<std::string_view>& stack) {
      return !stack.empty() && IsKernelEntry(stack.back());
    });
    for (const auto& stack : stacks_) {
      entry_.frames.insert(entry_.frames.end(), stack.begin(), stack.end());
      if (!stack.empty() && IsKernelEntry(stack.back()))
        entry_.kernel_frames = entry_.frames.size();
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
  std::vector<std::vector<std::string_view>> stacks_;
  std::size_t frames_ = 0;
  std::uint64_t number_ = 0;
  bool is_inside_ = false;
};

}  // namespace

bool IsBpftrace(std::string_view beginning) {
  bool is_attached = false;
  for (std::string_view line; ReadLine(beginning, line);) {
    is_attached |= line.starts_with("Attaching ") || line.starts_with("Attached ");
    if (!line.starts_with('@')) continue;
    const std::size_t open = line.find('[');
    if (open == std::string_view::npos || line.find("]:") != std::string_view::npos) continue;
    return line.ends_with('[') || line.ends_with(',') || is_attached;
  }
  return false;
}

TextCounts ReadBpftrace(std::string_view text, const StackSink& sink) {
  return BpftraceReader(sink).Read(text);
}

}  // namespace perftape::stack_text

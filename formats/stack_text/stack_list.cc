// SPDX-License-Identifier: Apache-2.0
#include "formats/stack_text/stack_list.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

#include "formats/base/text.h"
#include "formats/stack_text/frame_names.h"

namespace perftape::stack_text {
namespace {

struct Task {
  std::string_view comm;
  std::uint32_t pid = 0;
};

// Parses "-                iperf3 (58804)" of profile and offcputime, and "iperf3 [58804]" of
// stackcount.
std::optional<Task> ParseTask(std::string_view text, char open, char close) {
  if (!text.ends_with(close)) return {};
  const std::size_t bracket = text.rfind(open);
  if (bracket == std::string_view::npos || bracket < 2 || text[bracket - 1] != ' ') return {};
  const std::string_view digits = text.substr(bracket + 1, text.size() - bracket - 2);
  Task task = {.comm = Trimmed(text.substr(0, bracket))};
  const char* end = digits.data() + digits.size();
  const auto [parsed, error] = std::from_chars(digits.data(), end, task.pid);
  if (digits.empty() || error != std::errc() || parsed != end) return {};
  return task;
}

std::optional<Task> TaskOf(std::string_view text) {
  if (text.starts_with("- ")) return ParseTask(Trimmed(text.substr(2)), '(', ')');
  return ParseTask(text, '[', ']');
}

// "WARNING: 5 stack traces lost and could not be displayed."
std::optional<std::uint64_t> LostStacksIn(std::string_view text) {
  constexpr std::string_view kWarning = "WARNING: ";
  if (!text.starts_with(kWarning) || text.find(" stack traces ") == std::string_view::npos)
    return {};
  text.remove_prefix(kWarning.size());
  const auto count = ParseCount(text.substr(0, text.find(' ')));
  return count && *count > 0 ? std::optional(static_cast<std::uint64_t>(*count)) : std::nullopt;
}

class StackListReader {
 public:
  explicit StackListReader(const StackSink& sink) : sink_(sink) {}

  TextCounts Read(std::string_view text) {
    for (std::string_view line; ReadLine(text, line);) AddLine(line);
    return counts_;
  }

 private:
  void AddLine(std::string_view line) {
    const std::string_view text = Trimmed(line);
    if (const auto lost = LostStacksIn(text)) {
      counts_.lost_stacks += *lost;
      return;
    }
    const bool is_indented = line.starts_with(' ') || line.starts_with('\t');
    if (text.empty() || !is_indented) return Abandon();
    if (const auto task = TaskOf(text)) {
      stack_.comm = task->comm;
      stack_.pid = task->pid;
      has_task_ = true;
      return;
    }
    const auto count = ParseCount(text);
    if (count && (!stack_.frames.empty() || has_task_)) return Finish(*count);
    if (text == "--") {  // between kernel and user stack, with -d
      stack_.kernel_frames = stack_.frames.size();
    } else if (stack_.frames.size() < kMostFrames) {
      stack_.frames.push_back(FrameName(text));
    } else {
      ++counts_.bad_lines;
    }
  }

  // What precedes an empty line without a number is a header: "CPU  ID  FUNCTION:NAME".
  void Abandon() {
    if (has_task_ || (counts_.stacks != 0 && !stack_.frames.empty())) ++counts_.others;
    stack_ = {};
    has_task_ = false;
  }

  void Finish(std::int64_t count) {
    has_task_ = false;
    std::size_t& kernel = stack_.kernel_frames;
    for (std::size_t i = kernel; i < stack_.frames.size(); ++i) {
      if (IsKernelEntry(stack_.frames[i])) kernel = i + 1;
    }
    stack_.count = count;
    ++counts_.stacks;
    sink_(std::exchange(stack_, {}));
  }

  const StackSink& sink_;
  TextCounts counts_;
  CountedStack stack_;
  bool has_task_ = false;
};

}  // namespace

StackListWriter StackListWriterOf(std::string_view beginning) {
  StackListWriter writer = StackListWriter::kNone;
  const bool has_header =
      beginning.starts_with("Sampling at ") || beginning.starts_with("Tracing off-CPU time");
  ReadStackList(beginning, [&](const CountedStack& stack) {
    if (writer != StackListWriter::kNone) return;
    const bool has_module = std::ranges::any_of(stack.frames, [](std::string_view frame) {
      return frame.find('`') != std::string_view::npos;
    });
    if (has_module) writer = StackListWriter::kDtrace;
    if (stack.pid || has_header) writer = StackListWriter::kBcc;
  });
  return writer;
}

TextCounts ReadStackList(std::string_view text, const StackSink& sink) {
  return StackListReader(sink).Read(text);
}

}  // namespace perftape::stack_text

// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/import/from_other_programs.h"
#include "convert/import/named_frames.h"
#include "convert/model/profile_builder.h"
#include "convert/model/sample_thread.h"
#include "formats/base/utf8_text.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/stack_text/bpftrace.h"
#include "formats/stack_text/call_graph.h"
#include "formats/stack_text/stack_list.h"

namespace perftape::convert {
namespace {

using stack_text::CountedStack;
using stack_text::TextCounts;
using TextReader = TextCounts(std::string_view text, const stack_text::StackSink& sink);

// What offcputime of bcc prints first. Its numbers are microseconds.
constexpr std::string_view kOffCpuHeader = "Tracing off-CPU time (us)";

struct ValueName {
  std::string_view name = "samples", unit = "count";
};

class StackTextImporter {
 public:
  StackTextImporter(const ImportOptions& options, ValueName value)
      : value_(value), frames_(builder_, options.map_kernel_addresses) {}

  void Add(const CountedStack& stack, ImportReport& report) {
    StackId at;
    for (std::size_t i = stack.frames.size(); i-- > 0;) {
      at = builder_.Push(at, LocationOf(stack.frames[i], i < stack.kernel_frames));
    }
    Sample sample = {.stack = at,
                     .event = EventOf(stack.map),
                     .labels = LabelsOf(stack.keys),
                     .count = 0,
                     .period = stack.count};
    if (!stack.comm.empty() || stack.pid) {
      sample.thread = builder_.Add(Thread{.pid = stack.pid.value_or(kUnknownId),
                                          .tid = stack.pid.value_or(kUnknownId),
                                          .comm = builder_.Add(stack.comm)});
    }
    builder_.Add(sample);
    ++report.samples;
    report.frames += stack.frames.size();
  }

  Profile Finish() && { return std::move(builder_).Finish(); }

 private:
  LocationId LocationOf(std::string_view name, bool is_kernel) {
    auto& known = is_kernel ? kernel_locations_ : locations_;
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    const LocationId location = frames_.Add({.name = name, .is_kernel = is_kernel});
    return known.emplace(std::string(name), location).first->second;
  }

  EventId EventOf(std::string_view map) {
    return builder_.Add(Event{.name = builder_.Add(map.empty() ? value_.name : map),
                              .unit = builder_.Add(value_.unit),
                              .values = EventValues::kPlain});
  }

  LabelsId LabelsOf(const std::vector<std::string_view>& keys) {
    std::vector<Label> labels;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      labels.push_back(
          {.key = builder_.Add(fmt::format("key{}", i + 1)), .text = builder_.Add(keys[i])});
    }
    return labels.empty() ? LabelsId{} : builder_.Add(labels);
  }

  const ValueName value_;
  ProfileBuilder builder_;
  NamedFrames frames_;
  std::map<std::string, LocationId, std::less<>> locations_, kernel_locations_;
};

void ReportText(const TextCounts& counts, ImportReport& report) {
  report.lost_samples = counts.lost_stacks;
  if (counts.bad_lines != 0) {
    report.problems.push_back(
        fmt::format("{} lines belong to no stack and were left out; the first is line {}",
                    counts.bad_lines, counts.first_bad));
  }
  if (counts.others != 0) {
    report.notes.push_back(
        fmt::format("entries without a stack or without a number, left out: {}", counts.others));
  }
}

Result<Profile> ReadTextWith(TextReader& read, Input& input, const ImportOptions& options,
                             ImportReport& report) {
  TRY_ASSIGN(const Bytes bytes, input.All());
  const Utf8Text text(bytes);
  if (text.broken() != 0) report.problems.push_back(BrokenTextLine(text.broken()));
  const bool is_off_cpu = text.view().starts_with(kOffCpuHeader);
  const ValueName value =
      is_off_cpu ? ValueName{.name = perfdata::kOffCpuTime.name, .unit = "microseconds"}
                 : ValueName{};
  StackTextImporter importer(options, value);
  const TextCounts counts =
      read(text.view(), [&](const CountedStack& stack) { importer.Add(stack, report); });
  if (counts.stacks == 0) return Fail(ErrorCode::kCorrupt, "the text has no stack with a number");
  ReportText(counts, report);
  return std::move(importer).Finish();
}

// Calls `examine` with the first bytes as text.
template <class Examine>
auto OfBeginning(const Input& input, const Examine& examine) {
  const Utf8Text text(input.first());
  return examine(text.view().find('\0') == std::string_view::npos ? text.view()
                                                                  : std::string_view());
}

}  // namespace

bool IsBpftraceText(const Input& input) {
  return OfBeginning(input, stack_text::IsBpftrace);
}
bool IsBccText(const Input& input) {
  return OfBeginning(input, stack_text::StackListWriterOf) == stack_text::StackListWriter::kBcc;
}
bool IsDtraceText(const Input& input) {
  return OfBeginning(input, stack_text::StackListWriterOf) == stack_text::StackListWriter::kDtrace;
}
bool IsSampleText(const Input& input) {
  return OfBeginning(input, stack_text::IsCallGraph);
}

Result<Profile> ReadBpftraceText(Input& input, const ImportOptions& options, ImportReport& report) {
  return ReadTextWith(stack_text::ReadBpftrace, input, options, report);
}
Result<Profile> ReadStackListText(Input& input, const ImportOptions& options,
                                  ImportReport& report) {
  return ReadTextWith(stack_text::ReadStackList, input, options, report);
}
Result<Profile> ReadSampleText(Input& input, const ImportOptions& options, ImportReport& report) {
  return ReadTextWith(stack_text::ReadCallGraph, input, options, report);
}

}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
#include "tools/perf/record_arguments.h"

#include <algorithm>
#include <string_view>

#include "tools/common/recording/recording_values.h"
#include "tools/record/command_line.h"

namespace perftape::perf_tool {
namespace {

constexpr std::uint64_t kPerfFrequency = 4000;

class GivenRows {
 public:
  explicit GivenRows(const record_tool::Plan& plan) : given_(plan.given) {}

  bool Has(std::string_view key) const {
    return std::ranges::any_of(
        given_, [&](const cli::GivenOption& option) { return option.row->IsCalled(key); });
  }

 private:
  std::span<const cli::GivenOption> given_;
};

}  // namespace

std::vector<std::string> RecordArguments(std::span<const std::string> words) {
  std::vector<std::string> arguments;
  const Result<record_tool::Plan> plan =
      cli::Parse<record_tool::Plan>(record_tool::RecordCommand(), words);
  if (plan && !plan->help && !plan->help_all) {
    const GivenRows given(*plan);
    if (!given.Has("event")) arguments.insert(arguments.end(), {"-e", "cycles"});
    if (!given.Has("freq") && !given.Has("count")) {
      const std::uint64_t highest = recording::HighestFrequency().value_or(kPerfFrequency);
      arguments.insert(arguments.end(), {"-F", std::to_string(std::min(kPerfFrequency, highest))});
    }
    if (!given.Has("g") && !given.Has("call-graph") && !given.Has("no-callgraph")) {
      arguments.emplace_back("--no-callgraph");
    }
  }
  arguments.insert(arguments.end(), words.begin(), words.end());
  return arguments;
}

}  // namespace perftape::perf_tool

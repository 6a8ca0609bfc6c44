// SPDX-License-Identifier: Apache-2.0
#include "tools/common/recording/recording_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <variant>

namespace perftape::recording {
namespace {

// High enough for functions that run for a millisecond, on each machine.
constexpr std::uint64_t kSaneFrequency = 9999;

// The default frequency, too, must not exceed the kernel's limit.
Status CheckRate(std::string_view option, const record::SamplingRate& rate) {
  const auto* frequency = std::get_if<record::Frequency>(&rate);
  const std::optional<std::uint64_t> highest = HighestFrequency();
  if (frequency == nullptr || !highest || frequency->hz <= *highest) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: {} exceeds the limit of this kernel, {} "
                          "(kernel.perf_event_max_sample_rate): use a rate such as -F {}; each "
                          "sample takes some microseconds",
                          option, frequency->hz, *highest,
                          std::min<std::uint64_t>(*highest, kSaneFrequency)));
}

Status CheckRates(const record::InputOptions& input) {
  TRY(CheckRate("-F", input.rate));
  for (const record::EventSpec& event : input.events) {
    if (event.rate) TRY(CheckRate(event.text, *event.rate));
  }
  return {};
}

}  // namespace

Status FinishRecordingOptions(RecordingPlan& plan) {
  record::InputOptions& input = plan.record.input;
  if (plan.rate) input.rate = *plan.rate;
  if (plan.off_cpu_threshold) input.off_cpu_threshold = *plan.off_cpu_threshold;
  input.prefers_unwind_tables = !plan.call_graph && input.callchains != record::Callchains::kNone;
  if (plan.call_graph) {
    input.callchains = plan.call_graph->callchains;
    input.stack_bytes = plan.call_graph->stack_bytes;
  }
  // A limit is a frequent reason for slow calls.
  plan.record.cgroup_usage |= std::ranges::any_of(input.events, &record::EventSpec::is_latency);
  return CheckRates(input);
}

}  // namespace perftape::recording

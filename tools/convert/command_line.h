// SPDX-License-Identifier: Apache-2.0
// perftape-convert's options, and the conversion that they describe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "convert/anonymize/anonymize.h"
#include "convert/formats.h"
#include "tools/common/cli/values.h"
#include "tools/common/profiles/time_view_options.h"

namespace perftape::convert_tool {

enum class Symbols : std::uint8_t { kLookUp, kNone };

enum class ReportAs : std::uint8_t { kText, kJson };

// Labels of samples that a pprof gets only on request.
enum class SampleLabel : std::uint8_t { kCpu, kCgroup, kPod, kService, kTime, kField };

struct LabelRequest {
  SampleLabel label = {};
  std::string field = {};  // the name, for kField
  auto operator<=>(const LabelRequest&) const = default;
};

// Which recordings a page shows over time.
enum class TimeOnPage : std::uint8_t {
  kShort,  // those with at most kMostTimedSamples samples
  kAlways,
  kNever,
};
inline constexpr std::uint64_t kMostTimedSamples = 4'000'000;
// With more samples, the lanes of a page do not have the time of each (flame_graph::LaneLimits).
inline constexpr std::uint64_t kMostExactTimes = 500'000;

struct Plan : cli::TimeViewPlan {
  std::vector<std::filesystem::path> inputs;  // only those of this shard; "-" is stdin
  std::vector<std::filesystem::path> base;    // --diff: the inputs are compared with these
  std::filesystem::path output;               // "-" is stdout
  const convert::Format* from = nullptr;      // null: detected from the first bytes
  const convert::Format* to = nullptr;        // never null
  Symbols symbols = Symbols::kLookUp;
  convert::WriteOptions write;
  bool file_per_event = false;                          // the name of the output contains %e
  std::optional<std::filesystem::path> anonymize = {};  // the file with the key
  anonymize::KernelNames kernel_names = anonymize::KernelNames::kReplaced;
  bool unwind = false;                  // callchains instead of copied stacks in a perf.data
  rewrite::NormalizeOptions normalize;  // for a perf.data that is written as a perf.data
  ReportAs report_as = ReportAs::kText;

  // PlanOf copies these into the structs above.
  std::vector<std::string> lists;  // arguments of --files-from0
  std::optional<std::string> shard;
  std::optional<convert::FoldedValue> values;  // empty: the output format's default
  std::set<LabelRequest> labels;
  bool differential = false;
  TimeOnPage time_on_page = TimeOnPage::kShort;
  unsigned threads = cli::DefaultThreads();
};

const cli::Command& ConvertCommand();

// Checks a parsed plan and completes it. Fails with kInvalidArgument for usage errors, and as
// ReadWholeFile does if a list of inputs cannot be read.
Result<Plan> PlanOf(Plan plan);

// Begins a sandbox in which the plan can be carried out (tools/common/sandbox).
Status Confine(const Plan& plan);

}  // namespace perftape::convert_tool

// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>
#include <string_view>

#include "convert/model/mappings_without_files.h"
#include "convert/summarize/contents.h"
#include "formats/base/unknown_name.h"

namespace perftape::summarize {
namespace {

// Stacks that are cut are worth a line from this share on, in percent.
constexpr double kMany = 10;

// Half of the interval that contains a share of `percent` with a probability of 95 percent, in
// percentage points (normal approximation of the binomial distribution).
double Uncertainty(double percent, std::int64_t samples) {
  constexpr double kQuantile = 1.96;
  const double share = percent / 100;
  return 100 * kQuantile * std::sqrt(share * (1 - share) / static_cast<double>(samples));
}

void WarnOfFewSamples(const EventContents& event, std::vector<std::string>& warnings) {
  constexpr std::int64_t kFew = 500;
  if (event.total.samples <= 0 || event.total.samples >= kFew) return;
  warnings.push_back(
      fmt::format("only {} samples: a share of 10 % is exact to {:.0f} percentage "
                  "points; record longer, or at a higher rate (-F)",
                  event.total.samples, Uncertainty(10, event.total.samples)));
}

// Whether all stacks were unwound from copies (perf record --call-graph dwarf). Those that are cut
// have an outermost frame that says it (kCutStackName).
bool WereUnwound(const offline_unwind::UnwindReport& unwound) {
  return unwound.samples() != 0 && unwound.of_32_bit + unwound.unsupported == 0;
}

// Returns how the call chains of an event ended, if all recordings say it themselves. Does not
// count stacks that show themselves where they are cut.
std::optional<convert::ChainCount> NotedChains(std::string_view event,
                                               const std::vector<convert::InputReport>& inputs) {
  if (inputs.empty()) return std::nullopt;
  convert::ChainCount sum;
  for (const convert::InputReport& input : inputs) {
    if (WereUnwound(input.read.unwound)) continue;
    const auto& noted = input.read.noted_chains;
    if (noted.empty()) return std::nullopt;
    if (const auto chains = noted.find(event); chains != noted.end()) sum.Add(chains->second);
  }
  return sum;
}

// Names the share of call chains that the recorder could not complete.
void WarnOfIncompleteChains(const convert::ChainCount& chains, std::vector<std::string>& warnings) {
  const auto all = static_cast<double>(chains.all);
  const double incomplete = 100 * (all - static_cast<double>(chains.complete)) / all;
  if (chains.all == 0 || incomplete <= kMany) return;
  warnings.push_back(
      fmt::format("{:.1f} % of the call chains of programs are not complete: 'perftape-inspect "
                  "--losses FILE' shows where they end",
                  incomplete));
}

void WarnOfStacks(std::string_view name, const EventContents& event,
                  const std::vector<convert::InputReport>& inputs,
                  std::vector<std::string>& warnings) {
  const StackQuality& quality = event.quality;
  const double single = PercentOf(quality.with_one_frame, event.total);
  if (single > 100 - kMany && quality.average_frames < 1.5) {
    warnings.push_back(
        "nearly all stacks have one frame: it was recorded without call chains "
        "(-g)");
    return;
  }
  if (const auto chains = NotedChains(name, inputs)) {
    return WarnOfIncompleteChains(*chains, warnings);
  }
  const double open = PercentOf(quality.with_unnamed_root, event.total);
  if (open > kMany) {
    warnings.push_back(fmt::format(
        "{:.1f} % of the samples have a stack whose outermost frame has no name: it may be cut or "
        "wrong, as with frame pointers in code without them; perftape-record --call-graph eh "
        "finds whole stacks",
        open));
  }
}

// Returns why a binary has no names, and what would help.
std::string ReasonOf(const convert::Profile& profile, const UnnamedBinary& binary,
                     const symbolize::SymbolizeReport& symbols) {
  if (binary.filename == convert::StringId{}) return "in no mapping: JIT code, or a wrong stack";
  const std::string_view filename = profile.text(binary.filename);
  if (filename == convert::kHiddenKernelName) return std::string(convert::WhyHidden(profile));
  const auto mapping =
      std::ranges::find(symbols.mappings, filename, &symbolize::MappingSymbols::filename);
  if (mapping == symbols.mappings.end()) return "no names in the input";
  if (!mapping->problem.empty()) return mapping->problem;
  if (mapping->count(symbolize::Miss::kWrongBuildId) != 0) {
    return "the file here is of another build: bundle the symbols where it was recorded, or use "
           "--symfs or --debug-dir";
  }
  if (mapping->count(symbolize::Miss::kNoFile) != 0) {
    return "no file: bundle the symbols where it was recorded, or use --symfs or --debug-dir";
  }
  return "no symbol at these addresses: the binary is stripped; install its debug symbols";
}

void WarnOfUnnamed(const Contents& contents, const EventContents& event,
                   const symbolize::SymbolizeReport& symbols, std::vector<std::string>& warnings) {
  constexpr double kWorthALine = 2;  // percent
  constexpr std::size_t kMostLines = 3;
  for (const UnnamedBinary& binary : event.unnamed | std::views::take(kMostLines)) {
    const double percent = PercentOf(binary.amount, event.total);
    if (percent < kWorthALine) break;
    const std::string_view filename = contents.profile.text(binary.filename);
    warnings.push_back(fmt::format("{:.1f} % of the samples are in code of {} without a name: {}",
                                   percent, filename.empty() ? kUnknownName : filename,
                                   ReasonOf(contents.profile, binary, symbols)));
  }
}

void WarnOfLoss(const std::vector<convert::InputReport>& inputs,
                std::vector<std::string>& warnings) {
  constexpr double kWorthALine = 1;  // percent
  for (const convert::InputReport& input : inputs) {
    const auto lost = static_cast<double>(input.read.lost_samples);
    const double all = lost + static_cast<double>(input.read.samples);
    if (lost == 0 || 100 * lost / all < kWorthALine) continue;
    warnings.push_back(fmt::format("{}: {:.1f} % of the samples were lost while recording",
                                   input.name, 100 * lost / all));
  }
}

}  // namespace

std::vector<std::string> WarningsOf(const Contents& contents, const EventContents& event,
                                    const ReadContents& read) {
  std::vector<std::string> warnings;
  WarnOfFewSamples(event, warnings);
  const std::string_view name = contents.profile.text(contents.profile[event.event].name);
  WarnOfStacks(name, event, read.inputs, warnings);
  WarnOfUnnamed(contents, event, read.symbols, warnings);
  if (&event == &contents.events.front()) WarnOfLoss(read.inputs, warnings);
  return warnings;
}

}  // namespace perftape::summarize

// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>
#include <string_view>

#include "convert/model/mappings_without_files.h"
#include "convert/summarize/contents.h"
#include "convert/summarize/jit_code.h"
#include "formats/base/counted.h"
#include "formats/base/unknown_name.h"
#include "formats/bundle/recording_notes.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/mapping_name.h"

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

// Whether the samples are everything that happened, and not some of it: each wait, each call.
bool IsComplete(const convert::Profile& profile, const convert::Event& event) {
  const perfdata::EventMeaning* const meaning =
      perfdata::FindEventMeaning(profile.text(event.name));
  const bool is_clock = meaning != nullptr && meaning->period == perfdata::PeriodMeaning::kCpuTime;
  return event.period == 1 || (meaning != nullptr && !is_clock);
}

void WarnOfFewSamples(const convert::Profile& profile, const EventContents& event,
                      std::vector<std::string>& warnings) {
  constexpr std::int64_t kFew = 500;
  const std::int64_t samples = event.total.samples;
  if (samples <= 0 || samples >= kFew || IsComplete(profile, profile[event.event])) return;
  warnings.push_back(fmt::format(
      "only {}: a share of 10 % is accurate to {:.0f} percentage points; record longer, or at a "
      "higher rate (-F)",
      Counted(static_cast<std::uint64_t>(samples), "sample"), Uncertainty(10, samples)));
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
void WarnOfIncompleteChains(const Contents& contents, const convert::ChainCount& chains,
                            std::vector<std::string>& warnings) {
  const auto all = static_cast<double>(chains.all);
  const double incomplete = 100 * (all - static_cast<double>(chains.complete)) / all;
  if (chains.all == 0 || incomplete <= kMany) return;
  warnings.push_back(
      fmt::format("{:.1f} % of the call chains of programs are incomplete: 'perftape-inspect "
                  "--losses FILE' shows where they end",
                  incomplete));
  for (const perf_map::JitRuntime* const runtime : FindRuntimes(contents.profile)) {
    if (runtime->frame_pointers.empty()) continue;
    warnings.back() += fmt::format("; {} code keeps its frame pointers with {}", runtime->name,
                                   runtime->frame_pointers);
  }
}

void WarnOfStacks(const Contents& contents, const EventContents& event,
                  const std::vector<convert::InputReport>& inputs,
                  std::vector<std::string>& warnings) {
  const std::string_view name = contents.profile.text(contents.profile[event.event].name);
  const StackQuality& quality = event.quality;
  const double single = PercentOf(quality.with_one_frame, event.whole);
  if (single > 100 - kMany && quality.average_frames < 1.5) {
    warnings.push_back(
        "nearly all stacks have one frame: the recording was made without call chains (-g)");
    return;
  }
  if (const auto chains = NotedChains(name, inputs)) {
    return WarnOfIncompleteChains(contents, *chains, warnings);
  }
  const double open = PercentOf(quality.with_unnamed_root, event.whole);
  const double in_unnamed_files = PercentOf(quality.with_root_in_unnamed_file, event.whole);
  if (in_unnamed_files > kMany && 2 * in_unnamed_files > open) {
    warnings.push_back(
        fmt::format("{:.1f} % of the samples have a stack whose outermost frame is in a file "
                    "without any names: its symbols would show whether these stacks are complete",
                    in_unnamed_files));
  } else if (open > kMany) {
    warnings.push_back(
        fmt::format("{:.1f} % of the samples have a stack whose outermost frame has no name: the "
                    "stack may be cut or wrong, as happens with frame pointers in code without "
                    "them; perftape-record --call-graph eh finds complete stacks",
                    open));
  }
}

// Returns why a binary has no names, and what would help.
std::string ReasonOf(const Contents& contents, const EventContents& event,
                     const UnnamedBinary& binary, const symbolize::SymbolizeReport& symbols) {
  const convert::Profile& profile = contents.profile;
  const auto runtimes = [&] {
    return FindRuntimes(profile, contents.frames, event.event, binary.filename);
  };
  if (binary.filename == convert::StringId{}) {
    const std::string_view reason = "in no mapping: JIT code, or a wrong stack";
    const std::vector<const perf_map::JitRuntime*> found = runtimes();
    return found.empty() ? std::string(reason)
                         : fmt::format("{}; JIT code is {}", reason, perf_map::NamingAdvice(found));
  }
  const std::string_view filename = profile.text(binary.filename);
  if (filename == convert::kHiddenKernelName) return std::string(convert::WhyHidden(profile));
  const auto mapping =
      std::ranges::find(symbols.mappings, filename, &symbolize::MappingSymbols::filename);
  const bool is_known = mapping != symbols.mappings.end();
  if (is_known && !mapping->problem.empty()) return mapping->problem;
  const bool has_perf_map = is_known && mapping->count(symbolize::Miss::kNoSymbol) != 0;
  if (perfdata::MayHoldJitCode(filename) && !has_perf_map) {
    return perf_map::NamingAdvice(runtimes());
  }
  if (!is_known) return "no names in the input";
  if (mapping->count(symbolize::Miss::kWrongBuildId) != 0) {
    return "the file here is from another build: bundle the symbols where it was recorded, or use "
           "--symfs or --debug-dir";
  }
  if (mapping->count(symbolize::Miss::kNoFile) != 0) {
    return "no file: bundle the symbols where it was recorded, or use --symfs or --debug-dir";
  }
  if (perfdata::MayHoldJitCode(filename)) {
    return "the perf map of its process has no function at these addresses";
  }
  return "no symbol at these addresses: the binary is stripped; install its debug symbols";
}

void WarnOfUnnamed(const Contents& contents, const EventContents& event,
                   const symbolize::SymbolizeReport& symbols, std::vector<std::string>& warnings) {
  constexpr double kWorthALine = 2;  // percent
  constexpr std::size_t kMostLines = 3;
  for (const UnnamedBinary& binary : event.unnamed | std::views::take(kMostLines)) {
    const double percent = PercentOf(binary.amount, event.whole);
    if (percent < kWorthALine) break;
    const std::string_view filename = contents.profile.text(binary.filename);
    warnings.push_back(fmt::format("{:.1f} % of the samples are in code of {} without a name: {}",
                                   percent, filename.empty() ? kUnknownName : filename,
                                   ReasonOf(contents, event, binary, symbols)));
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

// Names the time in which --delay or --control had switched events off.
void WarnOfPauses(const std::vector<convert::InputReport>& inputs,
                  std::vector<std::string>& warnings) {
  for (const convert::InputReport& input : inputs) {
    if (!input.read.recording_notes) continue;
    const bundle::RecordingNotes& notes = *input.read.recording_notes;
    for (const bundle::NotedPauses& pauses : notes.pauses) {
      const auto seconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e9; };
      warnings.push_back(fmt::format(
          "{}: {} off for {:.1f} s of {:.1f} s (--delay, --control): that time was not recorded",
          input.name, pauses.event.empty() ? "events were" : pauses.event + " was",
          seconds(pauses.off_ns), seconds(notes.end_ns - std::min(notes.end_ns, notes.start_ns))));
    }
  }
}

}  // namespace

std::vector<std::string> WarningsOf(const Contents& contents, const EventContents& event,
                                    const ReadContents& read) {
  std::vector<std::string> warnings;
  WarnOfFewSamples(contents.profile, event, warnings);
  WarnOfStacks(contents, event, read.inputs, warnings);
  WarnOfUnnamed(contents, event, read.symbols, warnings);
  if (&event == &contents.events.front()) {
    WarnOfLoss(read.inputs, warnings);
    WarnOfPauses(read.inputs, warnings);
  }
  return warnings;
}

}  // namespace perftape::summarize

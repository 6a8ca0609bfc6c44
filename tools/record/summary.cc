// SPDX-License-Identifier: Apache-2.0
#include "tools/record/summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "formats/base/counted.h"
#include "formats/base/cpu_list.h"
#include "formats/base/duration.h"
#include "formats/bundle/recording_notes.h"
#include "formats/json/write.h"
#include "record/losses/loss_causes.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"

namespace perftape::record_tool {
namespace {

using record::ChainEnd;
using record::kIncompleteEnds;

// Returns "user call chains: 99.8 % complete, 1.5 % through code without tables; incomplete: 12
// no table, 3 no row", of all events. Empty if unwind tables were not used.
std::string ChainText(const record::RecordSummary& summary) {
  record::ChainEnds ends = {};
  std::uint64_t chains = 0, derived = 0;
  for (const record::EventLosses& event : summary.losses.events) {
    for (std::size_t end = 0; end < ends.size(); ++end) {
      ends[end] += event.chains.ends[end];
      chains += event.chains.ends[end];
    }
    derived += event.chains.derived;
  }
  if (chains == 0) return {};
  const auto per_mille = [chains](std::uint64_t part) {
    return 1000.0 * static_cast<double>(part) / static_cast<double>(chains);
  };
  // Rounded down, so that 100 % means all, and up, so that 0 % would mean none.
  std::string text = fmt::format("user call chains: {:.1f} % complete",
                                 std::floor(per_mille(ends[WIRE_END_OF_STACK])) / 10);
  if (derived > 0) {
    text +=
        fmt::format(", {:.1f} % through code without tables", std::ceil(per_mille(derived)) / 10);
  }
  const char* separator = "; incomplete: ";
  for (const ChainEnd& incomplete : kIncompleteEnds) {
    if (ends[incomplete.end] == 0) continue;
    text += fmt::format("{}{} {}", separator, ends[incomplete.end], incomplete.text);
    separator = ", ";
  }
  return text;
}

std::string SizeText(std::uint64_t bytes) {
  constexpr std::uint64_t kKibi = 1024;
  if (bytes < kKibi) return fmt::format("{} bytes", bytes);
  const auto size = static_cast<double>(bytes);
  if (bytes < kKibi * kKibi) return fmt::format("{:.1f} KiB", size / kKibi);
  return fmt::format("{:.1f} MiB", size / (kKibi * kKibi));
}

// Same text as at the end of perf record (tools/perf/builtin-record.c).
std::string CompressionText(const perfdata::Compression& compression) {
  return fmt::format(", compressed (original {}, ratio {:.1f})", SizeText(compression.original),
                     compression.ratio());
}

std::string CpusText(const std::vector<int>& cpus) {
  return (cpus.size() == 1 ? "CPU " : "CPUs ") + FormatCpuList(cpus);
}

// Returns "page-faults: ", or nothing for the only event.
std::string PrefixOf(const record::LossSummary& losses, const record::EventLosses& event) {
  return losses.events.size() > 1 ? event.name + ": " : "";
}

void AddLossLinesOf(const record::EventLosses& event, const std::string& prefix,
                    std::vector<std::string>& lines) {
  for (const record::LossCause& cause : record::kLossCauses) {
    std::uint64_t samples = 0;
    std::vector<int> cpus;
    for (const record::LossByCpu& loss : event.losses) {
      if (loss.*cause.samples == 0) continue;
      samples += loss.*cause.samples;
      cpus.push_back(loss.cpu);
    }
    if (samples == 0) continue;
    lines.push_back(
        fmt::format("{}lost on {}: {}, {}", prefix, CpusText(cpus), samples, cause.text));
  }
}

// Adds "lost on CPUs 0-1: 963, the kernel throttled the timer; ...".
void AddLossLines(const record::RecordSummary& summary, std::vector<std::string>& lines) {
  for (const record::EventLosses& event : summary.losses.events) {
    AddLossLinesOf(event, PrefixOf(summary.losses, event), lines);
  }
  if (summary.losses.damaged_messages != 0) {
    lines.push_back(fmt::format("lost: {}, damaged between kernel and recorder",
                                summary.losses.damaged_messages));
  }
  if (summary.output.counts.unwritten_samples != 0) {
    lines.push_back(fmt::format("lost: {}, they could not be written",
                                summary.output.counts.unwritten_samples));
  }
}

double Seconds(std::uint64_t ns) {
  return static_cast<double>(ns) / kNsPerSecond;
}

// Adds "cycles: CPU 0: throttled 112 times, 0.94 s without samples; ...".
void AddThrottledLines(const record::LossSummary& losses, std::vector<std::string>& lines) {
  for (const record::EventLosses& event : losses.events) {
    for (const record::ThrottledCpu& cpu : event.throttled) {
      lines.push_back(fmt::format(
          "{}CPU {}: throttled {}, {:.2f} s without samples; a lower rate (-F) or a higher "
          "kernel.perf_event_max_sample_rate helps",
          PrefixOf(losses, event), cpu.cpu, Counted(cpu.times, "time"), Seconds(cpu.throttled_ns)));
    }
  }
}

// Adds "events were off for 3.20 s of 5.00 s", or a line for each event.
void AddPauseLines(const record::RecordSummary& summary, std::vector<std::string>& lines) {
  const std::uint64_t all_ns = summary.end_ns - std::min(summary.end_ns, summary.losses.start_ns);
  for (const bundle::NotedPauses& pauses : summary.pauses) {
    const std::string what = pauses.event.empty() ? "events were" : pauses.event + " was";
    lines.push_back(fmt::format("{} off for {:.2f} s of {:.2f} s, {}: no samples are lost there",
                                what, Seconds(pauses.off_ns), Seconds(all_ns),
                                Counted(pauses.times, "time")));
  }
}

// Adds the periods in which a CPU did not run, had no samples, or was not recorded.
void AddGapLines(const record::RecordSummary& summary, std::vector<std::string>& lines) {
  const record::LossSummary& losses = summary.losses;
  // All timers of a CPU stop at once, so the first event tells it.
  const auto stalled = std::ranges::find_if(
      losses.events, [](const record::EventLosses& event) { return !event.stalls.empty(); });
  for (const record::StalledCpu& stall :
       stalled == losses.events.end() ? std::vector<record::StalledCpu>() : stalled->stalls) {
    lines.push_back(
        fmt::format("CPU {} did not run for {:.2f} s, stopped by the hypervisor or with interrupts "
                    "off: there are no samples of that time",
                    stall.cpu, Seconds(stall.stalled_ns)));
  }
  for (const record::EventLosses& event : losses.events) {
    for (const record::SilentCpu& silence : event.silences) {
      lines.push_back(fmt::format(
          "{}CPU {}: {} without a sample, not counted as lost: the kernel hid the task that "
          "ran, or skipped the sampling program",
          PrefixOf(losses, event), silence.cpu, Counted(silence.expiries, "timer interrupt")));
    }
  }
  AddThrottledLines(losses, lines);
  AddPauseLines(summary, lines);
  if (summary.skipped_hits != 0) {
    lines.push_back(fmt::format(
        "{} of any process skipped, not counted as lost: on its CPU another BPF program "
        "or a bpf(2) call was running",
        Counted(summary.skipped_hits, "tracepoint hit")));
  }
  for (const record::AbsentCpu& absence : losses.absences) {
    const std::string until =
        absence.until_ns ? fmt::format("{:.2f} s", Seconds(*absence.until_ns)) : "the end";
    lines.push_back(
        fmt::format("CPU {} was not recorded from {:.2f} s to {}: it went offline; names of "
                    "processes that started there meanwhile may be missing",
                    absence.cpu, Seconds(absence.from_ns), until));
  }
}

// Whether the symbols are in the file that the first line of the summary names. Of a rotating
// recording, they are counted with the bytes of its files.
bool IsPartOfOneFile(const record::OutputSummary& output) {
  return output.bundle && output.bundle->is_in_recording && !output.rotation;
}

// Returns "5.4 MiB in perf.data (488.4 KiB samples, 4.9 MiB symbols of 33 files)".
std::string SizesText(const record::OutputSummary& output, const std::string& files) {
  const std::string compression =
      output.compression ? CompressionText(*output.compression) : std::string();
  if (!IsPartOfOneFile(output)) {
    return fmt::format("{} in {}{}", SizeText(output.bytes_written), files, compression);
  }
  const record::BundleSummary& bundle = *output.bundle;
  return fmt::format("{} in {} ({} samples{}, {} symbols of {})",
                     SizeText(output.bytes_written + bundle.bytes), files,
                     SizeText(output.bytes_written), compression, SizeText(bundle.bytes),
                     Counted(bundle.files, "file"));
}

// Adds "symbols of 35 files, 10.0 MiB (3 % of the original files)", and the first few missing ones.
void AddBundleLines(const record::OutputSummary& output, std::vector<std::string>& lines) {
  if (!output.bundle) return;
  constexpr std::size_t kMostShown = 3;
  const record::BundleSummary& bundle = *output.bundle;
  const bool is_told = IsPartOfOneFile(output);
  if (is_told && bundle.missing.empty()) return;
  lines.push_back(is_told ? std::string("symbols")
                          : fmt::format("symbols of {}, {}", Counted(bundle.files, "file"),
                                        SizeText(bundle.bytes)));
  if (!is_told && bundle.original_bytes > 0) {
    lines.back() += fmt::format(
        " ({:.0f} % of the original files)",
        100.0 * static_cast<double>(bundle.bytes) / static_cast<double>(bundle.original_bytes));
  }
  if (bundle.missing.empty()) return;
  lines.back() += fmt::format("{} {} missing", is_told ? ":" : ",", bundle.missing.size());
  for (std::size_t i = 0; i < bundle.missing.size() && i < kMostShown; ++i) {
    lines.push_back("no symbols for " + bundle.missing[i]);
  }
}

// Returns "2345 samples", and for several events ": 2000 cpu-clock, 345 page-faults", the most
// frequent first.
std::string SamplesText(const record::RecordSummary& summary) {
  constexpr std::size_t kMostShown = 6;
  const record::OutputSummary& output = summary.output;
  std::string text = Counted(output.counts.samples, "sample");
  // Files of a flight recorder may have the same samples.
  if (output.flight && output.rotation && output.rotation->files > 1) text += " in the last file";
  std::vector<std::pair<std::uint64_t, std::string_view>> events;
  std::uint64_t sum = 0;
  for (std::size_t event = 0; event < summary.losses.events.size(); ++event) {
    events.emplace_back(output.counts.samples_by_event[event], summary.losses.events[event].name);
    sum += events.back().first;
  }
  // The events of samples that could not be written are unknown.
  if (events.size() < 2 || sum != output.counts.samples) return text;
  if (events.size() > kMostShown) {
    std::erase_if(events, [](const auto& event) { return event.first == 0; });
    std::ranges::stable_sort(events, std::greater(), &decltype(events)::value_type::first);
  }
  // A line about a single event is not longer with its name.
  const std::size_t shown =
      events.size() == kMostShown + 1 ? events.size() : std::min(events.size(), kMostShown);
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}{} {}", i == 0 ? ": " : ", ", events[i].first, events[i].second);
    sum -= events[i].first;
  }
  if (events.size() > shown) {
    text += fmt::format(", {} of {}", Counted(sum, "sample"),
                        Counted(events.size() - shown, "other event"));
  }
  return text;
}

// Adds what was lowered or joined on request.
void AddReductionLines(const record::RecordSummary& summary, std::vector<std::string>& lines) {
  const record::OutputCounts& counts = summary.output.counts;
  if (counts.aggregate_ns != 0) {
    lines.push_back(
        fmt::format("aggregated: {} samples were merged with an equal one of the same {} s",
                    counts.aggregated, Seconds(counts.aggregate_ns)));
  }
  if (summary.rates.size() > 1) {
    std::uint64_t lowest = 1;
    for (const bundle::NotedRate& rate : summary.rates) lowest = std::max(lowest, rate.divisor);
    lines.push_back(fmt::format(
        "the recorder used more CPU time than --max-cpu allows: the rate "
        "changed {}, down to 1/{}, and was 1/{} at the end",
        Counted(summary.rates.size() - 1, "time"), lowest, summary.rates.back().divisor));
  }
}

double LostPercent(const record::RecordSummary& summary) {
  const auto lost = static_cast<double>(summary.lost_samples());
  const std::uint64_t dropped = summary.output.flight ? summary.output.flight->dropped_samples : 0;
  const double all = static_cast<double>(summary.output.counts.samples + dropped) + lost;
  return all == 0 ? 0 : 100 * lost / all;
}

// Returns "perf.data", or "61 files, perf.data.1 to perf.data.61".
std::string FilesText(const record::OutputSummary& output) {
  const std::optional<record::RotationSummary>& rotation = output.rotation;
  if (!rotation || rotation->files < 2) {
    if (output.file.empty()) return output.flight ? "no file" : "stdout";
    return output.file.native();
  }
  return fmt::format("{}, {} to {}", Counted(rotation->files, "file"), rotation->first.native(),
                     rotation->last.native());
}

void AddRotationLines(const record::OutputSummary& output, std::vector<std::string>& lines) {
  if (!output.rotation) return;
  const record::RotationSummary& rotation = *output.rotation;
  if (rotation.deleted > 0) {
    lines.push_back(fmt::format("{} deleted, the oldest first", Counted(rotation.deleted, "file")));
  }
  if (rotation.suspensions > 0) {
    lines.push_back(fmt::format("the disk was full {}; no file was written until there was room",
                                Counted(rotation.suspensions, "time")));
  }
  if (rotation.failed_commands > 0) {
    lines.push_back(
        fmt::format("--exec-on-switch: {} failed", Counted(rotation.failed_commands, "command")));
  }
}

// Adds "in memory: the last 10.0 s; ...", and each file with its trigger.
void AddFlightLines(const record::OutputSummary& output, std::vector<std::string>& lines) {
  if (!output.flight) return;
  constexpr std::size_t kMostShown = 8;
  const record::FlightSummary& flight = *output.flight;
  lines.push_back(fmt::format("in memory: the last {:.1f} s; {} dropped as older",
                              Seconds(flight.kept_ns), Counted(flight.dropped_samples, "sample")));
  if (flight.least_kept_ns) {
    lines.push_back(fmt::format(
        "a file has only the last {:.1f} of {:g} s, because --flight-memory is too small",
        Seconds(*flight.least_kept_ns), Seconds(flight.span_ns)));
  }
  const std::size_t first = flight.files.size() - std::min(flight.files.size(), kMostShown);
  for (std::size_t i = first; i < flight.files.size(); ++i) {
    lines.push_back(fmt::format("{}: {}", flight.files[i].file.native(), flight.files[i].trigger));
  }
  if (flight.ignored_triggers > 0) {
    lines.push_back(fmt::format("{} ignored, too soon after the last file (--cooldown)",
                                Counted(flight.ignored_triggers, "trigger")));
  }
}

using Json = json::Value;

Json LossesJson(const std::vector<record::LossByCpu>& losses) {
  Json json = Json::EmptyList();
  for (const record::LossByCpu& loss : losses) {
    Json of_cpu = {{"cpu", loss.cpu}};
    for (const record::LossCause& cause : record::kLossCauses) {
      of_cpu[std::string(cause.key)] = loss.*cause.samples;
    }
    json.push_back(std::move(of_cpu));
  }
  return json;
}

Json ChainsJson(const record::ChainEnds& ends, std::uint64_t derived) {
  Json json = {{std::string(bundle::kCompleteChain), ends[WIRE_END_OF_STACK]},
               {"derived", derived}};
  for (const ChainEnd& incomplete : kIncompleteEnds) json[incomplete.key] = ends[incomplete.end];
  return json;
}

Json EventJson(const record::EventLosses& event, std::uint64_t samples) {
  Json stalls = Json::EmptyList();
  for (const record::StalledCpu& stall : event.stalls) {
    stalls.push_back({{"cpu", stall.cpu}, {"ns", stall.stalled_ns}});
  }
  Json silences = Json::EmptyList();
  for (const record::SilentCpu& silence : event.silences) {
    silences.push_back({{"cpu", silence.cpu}, {"expiries", silence.expiries}});
  }
  Json others = Json::EmptyList();
  for (const record::OtherTasks& other : event.other_tasks) {
    others.push_back({{"cpu", other.cpu}, {"overflows", other.overflows}});
  }
  Json throttled = Json::EmptyList();
  for (const record::ThrottledCpu& cpu : event.throttled) {
    throttled.push_back({{"cpu", cpu.cpu}, {"times", cpu.times}, {"ns", cpu.throttled_ns}});
  }
  return {{"name", event.name},
          {"samples", samples},
          {"lost", LossesJson(event.losses)},
          {"stalled", stalls},
          {"silent", silences},
          {"other_tasks", others},
          {"throttled", throttled},
          {"chains", ChainsJson(event.chains.ends, event.chains.derived)}};
}

Json AbsenceJson(const record::AbsentCpu& absence) {
  return {{"cpu", absence.cpu},
          {"from_ns", absence.from_ns},
          {"until_ns", absence.until_ns ? Json(*absence.until_ns) : Json()}};
}

Json BundleJson(const record::BundleSummary& bundle) {
  return {{"files", bundle.files},
          {"bytes", bundle.bytes},
          {"original_bytes", bundle.original_bytes},
          {"missing", bundle.missing}};
}

Json FlightJson(const record::FlightSummary& flight) {
  Json files = Json::EmptyList();
  for (const record::FlightFile& file : flight.files) {
    files.push_back(
        {{"file", file.file.native()}, {"trigger", file.trigger}, {"kept_ns", file.kept_ns}});
  }
  return {{"span_ns", flight.span_ns},
          {"kept_ns", flight.kept_ns},
          {"least_kept_ns", flight.least_kept_ns ? Json(*flight.least_kept_ns) : Json()},
          {"dropped_samples", flight.dropped_samples},
          {"ignored_triggers", flight.ignored_triggers},
          {"files", files}};
}

}  // namespace

std::string FailureText(const record::RecordSummary& summary) {
  return fmt::format("{}; {} written before, {} lost", summary.output.failure,
                     Counted(summary.output.counts.samples, "sample"), summary.lost_samples());
}

std::string EarlySignalText(int signal) {
  return fmt::format("second signal (SIG{}), exiting at once: nothing was recorded",
                     sigabbrev_np(signal));
}

std::string SecondSignalText(int signal, const record::RecordOptions& options) {
  using Destination = record::BundleRequest::Destination;
  if (options.flight) {
    return fmt::format(
        "second signal (SIG{}), exiting at once: the records in memory are lost, and there is no "
        "summary",
        sigabbrev_np(signal));
  }
  return fmt::format(
      "second signal (SIG{}), exiting at once: {} contains what was written so far, without "
      "{}summary",
      sigabbrev_np(signal), options.output.file == "-" ? "stdout" : options.output.file.native(),
      options.output.bundle.destination == Destination::kNone ? "" : "symbols and ");
}

std::vector<std::string> SummaryLines(const record::RecordSummary& summary) {
  std::vector<std::string> lines;
  const std::string samples = SamplesText(summary);
  lines.push_back(fmt::format("{}{} {} lost, {}", samples, samples.contains(':') ? ";" : ",",
                              summary.lost_samples(),
                              SizesText(summary.output, FilesText(summary.output))));
  AddRotationLines(summary.output, lines);
  AddFlightLines(summary.output, lines);
  AddReductionLines(summary, lines);
  AddLossLines(summary, lines);
  if (summary.lost_process_events() != 0) {
    lines.push_back(fmt::format("process events lost: {}; names or mappings may be missing",
                                summary.lost_process_events()));
  }
  AddGapLines(summary, lines);
  if (std::string chains = ChainText(summary); !chains.empty()) lines.push_back(std::move(chains));
  AddBundleLines(summary.output, lines);
  return lines;
}

int ExitStatus(const record::RecordSummary& summary, std::optional<double> max_loss) {
  constexpr double kUsualLimit = 5;
  if (!summary.output.failure.empty()) return cli::kFailed;
  const bool is_above_limit = LostPercent(summary) > max_loss.value_or(kUsualLimit);
  if (summary.command_status) {
    const bool is_degraded = *summary.command_status == 0 && max_loss && is_above_limit;
    return is_degraded ? cli::kDegraded : *summary.command_status;
  }
  return is_above_limit || !summary.output.bundle_failure.empty() ? cli::kDegraded : cli::kDone;
}

std::string SummaryJson(const record::RecordSummary& summary, int exit_status) {
  const record::OutputSummary& output = summary.output;
  Json json = {cli::SchemaMember(cli::kRecordSchema),
               {"file", output.file.native()},
               {"bytes", output.bytes_written},
               {"samples", output.counts.samples},
               {"lost_samples", summary.lost_samples()},
               {"damaged_messages", summary.losses.damaged_messages},
               {"unwritten_samples", output.counts.unwritten_samples},
               {"skipped_hits", summary.skipped_hits},
               {"lost_process_events", summary.lost_process_events()},
               {"events", Json::EmptyList()},
               {"absent_cpus", Json::EmptyList()}};
  for (std::size_t event = 0; event < summary.losses.events.size(); ++event) {
    json["events"].push_back(
        EventJson(summary.losses.events[event], output.counts.samples_by_event[event]));
  }
  for (const record::AbsentCpu& absence : summary.losses.absences) {
    json["absent_cpus"].push_back(AbsenceJson(absence));
  }
  if (output.counts.aggregate_ns != 0) {
    json["aggregate_ns"] = output.counts.aggregate_ns;
    json["aggregated"] = output.counts.aggregated;
  }
  for (const bundle::NotedRate& rate : summary.rates) {
    json["rates"].push_back(
        {{"time_ns", rate.time_ns}, {"divisor", rate.divisor}, {"cpu_percent", rate.cpu_percent}});
  }
  if (!summary.pauses.empty()) {
    json["off"] = bundle::PausesJson(summary.pauses);
  }
  if (summary.only_user_code) json["only_user_code"] = true;
  if (output.flight) json["flight"] = FlightJson(*output.flight);
  if (output.compression) {
    json["compression"] = {{"original_bytes", output.compression->original},
                           {"compressed_bytes", output.compression->compressed}};
  }
  if (output.bundle) json["bundle"] = BundleJson(*output.bundle);
  if (!output.bundle_failure.empty()) json["bundle_failure"] = output.bundle_failure;
  if (!output.failure.empty()) json["failure"] = output.failure;
  if (!summary.command_failure.empty()) json["command_failure"] = summary.command_failure;
  if (summary.command_status) json["command_status"] = *summary.command_status;
  json["warnings"] = summary.warnings;
  json["exit_status"] = exit_status;
  return json::Text(json, json::Layout::kOneLine);
}

}  // namespace perftape::record_tool

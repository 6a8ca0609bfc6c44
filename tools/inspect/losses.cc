// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/duration.h"
#include "formats/json/write.h"
#include "formats/perfdata/record.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"
#include "tools/inspect/shown_sections.h"

namespace perftape::inspect {
namespace {

using Json = json::Value;
using bundle::NotedLoss;
using bundle::NotedThrottling;
using records::Losses;
using records::LossRecord;

// Returns "cpu-clock: CPU 0: ".
std::string Where(const std::string& event, int cpu) {
  std::string text;
  if (!event.empty()) text += cli::EscapeForTerminal(event) + ": ";
  if (cpu >= 0) text += fmt::format("CPU {}: ", cpu);
  return text;
}

std::string Words(std::string key) {
  std::ranges::replace(key, '_', ' ');
  return cli::EscapeForTerminal(key);
}

void AddList(std::string_view title, const std::vector<NotedLoss>& all, std::string& text) {
  std::uint64_t sum = 0;
  for (const NotedLoss& loss : all) sum += loss.count;
  text += fmt::format("{}: {}\n", title, sum);
  for (const NotedLoss& loss : all) {
    text += fmt::format("  {}{}: {}\n", Where(loss.event, loss.cpu), Words(loss.cause), loss.count);
  }
}

void AddOtherNotes(const bundle::RecordingNotes& notes, std::string& text) {
  if (!notes.chains.empty()) text += "ends of user call chains:\n";
  for (const bundle::NotedChains& chains : notes.chains) {
    text += fmt::format("  {}{}: {}\n", Where(chains.event, -1), Words(chains.end), chains.count);
  }
  if (!notes.throttled.empty()) text += "throttled:\n";
  for (const NotedThrottling& cpu : notes.throttled) {
    text += fmt::format("  {}{} times, {} s\n", Where(cpu.event, cpu.cpu), cpu.times,
                        SecondsText(cpu.ns));
  }
  if (!notes.latency_lost.empty())
    text += "calls that were not counted, or not by process or error:\n";
  for (const bundle::NotedLatencyLoss& loss : notes.latency_lost) {
    text += fmt::format("  {}: {}: {}\n", cli::EscapeForTerminal(loss.probe), Words(loss.cause),
                        loss.count);
  }
  for (const bundle::NotedAbsence& absence : notes.absences) {
    text += fmt::format("CPU {} was offline: from {} to {}\n", absence.cpu,
                        SecondsText(absence.from_ns),
                        absence.until_ns ? SecondsText(*absence.until_ns) : "the end");
  }
  for (const bundle::NotedPauses& pauses : notes.pauses) {
    text += fmt::format("off: {}{} times, {} s\n", Where(pauses.event, -1), pauses.times,
                        SecondsText(pauses.off_ns));
  }
  for (const bundle::NotedRate& rate : notes.rates) {
    text += fmt::format("rate: 1/{} from {} on, after {:.1f} % of a CPU\n", rate.divisor,
                        SecondsText(rate.time_ns), rate.cpu_percent);
  }
  if (notes.aggregate_ns != 0) {
    text += fmt::format("aggregated: {} samples were added to another one, in intervals of {} s\n",
                        notes.aggregated, SecondsText(notes.aggregate_ns));
  }
  text += TriggerText(notes.trigger);
}

}  // namespace

std::string LossesText(const Losses& losses) {
  std::string text = fmt::format("source: {}\nsamples: {}\n",
                                 losses.has_notes ? bundle::kNotesName : "records of the file",
                                 losses.notes.samples);
  AddList("lost samples", losses.notes.lost, text);
  AddList(losses.has_notes ? "lost process events" : "lost records of any kind",
          losses.notes.lost_processes, text);
  AddOtherNotes(losses.notes, text);
  if (losses.noted_samples() != losses.recorded_samples()) {
    text += fmt::format("LOST_SAMPLES records: {} samples\n", losses.recorded_samples());
  }
  if (!losses.records.empty()) text += "records:\n";
  for (const LossRecord& record : losses.records) {
    text += fmt::format("  {}: {}{}", SecondsText(record.time_ns), Where(record.event, record.cpu),
                        perfdata::RecordName(record.type));
    text += record.count > 0 ? fmt::format(" {}\n", record.count) : "\n";
  }
  return text;
}

std::string LossesJson(const Losses& losses) {
  Json json = {cli::SchemaMember(cli::kInspectSchema),
               {"source", losses.has_notes ? bundle::kNotesName : "records"}};
  json.Merge(bundle::NotesJson(losses.notes));
  json.Erase("version");
  json["lost_samples"] = losses.noted_samples();
  json["lost_samples_in_records"] = losses.recorded_samples();
  json["records"] = Json::EmptyList();
  for (const LossRecord& record : losses.records) {
    Json of_record = {{"type", perfdata::RecordName(record.type)}, {"time_ns", record.time_ns}};
    if (record.cpu >= 0) of_record["cpu"] = record.cpu;
    of_record["event"] = record.event;
    if (record.count > 0) of_record["count"] = record.count;
    json["records"].push_back(std::move(of_record));
  }
  return json::Text(Json{{"losses", std::move(json)}}, json::Layout::kOneLine);
}

}  // namespace perftape::inspect

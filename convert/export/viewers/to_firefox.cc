// SPDX-License-Identifier: Apache-2.0
#include "convert/export/viewers/to_firefox.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/frame_texts.h"
#include "convert/export/rank.h"
#include "convert/export/viewers/firefox_tables.h"
#include "convert/export/viewers/firefox_threads.h"
#include "convert/export/viewers/json_columns.h"
#include "convert/export/viewers/json_string.h"
#include "convert/export/viewers/text_output.h"
#include "convert/model/saturating.h"
#include "formats/folded/count.h"
#include "formats/pprof/gzip_writer.h"

namespace perftape::viewers {
namespace {

using convert::EventId;
using convert::FoldedOptions;
using convert::Profile;
using convert::TextId;

// The reader counts in milliseconds.
constexpr unsigned kDecimalsOfMilliseconds = 6;  // of nanoseconds

void AppendMilliseconds(std::string& out, std::int64_t time_ns) {
  folded::AppendFixed(out, time_ns, kDecimalsOfMilliseconds);
}

// How the numbers of an event are written.
struct WeightUnit {
  std::string_view unit;  // of the event
  std::string_view weight_type;
  unsigned decimals = 0;
  std::int64_t factor = 1;
};
constexpr std::array<WeightUnit, 5> kWeightUnits = {{
    {.unit = "nanoseconds", .weight_type = "tracing-ms", .decimals = kDecimalsOfMilliseconds},
    {.unit = "microseconds", .weight_type = "tracing-ms", .decimals = 3},
    {.unit = "milliseconds", .weight_type = "tracing-ms"},
    {.unit = "seconds", .weight_type = "tracing-ms", .factor = 1000},
    {.unit = "bytes", .weight_type = "bytes"},
}};
constexpr WeightUnit kSampleWeights = {.unit = "", .weight_type = "samples"};

// Returns the product, or the nearest number if it overflows.
std::int64_t Multiplied(std::int64_t number, std::int64_t factor) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(number, factor, &product)) return product;
  return number < 0 ? std::numeric_limits<std::int64_t>::min()
                    : std::numeric_limits<std::int64_t>::max();
}

WeightUnit WeightUnitOf(const Profile& profile, convert::FoldedValue value, EventId event) {
  if (convert::CountsSamples(profile, value, event)) return kSampleWeights;
  const auto* known =
      std::ranges::find(kWeightUnits, profile.text(profile[event].unit), &WeightUnit::unit);
  WeightUnit unit = known == kWeightUnits.end() ? kSampleWeights : *known;
  unit.decimals = std::min(unit.decimals + profile[event].decimals, folded::kMostDecimals);
  return unit;
}

constexpr std::string_view kMeta =
    R"("version":24,"preprocessedProfileVersion":60,"processType":0,"stackwalk":1,)"
    R"("symbolicated":true,"sourceCodeIsNotOnSearchfox":true,"usesOnlyOneStackType":true,)"
    R"("product":"perftape","importedFrom":"perftape",)"
    R"("sampleUnits":{"time":"ms","eventDelay":"ms","threadCPUDelta":"ns"},)"
    // In the order of FirefoxCategory. The reader needs one in grey.
    R"("categories":[{"name":"Other","color":"grey","subcategories":["Other"]},)"
    R"({"name":"User","color":"yellow","subcategories":["Other"]},)"
    R"({"name":"Kernel","color":"orange","subcategories":["Other"]}],)"
    R"("markerSchema":[)"
    R"({"name":"Comm","tooltipLabel":"{marker.data.comm}","tableLabel":"{marker.data.comm}",)"
    R"("chartLabel":"{marker.data.comm}","display":["marker-chart","marker-table"],)"
    R"("fields":[{"key":"comm","label":"Name of the thread","format":"string"}]},)"
    R"({"name":"Wait","tooltipLabel":"{marker.name}","tableLabel":"{marker.name}",)"
    R"("chartLabel":"{marker.name}","display":["marker-chart","marker-table","timeline-overview"],)"
    R"("fields":[{"key":"event","label":"Event","format":"string"}]}])";

struct Marker {
  enum class Type : std::uint8_t { kComm, kWait };
  Type type = {};
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> end_ns = {};  // nothing for an instant
  TextId name = 0;
  std::string_view text = {};
};

// Writes the parts of a file in their order. The strings come last, because the threads add some.
class FirefoxFile {
 public:
  FirefoxFile(const Profile& profile, const FoldedOptions& options, TextOutput& out)
      : profile_(profile),
        options_(options),
        out_(out),
        texts_(profile, options),
        ranks_(convert::RankAll(profile)),
        threads_(FirefoxThreadsOf(profile, options, ranks_)),
        tables_(profile, ranks_, UsedStacks(), texts_) {}

  Status Write() {
    out_.text += "{\"meta\":{\"interval\":";
    AppendMilliseconds(out_.text, threads_.interval_ns);
    out_.text += ",\"startTime\":";
    AppendMilliseconds(out_.text, profile_.metadata().start_time_ns.value_or(0));
    out_.text += ',';
    out_.text += kMeta;
    out_.text += "},\n\"libs\":";
    TRY(tables_.WriteLibs(out_));
    out_.text += ",\n\"pages\":[],\"counters\":[],\"profilerOverhead\":[],\n\"threads\":[";
    if (threads_.threads.empty()) threads_.threads.emplace_back();  // the reader needs one
    for (const FirefoxThread& thread : threads_.threads) {
      out_.text += &thread == &threads_.threads.front() ? "\n" : ",\n";
      TRY(WriteThread(thread));
    }
    out_.text += "],\n\"shared\":";
    TRY(tables_.WriteShared(out_));
    out_.text += "}\n";
    return out_.Flush();
  }

 private:
  std::vector<bool> UsedStacks() const {
    std::vector<bool> used(profile_.stacks().size());
    for (const FirefoxThread& thread : threads_.threads) {
      for (const FirefoxSample& sample : thread.samples) used[sample.stack.index] = true;
    }
    return used;
  }

  std::string NameOf(const FirefoxThread& thread) const;
  Status WriteThread(const FirefoxThread& thread);
  Status WriteSamples(const FirefoxThread& thread);
  Status WriteCpuUse(const FirefoxThread& thread);
  std::vector<Marker> MarkersOf(const FirefoxThread& thread);
  void AddCommChanges(const FirefoxThread& thread, std::vector<Marker>& markers);
  void AddWaits(const FirefoxThread& thread, std::vector<Marker>& markers);
  Status WriteMarkers(const FirefoxThread& thread);

  const Profile& profile_;
  const FoldedOptions& options_;
  TextOutput& out_;
  convert::FrameTexts texts_;
  const convert::Ranks ranks_;
  FirefoxThreads threads_;
  FirefoxTables tables_;
};

// Returns the comm, with the event if it is not the first one.
std::string FirefoxFile::NameOf(const FirefoxThread& thread) const {
  std::string name(thread.comm.empty() ? "[all]" : thread.comm);
  if (thread.samples.empty() || thread.event == threads_.threads.front().event) return name;
  return fmt::format("{} ({})", name, profile_.text(profile_[thread.event].name));
}

Status FirefoxFile::WriteThread(const FirefoxThread& thread) {
  out_.text +=
      "{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"name\":";
  AppendJsonString(out_.text, NameOf(thread));
  out_.text += ",\"processName\":";
  AppendJsonString(out_.text, thread.process_name.empty() ? "[all]" : thread.process_name);
  fmt::format_to(std::back_inserter(out_.text),
                 ",\"isMainThread\":{},\"pid\":\"{}\",\"tid\":{},\n\"samples\":",
                 thread.pid == thread.tid, thread.pid, thread.tid);
  TRY(WriteSamples(thread));
  out_.text += ",\n\"markers\":";
  TRY(WriteMarkers(thread));
  out_.text += '}';
  return out_.FlushIfLarge();
}

Status FirefoxFile::WriteSamples(const FirefoxThread& thread) {
  const auto& samples = thread.samples;
  const WeightUnit unit =
      samples.empty() ? kSampleWeights : WeightUnitOf(profile_, options_.value, thread.event);
  fmt::format_to(std::back_inserter(out_.text), "{{\"length\":{},\"weightType\":\"{}\"",
                 samples.size(), unit.weight_type);
  TRY(WriteColumn(out_, "stack", samples, [&](std::string& text, const FirefoxSample& sample) {
    AppendNumberOrNull(text, tables_.StackOf(sample.stack), false);
  }));
  TRY(WriteColumn(out_, "time", samples, [](std::string& text, const FirefoxSample& sample) {
    AppendMilliseconds(text, sample.time_ns);
  }));
  TRY(WriteColumn(out_, "weight", samples, [&](std::string& text, const FirefoxSample& sample) {
    folded::AppendFixed(text, Multiplied(sample.number, unit.factor), unit.decimals);
  }));
  TRY(WriteCpuUse(thread));
  out_.text += '}';
  return {};
}

// A sample of a clock says that the thread was on a CPU for the event's period, at most since its
// previous sample. For other events, and for the idle task, nothing is known.
Status FirefoxFile::WriteCpuUse(const FirefoxThread& thread) {
  if (thread.samples.empty() || !thread.has_times || thread.tid == 0 ||
      PeriodMeaningOf(profile_, thread.event) != PeriodMeaning::kCpuTime) {
    return {};
  }
  const FirefoxSample* previous = nullptr;
  return WriteColumn(
      out_, "threadCPUDelta", thread.samples, [&](std::string& text, const FirefoxSample& sample) {
        const std::int64_t gap = previous == nullptr ? 0 : sample.time_ns - previous->time_ns;
        previous = &sample;
        fmt::format_to(std::back_inserter(text), "{}",
                       std::clamp<std::int64_t>(sample.period, 0, gap));
      });
}

std::vector<Marker> FirefoxFile::MarkersOf(const FirefoxThread& thread) {
  std::vector<Marker> markers;
  if (!thread.is_first) return markers;
  for (const FirefoxThread& other : threads_.threads) {
    const bool is_same = other.pid == thread.pid && other.tid == thread.tid &&
                         (thread.tid != -1 || other.comm == thread.comm);
    if (is_same) AddWaits(other, markers);
  }
  AddCommChanges(thread, markers);
  std::ranges::stable_sort(markers, {}, &Marker::start_ns);
  return markers;
}

void FirefoxFile::AddCommChanges(const FirefoxThread& thread, std::vector<Marker>& markers) {
  if (!thread.has_times) return;
  for (std::size_t i = 1; i < thread.samples.size(); ++i) {
    const FirefoxSample& sample = thread.samples[i];
    if (sample.comm == thread.samples[i - 1].comm) continue;
    markers.push_back({.type = Marker::Type::kComm,
                       .start_ns = sample.time_ns,
                       .name = texts_.Intern("New name"),
                       .text = sample.comm});
  }
}

void FirefoxFile::AddWaits(const FirefoxThread& thread, std::vector<Marker>& markers) {
  if (!thread.has_times || thread.samples.empty() ||
      PeriodMeaningOf(profile_, thread.event) != PeriodMeaning::kWait) {
    return;
  }
  const std::string_view event = profile_.text(profile_[thread.event].name);
  for (const FirefoxSample& sample : thread.samples) {
    if (sample.period < 0) continue;
    markers.push_back({.type = Marker::Type::kWait,
                       .start_ns = std::max(convert::AddUpToLimit(sample.time_ns, -sample.period),
                                            std::int64_t{}),
                       .end_ns = sample.time_ns,
                       .name = texts_.Intern(event),
                       .text = event});
  }
}

Status FirefoxFile::WriteMarkers(const FirefoxThread& thread) {
  const std::vector<Marker> markers = MarkersOf(thread);
  fmt::format_to(std::back_inserter(out_.text), "{{\"length\":{}", markers.size());
  TRY(WriteColumn(out_, "data", markers, [](std::string& text, const Marker& marker) {
    const bool is_wait = marker.type == Marker::Type::kWait;
    text += is_wait ? "{\"type\":\"Wait\",\"event\":" : "{\"type\":\"Comm\",\"comm\":";
    AppendJsonString(text, marker.text);
    text += '}';
  }));
  TRY(WriteColumn(out_, "name", markers, [](std::string& text, const Marker& marker) {
    AppendNumberOrNull(text, marker.name, false);
  }));
  TRY(WriteColumn(out_, "startTime", markers, [](std::string& text, const Marker& marker) {
    AppendMilliseconds(text, marker.start_ns);
  }));
  TRY(WriteColumn(out_, "endTime", markers, [](std::string& text, const Marker& marker) {
    if (marker.end_ns) {
      AppendMilliseconds(text, *marker.end_ns);
    } else {
      text += "null";
    }
  }));
  TRY(WriteColumn(out_, "phase", markers, [](std::string& text, const Marker& marker) {
    text += marker.end_ns ? '1' : '0';
  }));
  TRY(WriteConstant(out_, "category", markers, "0"));
  out_.text += '}';
  return {};
}

}  // namespace

Status WriteFirefox(const Profile& profile, const FoldedOptions& options,
                    FirefoxCompression compression, OutputFile& file) {
  if (compression == FirefoxCompression::kNone) {
    TextOutput out(file);
    return FirefoxFile(profile, options, out).Write();
  }
  TRY_ASSIGN(pprof::GzipWriter gzip, pprof::GzipWriter::Create(file));
  TextOutput out(file, &gzip);
  TRY(FirefoxFile(profile, options, out).Write());
  return gzip.Finish();
}

}  // namespace perftape::viewers

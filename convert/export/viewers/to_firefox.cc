// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/frame_texts.h"
#include "convert/export/rank.h"
#include "convert/export/viewers/firefox_markers.h"
#include "convert/export/viewers/firefox_tables.h"
#include "convert/export/viewers/firefox_threads.h"
#include "convert/export/viewers/text_output.h"
#include "convert/export/viewers/viewers.h"
#include "convert/model/saturating.h"
#include "formats/base/text.h"
#include "formats/folded/count.h"
#include "formats/json/string.h"
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
    R"("markerSchema":)";

// Writes the parts of a file in their order. The strings come last, because the threads add some.
class FirefoxFile {
 public:
  FirefoxFile(const Profile& profile, const FoldedOptions& options,
              const convert::TaskEvents& events, TextOutput& out)
      : profile_(profile),
        values_(convert::ChooseValues(profile, options.value)),
        out_(out),
        texts_(profile, options),
        ranks_(convert::RankAll(profile)),
        threads_(FirefoxThreadsOf(profile, options, ranks_)),
        tables_(profile, ranks_, UsedStacks(), texts_),
        markers_(profile, threads_, events, texts_) {}

  Status Write() {
    out_.text += "{\"meta\":{\"interval\":";
    AppendMilliseconds(out_.text, threads_.interval_ns);
    out_.text += ",\"startTime\":";
    AppendMilliseconds(out_.text, profile_.metadata().start_time_ns.value_or(0));
    out_.text += ',';
    out_.text += kMeta;
    out_.text += kFirefoxMarkerSchema;
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

  const Profile& profile_;
  const std::vector<convert::FoldedValue> values_;  // by EventId
  TextOutput& out_;
  convert::FrameTexts texts_;
  const convert::Ranks ranks_;
  FirefoxThreads threads_;
  FirefoxTables tables_;
  FirefoxMarkers markers_;
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
  json::AppendString(out_.text, NameOf(thread));
  out_.text += ",\"processName\":";
  json::AppendString(out_.text, thread.process_name.empty() ? "[all]" : thread.process_name);
  AppendFormat(out_.text, ",\"isMainThread\":{},\"pid\":\"{}\",\"tid\":{},\n\"samples\":",
               thread.pid == thread.tid, thread.pid, thread.tid);
  TRY(WriteSamples(thread));
  out_.text += ",\n\"markers\":";
  TRY(WriteFirefoxMarkers(markers_.Of(thread), tables_, out_));
  out_.text += '}';
  return out_.FlushIfLarge();
}

Status FirefoxFile::WriteSamples(const FirefoxThread& thread) {
  const auto& samples = thread.samples;
  const WeightUnit unit = samples.empty()
                              ? kSampleWeights
                              : WeightUnitOf(profile_, values_[thread.event.index], thread.event);
  AppendFormat(out_.text, "{{\"length\":{},\"weightType\":\"{}\"", samples.size(),
               unit.weight_type);
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
        AppendFormat(text, "{}", std::clamp<std::int64_t>(sample.period, 0, gap));
      });
}

}  // namespace

Status WriteFirefox(const Profile& profile, const FoldedOptions& options, const FirefoxOptions& own,
                    OutputFile& file) {
  if (own.compression == FirefoxCompression::kNone) {
    TextOutput out(file);
    return FirefoxFile(profile, options, own.events, out).Write();
  }
  TRY_ASSIGN(pprof::GzipWriter gzip, pprof::GzipWriter::Create(file));
  TextOutput out(file, &gzip);
  TRY(FirefoxFile(profile, options, own.events, out).Write());
  return gzip.Finish();
}

}  // namespace perftape::viewers

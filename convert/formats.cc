// SPDX-License-Identifier: Apache-2.0
#include "convert/formats.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "convert/export/flame_graph/flame_graph.h"
#include "convert/export/viewers/viewers.h"
#include "convert/import/from_folded.h"
#include "convert/import/from_other_programs.h"
#include "convert/import/from_otlp.h"
#include "convert/import/from_perfdata.h"
#include "convert/import/from_pprof.h"
#include "convert/import/from_script.h"
#include "formats/base/counted.h"
#include "formats/base/progress.h"
#include "formats/bundle/expanded_input.h"
#include "formats/perfdata/reader.h"
#include "formats/pprof/gzip.h"

namespace perftape::convert {
namespace {

constexpr std::array<std::string_view, 1> kPerfDataEndings = {".data"};
constexpr std::array<std::string_view, 2> kFoldedEndings = {".folded", ".collapsed"};
constexpr std::array<std::string_view, 3> kPprofEndings = {".pb.gz", ".pb", ".pprof"};
constexpr std::array<std::string_view, 4> kOtlpEndings = {".otlp", ".otlp.gz", ".otlp.json",
                                                          ".otlp.json.gz"};
// The last one is speedscope's.
constexpr std::array<std::string_view, 3> kScriptEndings = {".perf-script.txt", ".perf-script",
                                                            ".linux-perf.txt"};
constexpr std::array<std::string_view, 2> kHtmlEndings = {".html", ".htm"};
constexpr std::array<std::string_view, 1> kSvgEndings = {".svg"};
constexpr std::array<std::string_view, 1> kSpeedscopeEndings = {".speedscope.json"};
constexpr std::array<std::string_view, 1> kCallgrindEndings = {".callgrind"};
constexpr std::array<std::string_view, 1> kCpuProfileEndings = {".cpuprofile"};
constexpr std::array<std::string_view, 2> kFirefoxEndings = {".firefox.json.gz", ".firefox.json"};

// Of a difference of profiles. `where` is what cannot show them: its shares are of the rest.
std::string NegativeLine(std::uint64_t samples, std::string_view where) {
  return std::string(where) + " cannot show " + Counted(samples, "sample") +
         " with a negative number: its shares refer to the other samples; perftape-report shows "
         "both";
}

// Returns the samples of the event in folded lines that are below 0.
std::uint64_t NegativeSamples(const Profile& profile, std::optional<EventId> chosen) {
  const auto event = chosen ? chosen : DefaultEvent(profile);
  return static_cast<std::uint64_t>(
      std::ranges::count_if(profile.samples(), [&](const Sample& sample) {
        return sample.event == event && (sample.period < 0 || sample.count < 0);
      }));
}

Result<Losses> WriteFoldedTo(const Profile& profile, const WriteOptions& options,
                             const std::filesystem::path& output) {
  TRY_ASSIGN(OutputFile out, OutputFile::Create(output, options.if_exists));
  TRY(WriteFolded(profile, options.folded, out));
  TRY(std::move(out).Commit());
  const std::uint64_t negative =
      options.folded.differential ? 0 : NegativeSamples(profile, options.folded.event);
  return negative == 0 ? Losses() : Losses{NegativeLine(negative, "flamegraph.pl")};
}

Result<Losses> WritePprofTo(const Profile& profile, const WriteOptions& options,
                            const std::filesystem::path& output) {
  TRY_ASSIGN(OutputFile out, OutputFile::Create(output, options.if_exists));
  TRY(WritePprof(profile, options.pprof, out));
  TRY(std::move(out).Commit());
  Losses losses;
  for (const EventId event : LossyEvents(profile)) {
    losses.push_back(std::string(profile.text(profile[event].name)) +
                     ": rounded, because a pprof has only whole numbers");
  }
  return losses;
}

// JSON and compression are chosen by the name.
Result<Losses> WriteOtlpTo(const Profile& profile, const WriteOptions& options,
                           const std::filesystem::path& output) {
  std::string_view name = output.native();
  const bool is_compressed = name.ends_with(".gz");
  if (is_compressed) name.remove_suffix(3);
  const auto encoding = name.ends_with(".json") ? otlp::Encoding::kJson : otlp::Encoding::kProtobuf;
  TRY_ASSIGN(OutputFile out, OutputFile::Create(output, options.if_exists));
  const OtlpFile file =
      EncodeOtlp(profile, {.thread_labels = options.pprof.thread_labels}, encoding);
  std::vector<std::byte> compressed;
  if (is_compressed) {
    TRY_ASSIGN(compressed, pprof::Gzip(AsBytes(file.bytes)));
  }
  TRY(out.Write(is_compressed ? Bytes(compressed) : AsBytes(file.bytes)));
  TRY(std::move(out).Commit());
  return LossLines(file.report);
}

Result<Losses> WritePerfDataTo(const Profile& profile, const WriteOptions& options,
                               const std::filesystem::path& output) {
  PerfDataOptions own = options.perfdata;
  own.if_exists = options.if_exists;
  TRY_ASSIGN(const PerfDataReport report, WritePerfData(profile, own, output));
  return LossLines(report);
}

Result<Losses> WriteScriptTo(const Profile& profile, const WriteOptions& options,
                             const std::filesystem::path& output) {
  TRY_ASSIGN(OutputFile out, OutputFile::Create(output, options.if_exists));
  TRY_ASSIGN(const ScriptReport report, WriteScript(profile, {.event = options.folded.event}, out));
  TRY(std::move(out).Commit());
  return LossLines(report);
}

Losses LossesOf(const flame_graph::FlameGraphReport& report) {
  if (report.negative_samples == 0) return {};
  return {NegativeLine(report.negative_samples, "a flame graph")};
}

Result<Losses> WriteHtmlTo(const Profile& profile, const WriteOptions& options,
                           const std::filesystem::path& output) {
  TRY_ASSIGN(OutputFile out, OutputFile::Create(output, options.if_exists));
  TRY_ASSIGN(const flame_graph::FlameGraphReport report,
             flame_graph::WriteHtml(profile, options.folded, options.times, out));
  TRY(std::move(out).Commit());
  return LossesOf(report);
}

Result<Losses> WriteSvgTo(const Profile& profile, const WriteOptions& options,
                          const std::filesystem::path& output) {
  TRY_ASSIGN(OutputFile out, OutputFile::Create(output, options.if_exists));
  TRY_ASSIGN(const flame_graph::FlameGraphReport report,
             flame_graph::WriteSvg(profile, options.folded, out));
  TRY(std::move(out).Commit());
  return LossesOf(report);
}

// Returns the lines for what an export left out or changed. `where` is "speedscope".
Losses LossesOf(const viewers::ViewReport& report, std::string_view where) {
  Losses losses;
  if (report.negative_samples != 0) {
    losses.push_back(NegativeLine(report.negative_samples, where));
  }
  for (const std::string& event : report.rounded_events) {
    losses.push_back(event + ": rounded, because " + std::string(where) +
                     " has only whole numbers");
  }
  return losses;
}

using ViewWriter = Result<viewers::ViewReport>(const Profile& profile, const FoldedOptions& options,
                                               OutputFile& out);

template <ViewWriter* Write, const std::string_view& kName>
Result<Losses> WriteViewTo(const Profile& profile, const WriteOptions& options,
                           const std::filesystem::path& output) {
  TRY_ASSIGN(OutputFile out, OutputFile::Create(output, options.if_exists));
  TRY_ASSIGN(const viewers::ViewReport report, Write(profile, options.folded, out));
  TRY(std::move(out).Commit());
  return LossesOf(report, kName);
}

// Compresses if the name ends in ".gz".
Result<Losses> WriteFirefoxTo(const Profile& profile, const WriteOptions& options,
                              const std::filesystem::path& output) {
  const auto compression = output.native().ends_with(".gz") ? viewers::FirefoxCompression::kGzip
                                                            : viewers::FirefoxCompression::kNone;
  TRY_ASSIGN(OutputFile out, OutputFile::Create(output, options.if_exists));
  TRY(viewers::WriteFirefox(profile, options.folded,
                            {.compression = compression, .events = options.times.events}, out));
  TRY(std::move(out).Commit());
  return Losses();
}

constexpr std::array kFormats = {
    Format{.name = kPerfDataFormat,
           .endings = kPerfDataEndings,
           .is_recording = true,
           .matches = perfdata::IsPerfData,
           .read = ReadPerfData,
           .rewrite = rewrite::Normalize,
           .write = WritePerfDataTo},
    // Before folded stacks, because some lines of it look like theirs.
    Format{.name = kScriptFormat,
           .endings = kScriptEndings,
           .is_text = true,
           .prefers_one_event = true,
           .has_sample_times = true,
           .matches = IsScript,
           .read = ReadScript,
           .rewrite = nullptr,
           .write = WriteScriptTo},
    Format{.name = kBpftraceFormat,
           .endings = {},
           .is_text = true,
           .matches = IsBpftraceText,
           .read = ReadBpftraceText,
           .rewrite = nullptr,
           .write = nullptr},
    Format{.name = kBccFormat,
           .endings = {},
           .is_text = true,
           .matches = IsBccText,
           .read = ReadStackListText,
           .rewrite = nullptr,
           .write = nullptr},
    Format{.name = kDtraceFormat,
           .endings = {},
           .is_text = true,
           .matches = IsDtraceText,
           .read = ReadStackListText,
           .rewrite = nullptr,
           .write = nullptr},
    Format{.name = kSampleFormat,
           .endings = {},
           .is_text = true,
           .matches = IsSampleText,
           .read = ReadSampleText,
           .rewrite = nullptr,
           .write = nullptr},
    Format{.name = kJemallocFormat,
           .endings = {},
           .is_text = true,
           .matches = IsJemallocHeap,
           .read = ReadJemallocHeap,
           .rewrite = nullptr,
           .write = nullptr},
    Format{.name = kCpuProfileFormat,
           .endings = kCpuProfileEndings,
           .is_text = true,
           .holds_one_value = true,
           .default_value = FoldedValue::kPeriod,
           .matches = IsCpuProfileFile,
           .read = ReadCpuProfile,
           .rewrite = nullptr,
           .write = WriteViewTo<viewers::WriteCpuProfile, kCpuProfileFormat>},
    Format{.name = kChromeTraceFormat,
           .endings = {},
           .is_text = true,
           .matches = IsChromeTraceFile,
           .read = ReadChromeTrace,
           .rewrite = nullptr,
           .write = nullptr},
    Format{.name = kFoldedFormat,
           .endings = kFoldedEndings,
           .is_text = true,
           .holds_one_value = true,
           .shows_events = true,
           .matches = IsFolded,
           .read = ReadFolded,
           .rewrite = nullptr,
           .write = WriteFoldedTo},
    // Before pprof, whose reader could take a file without profiles for its own.
    Format{.name = kOtlpFormat,
           .endings = kOtlpEndings,
           .matches = IsOtlp,
           .read = ReadOtlp,
           .rewrite = nullptr,
           .write = WriteOtlpTo},
    Format{.name = kPprofFormat,
           .endings = kPprofEndings,
           .matches = IsPprof,
           .read = ReadPprof,
           .rewrite = nullptr,
           .write = WritePprofTo},
    Format{.name = kHtmlFormat,
           .endings = kHtmlEndings,
           .shows_times = true,
           .shows_events = true,
           .matches = nullptr,
           .read = nullptr,
           .rewrite = nullptr,
           .write = WriteHtmlTo},
    Format{.name = kSvgFormat,
           .endings = kSvgEndings,
           .holds_one_value = true,
           .shows_events = true,
           .matches = nullptr,
           .read = nullptr,
           .rewrite = nullptr,
           .write = WriteSvgTo},
    Format{.name = kSpeedscopeFormat,
           .endings = kSpeedscopeEndings,
           .is_text = true,
           .shows_events = true,
           .has_sample_times = true,
           .default_value = FoldedValue::kPeriod,
           .matches = IsSpeedscopeFile,
           .read = ReadSpeedscope,
           .rewrite = nullptr,
           .write = WriteViewTo<viewers::WriteSpeedscope, kSpeedscopeFormat>},
    Format{.name = kCallgrindFormat,
           .endings = kCallgrindEndings,
           .beginning = "callgrind.out",
           .is_text = true,
           .shows_events = true,
           .default_value = FoldedValue::kPeriod,
           .matches = nullptr,
           .read = nullptr,
           .rewrite = nullptr,
           .write = WriteViewTo<viewers::WriteCallgrind, kCallgrindFormat>},
    Format{.name = kFirefoxFormat,
           .endings = kFirefoxEndings,
           .is_text = true,
           .shows_events = true,
           .has_sample_times = true,
           .default_value = FoldedValue::kPeriod,
           .matches = IsFirefoxFile,
           .read = ReadFirefox,
           .rewrite = nullptr,
           .write = WriteFirefoxTo},
};

}  // namespace

std::span<const Format> AllFormats() {
  return kFormats;
}

const Format* DetectFormat(const Input& input) {
  const auto* format = std::ranges::find_if(
      kFormats, [&](const Format& f) { return f.matches != nullptr && f.matches(input); });
  return format == kFormats.end() ? nullptr : format;
}

Result<Input> OpenInput(const std::filesystem::path& path) {
  TRY_ASSIGN(Input input, Input::Open(path));
  AddInputToProgress(input.is_stream() ? 0 : input.beginning().size());
  if (IsPprof(input)) return input;
  return bundle::Expanded(std::move(input));
}

const Format* FindFormat(std::string_view name) {
  const auto* format = std::ranges::find(kFormats, name, &Format::name);
  return format == kFormats.end() ? nullptr : format;
}

const Format* FormatByFileName(std::string_view path) {
  const std::string_view name = BaseName(path);
  const Format* best = nullptr;
  std::size_t longest = 0;
  for (const Format& format : kFormats) {
    if (!format.beginning.empty() && name.starts_with(format.beginning)) return &format;
    for (const std::string_view ending : format.endings) {
      if (ending.size() <= longest || !path.ends_with(ending)) continue;
      longest = ending.size();
      best = &format;
    }
  }
  return best;
}

}  // namespace perftape::convert

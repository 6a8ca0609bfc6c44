// SPDX-License-Identifier: Apache-2.0
// The table of formats that profiles are read from and written to. A new format is a row, and a
// constant for its name if other files use it.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/flame_graph/flame_graph.h"
#include "convert/export/to_folded.h"
#include "convert/export/to_otlp.h"
#include "convert/export/to_perfdata.h"
#include "convert/export/to_pprof.h"
#include "convert/export/to_script.h"
#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "convert/rewrite/normalize.h"
#include "formats/base/input.h"
#include "formats/base/output_target.h"
#include "formats/base/result.h"

namespace perftape::convert {

// The options of all writers. Each writer uses its own.
struct WriteOptions {
  IfExists if_exists = IfExists::kRefuse;
  FoldedOptions folded = {};
  PprofOptions pprof = {};        // its labels of threads also for otlp
  PerfDataOptions perfdata = {};  // its if_exists is replaced by the one above
  // For pages; its events also for formats with Format::has_sample_times.
  flame_graph::PageTimes times = {};
};

// "labels that a perf.data cannot contain: thread_id"
using Losses = std::vector<std::string>;

// The names of the formats.
inline constexpr std::string_view kPerfDataFormat = "perf.data";
inline constexpr std::string_view kFoldedFormat = "folded";
inline constexpr std::string_view kPprofFormat = "pprof";
inline constexpr std::string_view kScriptFormat = "perf-script";
inline constexpr std::string_view kOtlpFormat = "otlp";  // OpenTelemetry profiles
inline constexpr std::string_view kHtmlFormat = "html";  // flame graphs
inline constexpr std::string_view kSvgFormat = "svg";
inline constexpr std::string_view kSpeedscopeFormat = "speedscope";
inline constexpr std::string_view kCallgrindFormat = "callgrind";
inline constexpr std::string_view kFirefoxFormat = "firefox";        // Firefox Profiler
inline constexpr std::string_view kCpuProfileFormat = "cpuprofile";  // V8, VS Code
inline constexpr std::string_view kChromeTraceFormat = "chrome-trace";
inline constexpr std::string_view kJemallocFormat = "jemalloc";  // heap_v2
// The texts of tracers.
inline constexpr std::string_view kBpftraceFormat = "bpftrace";
inline constexpr std::string_view kBccFormat = "bcc";
inline constexpr std::string_view kDtraceFormat = "dtrace";
inline constexpr std::string_view kSampleFormat = "sample";  // of macOS

struct Format {
  std::string_view name;                      // one of the above
  std::span<const std::string_view> endings;  // file name suffixes, with the dot
  std::string_view beginning = {};            // of file names: "callgrind.out"; empty if any
  // Whether the format can be printed to a terminal.
  bool is_text = false;
  // Whether the format is a recording. Its frames are addresses, for which names are looked up. It
  // also has sample times, which only its own `rewrite` keeps.
  bool is_recording = false;
  // Whether it shows the order of the samples in time, for ImportOptions::first_times.
  bool shows_times = false;
  // Whether a file has one number per stack, and so the samples of one event.
  bool holds_one_value = false;
  // Whether a file should have the samples of one event, because its readers show one event, or add
  // up all. It can have several.
  bool prefers_one_event = false;
  // Whether it shows the same event of several types of cores as one event.
  bool shows_events = false;
  // Whether it has the time (and may have the CPU) of each sample, for ImportOptions::time_label
  // and cpu_label.
  bool has_sample_times = false;
  // The numbers that are written if none are selected, for a format that does not contain both. If
  // not set, ChooseValue decides for each event.
  std::optional<FoldedValue> default_value = {};
  // Returns whether the input has this format. If the format cannot be read, `matches` and `read`
  // are null.
  bool (*matches)(const Input& input);
  Result<Profile> (*read)(Input& input, const ImportOptions& options, ImportReport& report);
  // Writes the same format again, record by record. This keeps content that a profile cannot hold:
  // sample times and other records. Null if the format has no rewrite. `output` is a path or "-"
  // for stdout.
  Result<rewrite::NormalizeReport> (*rewrite)(Input& input, const std::filesystem::path& output,
                                              const rewrite::NormalizeOptions& options);
  // Writes a profile. `output` is a path or "-" for stdout. Equal profiles become equal bytes.
  // Returns one line for each type of content that the format cannot hold. Null if the format
  // cannot be written.
  Result<Losses> (*write)(const Profile& profile, const WriteOptions& options,
                          const std::filesystem::path& output);
};

std::span<const Format> AllFormats();

// Returns the format that can read the input, by its first bytes; the name does not matter. Null if
// none can.
const Format* DetectFormat(const Input& input);

// Calls Input::Open. If a whole file is compressed with gzip, bzip2, xz or zstd, returns its
// decompressed content. A pprof stays compressed, because it is a gzip file by definition.
Result<Input> OpenInput(const std::filesystem::path& path);

// Returns the format with this name, or null.
const Format* FindFormat(std::string_view name);

// Returns the format to write for a path: by the beginning of its file name, otherwise by its
// ending; the longest one wins. Null if none matches.
const Format* FormatByFileName(std::string_view path);

}  // namespace perftape::convert

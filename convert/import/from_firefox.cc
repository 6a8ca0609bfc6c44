// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/import/firefox_frames.h"
#include "convert/import/from_other_programs.h"
#include "convert/import/time_window.h"
#include "convert/model/label_keys.h"
#include "convert/model/profile_builder.h"
#include "convert/model/sample_thread.h"
#include "formats/base/regular_file.h"
#include "formats/base/utf8_text.h"
#include "formats/json_profiles/firefox.h"
#include "formats/json_profiles/samply_symbols.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::convert {
namespace {

using json_profiles::FirefoxFile;
using json_profiles::FirefoxThread;

constexpr double kNsPerMs = 1e6;
constexpr unsigned kWeightDecimals = 6;
constexpr std::string_view kNoThread = "[all]";  // as WriteFirefox names it

// What the weights of a thread's samples count.
struct FirefoxWeight {
  std::string_view type, event, unit;
  double factor;  // how many of `unit` one of the file's is
};
constexpr FirefoxWeight kFirefoxWeights[] = {
    {"samples", "samples", "count", 1},
    {"tracing-ms", "time", perfdata::kNanoseconds, kNsPerMs},
    {"bytes", "space", "bytes", 1},
};

const FirefoxWeight& WeightOf(std::string_view type) {
  const auto* weight = std::ranges::find(kFirefoxWeights, type, &FirefoxWeight::type);
  return weight == std::end(kFirefoxWeights) ? kFirefoxWeights[0] : *weight;
}

std::int64_t Rounded(double value) {
  constexpr double kMost = 9.2e18;
  return std::isfinite(value) ? std::llround(std::clamp(value, -kMost, kMost)) : 0;
}

class FirefoxImporter {
 public:
  FirefoxImporter(const FirefoxFile& file, const ImportOptions& options, ImportReport& report)
      : file_(file),
        options_(options),
        report_(report),
        is_ours_(file.product == "perftape"),
        frames_(builder_, file, options.map_kernel_addresses) {}

  void SetSymbols(json_profiles::SamplySymbols symbols) { frames_.SetSymbols(std::move(symbols)); }

  Profile Import() && {
    FindTimes();
    for (const FirefoxThread& thread : file_.threads) AddThread(thread);
    Metadata metadata;
    if (file_.start_time_ms > 0) metadata.start_time_ns = Rounded(file_.start_time_ms * kNsPerMs);
    if (recording_) metadata.duration_ns = recording_->last - recording_->first;
    builder_.SetMetadata(std::move(metadata));
    if (frames_.without_offsets() != 0) {
      report_.notes.push_back(
          "frames without a name and without a known address in their file, because the library is "
          "not at its recorded path: " +
          std::to_string(frames_.without_offsets()));
    }
    return std::move(builder_).Finish();
  }

 private:
  static std::int64_t TimeOf(const FirefoxThread& thread, std::size_t sample) {
    return Rounded(thread.time_ms[sample] * kNsPerMs);
  }

  void FindTimes() {
    for (const FirefoxThread& thread : file_.threads) {
      for (std::size_t i = 0; i < std::min(thread.time_ms.size(), thread.stacks.size()); ++i) {
        const std::int64_t time = TimeOf(thread, i);
        if (!recording_) recording_ = {.first = time, .last = time};
        recording_->first = std::min(recording_->first, time);
        recording_->last = std::max(recording_->last, time);
      }
    }
    if (recording_ && options_.time) window_ = Resolve(*options_.time, *recording_);
    if (!recording_ || options_.histogram_bins == 0) return;
    report_.histogram = {
        .first_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(recording_->first, 0)),
        .last_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(recording_->last, 0)),
        .samples = std::vector<std::uint64_t>(options_.histogram_bins)};
  }

  // Returns the comm of a thread, and sets `event` to that in "main (cpu-clock)", as WriteFirefox
  // names the threads of all events but the first.
  std::string_view CommOf(const FirefoxThread& thread, std::string_view& event) const {
    std::string_view name = thread.name;
    if (!is_ours_) return name;
    const std::size_t open = name.rfind(" (");
    if (open != std::string_view::npos && open != 0 && name.ends_with(')')) {
      event = name.substr(open + 2, name.size() - open - 3);
      name = name.substr(0, open);
    }
    return name == kNoThread ? std::string_view() : name;
  }

  void AddThread(const FirefoxThread& thread) {
    const FirefoxWeight& weight = WeightOf(thread.weight_type);
    std::string_view event_name = weight.event;
    const std::string_view comm = CommOf(thread, event_name);
    const bool has_fractions = thread.has_fractions && weight.factor == 1;
    const unsigned decimals = has_fractions ? kWeightDecimals : 0;
    const double factor = weight.factor * (has_fractions ? std::pow(10.0, kWeightDecimals) : 1.0);
    const EventId event = builder_.Add(Event{.name = builder_.Add(event_name),
                                             .unit = builder_.Add(weight.unit),
                                             .values = EventValues::kPlain,
                                             .decimals = static_cast<std::uint8_t>(decimals)});
    ThreadId id = {};
    if (!comm.empty() || thread.pid || thread.tid) {
      id = builder_.Add(Thread{.pid = thread.pid.value_or(kUnknownId),
                               .tid = thread.tid.value_or(kUnknownId),
                               .comm = builder_.Add(comm)});
    }
    frames_.Begin(thread);
    for (std::size_t i = 0; i < thread.stacks.size(); ++i) {
      const double number = i < thread.weights.size() ? thread.weights[i]
                            : thread.weights.empty()  ? 1.0
                                                      : 0.0;
      AddSample(thread, i, {.thread = id, .event = event, .period = Rounded(number * factor)});
    }
  }

  void AddSample(const FirefoxThread& thread, std::size_t index, Sample sample) {
    const bool has_time = index < thread.time_ms.size();
    const std::int64_t time = has_time ? TimeOf(thread, index) : 0;
    if (has_time && window_ && !window_->Has(time)) {
      ++report_.outside_time;
      return;
    }
    // Firefox samples a thread that does nothing without a stack, and with no weight.
    if (thread.stacks[index] < 0 && sample.period == 0) return;
    const auto stack = frames_.StackOf(thread.stacks[index]);
    if (!stack) {
      ++report_.skipped_samples;
      return;
    }
    sample.stack = stack->id;
    if (has_time) AddTime(time, sample);
    builder_.Add(sample);
    ++report_.samples;
    report_.frames += stack->depth;
  }

  void AddTime(std::int64_t time, Sample& sample) {
    if (options_.time_label) {
      const Label label = {.key = builder_.Add(kTimestampLabel),
                           .number = time,
                           .unit = builder_.Add(perfdata::kNanoseconds)};
      sample.labels = builder_.Add(std::vector<Label>{label});
    }
    if (options_.first_times) {
      constexpr std::int64_t kMost = Sample::kNoTime - 1;
      sample.first_ms = static_cast<std::uint32_t>(
          std::clamp<std::int64_t>((time - recording_->first) / 1'000'000, 0, kMost));
    }
    report_.histogram.Add(static_cast<std::uint64_t>(std::max<std::int64_t>(time, 0)), 1);
  }

  const FirefoxFile& file_;
  const ImportOptions& options_;
  ImportReport& report_;
  const bool is_ours_;
  ProfileBuilder builder_;
  FirefoxFrames frames_;
  std::optional<TimeWindow> recording_, window_;
};

// Returns the names that samply wrote beside the input. Nothing if there are none, or if they
// cannot be read.
std::optional<json_profiles::SamplySymbols> SymbolsBeside(const Input& input,
                                                          ImportReport& report) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
  if (input.path().empty()) return {};
  const std::filesystem::path path = json_profiles::SamplySymbolsPath(input.path());
  const auto bytes = ReadRegularFile(path, kMostBytes);
  if (!bytes && bytes.error().code == ErrorCode::kNotFound) return {};
  auto symbols = bytes ? json_profiles::SamplySymbols::Parse(Utf8Text(AsBytes(*bytes)).view())
                       : Result<json_profiles::SamplySymbols>(Fail(bytes.error()));
  if (symbols) return *std::move(symbols);
  report.problems.push_back(path.native() + ": " + symbols.error().message +
                            ": its names are not used");
  return {};
}

}  // namespace

bool IsFirefoxFile(const Input& input) {
  return json_profiles::IsFirefox(Utf8Text(input.first()).view());
}

Result<Profile> ReadFirefox(Input& input, const ImportOptions& options, ImportReport& report) {
  TRY_ASSIGN(const Bytes bytes, input.All());
  const Utf8Text text(bytes);
  TRY_ASSIGN(const FirefoxFile file, json_profiles::ReadFirefoxFile(text.view()));
  FirefoxImporter importer(file, options, report);
  if (auto symbols = SymbolsBeside(input, report)) importer.SetSymbols(*std::move(symbols));
  Profile profile = std::move(importer).Import();
  if (report.skipped_samples != 0) report.first_skipped = "a stack that is not in the file";
  return profile;
}

}  // namespace perftape::convert

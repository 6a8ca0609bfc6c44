// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/import/from_other_programs.h"
#include "convert/import/named_frames.h"
#include "convert/model/profile_builder.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "formats/base/duration.h"
#include "formats/base/utf8_text.h"
#include "formats/json/walk.h"
#include "formats/json_profiles/speedscope.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::convert {
namespace {

using json_profiles::SpeedscopeEvent;
using json_profiles::SpeedscopeFile;
using json_profiles::SpeedscopeProfile;

constexpr std::string_view kOurExporter = "perftape";
constexpr unsigned kMostDecimals = 6;

struct SpeedscopeUnit {
  std::string_view in_file, event, unit;
  std::int64_t scale;  // how many of `unit` one of the file's is
};
constexpr SpeedscopeUnit kSpeedscopeUnits[] = {
    {"nanoseconds", "time", perfdata::kNanoseconds, 1},
    {"microseconds", "time", perfdata::kNanoseconds, 1'000},
    {"milliseconds", "time", perfdata::kNanoseconds, 1'000'000},
    {"seconds", "time", perfdata::kNanoseconds, kNsPerSecond},
    {"bytes", "space", "bytes", 1},
    {"none", "samples", "count", 1},
};

const SpeedscopeUnit& SpeedscopeUnitOf(std::string_view name) {
  const auto* unit = std::ranges::find(kSpeedscopeUnits, name, &SpeedscopeUnit::in_file);
  return unit == std::end(kSpeedscopeUnits) ? kSpeedscopeUnits[std::size(kSpeedscopeUnits) - 1]
                                            : *unit;
}

std::int64_t ScaledWeight(const json::Number& number, std::int64_t scale) {
  std::int64_t exact = 0;
  if (number.is_integer && !__builtin_mul_overflow(number.integer, scale, &exact)) return exact;
  constexpr double kMost = 9.2e18;
  return std::llround(std::clamp(number.value * static_cast<double>(scale), -kMost, kMost));
}

class SpeedscopeImporter {
 public:
  SpeedscopeImporter(const SpeedscopeFile& file, const ImportOptions& options, ImportReport& report)
      : file_(file), report_(report), frames_(builder_, options.map_kernel_addresses) {
    for (const auto& frame : file.frames) {
      locations_.push_back(
          frames_.Add({.name = frame.name, .file = frame.file, .start_line = frame.line}));
    }
  }

  Profile Import() && {
    for (const SpeedscopeProfile& profile : file_.profiles) {
      Begin(profile);
      profile.type == "evented" ? AddEvents(profile) : AddSamples(profile);
    }
    return std::move(builder_).Finish();
  }

 private:
  void Begin(const SpeedscopeProfile& profile) {
    const SpeedscopeUnit& unit = SpeedscopeUnitOf(profile.unit);
    const bool is_ours = file_.exporter == kOurExporter;
    const bool has_fraction = std::ranges::any_of(
        profile.weights, [](const json::Number& weight) { return !weight.is_integer; });
    const unsigned decimals = has_fraction && unit.scale == 1 ? kMostDecimals : 0;
    scale_ = unit.scale;
    for (unsigned i = 0; i < decimals; ++i) scale_ *= 10;
    event_ = builder_.Add(
        Event{.name = builder_.Add(is_ours ? std::string_view(profile.name) : unit.event),
              .unit = builder_.Add(unit.unit),
              .values = EventValues::kPlain,
              .decimals = static_cast<std::uint8_t>(decimals)});
    thread_ = {};
    if (!is_ours && file_.profiles.size() > 1 && !profile.name.empty()) {
      thread_ = builder_.Add(
          Thread{.pid = kUnknownId, .tid = kUnknownId, .comm = builder_.Add(profile.name)});
    }
  }

  // Consecutive samples of speedscope share their outer frames.
  void AddSamples(const SpeedscopeProfile& profile) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < profile.ends.size(); ++i) {
      const std::size_t end = profile.ends[i];
      const auto frames = std::span(profile.frames).subspan(begin, end - begin);
      begin = end;
      if (!SetStack(frames)) {
        ++report_.skipped_samples;
        continue;
      }
      const json::Number one = {.value = 1, .integer = 1, .is_integer = true};
      Add(i < profile.weights.size() ? ScaledWeight(profile.weights[i], scale_)
                                     : ScaledWeight(one, scale_));
      report_.frames += frames.size();
    }
  }

  bool SetStack(std::span<const std::uint32_t> frames) {
    const auto differ = std::ranges::mismatch(frames, path_);
    const auto common = static_cast<std::size_t>(differ.in1 - frames.begin());
    path_.resize(common);
    stacks_.resize(common);
    for (std::size_t i = common; i < frames.size(); ++i) {
      if (!Push(frames[i])) return false;
    }
    return true;
  }

  bool Push(std::uint32_t frame) {
    if (frame >= locations_.size()) return false;
    stacks_.push_back(
        builder_.Push(stacks_.empty() ? StackId{} : stacks_.back(), locations_[frame]));
    path_.push_back(frame);
    return true;
  }

  void AddEvents(const SpeedscopeProfile& profile) {
    path_.clear();
    stacks_.clear();
    json::Number last = {};
    for (const SpeedscopeEvent& event : profile.events) {
      const json::Number passed = {.value = event.at.value - last.value,
                                   .integer = SubtractUpToLimit(event.at.integer, last.integer),
                                   .is_integer = event.at.is_integer && last.is_integer};
      if (!path_.empty() && passed.value > 0) {
        Add(ScaledWeight(passed, scale_));
        report_.frames += path_.size();
      }
      last = event.at;
      if (event.opens ? !Push(event.frame) : path_.empty()) {
        ++report_.skipped_samples;
      } else if (!event.opens) {
        path_.pop_back();
        stacks_.pop_back();
      }
    }
    path_.clear();
    stacks_.clear();
  }

  void Add(std::int64_t value) {
    ++report_.samples;
    builder_.Add(Sample{.stack = stacks_.empty() ? StackId{} : stacks_.back(),
                        .thread = thread_,
                        .event = event_,
                        .period = value});
  }

  const SpeedscopeFile& file_;
  ImportReport& report_;
  ProfileBuilder builder_;
  NamedFrames frames_;
  std::vector<LocationId> locations_;  // by the file's index
  EventId event_ = {};
  ThreadId thread_ = {};
  std::int64_t scale_ = 1;
  std::vector<std::uint32_t> path_;  // the current stack, root first
  std::vector<StackId> stacks_;      // of each frame in it
};

}  // namespace

bool IsSpeedscopeFile(const Input& input) {
  return json_profiles::IsSpeedscope(Utf8Text(input.first()).view());
}

Result<Profile> ReadSpeedscope(Input& input, const ImportOptions& options, ImportReport& report) {
  TRY_ASSIGN(const Bytes bytes, input.All());
  const Utf8Text text(bytes);
  TRY_ASSIGN(const SpeedscopeFile file, json_profiles::ReadSpeedscopeFile(text.view()));
  Profile profile = SpeedscopeImporter(file, options, report).Import();
  if (report.skipped_samples != 0) report.first_skipped = "a frame that is not in the file";
  return profile;
}

}  // namespace perftape::convert

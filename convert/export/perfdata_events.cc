// SPDX-License-Identifier: Apache-2.0
#include "convert/export/perfdata_events.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "convert/model/profile_facts.h"
#include "formats/perfdata/converted.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/kernel_events.h"
#include "formats/perfdata/record.h"

namespace perftape::convert {
namespace {

using perfdata::FeatureBit;

// The event of the kernel that has the name of `event`; of others, the one that says so.
perfdata::KernelEvent TypeOf(const Profile& profile, const Event& event) {
  constexpr perfdata::KernelEvent kNone = {.name = "",
                                           .alias = "",
                                           .type = perfdata::kTypeSoftware,
                                           .config = perfdata::kSoftwareOfProfile};
  if (event.values == EventValues::kPlain) return kNone;
  std::string_view name = profile.text(event.name);
  name = name.substr(0, name.find(':'));  // without its modifiers
  const perfdata::KernelEvent* const known = perfdata::FindKernelEvent(name);
  return known == nullptr || !IsCounted(*known) ? kNone : *known;
}

// Returns the unit that ReadPerfData assumes for an event without a unit.
std::string_view ImpliedUnit(const Profile& profile, const Event& event) {
  const perfdata::KernelEvent type = TypeOf(profile, event);
  perfdata::EventAttr attr;
  attr.type = type.type;
  attr.config = type.config;
  return perfdata::PeriodUnitOf(attr, profile.text(event.name));
}

// perf warns of unknown kernel addresses if an event counts the kernel (builtin-report.c,
// report__warn_kptr_restrict). These events have no addresses of the kernel.
constexpr std::uint64_t kFlags = perfdata::kDisabled | perfdata::kExcludeKernel |
                                 perfdata::kExcludeHv | perfdata::kSampleIdAll |
                                 perfdata::kAttrMmap | perfdata::kAttrMmap2 | perfdata::kAttrComm |
                                 perfdata::kTask | perfdata::kAttrKsymbol;

perfdata::Event NoEvent(std::uint64_t sample_type) {
  perfdata::Event none;
  none.attr.type = perfdata::kTypeSoftware;
  none.attr.config = perfdata::kSoftwareDummy;
  none.attr.sample_type = sample_type;
  none.attr.flags = kFlags;
  none.format = FormatOf(none.attr);
  none.ids = {1};
  none.name = "dummy";
  return none;
}

// The comments that ReadPerfData makes from features.
struct CommentKey {
  std::string_view key;
  FeatureBit bit;
};
constexpr CommentKey kCommentKeys[] = {
    {kHostnameComment, FeatureBit::kHostname},   {kOsReleaseComment, FeatureBit::kOsRelease},
    {kArchComment, FeatureBit::kArch},           {kPerfVersionComment, FeatureBit::kVersion},
    {kCommandLineComment, FeatureBit::kCmdline},
};

perfdata::FeatureValue ValueOf(FeatureBit bit, std::string text) {
  if (bit != FeatureBit::kCmdline) return perfdata::TextFeature{std::move(text)};
  return perfdata::Cmdline{.arguments = {std::move(text)}};
}

bool HasFeature(const std::vector<perfdata::Feature>& features, FeatureBit bit) {
  return std::ranges::find(features, bit, &perfdata::Feature::bit) != features.end();
}

bool HasArch(const Metadata& metadata) {
  return std::ranges::any_of(metadata.comments, [](const std::string& comment) {
    return !CommentValue(comment, kArchComment).empty();
  });
}

// hotspot assumes another byte order for a header without HOSTNAME and CMDLINE (perfparser's
// perfheader.cpp), and reads no file of an unknown architecture.
void AddWhatHotspotNeeds(std::vector<perfdata::Feature>& features) {
  if (!HasFeature(features, FeatureBit::kHostname)) {
    features.push_back({FeatureBit::kHostname, perfdata::TextFeature{}});
  }
  if (!HasFeature(features, FeatureBit::kArch)) {
    features.push_back({FeatureBit::kArch, perfdata::TextFeature{"x86_64"}});
  }
}

void AddComment(const std::string& comment, std::vector<perfdata::Feature>& features,
                std::vector<std::string>& lost) {
  for (const CommentKey& known : kCommentKeys) {
    const std::string_view value = CommentValue(comment, known.key);
    if (value.empty()) continue;
    if (HasFeature(features, known.bit)) break;
    features.push_back({known.bit, ValueOf(known.bit, std::string(value))});
    return;
  }
  lost.push_back("comment");
}

}  // namespace

std::vector<perfdata::Event> PerfDataEvents(const Profile& profile, std::uint64_t sample_type,
                                            bool times_made_up) {
  std::vector<perfdata::Event> events;
  for (const Event& event : profile.events()) {
    const perfdata::KernelEvent type = TypeOf(profile, event);
    perfdata::Event& written = events.emplace_back();
    written.attr.type = type.type;
    written.attr.config = type.config;
    written.attr.sample_period = event.period;
    written.attr.sample_type = sample_type;
    written.attr.flags = kFlags;
    MarkConverted({.is_plain = event.values == EventValues::kPlain,
                   .decimals = event.decimals,
                   .times_made_up = times_made_up,
                   .arch_made_up = !HasArch(profile.metadata())},
                  written.attr);
    written.format = FormatOf(written.attr);
    written.ids = {events.size()};
    written.name = profile.text(event.name);
  }
  if (events.empty()) events.push_back(NoEvent(sample_type));
  return events;
}

Status AppendEventUpdates(const Profile& profile, std::vector<std::byte>& records) {
  using perfdata::EventUpdate;
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    const Event& event = profile.events()[i];
    const std::uint64_t id = i + 1;
    if (const std::string_view unit = profile.text(event.unit);
        unit != ImpliedUnit(profile, event)) {
      TRY(Encode(EventUpdate{.update_type = EventUpdate::kUnit, .id = id, .text = unit}, 0,
                 records));
    }
    if (event.decimals > 0) {
      const double scale = std::pow(10, -static_cast<int>(event.decimals));
      TRY(Encode(EventUpdate{.update_type = EventUpdate::kScale, .id = id, .scale = scale}, 0,
                 records));
    }
  }
  return {};
}

std::vector<perfdata::Feature> PerfDataFeatures(const Profile& profile, const SampleTimes& times,
                                                std::vector<std::string>& lost) {
  const Metadata& metadata = profile.metadata();
  std::vector<perfdata::Feature> features;
  for (const std::string& comment : metadata.comments) AddComment(comment, features, lost);
  AddWhatHotspotNeeds(features);
  if (!metadata.drop_frames.empty()) lost.push_back("drop_frames");
  if (!metadata.keep_frames.empty()) lost.push_back("keep_frames");
  if (!metadata.doc_url.empty()) lost.push_back("doc_url");
  if (!metadata.default_value.empty()) lost.push_back("default_sample_type");
  if (metadata.period_type) lost.push_back("period_type");

  features.push_back({FeatureBit::kSampleTime,
                      perfdata::SampleTime{.first_ns = times.first_ns, .last_ns = times.last_ns}});
  if (times.is_wall_clock) {
    // CLOCK_REALTIME is 0.
    features.push_back({FeatureBit::kClockData, perfdata::ClockData{.clockid = 0,
                                                                    .wall_ns = times.first_ns,
                                                                    .clockid_ns = times.first_ns}});
  }
  return features;
}

}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/profiles.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "convert/export/flame_graph/flame_graph.h"
#include "convert/export/to_folded.h"
#include "convert/export/to_pprof.h"
#include "convert/import/from_pprof.h"
#include "convert/model/hybrid_events.h"
#include "convert/model/label_keys.h"
#include "convert/model/merge.h"
#include "convert/model/profile_builder.h"
#include "convert/model/profile_copier.h"
#include "convert/model/sample_thread.h"
#include "formats/base/input.h"
#include "formats/base/output_file.h"
#include "formats/perfdata/period_unit.h"
#include "tools/serve/event_names.h"

namespace perftape::serve {
namespace {

using convert::Label;
using convert::Profile;
using convert::ProfileBuilder;
using convert::ProfileCopier;
using convert::Sample;
using convert::Thread;
using LabelKeys = std::set<std::string, std::less<>>;

bool IsSelected(const Profile& profile, const Sample& sample, const Selection& selection) {
  const auto has_label = [&](const auto& condition) {
    const auto& [key, text] = condition;
    const Label* const label = convert::FindLabel(profile, sample.labels, key);
    return label != nullptr && profile.text(label->text) == text;
  };
  if (!std::ranges::all_of(selection.conditions, has_label)) return false;
  return !selection.wants_event || selection.wants_event(profile.text(profile[sample.event].name));
}

// Returns the sample with these labels only.
Sample Reduced(const Profile& profile, const Sample& sample, const LabelKeys& keys,
               ProfileCopier& copier, ProfileBuilder& builder) {
  Sample reduced = copier.Copy(sample);
  std::vector<Label> labels;
  for (const Label& label : profile[sample.labels]) {
    if (!keys.contains(profile.text(label.key))) continue;
    labels.push_back({.key = copier.Copy(label.key),
                      .text = copier.Copy(label.text),
                      .number = label.number,
                      .unit = copier.Copy(label.unit)});
  }
  reduced.labels = builder.Add(labels);
  const Thread& thread = profile[sample.thread];
  reduced.thread = builder.Add(Thread{
      .pid = keys.contains(convert::kPidLabel) ? thread.pid : 0,
      .tid = keys.contains(convert::kTidLabel) ? thread.tid : 0,
      .comm = keys.contains(convert::kCommLabel) ? copier.Copy(thread.comm) : convert::StringId{}});
  return reduced;
}

Profile WithTimes(const Profile& profile, std::int64_t starts_at_ns, std::int64_t duration_ns) {
  convert::Metadata metadata = profile.metadata();
  metadata.start_time_ns = starts_at_ns;
  metadata.duration_ns = duration_ns;
  ProfileBuilder builder(profile);
  builder.SetMetadata(std::move(metadata));
  return std::move(builder).Finish();
}

// Adds up the events.
Profile WithOneEvent(const Profile& profile) {
  if (profile.events().size() == 1) return profile;
  ProfileBuilder builder;
  ProfileCopier copier(profile, builder);
  const convert::EventId sum = builder.Add(
      convert::Event{.name = builder.Add("samples"), .unit = builder.Add(perfdata::kNanoseconds)});
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) copier.Set(convert::EventId{i}, sum);
  for (const Sample& sample : profile.samples()) builder.Add(copier.Copy(sample));
  return std::move(builder).Finish();
}

// Calls `write` with an output in memory, and returns what was written.
template <class Write>
Result<std::string> InMemory(Write write) {
  const UniqueFd fd(memfd_create("answer", MFD_CLOEXEC));
  if (!fd) return FailErrno("memory for the answer", errno);
  OutputFile out = OutputFile::ToDescriptor(Duplicate(fd.get()), "answer");
  TRY(write(out));
  TRY(std::move(out).Commit());
  TRY_ASSIGN(const MappedFile written, MappedFile::FromFd(fd.get(), "answer"));
  return std::string(AsText(written.bytes()));
}

}  // namespace

PodOfSample PodOf(const Profile& profile, const Sample& sample) {
  PodOfSample of;
  for (const Label& label : profile[sample.labels]) {
    const std::string_view key = profile.text(label.key);
    if (key == convert::kPodNamespaceLabel) of.pod_namespace = profile.text(label.text);
    if (key == convert::kPodLabel) of.pod = profile.text(label.text);
  }
  return of;
}

Result<Profile> ProfileOf(const WindowView& window) {
  if (window.profile.empty()) return Profile();
  Input input = Input::FromBytes({window.profile.begin(), window.profile.end()}, "window");
  convert::ImportReport report;
  return convert::ReadPprof(input, {}, report);
}

Profile Select(const Profile& profile, const Selection& selection) {
  ProfileBuilder builder;
  ProfileCopier copier(profile, builder);
  for (const Sample& sample : profile.samples()) {
    if (!IsSelected(profile, sample, selection)) continue;
    builder.Add(selection.labels ? Reduced(profile, sample, *selection.labels, copier, builder)
                                 : copier.Copy(sample));
  }
  builder.SetMetadata(profile.metadata());
  return std::move(builder).Finish();
}

Profile OfFirstEvent(const Profile& profile, std::span<const std::string> events) {
  const auto has_sample = [&](const EventChoice& choice) {
    return std::ranges::any_of(profile.samples(), [&](const Sample& sample) {
      return choice.Has(profile.text(profile[sample.event].name));
    });
  };
  for (const std::string& name : events) {
    const EventChoice choice(name);
    if (!has_sample(choice)) continue;
    return Select(profile,
                  {.wants_event = [&](std::string_view event) { return choice.Has(event); }});
  }
  if (profile.samples().empty()) return profile;
  // The names of a set of probes: those in a recording have one unit.
  const std::string_view first = profile.text(profile[profile.samples().front().event].unit);
  const auto unit_of = [&](std::string_view name) {
    const auto found = std::ranges::find_if(profile.events(), [&](const convert::Event& event) {
      return profile.text(event.name) == name;
    });
    return profile.text(found->unit);
  };
  return Select(profile,
                {.wants_event = [&](std::string_view event) { return unit_of(event) == first; }});
}

Result<Window> Join(const WindowView& before, const WindowView& after) {
  Window joined = {.start_ns = before.start_ns, .end_ns = after.end_ns};
  convert::Merger merger;
  for (const WindowView* const window : {&before, &after}) {
    TRY_ASSIGN(const Profile profile, ProfileOf(*window));
    merger.Add(profile);
  }
  const Profile profile = std::move(merger).Finish();
  if (profile.samples().empty()) return joined;
  TRY_ASSIGN(joined.profile, convert::EncodePprof(profile, kWindowEncoding));
  return joined;
}

Result<std::string> FoldedText(const Profile& profile, Offsets offsets) {
  if (profile.samples().empty()) return std::string();
  const bool are_times = std::ranges::all_of(profile.events(), [&](const convert::Event& event) {
    return profile.text(event.unit) == perfdata::kNanoseconds;
  });
  convert::FoldedOptions options = {.offsets = offsets == Offsets::kYes};
  if (!are_times) options.value = convert::FoldedValue::kSamples;
  const Profile joined = WithOneEvent(profile);
  return InMemory([&](OutputFile& out) { return convert::WriteFolded(joined, options, out); });
}

Result<std::string> PprofFile(const Profile& profile, std::int64_t starts_at_ns,
                              std::int64_t duration_ns) {
  TRY_ASSIGN(const std::vector<std::byte> file,
             convert::EncodePprof(WithTimes(profile, starts_at_ns, duration_ns),
                                  {.types = convert::PprofTypes::kGo}));
  return std::string(AsText(file));
}

Result<std::string> HtmlPage(const Profile& profile, std::int64_t starts_at_ns,
                             std::int64_t duration_ns) {
  const Profile timed = WithTimes(convert::JoinHybridEvents(profile), starts_at_ns, duration_ns);
  return InMemory([&](OutputFile& out) -> Status {
    TRY(flame_graph::WriteHtml(timed, {}, {}, out));
    return {};
  });
}

}  // namespace perftape::serve

// SPDX-License-Identifier: Apache-2.0
#include "convert/model/merge.h"

#include <algorithm>
#include <set>
#include <utility>

#include "convert/model/profile_copier.h"
#include "convert/model/saturating.h"

namespace perftape::convert {
namespace {

// Keeps `mine` if both are equal, otherwise clears it.
template <class T>
void Agree(T& mine, const T& other) {
  if (mine != other) mine = T{};
}

std::int64_t Scaled(std::int64_t value, unsigned decimals) {
  for (; decimals > 0; --decimals) {
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value)) {
      return value < 0 ? INT64_MIN : INT64_MAX;
    }
  }
  return value;
}

}  // namespace

Merger::EventKind Merger::KindOf(const Profile& profile, const Event& event) {
  return {.name = std::string(profile.text(event.name)),
          .unit = std::string(profile.text(event.unit)),
          .values = event.values};
}

// Returns whether these are the profile's events, with the same indexes.
bool Merger::AreEvents(const Profile& profile, const std::vector<EventFacts>& events) {
  return std::ranges::equal(profile.events(), events, [&](const Event& a, const EventFacts& b) {
    return KindOf(profile, a) == b.kind && a.decimals == b.decimals && a.period == b.period;
  });
}

void Merger::Facts::Add(const Profile& profile) {
  AddEvents(profile);
  AddMetadata(profile.metadata());
  ++count_;
}

void Merger::Facts::AddEvents(const Profile& profile) {
  const std::size_t known_before = events_.size();
  std::size_t index = 0;
  for (const Event& event : profile.events()) {
    const EventFacts facts = {
        .kind = KindOf(profile, event), .decimals = event.decimals, .period = event.period};
    const auto found = std::ranges::find(events_, facts.kind, &EventFacts::kind);
    is_mixed_ |= count_ != 0 && found != events_.begin() + static_cast<std::ptrdiff_t>(index);
    ++index;
    if (found == events_.end()) {
      events_.push_back(facts);
      continue;
    }
    found->decimals = std::max(found->decimals, facts.decimals);
    Agree(found->period, facts.period);
  }
  is_mixed_ |= count_ != 0 && index != known_before;
}

void Merger::Facts::AddMetadata(const Metadata& other) {
  if (count_ == 0) {
    metadata_ = other;
    return;
  }
  if (other.start_time_ns) {
    metadata_.start_time_ns =
        std::min(*other.start_time_ns, metadata_.start_time_ns.value_or(*other.start_time_ns));
  }
  metadata_.duration_ns = AddUpToLimit(metadata_.duration_ns, other.duration_ns);
  if (metadata_.comments != other.comments) {
    const std::set<std::string> before(metadata_.comments.begin(), metadata_.comments.end());
    std::set<std::string> all(other.comments.begin(), other.comments.end());
    all.insert(before.begin(), before.end());
    metadata_.comments.assign(all.begin(), all.end());
  }
  Agree(metadata_.drop_frames, other.drop_frames);
  Agree(metadata_.keep_frames, other.keep_frames);
  Agree(metadata_.doc_url, other.doc_url);
  Agree(metadata_.default_value, other.default_value);
  Agree(metadata_.period_type, other.period_type);
  Agree(metadata_.period, other.period);
  if (!metadata_.period_type) metadata_.period = 0;
}

std::vector<Merger::EventFacts> Merger::Facts::Events() const {
  std::vector<EventFacts> events = events_;
  if (!is_mixed_) return events;
  std::ranges::sort(events, {}, &EventFacts::kind);
  return events;
}

void Merger::Add(const Profile& profile) {
  if (profile.samples().empty() && profile.events().empty()) return;
  (profile.samples().empty() ? without_samples_ : with_samples_).Add(profile);
  const bool is_first = with_samples_.count() + without_samples_.count() == 1;
  if (is_first) {
    only_ = profile;
    return;
  }
  if (only_) AddSamples(*std::exchange(only_, std::nullopt));
  AddSamples(profile);
}

void Merger::AddSamples(const Profile& profile) {
  if (profile.samples().empty()) return;
  ProfileCopier copier(profile, builder_);
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) copier.Copy(EventId{i});
  for (const Sample& sample : profile.samples()) builder_.Add(copier.Copy(sample));
}

// The events are sorted at the end, when all lists are known. All samples are copied again only if
// the sorted events differ from those of the builder.
Profile Merger::Finish() && {
  if (only_) return *std::move(only_);
  const Facts& facts = with_samples_.count() != 0 ? with_samples_ : without_samples_;
  const std::vector<EventFacts> events = facts.Events();
  builder_.SetMetadata(facts.metadata());
  Profile merged = std::move(builder_).Finish();
  return AreEvents(merged, events) ? merged : WithEvents(merged, events);
}

Profile Merger::WithEvents(const Profile& merged, const std::vector<EventFacts>& events) {
  ProfileBuilder builder;
  std::vector<EventId> ids;
  for (const EventFacts& event : events) {
    ids.push_back(builder.Add(Event{.name = builder.Add(event.kind.name),
                                    .unit = builder.Add(event.kind.unit),
                                    .values = event.kind.values,
                                    .decimals = event.decimals,
                                    .period = event.period}));
  }
  ProfileCopier copier(merged, builder);
  std::vector<unsigned> more_decimals;  // by event of the merged profile
  for (std::uint32_t i = 0; i < merged.events().size(); ++i) {
    const Event& event = merged.events()[i];
    const auto found = std::ranges::find(events, KindOf(merged, event), &EventFacts::kind);
    copier.Set(EventId{i}, ids[static_cast<std::size_t>(found - events.begin())]);
    more_decimals.push_back(unsigned{found->decimals} - event.decimals);
  }
  for (const Sample& sample : merged.samples()) {
    Sample copy = copier.Copy(sample);
    copy.period = Scaled(copy.period, more_decimals[sample.event.index]);
    builder.Add(copy);
  }
  builder.SetMetadata(merged.metadata());
  return std::move(builder).Finish();
}

}  // namespace perftape::convert

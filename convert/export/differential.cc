// SPDX-License-Identifier: Apache-2.0
#include "convert/export/differential.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "convert/export/to_folded.h"
#include "convert/model/profile_builder.h"
#include "convert/model/profile_copier.h"
#include "convert/model/profile_facts.h"
#include "convert/model/sample_thread.h"

namespace perftape::convert {
namespace {

constexpr std::string_view kBefore = "before";
constexpr std::string_view kAfter = "after";

std::optional<EventId> FindEvent(const Profile& profile, std::string_view name) {
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    if (profile.text(profile[EventId{i}].name) == name) return EventId{i};
  }
  return {};
}

// Returns "cycles after" of "cycles", "after" of "".
std::string NameOn(std::string_view side, std::string_view event) {
  if (event.empty()) return std::string(side);
  return std::string(event) + " " + std::string(side);
}

// Returns "cycles" of "cycles after", "" of "after"; nothing for a name without `side`.
std::optional<std::string_view> NameWithout(std::string_view side, std::string_view name) {
  if (name == side) return "";
  if (!name.ends_with(side)) return {};
  name.remove_suffix(side.size());
  if (!name.ends_with(' ') || name.size() == 1) return {};
  name.remove_suffix(1);
  return name;
}

// Returns the only event that has samples.
std::optional<EventId> OnlyEvent(const Profile& profile) {
  std::optional<EventId> only;
  for (const Sample& sample : profile.samples()) {
    if (only && *only != sample.event) return {};
    only = sample.event;
  }
  return only;
}

struct PairOfSides {
  std::string name;
  std::optional<EventId> before, after;
};

// Returns the events of both sides, each name once.
std::vector<PairOfSides> PairEvents(const Profile& before, const Profile& after) {
  const auto old_event = OnlyEvent(before);
  const auto new_event = OnlyEvent(after);
  if (old_event && new_event) {
    return {{.name = std::string(after.text(after[*new_event].name)),
             .before = old_event,
             .after = new_event}};
  }
  std::vector<PairOfSides> pairs;
  for (const Profile* side : {&after, &before}) {
    for (const Event& event : side->events()) {
      const std::string name(side->text(event.name));
      if (std::ranges::find(pairs, name, &PairOfSides::name) != pairs.end()) continue;
      pairs.push_back(
          {.name = name, .before = FindEvent(before, name), .after = FindEvent(after, name)});
    }
  }
  return pairs;
}

// Adds an event of a profile under a new name.
EventId AddEvent(const Profile& profile, EventId event, std::string_view name,
                 ProfileBuilder& builder) {
  Event added = profile[event];
  added.unit = builder.Add(profile.text(added.unit));
  added.name = builder.Add(name);
  return builder.Add(added);
}

// The new events of one side, by the names of the pairs.
using NewEvents = std::map<std::string_view, EventId>;

// Returns the name with # for each number.
std::string WithoutNumbers(std::string_view comm) {
  std::string text;
  for (const char letter : comm) {
    const bool is_digit = letter >= '0' && letter <= '9';
    if (!is_digit) {
      text += letter;
    } else if (!text.ends_with('#')) {
      text += '#';
    }
  }
  return text;
}

// The names of threads that get a common one, with it.
using JoinedComms = std::map<std::string, std::string, std::less<>>;

JoinedComms JoinComms(const Profile& before, const Profile& after) {
  std::map<std::string, std::set<std::string>> kinds;
  for (const Profile* side : {&before, &after}) {
    for (const Thread& thread : side->threads()) {
      const std::string_view comm = side->text(thread.comm);
      kinds[WithoutNumbers(comm)].emplace(comm);
    }
  }
  JoinedComms joined;
  for (const auto& [kind, comms] : kinds) {
    if (comms.size() < 2) continue;
    for (const std::string& comm : comms) joined.emplace(comm, kind);
  }
  return joined;
}

// Adds the samples of one side. Events of one name become one event.
void AddSide(const Profile& side, const NewEvents& events, const JoinedComms& joined,
             ProfileBuilder& builder) {
  ProfileCopier copier(side, builder);
  for (std::uint32_t i = 1; i < side.threads().size(); ++i) {
    const std::string_view comm = side.text(side[ThreadId{i}].comm);
    const auto found = joined.find(comm);
    copier.Set(
        ThreadId{i},
        builder.Add(Thread{.pid = kUnknownId,
                           .tid = kUnknownId,
                           .comm = builder.Add(found == joined.end() ? comm : found->second)}));
  }
  for (std::uint32_t i = 0; i < side.events().size(); ++i) {
    const auto found = events.find(side.text(side[EventId{i}].name));
    copier.Set(EventId{i}, found == events.end() ? events.begin()->second : found->second);
  }
  for (const Sample& sample : side.samples()) builder.Add(copier.Copy(sample));
}

Metadata MetadataOf(const Profile& before, const Profile& after) {
  Metadata metadata = after.metadata();
  metadata.comments.clear();
  metadata.start_time_ns.reset();
  metadata.duration_ns = 0;
  for (const auto& [side, profile] : {std::pair(kBefore, &before), std::pair(kAfter, &after)}) {
    for (const std::string& fact : FactsOf(profile->metadata())) {
      metadata.comments.push_back(std::string(side) + ": " + fact);
    }
  }
  const std::optional<EventId> shown = DefaultEvent(after);
  metadata.default_value = shown ? NameOn(kAfter, after.text(after[*shown].name)) : std::string();
  return metadata;
}

}  // namespace

std::string_view NameOnBothSides(std::string_view event) {
  for (const std::string_view side : {kBefore, kAfter}) {
    if (const auto name = NameWithout(side, event)) return *name;
  }
  return event;
}

std::vector<EventPair> EventPairsOf(const Profile& differential) {
  std::vector<EventPair> pairs;
  for (std::uint32_t i = 0; i < differential.events().size(); ++i) {
    const auto name = NameWithout(kAfter, differential.text(differential[EventId{i}].name));
    if (!name) continue;
    const auto before = FindEvent(differential, NameOn(kBefore, *name));
    if (before) pairs.push_back({.name = *name, .before = *before, .after = EventId{i}});
  }
  return pairs;
}

std::optional<EventPair> ChooseEventPair(const Profile& differential,
                                         std::optional<EventId> event) {
  const std::vector<EventPair> pairs = EventPairsOf(differential);
  if (pairs.empty()) return {};
  if (!event) event = DefaultEvent(differential);
  const auto chosen = std::ranges::find_if(pairs, [event](const EventPair& pair) {
    return pair.before == event || pair.after == event;
  });
  return chosen == pairs.end() ? pairs.front() : *chosen;
}

Status CheckDifferential(const Profile& profile) {
  if (profile.events().empty() || !EventPairsOf(profile).empty()) return {};
  return Fail(ErrorCode::kNotFound, "a differential file needs the events 'before' and 'after'");
}

Profile MakeDifferential(const Profile& before, const Profile& after) {
  ProfileBuilder builder;
  NewEvents of_before, of_after;
  const std::vector<PairOfSides> pairs = PairEvents(before, after);
  // A side without the event gets the other one's unit.
  for (const PairOfSides& pair : pairs) {
    of_after[pair.name] =
        AddEvent(pair.after ? after : before, pair.after ? *pair.after : *pair.before,
                 NameOn(kAfter, pair.name), builder);
    of_before[pair.name] =
        AddEvent(pair.before ? before : after, pair.before ? *pair.before : *pair.after,
                 NameOn(kBefore, pair.name), builder);
  }
  const JoinedComms joined = JoinComms(before, after);
  AddSide(before, of_before, joined, builder);
  AddSide(after, of_after, joined, builder);
  builder.SetMetadata(MetadataOf(before, after));
  return std::move(builder).Finish();
}

}  // namespace perftape::convert

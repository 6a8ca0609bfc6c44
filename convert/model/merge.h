// SPDX-License-Identifier: Apache-2.0
// Merges several profiles into one. The result depends neither on their order nor on earlier
// merges. Profiles that were merged, written and read again merge to the same bytes as all at once.
//
//   times         the earliest start; the sum of the durations
//   events        equal by name, unit and kind. Counts with different decimals are scaled to the
//                 same number of decimals. If all profiles have the same list, its order is
//                 kept, otherwise the list is sorted. Nominal periods on which all agree are kept.
//   comments      the same list, or the sorted union
//   pprof's texts (drop_frames …) and period  kept if all agree
//
// A profile without samples contributes nothing, unless no profile has samples. Mappings, functions
// and other entries are kept only if samples refer to them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "convert/model/profile_builder.h"

namespace perftape::convert {

class Merger {
 public:
  // Memory grows with the distinct stacks of all profiles, not with their number.
  void Add(const Profile& profile);

  // If only one added profile has any content, returns it unchanged.
  Profile Finish() &&;

 private:
  // An event by value.
  struct EventKind {
    std::string name, unit;
    EventValues values = {};
    auto operator<=>(const EventKind&) const = default;
  };
  struct EventFacts {
    EventKind kind;
    std::uint8_t decimals = 0;
    std::uint64_t period = 0;
  };
  // All content except the samples.
  class Facts {
   public:
    void Add(const Profile& profile);
    std::uint64_t count() const { return count_; }  // number of profiles added
    std::vector<EventFacts> Events() const;
    const Metadata& metadata() const { return metadata_; }

   private:
    void AddEvents(const Profile& profile);
    void AddMetadata(const Metadata& other);

    std::uint64_t count_ = 0;
    bool is_mixed_ = false;           // there were different lists of events
    std::vector<EventFacts> events_;  // the first list, then events of other lists
    Metadata metadata_;
  };

  static EventKind KindOf(const Profile& profile, const Event& event);
  static bool AreEvents(const Profile& profile, const std::vector<EventFacts>& events);
  static Profile WithEvents(const Profile& merged, const std::vector<EventFacts>& events);
  void AddSamples(const Profile& profile);

  std::optional<Profile> only_;  // set while only one was added
  ProfileBuilder builder_;       // all profiles, from the second on
  Facts with_samples_, without_samples_;
};

}  // namespace perftape::convert

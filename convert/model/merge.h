// SPDX-License-Identifier: Apache-2.0
// Several profiles as one. What comes out depends neither on their order nor on which were merged
// before: profiles that were merged, written and read again merge to the same bytes as all at once.
//
//   times         the earliest start; the sum of the durations
//   events        equal by name, unit and kind; counts of other decimals are brought to the same.
//                 Where all profiles have the same list, in its order; else sorted, and without
//                 their nominal periods. These are kept where all agree
//   comments      the same list, or the sorted union
//   pprof's texts (drop_frames …) and period  kept where all agree
//
// Of a profile without samples nothing is kept, unless no profile has any; of mappings, functions
// and the like what samples lead to.
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
  // Memory follows the distinct stacks of all, not their number.
  void Add(const Profile& profile);

  // Where only one was added that holds anything, that one as it was.
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
  // What is known besides the samples.
  class Facts {
   public:
    void Add(const Profile& profile);
    std::uint64_t count() const { return count_; }  // of the profiles added
    std::vector<EventFacts> Events() const;
    const Metadata& metadata() const { return metadata_; }

   private:
    void AddEvents(const Profile& profile);
    void AddMetadata(const Metadata& other);

    std::uint64_t count_ = 0;
    bool is_mixed_ = false;           // of several lists of events
    std::vector<EventFacts> events_;  // the first list, and behind it what others have besides
    Metadata metadata_;
  };

  static EventKind KindOf(const Profile& profile, const Event& event);
  static bool AreEvents(const Profile& profile, const std::vector<EventFacts>& events);
  static Profile WithEvents(const Profile& merged, const std::vector<EventFacts>& events);
  void AddSamples(const Profile& profile);

  std::optional<Profile> only_;  // as long as it is the only one
  ProfileBuilder builder_;       // of all, from the second on
  Facts with_samples_, without_samples_;
};

}  // namespace perftape::convert

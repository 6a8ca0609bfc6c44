// SPDX-License-Identifier: Apache-2.0
// A profile of times, built from the stacks of another profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"
#include "convert/model/profile_builder.h"
#include "convert/model/profile_copier.h"
#include "convert/timeline/timeline.h"

namespace perftape::timeline {

class NewProfile {
 public:
  // Its only event has this name, and nanoseconds as values. `from` must outlive this object.
  NewProfile(const convert::Profile& from, std::string_view event);

  // Returns the stack in which `caller`, a stack of the new profile, called a function that only
  // has a name: "[running]".
  convert::StackId Push(convert::StackId caller, std::string_view name);
  // The same for all frames of a stack of the old profile.
  convert::StackId PushAll(convert::StackId caller, convert::StackId stack);
  // `thread` and `cgroup` are of the old profile; an empty cgroup is unknown. With `end_ns`, the
  // sample has the label of that time: what took `ns` ended then.
  void Add(convert::StackId stack, convert::ThreadId thread, convert::StringId cgroup,
           std::int64_t ns, std::optional<std::int64_t> end_ns = {});

  convert::Profile Finish() &&;

 private:
  const convert::Profile& from_;
  convert::ProfileBuilder builder_;
  convert::ProfileCopier copier_;
  convert::EventId event_;
  std::vector<convert::LocationId> frames_;  // scratch
  std::vector<convert::Label> labels_;       // scratch
};

// Divides a time in the ratio of `weights`. The sum of the shares is `total`, to the nanosecond.
// Equal shares if all weights are 0; `weights` must not be empty.
std::vector<std::int64_t> Divide(std::int64_t total, const std::vector<std::int64_t>& weights);

// A part of a share that is in one range.
struct SharePart {
  std::size_t share = 0;  // its index
  Span time;
};
// Splits ranges at the ends of shares, which follow each other and have the same sum.
std::vector<SharePart> SplitByShares(const std::vector<Span>& ranges,
                                     const std::vector<std::int64_t>& shares);

// Returns the recording with the samples of a profile that was made from it. The event of `made` is
// the one to show first.
convert::Profile WithRecording(const convert::Profile& made, const convert::Profile& recorded);

}  // namespace perftape::timeline

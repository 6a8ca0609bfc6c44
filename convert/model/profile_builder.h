// SPDX-License-Identifier: Apache-2.0
// The one way to make a Profile: interns, so that equal things get equal ids, and adds up samples.
//
//   ProfileBuilder builder;
//   const MappingId libc = builder.Add(Mapping{.filename = builder.Add("/lib/libc.so.6"), ...});
//   StackId stack;
//   for (... : root_to_leaf) stack = builder.Push(stack, builder.Add(Location{libc, offset, {}}));
//   builder.Add(Sample{.stack = stack, .thread = thread, .event = event, .count = 1});
//   const Profile profile = std::move(builder).Finish();
//
// And to give names to the frames of a finished one, at the price of copying its tables once:
//
//   ProfileBuilder builder(profile);
//   builder.SetLines(location, lines);
//   const Profile named = std::move(builder).Finish();
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "convert/model/profile.h"

namespace perftape::convert {

// The ids that things refer to must come from this builder, or from the profile that it started
// from. What is given is copied: nothing needs to outlive the call.
class ProfileBuilder {
 public:
  ProfileBuilder();
  // Starts with all that `profile` holds; each id of the profile means the same here.
  explicit ProfileBuilder(const Profile& profile);
  ProfileBuilder(ProfileBuilder&&) noexcept;
  ProfileBuilder& operator=(ProfileBuilder&&) noexcept;
  ~ProfileBuilder();

  StringId Add(std::string_view text);
  // Equal by filename, build id, file offset, size, kind and instance. The lowest `start` is kept,
  // and all `names`.
  MappingId Add(const Mapping& mapping);
  FunctionId Add(const Function& function);
  LocationId Add(const Location& location);
  ThreadId Add(const Thread& thread);
  // Equal by all but the period, of which the largest is kept.
  EventId Add(const Event& event);
  // Sorted by the texts of their keys; those of one key keep their order.
  LabelsId Add(std::span<const Label> labels);
  StackId Push(StackId caller, LocationId leaf);
  // Adds to the sample of equal stack, thread, event and labels; sums stop at the largest number.
  void Add(const Sample& sample);
  // The same for those who know that none of equal stack, thread, event and labels was added yet.
  void AddNew(const Sample& sample);

  // Replaces the lines of a location. It keeps its id, also where it has become equal to another.
  // Its mapping's `names` tell from then on what they show.
  void SetLines(LocationId location, std::span<const Line> lines);
  void SetMetadata(Metadata metadata);

  Profile Finish() &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace perftape::convert

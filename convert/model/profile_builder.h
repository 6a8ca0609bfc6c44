// SPDX-License-Identifier: Apache-2.0
// Builds a Profile. It interns entries, so that equal entries get equal ids, and adds up samples.
//
//   ProfileBuilder builder;
//   const MappingId libc = builder.Add(Mapping{.filename = builder.Add("/lib/libc.so.6"), ...});
//   StackId stack;
//   for (... : root_to_leaf) stack = builder.Push(stack, builder.Add(Location{libc, offset, {}}));
//   builder.Add(Sample{.stack = stack, .thread = thread, .event = event, .count = 1});
//   const Profile profile = std::move(builder).Finish();
//
// It can also name the frames of a finished profile, at the cost of one copy of its tables:
//
//   ProfileBuilder builder(profile);
//   builder.SetLines(location, lines);
//   const Profile named = std::move(builder).Finish();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "convert/model/profile.h"

namespace perftape::convert {

// Ids must come from this builder, or from the profile that it started from. All arguments are
// copied, so nothing needs to outlive a call.
class ProfileBuilder {
 public:
  ProfileBuilder();
  // Starts with the content of `profile`. Ids of the profile are valid here.
  explicit ProfileBuilder(const Profile& profile);
  ProfileBuilder(ProfileBuilder&&) noexcept;
  ProfileBuilder& operator=(ProfileBuilder&&) noexcept;
  ~ProfileBuilder();

  // Makes room for this many entries, which saves memory for large tables.
  struct Sizes {
    std::size_t samples = 0, labels = 0;
  };
  void Reserve(const Sizes& sizes);

  StringId Add(std::string_view text);
  // Mappings are equal by filename, build id, file offset, size, type and instance; those of memory
  // without a file also by `start`. Keeps the lowest `start`, and the union of all `names`.
  MappingId Add(const Mapping& mapping);
  FunctionId Add(const Function& function);
  // Keeps the offset in the symbol if one of several equal locations has it.
  LocationId Add(const Location& location);
  ThreadId Add(const Thread& thread);
  // Events are equal by all fields but the period. Keeps the largest period.
  EventId Add(const Event& event);
  // Stores the labels sorted by the text of their keys. Labels of one key keep their order.
  LabelsId Add(std::span<const Label> labels);
  StackId Push(StackId caller, LocationId leaf);
  // Adds to the sample of equal stack, thread, event and labels. Sums saturate. Keeps the earliest
  // `first_ms`.
  void Add(const Sample& sample);
  // The same, if no sample of equal stack, thread, event and labels was added before.
  void AddNew(const Sample& sample);

  // Replaces the lines of a location, and the offset in the symbol of the last one. The location
  // keeps its id, even if it becomes equal to another one. Adds to its mapping's `names` what the
  // lines contain. If it had lines before, Finish sets these `names` to what the lines of all
  // locations contain.
  void SetLines(LocationId location, std::span<const Line> lines,
                std::optional<std::uint64_t> symbol_offset = {});
  void SetMetadata(Metadata metadata);

  Profile Finish() &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace perftape::convert

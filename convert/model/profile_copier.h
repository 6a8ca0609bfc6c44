// SPDX-License-Identifier: Apache-2.0
// Copies entries of one profile into the builder of another. Each entry is copied at its first use,
// so only entries that are used are copied.
//
//   ProfileCopier copier(profile, builder);
//   for (const Sample& sample : profile.samples()) builder.Add(copier.Copy(sample));
#pragma once

#include <cstdint>
#include <vector>

#include "convert/model/profile.h"
#include "convert/model/profile_builder.h"

namespace perftape::convert {

class ProfileCopier {
 public:
  // `from` and `to` must outlive the copier.
  ProfileCopier(const Profile& from, ProfileBuilder& to);

  // Each returns the id of the copy in the builder. The caller copies the metadata.
  StringId Copy(StringId id);
  MappingId Copy(MappingId id);
  FunctionId Copy(FunctionId id);
  LocationId Copy(LocationId id);
  StackId Copy(StackId id);
  ThreadId Copy(ThreadId id);
  EventId Copy(EventId id);
  LabelsId Copy(LabelsId id);
  Sample Copy(const Sample& sample);

  // Makes `copy` the copy of `id` from now on: another event, a stack with fewer frames, or a
  // function of another name.
  void Set(FunctionId id, FunctionId copy) { Remember(functions_, id, copy); }
  void Set(EventId id, EventId copy) { Remember(events_, id, copy); }
  void Set(StackId id, StackId copy) { Remember(stacks_, id, copy); }
  void Set(ThreadId id, ThreadId copy) { Remember(threads_, id, copy); }

 private:
  // The copy of each entry of a table; kUnknown if not copied yet.
  static constexpr std::uint32_t kUnknown = UINT32_MAX;
  using Copies = std::vector<std::uint32_t>;

  template <class Id>
  static void Remember(Copies& copies, Id id, Id copy) {
    copies[id.index] = copy.index;
  }
  template <class Id, class Make>
  static Id Once(Copies& copies, Id id, Make make);

  const Profile& from_;
  ProfileBuilder& to_;
  Copies texts_, mappings_, functions_, locations_, stacks_, threads_, events_, labels_;
  std::vector<Line> lines_;       // scratch
  std::vector<StackId> callees_;  // scratch
};

}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
// The resources of an OTLP file: the processes of a profile, and what its labels say about them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convert/model/profile.h"
#include "formats/otlp/messages.h"

namespace perftape::convert {

// Whether a label is written into the resource: its key is one of resources, and it has no unit,
// which attributes of resources cannot have.
bool IsOfOtlpResource(const Profile& profile, const Label& label);

class OtlpResources {
 public:
  // `profile` must outlive this object.
  explicit OtlpResources(const Profile& profile);

  // The resource of a process with these labels, which are of the resource; both may be unknown.
  // The texts are valid as long as this object.
  otlp::Resource Of(std::uint32_t pid, std::span<const Label> labels);

 private:
  std::string_view NameOf(std::uint32_t pid) const;
  std::string_view Keep(std::string text);

  const Profile& profile_;
  std::map<std::uint32_t, std::pair<std::uint32_t, StringId>> names_;  // tid and comm, by pid
  std::vector<std::string> texts_;                                     // of the last resource
};

}  // namespace perftape::convert

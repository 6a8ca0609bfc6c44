// SPDX-License-Identifier: Apache-2.0
// Follows the cgroups of a scope by their paths. A restarted service or container has a new cgroup
// under the path of the old one, with another id.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "record/scope/scope.h"

namespace perftape::record {

// An open cgroup. Its directory and id stay those of this cgroup, even if another one gets its
// path.
struct OpenCgroup {
  UniqueFd directory = {};
  std::uint64_t id = 0;
  bool is_v2 = true;
};

// Opens the cgroup that is at the path of `scope.cgroups[index]` now. Fails as open(2) does.
Result<OpenCgroup> OpenCgroupOf(const Scope& scope, std::uint32_t index);

// Not thread-safe.
class CgroupWatch {
 public:
  // Records the cgroup as the one with this index of the scope.
  using Follow = std::function<Status(std::uint32_t index, const OpenCgroup& cgroup)>;

  CgroupWatch(const Scope& scope, Follow follow);

  // Follows the cgroups that were created again since the last call. Call it often: what runs in a
  // new cgroup before the call is not recorded. Makes a system call for each cgroup.
  void Check(std::uint64_t now_ns);

  // Returns a sentence about each cgroup that was not recorded all the time. `start_ns` is that of
  // the recording.
  std::vector<std::string> Gaps(std::uint64_t start_ns) const;

 private:
  struct Watched {
    std::uint64_t id = 0;             // 0: there is none
    std::uint64_t last_ns = 0;        // when it was last there, or not there
    std::uint64_t gone_ns = 0;        // when it was last found missing or another one
    std::uint64_t times = 0;          // that it was made again
    std::uint64_t unrecorded_ns = 0;  // at most, after it was made again
    std::string failure = {};         // of the last Follow
  };
  void CheckOne(std::uint32_t index, std::uint64_t now_ns);

  const Scope scope_;
  const Follow follow_;
  std::vector<Watched> watched_;
};

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "record/scope/cgroup_watch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "formats/base/counted.h"
#include "formats/base/duration.h"
#include "record/scope/cgroups.h"

namespace perftape::record {
namespace {

std::string PathOf(const Scope& scope, std::uint32_t index) {
  return scope.recorded->mount.string() + scope.cgroups[index].path;
}

double Seconds(std::uint64_t ns) {
  return static_cast<double>(ns) / kNsPerSecond;
}

}  // namespace

Result<OpenCgroup> OpenCgroupOf(const Scope& scope, std::uint32_t index) {
  const std::string path = PathOf(scope, index);
  OpenCgroup cgroup = {
      .directory = UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      .is_v2 = scope.recorded->is_v2()};
  struct stat status = {};
  if (!cgroup.directory || fstat(cgroup.directory.get(), &status) != 0)
    return FailErrno(path, errno);
  cgroup.id = status.st_ino;
  return cgroup;
}

CgroupWatch::CgroupWatch(const Scope& scope, Follow follow)
    : scope_(scope), follow_(std::move(follow)) {
  for (const CgroupDirectory& cgroup : scope.cgroups) watched_.push_back({.id = cgroup.id});
}

void CgroupWatch::Check(std::uint64_t now_ns) {
  for (std::uint32_t index = 0; index < watched_.size(); ++index) CheckOne(index, now_ns);
}

void CgroupWatch::CheckOne(std::uint32_t index, std::uint64_t now_ns) {
  Watched& watched = watched_[index];
  if (watched.last_ns == 0) watched.last_ns = now_ns;
  const std::uint64_t before_ns = std::exchange(watched.last_ns, now_ns);
  const Result<std::uint64_t> found = CgroupIdOf(PathOf(scope_, index));
  const std::uint64_t id = found ? *found : 0;
  if (id == watched.id) return;
  if (watched.id != 0) watched.gone_ns = now_ns;
  watched.id = id;
  if (id == 0) return;
  const Result<OpenCgroup> cgroup = OpenCgroupOf(scope_, index);
  if (!cgroup) {  // it is gone again
    watched.id = 0;
    return;
  }
  watched.id = cgroup->id;
  ++watched.times;
  watched.unrecorded_ns += now_ns - std::min(now_ns, before_ns);
  const Status followed = follow_(index, *cgroup);
  watched.failure = followed ? std::string() : followed.error().message;
}

std::vector<std::string> CgroupWatch::Gaps(std::uint64_t start_ns) const {
  std::vector<std::string> sentences;
  for (std::uint32_t index = 0; index < watched_.size(); ++index) {
    const Watched& watched = watched_[index];
    const std::string& path = scope_.cgroups[index].path;
    const double gone_s = Seconds(watched.gone_ns - std::min(watched.gone_ns, start_ns));
    if (watched.id == 0) {
      sentences.push_back(fmt::format(
          "the cgroup {} was removed after {:.1f} s, and not created again", path, gone_s));
    } else if (!watched.failure.empty()) {
      sentences.push_back(
          fmt::format("the cgroup {} was removed after {:.1f} s. The new one was not recorded: {}",
                      path, gone_s, watched.failure));
    } else if (watched.times != 0) {
      sentences.push_back(
          fmt::format("the cgroup {} was removed and created again ({}). At first, it was not "
                      "recorded, for {:.1f} s at most",
                      path, Counted(watched.times, "time"), Seconds(watched.unrecorded_ns)));
    }
  }
  return sentences;
}

}  // namespace perftape::record

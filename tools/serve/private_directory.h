// SPDX-License-Identifier: Apache-2.0
// The directory of a service's recordings. Its end removes it. A service that was killed leaves it,
// and the next one removes it: the directory has a file with a lock (flock(2)) that the processes
// of the service hold as long as one of them lives.
#pragma once

#include <filesystem>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::serve {

class PrivateDirectory {
 public:
  // Creates `wanted`, or if that is empty, a directory with a new name in $RUNTIME_DIRECTORY
  // (systemd.exec(5)) or /run. Before that, removes what killed services of the same user left
  // there, or as `wanted`, whose last processes may take two seconds to end. Fails as mkdir(2)
  // does.
  static Result<PrivateDirectory> Make(const std::filesystem::path& wanted);

  PrivateDirectory(PrivateDirectory&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  PrivateDirectory& operator=(PrivateDirectory&&) = delete;
  ~PrivateDirectory();

  const std::filesystem::path& path() const { return path_; }
  // In a process that has no files.
  void Unlock() { lock_.Reset(); }

 private:
  explicit PrivateDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  Status Lock();

  std::filesystem::path path_;  // absolute
  UniqueFd lock_;               // processes that are forked have it, too
};

}  // namespace perftape::serve

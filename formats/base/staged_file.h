// SPDX-License-Identifier: Apache-2.0
// A file that is written under a temporary name in its final directory. Publish gives it its name.
// If it is destroyed before, nothing is left behind.
#pragma once

#include <filesystem>
#include <string>

#include "formats/base/file.h"
#include "formats/base/output_target.h"
#include "formats/base/result.h"

namespace perftape {
inline namespace base {

// Who may read a new file. All that holds samples or symbols of a recording is private, as perf
// makes it: a profile tells what a machine does.
enum class Readers : std::uint8_t { kOwner, kUmask };

// What becomes of a file that has the name already: it becomes PATH.old, as perf record keeps it,
// or it is replaced, and the new file gets its mode and, where that is allowed, its owner.
enum class OldFile : std::uint8_t { kKeep, kReplace };

class StagedFile {
 public:
  // `target` is no stream. kNotFound, kPermission, kIo; also where the old file could not be kept.
  // The temporary name is a new one (O_EXCL).
  static Result<StagedFile> Create(const OutputTarget& target, Readers readers, OldFile old);

  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&&) = delete;
  ~StagedFile();

  int fd() const { return fd_.get(); }
  bool is_published() const { return temporary_.empty(); }

  // Gives it its name, once; does not sync. No link that has one of the names is followed.
  Status Publish();

 private:
  explicit StagedFile(const OutputTarget& target) : target_(target) {}
  void CopyAccess();

  OutputTarget target_;
  UniqueFd fd_;
  std::filesystem::path temporary_;  // empty once it is published
  OldFile old_ = OldFile::kKeep;
  mode_t mode_ = 0;
};

}  // namespace base
}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
// A file that is written under a temporary name in its final directory. Publish renames it to its
// final name. If the StagedFile is destroyed before that, it removes the temporary file.
#pragma once

#include <filesystem>
#include <string>

#include "formats/base/file.h"
#include "formats/base/output_target.h"
#include "formats/base/result.h"

namespace perftape {
inline namespace base {

// Who may read a new file. Files with samples or symbols of a recording are private, as perf's are:
// a profile reveals what a machine does.
enum class Readers : std::uint8_t { kOwner, kUmask };

// How an existing file with the final name is treated. kKeep renames it to PATH.old, as perf record
// does. kReplace replaces it; the new file gets its mode and, if permitted, its owner.
// kRefuse leaves it alone: Publish fails with kInvalidArgument, even if another program creates the
// file at the same instant.
enum class OldFile : std::uint8_t { kKeep, kReplace, kRefuse };

class StagedFile {
 public:
  // `target` must not be a stream. Returns kNotFound, kPermission or kIo, also if the old file
  // cannot be kept. The temporary name is a new one (O_EXCL).
  static Result<StagedFile> Create(const OutputTarget& target, Readers readers, OldFile old);

  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&&) = delete;
  ~StagedFile();

  // Open for writing only.
  int fd() const { return fd_.get(); }
  bool is_published() const { return temporary_.empty(); }

  // Renames the file to its final name, once. Does not sync. Never follows a link that has one of
  // the names.
  Status Publish();

 private:
  explicit StagedFile(const OutputTarget& target) : target_(target) {}
  void CopyAccess();

  OutputTarget target_;
  UniqueFd fd_;
  std::filesystem::path temporary_;  // empty after Publish
  OldFile old_ = OldFile::kKeep;
  mode_t mode_ = 0;
};

}  // namespace base
}  // namespace perftape

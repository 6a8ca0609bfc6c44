// SPDX-License-Identifier: Apache-2.0
// An output that is written under a temporary name and renamed when it is complete.
//
//   TRY_ASSIGN(OutputFile out, OutputFile::Create(path, IfExists::kReplace));
//   TRY(out.Write("text"));
//   TRY(std::move(out).Commit());
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/output_target.h"
#include "formats/base/result.h"
#include "formats/base/staged_file.h"

namespace perftape {
inline namespace base {

// Removes the temporary file if it is destroyed before Commit.
class OutputFile {
 public:
  // A stream (output_target.h) is written directly; Commit only flushes it. If the file exists and
  // `if_exists` is kRefuse, returns kInvalidArgument.
  static Result<OutputFile> Create(const std::filesystem::path& path,
                                   IfExists if_exists = IfExists::kRefuse,
                                   Readers readers = Readers::kUmask,
                                   OldFile old = OldFile::kReplace);

  // Writes to an open descriptor as to a stream. `name` is for messages.
  static OutputFile ToDescriptor(UniqueFd fd, std::string name);

  // Appends `bytes`. Collects them into writes of about 64 KiB.
  Status Write(Bytes bytes);
  Status Write(std::string_view text) { return Write(AsBytes(text)); }

  // Returns a descriptor that the caller owns, for a writer that does not use Write.
  Result<UniqueFd> Duplicate() const;

  // Flushes, syncs and renames. If it fails, the final name is unchanged.
  Status Commit() &&;

 private:
  OutputFile() = default;
  int fd() const { return staged_ ? staged_->fd() : stream_.get(); }
  Status Flush();

  std::string name_;  // for messages
  UniqueFd stream_;   // either this or staged_
  std::optional<StagedFile> staged_;
  std::string pending_;
};

}  // namespace base
}  // namespace perftape

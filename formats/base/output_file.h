// SPDX-License-Identifier: Apache-2.0
// An output that is written beside its name and renamed when it is complete.
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

// Destroyed before Commit, it leaves nothing behind.
class OutputFile {
 public:
  // What is a stream (output_target.h) is written to at once, and Commit only flushes. An existing
  // file is an error of kInvalidArgument unless `if_exists` says otherwise.
  static Result<OutputFile> Create(const std::filesystem::path& path,
                                   IfExists if_exists = IfExists::kRefuse,
                                   Readers readers = Readers::kUmask,
                                   OldFile old = OldFile::kReplace);

  // Appends; collected into writes of some 64 KiB.
  Status Write(Bytes bytes);
  Status Write(std::string_view text) { return Write(AsBytes(text)); }

  // A descriptor of its own for a writer that has no use for Write.
  Result<UniqueFd> Duplicate() const;

  // Flushes, syncs and renames. Nothing is under the final name where this fails.
  Status Commit() &&;

 private:
  OutputFile() = default;
  int fd() const { return staged_ ? staged_->fd() : stream_.get(); }
  Status Flush();

  std::string name_;  // for messages
  UniqueFd stream_;   // or
  std::optional<StagedFile> staged_;
  std::string pending_;
};

}  // namespace base
}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
#include "formats/base/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace perftape {
inline namespace base {
namespace {}  // namespace

Result<OutputFile> OutputFile::Create(const std::filesystem::path& path, IfExists if_exists,
                                      Readers readers, OldFile old) {
  TRY_ASSIGN(const OutputTarget target, ResolveOutput(path));
  TRY(CheckExisting(target, if_exists));
  OutputFile file;
  file.name_ = target.name;
  if (target.is_stream()) {
    TRY_ASSIGN(file.stream_, OpenStream(target));
    return file;
  }
  TRY_ASSIGN(StagedFile staged, StagedFile::Create(target, readers, old));
  file.staged_.emplace(std::move(staged));
  return file;
}

OutputFile OutputFile::ToDescriptor(UniqueFd fd, std::string name) {
  OutputFile file;
  file.name_ = std::move(name);
  file.stream_ = std::move(fd);
  return file;
}

Status OutputFile::Write(Bytes bytes) {
  pending_.append(AsText(bytes));
  if (pending_.size() < kIoSize) return {};
  return Flush();
}

Status OutputFile::Flush() {
  if (auto written = WriteAll(fd(), AsBytes(pending_)); !written) {
    return Fail(InContext(name_, std::move(written).error()));
  }
  pending_.clear();
  return {};
}

Result<UniqueFd> OutputFile::Duplicate() const {
  UniqueFd copy = base::Duplicate(fd());
  if (!copy) return FailErrno(name_, errno);
  return copy;
}

Status OutputFile::Commit() && {
  TRY(Flush());
  if (!staged_) return {};
  if (fsync(fd()) != 0) return FailErrno(name_, errno);
  return staged_->Publish();
}

}  // namespace base
}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/bundle_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

namespace perftape {

Result<BundleFile> BundleFile::Create(const std::filesystem::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument, path.native() + ": not a regular file");
  }
  BundleFile file;
  std::string temporary = path.native() + ".XXXXXX";
  file.fd_ = UniqueFd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.fd_) return FailErrno(path.native(), errno);
  file.path_ = path;
  file.temporary_ = temporary;
  return file;
}

BundleFile::BundleFile(BundleFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})) {}

BundleFile::~BundleFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<UniqueFd> BundleFile::Duplicate() const {
  UniqueFd copy(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy) return FailErrno(path_.native(), errno);
  return copy;
}

Status BundleFile::Commit(OldBundle old) && {
  const std::string& name = path_.native();
  if (::fsync(fd_.get()) != 0) return FailErrno(name, errno);
  if (old == OldBundle::kKeep && ::rename(name.c_str(), (name + ".old").c_str()) != 0 &&
      errno != ENOENT) {
    return FailErrno(name, errno);
  }
  if (::rename(temporary_.c_str(), name.c_str()) != 0) return FailErrno(name, errno);
  temporary_.clear();
  return {};
}

}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
#include "formats/base/staged_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace perftape {
inline namespace base {
namespace {

constexpr mode_t kPrivate = S_IRUSR | S_IWUSR;

mode_t ModeFor(Readers readers) {
  if (readers == Readers::kOwner) return kPrivate;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

Status FailExists(const std::filesystem::path& path) {
  return Fail(ErrorCode::kInvalidArgument, path.native() + ": exists");
}

// For file systems that support no exchange. For an instant no file has the name `to`.
Status RenameInTwoSteps(const std::filesystem::path& from, const std::filesystem::path& to,
                        const std::string& old) {
  if (rename(to.c_str(), old.c_str()) != 0 && errno != ENOENT) return FailErrno(old, errno);
  if (rename(from.c_str(), to.c_str()) != 0) return FailErrno(to.native(), errno);
  return {};
}

// Renames `from` to `to`, and a previous `to` to `to`.old. If the file system can exchange names, a
// file `to` exists at every instant. Then no file is lost that another recorder meanwhile renamed
// to `to`.
Status RenameKeepingOld(const std::filesystem::path& from, const std::filesystem::path& to) {
  const std::string old = to.native() + ".old";
  const auto rename_with = [&](unsigned flags) {
    return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0;
  };
  while (true) {
    if (rename_with(RENAME_EXCHANGE)) break;
    if (errno != ENOENT) return RenameInTwoSteps(from, to, old);
    if (rename_with(RENAME_NOREPLACE)) return {};
    if (errno != EEXIST) return RenameInTwoSteps(from, to, old);
  }
  if (rename(from.c_str(), old.c_str()) == 0) return {};
  const int error_number = errno;
  rename_with(RENAME_EXCHANGE);  // else the old file would be removed with the temporary name
  return FailErrno(old, error_number);
}

// For file systems that support no RENAME_NOREPLACE. For an instant the file has both names.
Status LinkUnlessExists(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (link(from.c_str(), to.c_str()) != 0) {
    if (errno == EEXIST) return FailExists(to);
    return FailErrno(to.native(), errno);
  }
  unlink(from.c_str());
  return {};
}

Status RenameUnlessExists(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST) return FailExists(to);
  if (errno == EINVAL || errno == ENOSYS) return LinkUnlessExists(from, to);
  return FailErrno(to.native(), errno);
}

// Replaces the X at the end of `path` and creates a private file with this name. mkstemp(3) would
// open it for reading, too, which needs the right to read all files of the directory in a sandbox.
UniqueFd CreateTemporary(std::string& path) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
  constexpr std::size_t kRandom = 6;
  constexpr int kMostAttempts = 100;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    std::array<unsigned char, kRandom> random = {};
    if (getrandom(random.data(), random.size(), 0) != kRandom) return {};
    for (std::size_t i = 0; i < kRandom; ++i) {
      path[path.size() - kRandom + i] = kDigits[random[i] % kDigits.size()];
    }
    UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kPrivate));
    if (fd || errno != EEXIST) return fd;
  }
  return {};
}

bool IsDirectory(const std::string& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

Result<StagedFile> StagedFile::Create(const OutputTarget& target, Readers readers, OldFile old) {
  const bool exists = target.kind == OutputTarget::Kind::kExistingFile;
  const std::string kept = target.path.native() + ".old";
  // Checked before the work rather than at its end.
  if (exists && old == OldFile::kKeep && IsDirectory(kept)) return FailErrno(kept, EISDIR);
  StagedFile file(target);
  std::string temporary = target.path.native() + ".XXXXXX";
  file.fd_ = CreateTemporary(temporary);
  if (!file.fd_) return FailErrno(target.name, errno);
  file.temporary_ = temporary;
  file.old_ = old;
  file.mode_ = ModeFor(readers);
  return file;
}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : target_(std::move(other.target_)),
      fd_(std::move(other.fd_)),
      temporary_(std::exchange(other.temporary_, {})),
      old_(other.old_),
      mode_(other.mode_) {}

StagedFile::~StagedFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

// Copies what the system permits: only root can change the owner, and some file systems have no
// owners. If the group differs from the old one, its members get the rights of all other users.
void StagedFile::CopyAccess() {
  const FileAccess& old = *target_.access;
  mode_ = old.mode;
  struct stat own = {};
  if (fstat(fd(), &own) != 0) return;
  if (own.st_gid != old.group && fchown(fd(), static_cast<uid_t>(-1), old.group) != 0) {
    mode_ = (mode_ & ~mode_t{S_IRWXG}) | ((mode_ & S_IRWXO) << 3);
  }
  if (own.st_uid != old.owner) (void)!fchown(fd(), old.owner, static_cast<gid_t>(-1));
}

Status StagedFile::Publish() {
  if (is_published()) return {};
  if (old_ == OldFile::kReplace && target_.access) CopyAccess();
  if (mode_ != kPrivate) fchmod(fd(), mode_);
  if (old_ == OldFile::kKeep) {
    TRY(RenameKeepingOld(temporary_, target_.path));
  } else if (old_ == OldFile::kRefuse) {
    TRY(RenameUnlessExists(temporary_, target_.path));
  } else if (rename(temporary_.c_str(), target_.path.c_str()) != 0) {
    return FailErrno(target_.name, errno);
  }
  temporary_.clear();
  return {};
}

}  // namespace base
}  // namespace perftape

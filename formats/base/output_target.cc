// SPDX-License-Identifier: Apache-2.0
#include "formats/base/output_target.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <thread>

namespace perftape {
inline namespace base {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // the kernel's limit (MAXSYMLINKS)
constexpr mode_t kPermissionBits = 0777;

fs::path DirectoryOf(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool IsDirectoryOfOwnDescriptors(const fs::path& directory) {
  std::error_code error;
  const fs::path real = fs::canonical(directory, error);
  if (error) return false;
  for (const char* own : {"/proc/self/fd", "/proc/thread-self/fd"}) {
    if (real == fs::canonical(own, error) && !error) return true;
  }
  return false;
}

// The descriptor of this process that a name such as /dev/fd/1 refers to.
std::optional<int> DescriptorNamed(const fs::path& path) {
  const std::string leaf = path.filename();
  int number = -1;
  const auto [end, error] = std::from_chars(leaf.data(), leaf.data() + leaf.size(), number);
  if (error != std::errc() || end != leaf.data() + leaf.size() || number < 0) return std::nullopt;
  if (!IsDirectoryOfOwnDescriptors(DirectoryOf(path))) return std::nullopt;
  return number;
}

// Whether another user may have planted `entry` in the directory of `path`: the rule of
// may_follow_link (fs/namei.c).
bool MayBePlanted(const fs::path& path, const struct stat& entry) {
  struct stat directory = {};
  if (stat(DirectoryOf(path).c_str(), &directory) != 0) return true;
  constexpr mode_t kShared = S_ISVTX | S_IWOTH;
  if ((directory.st_mode & kShared) != kShared) return false;
  return entry.st_uid != geteuid() && entry.st_uid != directory.st_uid;
}

std::unexpected<Error> RefusePlanted(const OutputTarget& target, const char* what) {
  return Fail(ErrorCode::kPermission,
              target.name + ": is a " + what +
                  " of another user, in a directory that all users can write to");
}

// Links in /proc lead to an open file. Its name may be gone, or may refer to another file.
bool IsInProc(const fs::path& path) {
  struct statfs directory = {};
  return statfs(DirectoryOf(path).c_str(), &directory) == 0 && directory.f_type == PROC_SUPER_MAGIC;
}

bool LeadsToARegularFile(const fs::path& link) {
  struct stat at_the_end = {};
  return stat(link.c_str(), &at_the_end) == 0 && S_ISREG(at_the_end.st_mode);
}

bool IsSameFile(const fs::path& a, const fs::path& b) {
  struct stat status_a = {}, status_b = {};
  return stat(a.c_str(), &status_a) == 0 && stat(b.c_str(), &status_b) == 0 &&
         status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}

Result<fs::path> TargetOfLink(const OutputTarget& target) {
  std::array<char, PATH_MAX> text = {};
  const ssize_t size = readlink(target.path.c_str(), text.data(), text.size());
  if (size < 0) return FailErrno(target.name, errno);
  const fs::path end(std::string(text.data(), static_cast<std::size_t>(size)));
  const fs::path path = DirectoryOf(target.path) / end;
  if (IsInProc(target.path) && !IsSameFile(target.path, path)) {
    return Fail(ErrorCode::kNotFound, target.name + ": leads to a file that has no name");
  }
  return path;
}

// Sets kind, access and is_named_pipe of `target`, whose path has this status and is not a link.
Status Classify(const struct stat& status, OutputTarget& target) {
  if (S_ISDIR(status.st_mode)) return FailErrno(target.name, EISDIR);
  if (S_ISREG(status.st_mode)) {
    target.kind = OutputTarget::Kind::kExistingFile;
    if (MayBePlanted(target.path, status)) return {};
    target.access = {
        .mode = status.st_mode & kPermissionBits, .owner = status.st_uid, .group = status.st_gid};
    return {};
  }
  target.kind = OutputTarget::Kind::kStream;
  target.is_named_pipe = S_ISFIFO(status.st_mode);
  if (target.is_named_pipe && MayBePlanted(target.path, status)) {
    return RefusePlanted(target, "named pipe");
  }
  return {};
}

OutputTarget OwnDescriptor(int descriptor, std::string name) {
  OutputTarget target;
  target.kind = OutputTarget::Kind::kStream;
  target.name = std::move(name);
  target.descriptor = descriptor;
  return target;
}

// The interval between two attempts to open a named pipe without a reader.
constexpr std::chrono::milliseconds kPause(10);

// A resolved path does not end in a link, except in /proc.
int OpenFlags(const OutputTarget& target) {
  const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  return IsInProc(target.path) ? flags : flags | O_NOFOLLOW;
}

}  // namespace

bool OutputTarget::is_stdout() const {
  return descriptor == STDOUT_FILENO;
}

Result<OutputTarget> ResolveOutput(const fs::path& path) {
  if (path == "-") return OwnDescriptor(STDOUT_FILENO, "stdout");
  OutputTarget target;
  target.name = path.native();
  target.path = path;
  for (int links = 0; links < kMostLinks; ++links) {
    const std::string leaf = target.path.filename();
    struct stat status = {};
    if (leaf.empty() || leaf == "." || leaf == "..") {
      return FailErrno(target.name, stat(target.path.c_str(), &status) == 0 ? EISDIR : errno);
    }
    if (const auto descriptor = DescriptorNamed(target.path)) {
      return OwnDescriptor(*descriptor, target.name);
    }
    if (lstat(target.path.c_str(), &status) != 0) {
      if (errno == ENOENT) return target;
      return FailErrno(target.name, errno);
    }
    if (!S_ISLNK(status.st_mode)) {
      TRY(Classify(status, target));
      return target;
    }
    if (MayBePlanted(target.path, status)) return RefusePlanted(target, "symbolic link");
    if (IsInProc(target.path) && !LeadsToARegularFile(target.path)) {
      // The text of such a link ("pipe:[4711]") is not a path.
      if (stat(target.path.c_str(), &status) != 0) return FailErrno(target.name, errno);
      TRY(Classify(status, target));
      return target;
    }
    TRY_ASSIGN(target.path, TargetOfLink(target));
  }
  return FailErrno(target.name, ELOOP);
}

Status CheckExisting(const OutputTarget& target, IfExists if_exists) {
  if (target.kind != OutputTarget::Kind::kExistingFile || if_exists == IfExists::kReplace) {
    return {};
  }
  return Fail(ErrorCode::kInvalidArgument, target.name + ": exists; -f replaces it");
}

Result<UniqueFd> OpenStream(const OutputTarget& target, const std::stop_token& stop) {
  if (target.descriptor >= 0) {
    UniqueFd copy = Duplicate(target.descriptor);
    if (!copy) return FailErrno(target.name, errno);
    return copy;
  }
  UniqueFd fd(open(target.path.c_str(), OpenFlags(target)));
  while (!fd && errno == ENXIO && target.is_named_pipe) {
    if (stop.stop_requested()) {
      return Fail(ErrorCode::kIo,
                  target.name + ": no program has opened this named pipe to read it");
    }
    std::this_thread::sleep_for(kPause);
    fd = UniqueFd(open(target.path.c_str(), OpenFlags(target)));
  }
  if (!fd) return FailErrno(target.name, errno);
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return FailErrno(target.name, errno);
  if (S_ISREG(status.st_mode)) {
    return Fail(ErrorCode::kIo, target.name + ": has become a regular file meanwhile");
  }
  if (fcntl(fd.get(), F_SETFL, 0) != 0) return FailErrno(target.name, errno);
  return fd;
}

bool IsTerminal(const OutputTarget& target) {
  if (!target.is_stream()) return false;
  if (target.descriptor >= 0) return isatty(target.descriptor) == 1;
  if (target.is_named_pipe) return false;  // opening it would wait for a reader
  const UniqueFd fd(open(target.path.c_str(), OpenFlags(target)));
  return fd && isatty(fd.get()) == 1;
}

}  // namespace base
}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/jit_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/regular_file.h"
#include "formats/base/symbol_limits.h"

namespace perftape::symbolize {
namespace {

using bundle::FileKind;

bool IsTrustedOwner(uid_t owner, std::uint32_t pid) {
  if (owner == 0 || owner == geteuid()) return true;
  struct stat process = {};
  const std::string path = "/proc/" + std::to_string(pid);
  return stat(path.c_str(), &process) == 0 && process.st_uid == owner;
}

std::string MapName(std::uint32_t pid) {
  return "tmp/perf-" + std::to_string(pid) + ".map";
}

// Returns the pid that a process of this machine has in its own namespace: the last number of
// "NSpid:\t123\t1". Nothing if it is the same.
std::optional<std::uint32_t> OwnPidOf(std::uint32_t pid) {
  const auto status = ReadWholeFile("/proc/" + std::to_string(pid) + "/status");
  if (!status) return std::nullopt;
  const std::size_t line = status->find("\nNSpid:");
  if (line == std::string::npos) return std::nullopt;
  const std::size_t end = std::min(status->find('\n', line + 1), status->size());
  const std::size_t blank = status->find_last_of(" \t", end - 1);
  std::uint32_t own = 0;
  const auto [rest, error] = std::from_chars(&(*status)[blank + 1], status->data() + end, own);
  if (error != std::errc{} || own == pid) return std::nullopt;
  return own;
}

// Both kinds of files have a size limit, for every source.
Status CheckSize(const JitFile& file, FileKind kind) {
  const std::uint64_t limit =
      kind == FileKind::kPerfMap ? symbol_limits::kPerfMap : symbol_limits::kJitDump;
  if (file.bytes.size() <= limit) return {};
  return Fail(ErrorCode::kUnsupported,
              file.source + ": " + MoreThanIsRead(file.bytes.size(), limit));
}

// Collects the sources that were tried without success.
class Search {
 public:
  void Missed(const Error& error) {
    if (error.code != ErrorCode::kNotFound && code_ == ErrorCode::kNotFound) code_ = error.code;
    Missed(error.message);
  }
  void Missed(std::string_view message) {
    if (!message_.empty()) message_ += "; ";
    message_ += message;
  }
  std::unexpected<Error> Result() && {
    return Fail(code_, message_.empty() ? "nowhere looked for" : std::move(message_));
  }

 private:
  ErrorCode code_ = ErrorCode::kNotFound;
  std::string message_;
};

std::optional<JitFile> FindInBundles(const JitSearchPath& search_path, FileKind kind,
                                     std::uint32_t pid, std::string_view path, Search& search) {
  for (const auto& each : search_path.bundles) {
    for (const bundle::BundledFile& file : each->manifest().files) {
      if (file.kind != kind || file.pid != pid) continue;
      if (kind == FileKind::kJitDump && file.path != path) continue;
      if (!file.missing.empty()) search.Missed("bundle: " + file.path + ": " + file.missing);
      const std::optional<Bytes> bytes = each->Find(file.member);
      if (!file.member.empty() && bytes) {
        return JitFile{.bytes = *bytes, .keeper = each, .source = "bundle: " + file.path};
      }
    }
  }
  return std::nullopt;
}

Result<JitFile> OpenGiven(const std::filesystem::path& path) {
  TRY_ASSIGN(MappedFile mapped, MapRegularFile(path));
  auto keeper = std::make_shared<const MappedFile>(std::move(mapped));
  return JitFile{.bytes = keeper->bytes(), .keeper = keeper, .source = path.native()};
}

// Tries one path below --symfs, then on this machine.
std::optional<JitFile> FindInDirectories(const JitSearchPath& search_path, std::string_view below,
                                         std::uint32_t pid, Search& search) {
  if (!search_path.symfs.empty()) {
    auto file = OpenGiven(search_path.symfs / below);
    if (file) return *std::move(file);
    search.Missed(file.error());
  }
  if (!search_path.not_local.empty()) {
    search.Missed("this machine: " + search_path.not_local);
    return std::nullopt;
  }
  auto file = OpenTrusted(search_path.local_root / below, pid);
  if (file) return *std::move(file);
  search.Missed(file.error());
  // A process in a container has its own root directory, and often another pid.
  const std::filesystem::path root = "/proc/" + std::to_string(pid) + "/root";
  const std::optional<std::uint32_t> own = OwnPidOf(pid);
  if (!own || search_path.local_root != "/") return std::nullopt;
  file = OpenTrusted(root / (below == MapName(pid) ? MapName(*own) : std::string(below)), pid);
  if (file) return *std::move(file);
  search.Missed(file.error());
  return std::nullopt;
}

}  // namespace

Result<JitFile> OpenTrusted(const std::filesystem::path& path, std::uint32_t pid) {
  const UniqueFd path_only(open(path.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
  if (!path_only) return FailErrno(path.native(), errno);
  struct stat status = {};
  if (fstat(path_only.get(), &status) != 0) return FailErrno(path.native(), errno);
  const auto refuse = [&](const std::string& reason) {
    return Fail(ErrorCode::kPermission, path.native() + ": " + reason);
  };
  if (!S_ISREG(status.st_mode)) return refuse("not a regular file");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return refuse("others may write to it");
  if (!IsTrustedOwner(status.st_uid, pid)) return refuse("belongs to another user");
  TRY_ASSIGN(const UniqueFd fd, ReopenRegularFile(path_only, path.native()));
  TRY_ASSIGN(MappedFile mapped, MappedFile::FromFd(fd.get(), path.native()));
  auto keeper = std::make_shared<const MappedFile>(std::move(mapped));
  return JitFile{.bytes = keeper->bytes(), .keeper = keeper, .source = path.native()};
}

Result<JitFile> FindPerfMap(std::uint32_t pid, const JitSearchPath& search_path) {
  Search search;
  auto file = FindInBundles(search_path, FileKind::kPerfMap, pid, {}, search);
  if (!file) file = FindInDirectories(search_path, MapName(pid), pid, search);
  if (!file) return std::move(search).Result();
  TRY(CheckSize(*file, FileKind::kPerfMap));
  return *std::move(file);
}

Result<JitFile> FindJitDump(std::string_view path, std::uint32_t pid,
                            const JitSearchPath& search_path) {
  Search search;
  auto file = FindInBundles(search_path, FileKind::kJitDump, pid, path, search);
  // As a path below another root, which ".." must not leave.
  const std::filesystem::path below =
      std::filesystem::path(path).lexically_normal().relative_path();
  if (!file) file = FindInDirectories(search_path, below.native(), pid, search);
  if (!file) return std::move(search).Result();
  TRY(CheckSize(*file, FileKind::kJitDump));
  return *std::move(file);
}

}  // namespace perftape::symbolize

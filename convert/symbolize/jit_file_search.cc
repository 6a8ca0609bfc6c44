// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/jit_file_search.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/process_identity.h"
#include "formats/base/regular_file.h"
#include "formats/base/symbol_limits.h"
#include "formats/elf/stored_file.h"

namespace perftape::symbolize {
namespace {

using bundle::FileKind;

std::string MapName(std::uint32_t pid) {
  return "tmp/perf-" + std::to_string(pid) + ".map";
}

// Both kinds of files have a size limit, for every source.
Status CheckSize(const FoundJitFile& file, FileKind kind) {
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
    return Fail(code_, message_.empty() ? "no location was searched" : std::move(message_));
  }

 private:
  ErrorCode code_ = ErrorCode::kNotFound;
  std::string message_;
};

std::optional<FoundJitFile> FindInBundles(const JitSearchPath& search_path, FileKind kind,
                                          std::uint32_t pid, std::string_view path,
                                          Search& search) {
  for (const auto& each : search_path.bundles) {
    for (const bundle::BundledFile& file : each->manifest().files) {
      if (file.kind != kind || file.pid != pid) continue;
      if (kind == FileKind::kJitDump && file.path != path) continue;
      if (!file.missing.empty()) search.Missed("bundle: " + file.path + ": " + file.missing);
      const std::optional<Bytes> bytes = each->Find(file.member);
      if (!file.member.empty() && bytes) {
        return FoundJitFile{.bytes = *bytes, .keeper = each, .source = "bundle: " + file.path};
      }
    }
  }
  return std::nullopt;
}

Result<FoundJitFile> OpenGiven(const std::filesystem::path& named) {
  const std::filesystem::path path = elf::StoredPath(named);
  TRY_ASSIGN(MappedFile mapped, MapRegularFile(path));
  if (elf::IsCompressed(mapped.bytes())) {
    auto expanded = elf::ExpandFile(mapped.bytes(), symbol_limits::kJitDump);
    if (!expanded) return Fail(InContext(path.native(), std::move(expanded).error()));
    auto owner = std::make_shared<const std::vector<std::byte>>(*std::move(expanded));
    return FoundJitFile{.bytes = *owner, .keeper = owner, .source = path.native()};
  }
  auto keeper = std::make_shared<const MappedFile>(std::move(mapped));
  return FoundJitFile{.bytes = keeper->bytes(), .keeper = keeper, .source = path.native()};
}

// The process of this machine that a recorded number means.
struct LocalProcess {
  std::uint32_t pid = 0;                         // as recorded
  std::optional<ProcessIdentity> identity = {};  // nothing if it has ended
  const perfdata::ProcessLife* life = nullptr;   // null if unknown

  std::uint32_t own_pid() const { return identity ? identity->own_pid : pid; }
  bool is_in_other_namespace() const { return identity && identity->is_in_other_namespace; }
};

LocalProcess FindProcess(const JitSearchPath& search_path, std::uint32_t pid) {
  LocalProcess process = {.pid = pid, .identity = ReadProcessIdentity(search_path.proc, pid)};
  const auto life = search_path.lives.find(pid);
  if (life == search_path.lives.end()) return process;
  process.life = &life->second;
  if (process.identity && !process.life->CanBe(*process.identity)) process.identity.reset();
  return process;
}

// Returns why the process did not write a file of this status; empty if it may have.
std::string WhyNotOf(const LocalProcess& process, const struct stat& file) {
  if (!S_ISREG(file.st_mode)) return "not a regular file";
  if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users can write to it";
  if (process.identity) {
    std::string reason = WhyNotOwnedBy(*process.identity, file);
    return reason.empty() ? WhyNotSince(process.identity->started_ns, file) : reason;
  }
  if (file.st_uid != 0 && file.st_uid != geteuid()) return "belongs to another user";
  return process.life == nullptr ? std::string() : process.life->WhyNotItsFile(file);
}

// Another process of this namespace has the number, and its root has the same file.
std::string WhyAmbiguous(const JitSearchPath& search_path, const LocalProcess& process,
                         const std::string& below, const struct stat& file) {
  const UniqueFd ours = OpenPathWithin(search_path.local_root, below);
  struct stat same = {};
  if (!ours || fstat(ours.get(), &same) != 0) return {};
  if (same.st_dev != file.st_dev || same.st_ino != file.st_ino) return {};
  const auto other = ReadProcessIdentity(search_path.proc, process.own_pid());
  if (!other || other->is_kernel_thread) return {};
  return "in a directory that is shared with another process " + std::to_string(process.own_pid());
}

Result<FoundJitFile> OpenLocal(const JitSearchPath& search_path, const std::filesystem::path& root,
                               const std::string& below, const LocalProcess& process) {
  const std::string path = (root / below).native();
  const UniqueFd path_only = OpenPathWithin(root, below);
  if (!path_only) return FailErrno(path, errno);
  struct stat status = {};
  if (fstat(path_only.get(), &status) != 0) return FailErrno(path, errno);
  std::string reason = WhyNotOf(process, status);
  if (reason.empty() && process.is_in_other_namespace()) {
    reason = WhyAmbiguous(search_path, process, below, status);
  }
  if (!reason.empty()) return Fail(ErrorCode::kPermission, path + ": " + reason);
  TRY_ASSIGN(const UniqueFd fd, ReopenRegularFile(path_only, path));
  TRY_ASSIGN(MappedFile mapped, MappedFile::FromFd(fd.get(), path));
  auto keeper = std::make_shared<const MappedFile>(std::move(mapped));
  return FoundJitFile{
      .bytes = keeper->bytes(), .keeper = keeper, .source = path, .own_pid = process.own_pid()};
}

// Tries this machine: the root of the process, then the own one.
std::optional<FoundJitFile> FindHere(const JitSearchPath& search_path, std::string_view below,
                                     std::uint32_t pid, Search& search) {
  const LocalProcess process = FindProcess(search_path, pid);
  const std::string name = below == MapName(pid) ? MapName(process.own_pid()) : std::string(below);
  if (process.identity) {
    const std::filesystem::path root = search_path.proc / std::to_string(pid) / "root";
    auto file = OpenLocal(search_path, root, name, process);
    if (file) return *std::move(file);
    search.Missed(file.error());
    if (process.is_in_other_namespace()) return std::nullopt;
  }
  auto file = OpenLocal(search_path, search_path.local_root, name, process);
  if (file) return *std::move(file);
  search.Missed(file.error());
  return std::nullopt;
}

// Tries one path below --symfs, then on this machine.
std::optional<FoundJitFile> FindInDirectories(const JitSearchPath& search_path,
                                              std::string_view below, std::uint32_t pid,
                                              Search& search) {
  if (!search_path.symfs.empty()) {
    auto file = OpenGiven(search_path.symfs / below);
    if (file) return *std::move(file);
    search.Missed(file.error());
  }
  if (search_path.not_local.empty()) return FindHere(search_path, below, pid, search);
  search.Missed("this machine: " + search_path.not_local);
  return std::nullopt;
}

}  // namespace

bool MayHavePerfMap(std::uint32_t pid) {
  if (OpenPathWithin("/", MapName(pid))) return true;
  const std::optional<ProcessIdentity> now = ReadProcessIdentity("/proc", pid);
  if (!now || !now->is_in_other_namespace) return false;
  return static_cast<bool>(
      OpenPathWithin("/proc/" + std::to_string(pid) + "/root", MapName(now->own_pid)));
}

Result<FoundJitFile> FindPerfMap(std::uint32_t pid, const JitSearchPath& search_path) {
  Search search;
  auto file = FindInBundles(search_path, FileKind::kPerfMap, pid, {}, search);
  if (!file) file = FindInDirectories(search_path, MapName(pid), pid, search);
  if (!file) return std::move(search).Result();
  TRY(CheckSize(*file, FileKind::kPerfMap));
  return *std::move(file);
}

Result<FoundJitFile> FindJitDump(std::string_view path, std::uint32_t pid,
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

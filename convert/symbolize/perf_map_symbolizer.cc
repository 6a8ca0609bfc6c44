// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/perf_map_symbolizer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/file.h"

namespace perftape {
namespace {

constexpr std::uint64_t kLargestMap = std::uint64_t{1} << 30;

// 123 of "/tmp/perf-123.map".
std::optional<std::uint32_t> PidOfMapName(std::string_view filename) {
  std::string_view name = BaseName(filename);
  if (!name.starts_with("perf-") || !name.ends_with(".map")) return std::nullopt;
  name.remove_prefix(5);
  name.remove_suffix(4);
  std::uint32_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return pid;
}

// Which process something belongs to: none seen, one, or several.
class Owner {
 public:
  void Add(std::uint32_t pid) {
    if (several_ || (pid_ && *pid_ != pid)) several_ = true;
    pid_ = pid;
  }
  void Add(const Owner& other) {
    if (other.pid_) Add(*other.pid_);
    several_ = several_ || other.several_;
  }
  std::optional<std::uint32_t> only() const { return several_ ? std::nullopt : pid_; }

 private:
  std::optional<std::uint32_t> pid_;
  bool several_ = false;
};

Owner OwnerOf(const Profile& profile, MappingId mapping) {
  std::vector<Owner> stacks(profile.stacks().size());
  for (const Sample& sample : profile.samples()) {
    stacks[sample.stack.index].Add(profile[sample.thread].pid);
  }
  Owner owner;
  // Callers come before those whom they call, so this visits the called first.
  for (std::size_t i = stacks.size(); i-- > 1;) {
    const Stack& stack = profile.stacks()[i];
    stacks[stack.caller.index].Add(stacks[i]);
    if (profile[stack.leaf].mapping == mapping) owner.Add(stacks[i]);
  }
  return owner;
}

Result<std::string> ReadAll(int fd, std::uint64_t size) {
  if (size > kLargestMap) return Fail(ErrorCode::kUnsupported, "larger than a gigabyte");
  std::string text(size, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = read(fd, text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailErrno("read", errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

bool IsTrustedOwner(uid_t owner, std::uint32_t pid) {
  if (owner == 0 || owner == geteuid()) return true;
  struct stat process = {};
  const std::string path = "/proc/" + std::to_string(pid);
  return stat(path.c_str(), &process) == 0 && process.st_uid == owner;
}

}  // namespace

bool IsJitMemory(std::string_view filename) {
  static constexpr std::array<std::string_view, 9> kBeginnings = {
      "//anon",    "/anon_hugepage", "[anon", "[heap]",     "[stack",
      "/dev/zero", "/memfd:",        "/SYSV", "anon_inode:"};
  return filename.empty() || PidOfMapName(filename) ||
         std::ranges::any_of(kBeginnings,
                             [&](std::string_view start) { return filename.starts_with(start); });
}

Result<PerfMap> ReadTrustedPerfMap(const std::filesystem::path& path, std::uint32_t pid) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return FailErrno(path.native(), errno);
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return FailErrno(path.native(), errno);
  const auto refuse = [&](const std::string& reason) {
    return Fail(ErrorCode::kPermission, path.native() + ": " + reason);
  };
  if (!S_ISREG(status.st_mode)) return refuse("not a regular file");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return refuse("others may write to it");
  if (!IsTrustedOwner(status.st_uid, pid)) return refuse("belongs to another user");
  auto text = ReadAll(fd.get(), static_cast<std::uint64_t>(status.st_size));
  if (!text) return Fail(InContext(path.native(), std::move(text).error()));
  return PerfMap::Parse(*std::move(text));
}

PerfMapSymbolizer::PerfMapSymbolizer(std::filesystem::path directory)
    : directory_(std::move(directory)) {}

Result<Resolution> PerfMapSymbolizer::Resolve(const Profile& profile, MappingId id,
                                              std::span<const FileOffset> offsets) {
  const Mapping& mapping = profile[id];
  std::optional<std::uint32_t> pid = PidOfMapName(profile.text(mapping.filename));
  if (!pid) pid = OwnerOf(profile, id).only();
  if (!pid) return MissAll(offsets.size(), Miss::kNoSymbol, "mapped by several processes");
  const Result<PerfMap>& map = MapOf(*pid);
  if (!map) {
    // Most memory without a file is no compiled code, and most compilers write no map.
    const bool is_plain = map.error().code == ErrorCode::kNotFound;
    return MissAll(offsets.size(), Miss::kNoFile, is_plain ? "" : map.error().message);
  }
  Resolution resolution;
  for (const FileOffset offset : offsets) {
    const std::string_view name = map->Find({mapping.start + (offset.value - mapping.file_offset)});
    resolution.answers.push_back(name.empty() ? Resolved{.miss = Miss::kNoSymbol}
                                              : Resolved{.frames = {{.name = std::string(name)}}});
  }
  return resolution;
}

const Result<PerfMap>& PerfMapSymbolizer::MapOf(std::uint32_t pid) {
  const auto known = maps_.find(pid);
  if (known != maps_.end()) return known->second;
  const std::string name = "perf-" + std::to_string(pid) + ".map";
  return maps_.emplace(pid, ReadTrustedPerfMap(directory_ / name, pid)).first->second;
}

}  // namespace perftape

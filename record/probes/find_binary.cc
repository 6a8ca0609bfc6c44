// SPDX-License-Identifier: Apache-2.0
#include "record/probes/find_binary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "formats/base/file.h"
#include "record/machine/did_you_mean.h"
#include "record/probes/explain_missing.h"
#include "record/processes/executable.h"

namespace perftape::record {
namespace {

constexpr std::string_view kCacheFile = "/etc/ld.so.cache";
// The cache of 1997 may come first; the dynamic linker ignores it if this one follows.
constexpr std::string_view kCacheMagic = "glibc-ld.so.cache1.1";

// The flags of an ELF library of glibc for this architecture.
#if defined(__x86_64__)
constexpr std::uint32_t kNativeFlags = 0x0303;
#elif defined(__aarch64__)
constexpr std::uint32_t kNativeFlags = 0x0a03;
#else
constexpr std::uint32_t kNativeFlags = 0x0003;
#endif

bool NamesLibrary(const std::string& wanted, const CachedLibrary& library) {
  return library.name == wanted || library.name.starts_with(wanted + ".so");
}

std::optional<std::filesystem::path> FindLibrary(const std::string& name,
                                                 const std::vector<CachedLibrary>& libraries) {
  const auto found = std::ranges::find_if(
      libraries, [&](const CachedLibrary& library) { return NamesLibrary(name, library); });
  if (found == libraries.end()) return std::nullopt;
  return found->path;
}

// A path that exists, without its symbolic links.
std::filesystem::path Canonical(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path canonical = std::filesystem::canonical(path, error);
  return error ? path : canonical;
}

}  // namespace

std::vector<CachedLibrary> DecodeLibraryCache(Bytes cache) {
  std::vector<CachedLibrary> libraries;
  const std::size_t start = AsText(cache).find(kCacheMagic);
  if (start == std::string_view::npos) return libraries;
  cache = cache.subspan(start);
  // { char magic[20]; u32 count, strings_size; u8 flags, pad[3]; u32 extension, unused[3];
  //   { u32 flags, name, path, os_version; u64 hwcap; } libraries[count]; }
  ByteReader at(cache);
  std::uint32_t count = 0;
  constexpr std::size_t kRestOfHeader = 4 + 4 + 4 + 12;
  at.Padding(kCacheMagic.size());
  at.Fixed(count);
  at.Padding(kRestOfHeader);
  const auto text_at = [&](std::uint32_t offset) {
    const std::string_view rest =
        offset < cache.size() ? AsText(cache.subspan(offset)) : std::string_view();
    return std::string(rest.substr(0, rest.find('\0')));
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t flags = 0, name = 0, path = 0, os_version = 0;
    std::uint64_t hwcap = 0;
    at.Fixed(flags);
    at.Fixed(name);
    at.Fixed(path);
    at.Fixed(os_version);
    at.Fixed(hwcap);
    if (!at.ok()) break;
    if (flags == kNativeFlags) libraries.push_back({text_at(name), text_at(path)});
  }
  return libraries;
}

Result<std::filesystem::path> FindBinary(const std::string& name) {
  if (name.contains('/')) {
    // A symbolic link stays: /proc/PID/root must not become "/".
    std::error_code error;
    std::filesystem::path path = std::filesystem::absolute(name, error).lexically_normal();
    if (std::filesystem::exists(path, error)) return path;
    if (error) return FailErrno(path.string(), error.value());
    return Fail(ErrorCode::kNotFound, fmt::format("{}: no such file", path.string()));
  }
  std::vector<CachedLibrary> libraries;
  if (const Result<std::string> cache = ReadWholeFile(std::string(kCacheFile))) {
    libraries = DecodeLibraryCache(AsBytes(*cache));
  }
  if (const auto library = FindLibrary(name, libraries)) return Canonical(*library);
  if (const Result<Executable> program = FindExecutable(name)) return Canonical(program->path);
  const std::string moved = NoteOnMovedLibrary(name);
  std::vector<std::string> names;
  for (const CachedLibrary& library : libraries) names.push_back(library.name);
  return Fail(ErrorCode::kNotFound,
              fmt::format("'{}' is neither a library in {} nor a program in $PATH{}", name,
                          kCacheFile, moved.empty() ? DidYouMean(name, names) : moved));
}

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/index_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace perftape::elf {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMagic = 0x3130786469657074;  // "tpeidx01"; the last two are the version
constexpr std::string_view kEndings[] = {".lines", ".unwind"};  // by IndexType

// The directory may exceed its limit by this fraction until the next trim.
constexpr std::uint64_t kStoresPerTrim = 64;

struct IndexCacheHeader {
  std::uint64_t magic = kMagic;
  std::uint64_t body_size = 0;
  std::uint64_t hash = 0;
  std::array<std::uint8_t, 20> build_id = {};
  std::array<std::uint8_t, 20> reserved = {};
};
static_assert(sizeof(IndexCacheHeader) == 64);

IndexCacheHeader HeaderOf(const BuildId& build_id, Bytes body) {
  return {.body_size = body.size(),
          .hash = XXH3_64bits(body.data(), body.size()),
          .build_id = build_id.bytes};
}

bool IsTrusted(int fd) {
  struct stat status = {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Whether it is a finished or a temporary file.
bool IsOfThisCache(const std::string& name) {
  return std::ranges::any_of(
      kEndings, [&](std::string_view ending) { return name.find(ending) != std::string::npos; });
}

struct CachedFile {
  fs::file_time_type used;
  std::uint64_t size = 0;
  fs::path path;
};

}  // namespace

fs::path IndexCache::PathOf(const BuildId& build_id) const {
  return directory_ / (build_id.hex() + std::string(kEndings[static_cast<std::size_t>(type_)]));
}

IndexCache::Entry IndexCache::Load(const BuildId& build_id) const {
  const fs::path path = PathOf(build_id);
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd || !IsTrusted(fd.get())) return {};
  auto file = MappedFile::FromFd(fd.get(), path.native());
  if (!file || file->bytes().size() < sizeof(IndexCacheHeader)) return {};
  IndexCacheHeader header;
  std::memcpy(&header, file->bytes().data(), sizeof(header));
  const Bytes body = file->bytes().subspan(sizeof(header));
  const IndexCacheHeader right = HeaderOf(build_id, body);
  if (std::memcmp(&header, &right, sizeof(header)) != 0) return {};
  futimens(fd.get(), nullptr);  // marks it as used; after a failure it is only removed earlier
  return Entry(*std::move(file), body);
}

void IndexCache::Store(const BuildId& build_id, Bytes body) const {
  std::error_code failed;
  if (body.size() > limit_) return;
  fs::create_directories(directory_.parent_path(), failed);
  mkdir(directory_.c_str(), S_IRWXU);
  // mkstemp makes it accessible only to the user.
  std::string temporary = PathOf(build_id).native() + ".XXXXXX";
  const UniqueFd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return;
  const IndexCacheHeader header = HeaderOf(build_id, body);
  if (!WriteAll(fd.get(), std::as_bytes(std::span(&header, 1))) || !WriteAll(fd.get(), body) ||
      std::rename(temporary.c_str(), PathOf(build_id).c_str()) != 0) {
    unlink(temporary.c_str());
    return;
  }
  // Reading the directory takes longer than writing a small file, so not every file causes it.
  stored_ += body.size();
  if (was_trimmed_.exchange(true) && stored_ < limit_ / kStoresPerTrim) return;
  stored_ = 0;
  Trim();
}

void IndexCache::Trim() const {
  std::error_code failed;
  std::vector<CachedFile> files;
  std::uint64_t sum = 0;
  // Also removes temporary files of processes that were killed while writing.
  for (fs::directory_iterator at(directory_, failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::string name = at->path().filename();
    if (!IsOfThisCache(name)) continue;
    std::error_code gone;
    const CachedFile file = {
        .used = at->last_write_time(gone), .size = at->file_size(gone), .path = at->path()};
    if (gone) continue;
    sum += file.size;
    files.push_back(file);
  }
  std::ranges::sort(files, {}, &CachedFile::used);
  for (const CachedFile& oldest : files) {
    if (sum <= limit_) break;
    if (fs::remove(oldest.path, failed)) sum -= oldest.size;
  }
}

fs::path UsualIndexCache() {
  const char* cache = std::getenv("XDG_CACHE_HOME");  // NOLINT(concurrency-mt-unsafe)
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "perftape";
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  if (home == nullptr || *home != '/') return {};
  struct stat status = {};
  if (stat(home, &status) == 0 && status.st_uid != geteuid()) return {};
  return fs::path(home) / ".cache" / "perftape";
}

}  // namespace perftape::elf

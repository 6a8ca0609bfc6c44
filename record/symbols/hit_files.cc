// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/hit_files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "formats/base/symbol_limits.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/slim.h"

namespace perftape::record {
namespace {

constexpr std::size_t kMostOpen = 16384;
// Reserved for other files of this program, in addition to those that are already open.
constexpr std::size_t kOthers = 128;

bool IsSameBinary(const HitBinary& kept, std::string_view path, const BuildId& build_id) {
  if (!kept.missing.empty() || kept.build_id != build_id) return false;
  return !build_id.empty() || kept.path == path;
}

// Estimates the number of open files: a new descriptor gets the lowest free number.
std::size_t OpenNow() {
  const UniqueFd lowest(::open("/", O_PATH | O_CLOEXEC));
  return lowest ? static_cast<std::size_t>(lowest.get()) : kMostOpen;
}

}  // namespace

std::size_t RoomForOpenFiles() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const std::size_t used = OpenNow() + kOthers;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, kMostOpen + used);
  if (limit.rlim_cur < wanted) {
    const rlimit raised = {wanted, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit.rlim_cur = wanted;
  }
  if (limit.rlim_cur <= used) return 0;
  return std::min<std::size_t>(limit.rlim_cur - used, kMostOpen);
}

void HitFiles::Add(std::string_view path, const BuildId& build_id, UniqueFd file) {
  if (AddAgain(path, build_id)) return;
  struct stat status = {};
  HitBinary binary{.path = std::string(path), .build_id = build_id, .file = {}};
  if (::fstat(file.get(), &status) == 0) binary.size = static_cast<std::uint64_t>(status.st_size);
  if (open_ < most_open_) {
    binary.file = std::move(file);
    ++open_;
  } else if (const Result<MappedFile> mapped = MappedFile::FromFd(file.get(), path); mapped) {
    const Result<elf::ElfFile> image = elf::ElfFile::FromBytes(mapped->bytes());
    auto slim = image ? elf::SlimCopy(*image) : std::nullopt;
    const std::uint64_t room = symbol_limits::kSymbolTables - slim_bytes_;
    if (slim && slim->size() <= room) {
      slim_bytes_ += slim->size();
      binary.slim = *std::move(slim);
    } else {
      binary.missing = "too many files to keep this one open";
    }
  } else {
    binary.missing = mapped.error().message;
  }
  binaries_.push_back(std::make_shared<HitBinary>(std::move(binary)));
}

HitFiles HitFiles::NextFile() const {
  HitFiles next(most_open_);
  next.open_ = open_;
  next.slim_bytes_ = slim_bytes_;
  next.earlier_ = earlier_;
  for (const std::shared_ptr<HitBinary>& binary : binaries_) {
    if (binary->missing.empty() && std::ranges::find(earlier_, binary) == earlier_.end()) {
      next.earlier_.push_back(binary);
    }
  }
  return next;
}

bool HitFiles::AddAgain(std::string_view path, const BuildId& build_id) {
  const auto is_it = [&](const std::shared_ptr<HitBinary>& kept) {
    return IsSameBinary(*kept, path, build_id);
  };
  if (std::ranges::any_of(binaries_, is_it)) return true;
  const auto earlier = std::ranges::find_if(earlier_, is_it);
  if (earlier == earlier_.end()) return false;
  binaries_.push_back(*earlier);
  return true;
}

void HitFiles::AddMissing(bundle::FileKind kind, std::string_view path, const BuildId& build_id,
                          std::string reason) {
  binaries_.push_back(std::make_shared<HitBinary>(HitBinary{.kind = kind,
                                                            .path = std::string(path),
                                                            .build_id = build_id,
                                                            .file = {},
                                                            .missing = std::move(reason)}));
}

}  // namespace perftape::record

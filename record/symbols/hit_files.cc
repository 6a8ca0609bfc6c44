// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/hit_files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "formats/base/process_identity.h"
#include "formats/base/symbol_limits.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/slim.h"

namespace perftape::record {
namespace {

constexpr std::size_t kMostOpen = 16384;
// Reserved for other files of this program, in addition to those that are already open.
constexpr std::size_t kOthers = 128;

bool IsNamed(const HitBinary& kept, std::string_view path, const BuildId& build_id,
             const FileNumber& number) {
  return kept.build_id == build_id &&
         (!build_id.empty() || (kept.path == path && kept.number == number));
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

std::shared_ptr<HitBinary> HitPool::Find(std::string_view path, const BuildId& build_id,
                                         const FileNumber& number) const {
  for (const std::weak_ptr<HitBinary>& kept : binaries_) {
    std::shared_ptr<HitBinary> binary = kept.lock();
    if (binary && IsNamed(*binary, path, build_id, number)) return binary;
  }
  return nullptr;
}

HitPool::Sums HitPool::CountKept() {
  Sums sums;
  std::erase_if(binaries_, [&](const std::weak_ptr<HitBinary>& kept) {
    const std::shared_ptr<HitBinary> binary = kept.lock();
    if (!binary) return true;
    sums.open += binary->file ? 1 : 0;
    sums.slim_bytes += binary->slim.size();
    return false;
  });
  return sums;
}

void HitFiles::Add(std::string_view path, const BuildId& build_id, UniqueFd file,
                   const FileNumber& number) {
  if (AddAgain(path, build_id, number)) return;
  if (pool_) {
    const HitPool::Sums kept = pool_->CountKept();
    open_ = kept.open;
    slim_bytes_ = kept.slim_bytes;
  }
  struct stat status = {};
  HitBinary binary{.path = std::string(path), .build_id = build_id, .file = {}};
  if (build_id.empty()) binary.number = number;
  if (::fstat(file.get(), &status) == 0) {
    binary.size = static_cast<std::uint64_t>(status.st_size);
    binary.modified_ns = ModifiedNs(status);
  }
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
  if (pool_) pool_->Add(binaries_.back());
}

void HitFiles::AddAllOf(const HitFiles& other) {
  has_kernel_ = has_kernel_ || other.has_kernel_;
  has_vdso_ = has_vdso_ || other.has_vdso_;
  for (const std::shared_ptr<HitBinary>& binary : other.binaries_) {
    const auto is_it = [&](const std::shared_ptr<HitBinary>& known) {
      const bool is_absence = !binary->missing.empty() && known->missing == binary->missing &&
                              known->path == binary->path;
      return known == binary || is_absence;
    };
    if (std::ranges::none_of(binaries_, is_it)) binaries_.push_back(binary);
  }
}

HitFiles HitFiles::NextFile() {
  HitFiles next(most_open_);
  const auto share = [&next](const std::shared_ptr<HitBinary>& binary) {
    next.earlier_.push_back(binary);
    next.open_ += binary->file ? 1 : 0;
    next.slim_bytes_ += binary->slim.size();
  };
  for (const std::shared_ptr<HitBinary>& binary : earlier_) ++binary->files_without_hit;
  for (const std::shared_ptr<HitBinary>& binary : binaries_) {
    binary->files_without_hit = 0;
    if (binary->missing.empty()) share(binary);
  }
  for (const std::shared_ptr<HitBinary>& binary : earlier_) {
    const unsigned unhit = binary->files_without_hit;
    if (unhit > 0 && unhit < kMostFilesWithoutHit) share(binary);
  }
  return next;
}

bool HitFiles::AddAgain(std::string_view path, const BuildId& build_id, const FileNumber& number) {
  const auto is_it = [&](const std::shared_ptr<HitBinary>& kept) {
    return kept->missing.empty() && IsNamed(*kept, path, build_id, number);
  };
  if (std::ranges::any_of(binaries_, is_it)) return true;
  if (const auto earlier = std::ranges::find_if(earlier_, is_it); earlier != earlier_.end()) {
    binaries_.push_back(*earlier);
    return true;
  }
  std::shared_ptr<HitBinary> pooled = pool_ ? pool_->Find(path, build_id, number) : nullptr;
  if (!pooled) return false;
  binaries_.push_back(std::move(pooled));
  return true;
}

void HitFiles::AddMissing(bundle::FileKind kind, std::string_view path, const BuildId& build_id,
                          std::string reason, const FileNumber& number) {
  binaries_.push_back(std::make_shared<HitBinary>(HitBinary{.kind = kind,
                                                            .path = std::string(path),
                                                            .build_id = build_id,
                                                            .number = number,
                                                            .file = {},
                                                            .missing = std::move(reason)}));
}

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/kept_binaries.h"

#include <sys/stat.h>

#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/output_file.h"
#include "formats/elf/debug_search_paths.h"
#include "formats/elf/elf_file.h"
#include "formats/go/slim_copy.h"

namespace perftape::serve {
namespace {

bool IsAt(const std::string& path, int file) {
  struct stat named = {}, open = {};
  return stat(path.c_str(), &named) == 0 && fstat(file, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

}  // namespace

std::filesystem::path KeptBinaries::PathOf(const BuildId& build_id) const {
  return elf::BuildIdLink(directory_, build_id);
}

Status KeptBinaries::Add(const std::string& path, const BuildId& build_id, int file) {
  if (by_id_.contains(build_id) || IsAt(path, file)) return {};
  TRY_ASSIGN(const MappedFile mapped, MappedFile::FromFd(file, path));
  TRY_ASSIGN(const elf::ElfFile image, elf::ElfFile::FromBytes(mapped.bytes()));
  const std::optional<std::vector<std::byte>> slim =
      go::SlimCopy(image, elf::SlimDwarf::kDrop, most_bytes_);
  const Bytes copy = slim ? Bytes(*slim) : mapped.bytes();
  if (copy.size() > most_bytes_)
    return Fail(ErrorCode::kUnsupported, path + ": its symbols are too large to be kept");
  while (bytes_ + copy.size() > most_bytes_) RemoveOldest();
  const std::filesystem::path target = PathOf(build_id);
  std::error_code error;
  std::filesystem::create_directories(target.parent_path(), error);
  TRY_ASSIGN(OutputFile out, OutputFile::Create(target, IfExists::kReplace));
  TRY(out.Write(copy));
  TRY(std::move(out).Commit());
  bytes_ += copy.size();
  copies_.push_front({.build_id = build_id, .bytes = copy.size()});
  by_id_[build_id] = copies_.begin();
  return {};
}

void KeptBinaries::Use(const BuildId& build_id) {
  const auto found = by_id_.find(build_id);
  if (found != by_id_.end()) copies_.splice(copies_.begin(), copies_, found->second);
}

void KeptBinaries::RemoveOldest() {
  const Copy& oldest = copies_.back();
  std::error_code ignored;
  std::filesystem::remove(PathOf(oldest.build_id), ignored);
  bytes_ -= oldest.bytes;
  by_id_.erase(oldest.build_id);
  copies_.pop_back();
}

}  // namespace perftape::serve

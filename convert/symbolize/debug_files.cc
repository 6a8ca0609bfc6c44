// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/debug_files.h"

#include <string_view>
#include <utility>
#include <vector>

#include "formats/elf/build_id.h"

namespace perftape {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDeleted = " (deleted)";

// <root>/.build-id/aa/bbcc…
fs::path ByBuildId(const fs::path& root, const BuildId& id) {
  const std::string hex = id.hex();
  return root / ".build-id" / hex.substr(0, 2) / hex.substr(2);
}

// Opens the first of several candidates that is what it should be; remembers what the others were.
class Search {
 public:
  explicit Search(const BuildId& wanted) : wanted_(wanted) {}

  std::optional<elf::ElfFile> Try(const fs::path& path) {
    const auto id = elf::ReadBuildId(path);
    if (!id) {
      if (id.error().code != ErrorCode::kNotFound) Note(id.error().message);
      return std::nullopt;
    }
    if (!wanted_.empty() && !id->Matches(wanted_)) {
      found_other_build_ = true;
      Note(path.native() + ": build id " + (id->empty() ? "absent" : id->hex()) +
           ", recorded was " + wanted_.hex());
      return std::nullopt;
    }
    auto file = elf::ElfFile::Open(path);
    if (!file) {
      Note(file.error().message);
      return std::nullopt;
    }
    return *std::move(file);
  }

  bool found_other_build() const { return found_other_build_; }
  const std::string& notes() const { return notes_; }

 private:
  void Note(const std::string& what) {
    if (!notes_.empty()) notes_ += "; ";
    notes_ += what;
  }

  const BuildId& wanted_;
  bool found_other_build_ = false;
  std::string notes_;
};

std::optional<elf::ElfFile> TryAll(Search& search, const std::vector<fs::path>& paths) {
  for (const fs::path& path : paths) {
    if (auto file = search.Try(path)) return file;
  }
  return std::nullopt;
}

}  // namespace

DebugFiles::DebugFiles(fs::path debug_directory, fs::path build_id_cache)
    : debug_directory_(std::move(debug_directory)), build_id_cache_(std::move(build_id_cache)) {}

DebugFile DebugFiles::Find(const std::string& filename, const BuildId& build_id) const {
  DebugFile found;
  Search search(build_id);
  std::vector<fs::path> images;
  // Other names ("[heap]", "//anon", "anon_inode:…") are of no files, and relative ones of nobody
  // knows which.
  if (filename.starts_with('/') && !filename.starts_with("//")) images.emplace_back(filename);
  // What has been replaced since it was mapped may be there again, but only its build id can tell.
  if (filename.ends_with(kDeleted) && !build_id.empty() && !images.empty()) {
    images.emplace_back(filename.substr(0, filename.size() - kDeleted.size()));
  }
  if (!build_id.empty() && !build_id_cache_.empty()) {
    images.push_back(ByBuildId(build_id_cache_, build_id) / "elf");
  }
  found.image = TryAll(search, images);

  const BuildId& id = found.image ? found.image->build_id() : build_id;
  if (!id.empty()) {
    Search debug_search(id);
    std::vector<fs::path> debug_files;
    if (!build_id_cache_.empty()) debug_files.push_back(ByBuildId(build_id_cache_, id) / "debug");
    if (!debug_directory_.empty()) {
      debug_files.push_back(ByBuildId(debug_directory_, id).concat(".debug"));
    }
    found.debug = TryAll(debug_search, debug_files);
  }
  if (!found.image) found.image = std::exchange(found.debug, std::nullopt);
  if (found.image) return found;
  found.miss = search.found_other_build() ? Miss::kWrongBuildId : Miss::kNoFile;
  found.problem = search.notes();
  return found;
}

}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
// Finds files that can name the functions of a recorded binary. A recorded build id is always
// compared, because a file of another build gives wrong names. If no build id was recorded, only a
// file at the binary's own path is used. It may be in a bundle whose manifest lists it, below
// symfs, or on this machine if it made the recording. If a manifest has the hash of its content,
// another file is not used. Without a hash such a file is reported as unchecked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convert/symbolize/profile_origin.h"
#include "convert/symbolize/symbolizer.h"
#include "formats/base/build_id.h"
#include "formats/bundle/bundle.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/searched_directories.h"

namespace perftape::symbolize {

// `image` is the mapped file, or its debug file if only that was found; it determines the
// addresses. `debug` is the separate debug file, which has more names. `lines` is a third file of
// the same build id, which has the DWARF if the first two have none. `supplementary` is the file
// that dwz moved common parts of the DWARF into. If there is no image, `miss` is the reason.
struct DebugFile {
  std::optional<elf::ElfFile> image;
  std::optional<elf::ElfFile> debug;
  std::optional<elf::ElfFile> lines;
  std::optional<elf::ElfFile> supplementary;
  std::vector<SharedBundle> bundles;  // own the bytes of files from bundles
  elf::SearchedDirectories searched;  // search paths for further files that these files name
  Miss miss = Miss::kNone;
  std::string source;              // paths, for messages
  std::string problem;             // why there is no image, if `miss` does not explain it
  std::vector<std::string> tried;  // sources tried before, and why each failed
};

// A binary as recorded, and the sources that are searched in addition to the common directories.
struct BinaryQuery {
  std::string filename;
  BuildId build_id = {};  // empty if not recorded
  // Tells several files of one path without a build id apart (Mapping::instance).
  std::uint64_t instance = 0;
  std::span<const SharedBundle> bundles = {};  // the recording's own first
  // Why files at their paths on this machine must not be used; empty if they may be used.
  std::string not_local = {};
  bool wants_lines = true;  // whether DWARF is searched for in all sources
};

class DebugFiles {
 public:
  // `symfs` contains files of the recording machine at their paths; may be empty. `directories`
  // contain files by build id (formats/elf/debug_search_paths.h).
  DebugFiles(std::filesystem::path symfs, std::vector<std::filesystem::path> directories);

  // Searches in this order: bundles, symfs, the directories, and the path itself. The first file
  // that is found gives the names. Tables that it lacks come from the first later source that has
  // them.
  DebugFile Find(const BinaryQuery& query) const;

 private:
  class Search;
  std::optional<elf::ElfFile> FindImage(const BinaryQuery& query, Search& search) const;
  std::optional<elf::ElfFile> FindDebug(const BinaryQuery& query, const elf::ElfFile* image,
                                        const BuildId& id, Search& search) const;
  // Follows the .gnu_debuglink of the image.
  std::optional<elf::ElfFile> FindByLink(const elf::ElfFile& image, const BinaryQuery& query,
                                         Search& search) const;
  // Adds the DWARF of a file whose content has the hash in a manifest.
  void CompleteByContent(const BinaryQuery& query, DebugFile& found) const;
  // Adds the symbol table and the DWARF that the first source does not have.
  void Complete(const BinaryQuery& query, DebugFile& found) const;
  // Follows the .gnu_debugaltlink of the file with the DWARF.
  void FindSupplementary(const BinaryQuery& query, DebugFile& found) const;
  // Returns the directories in which file names from the binary's own files are searched.
  elf::SearchedDirectories SearchedFor(const BinaryQuery& query) const;

  std::filesystem::path symfs_;
  std::vector<std::filesystem::path> directories_;
};

}  // namespace perftape::symbolize

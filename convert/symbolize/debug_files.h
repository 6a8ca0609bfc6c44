// SPDX-License-Identifier: Apache-2.0
// From what a recording says of a binary to files that can name its functions. A build id in the
// recording is always compared: a file of another build gives wrong names, which is worse than
// none. Without one, only what lies at the binary's own path counts: in a bundle whose manifest
// says so, below symfs, or on this machine if it is the recording's; and is called unchecked.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convert/symbolize/recording_sources.h"
#include "convert/symbolize/symbolizer.h"
#include "formats/base/build_id.h"
#include "formats/bundle/bundle.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/searched_directories.h"

namespace perftape::symbolize {

// `image` is what was mapped, or where only that is left its debug file: it knows the addresses.
// `debug` is the separate debug file, with more names; `lines` is one more file of the same build
// id, which has the DWARF where these two have none; `supplementary` is what dwz moved out of the
// file with the DWARF. Without an image, `miss` says why.
struct DebugFile {
  std::optional<elf::ElfFile> image;
  std::optional<elf::ElfFile> debug;
  std::optional<elf::ElfFile> lines;
  std::optional<elf::ElfFile> supplementary;
  std::vector<SharedBundle> bundles;  // what they may be views of
  elf::SearchedDirectories searched;  // for what these files name in turn
  Miss miss = Miss::kNone;
  std::string source;              // where they are, for people
  std::string problem;             // why there is no image, where that is not plain
  std::vector<std::string> tried;  // sources tried before, and why each failed
};

// A binary as the recording has it, and where it may be taken from besides the directories that are
// searched for all.
struct BinaryQuery {
  std::string filename;
  BuildId build_id = {};                       // empty where it was not recorded
  std::span<const SharedBundle> bundles = {};  // the recording's own first
  // Why files at their paths on this machine may not be taken; empty where they may.
  std::string not_local = {};
  bool wants_lines = true;  // whether DWARF is searched for in all sources
};

class DebugFiles {
 public:
  // The recording machine's files below `symfs`, if it is not empty; files by build id in
  // `directories` (formats/elf/debug_search_paths.h).
  DebugFiles(std::filesystem::path symfs, std::vector<std::filesystem::path> directories);

  // In order: bundles, symfs, the directories, and the path itself. The first that is found has the
  // names; what it lacks is taken from the first later one that has it.
  DebugFile Find(const BinaryQuery& query) const;

 private:
  class Search;
  std::optional<elf::ElfFile> FindImage(const BinaryQuery& query, Search& search) const;
  std::optional<elf::ElfFile> FindDebug(const BinaryQuery& query, const elf::ElfFile* image,
                                        const BuildId& id, Search& search) const;
  // By .gnu_debuglink of the image.
  std::optional<elf::ElfFile> FindByLink(const elf::ElfFile& image, const BinaryQuery& query,
                                         Search& search) const;
  // Adds the symbol table and the DWARF that the first source does not have.
  void Complete(const BinaryQuery& query, DebugFile& found) const;
  // By .gnu_debugaltlink of the file with the DWARF.
  void FindSupplementary(const BinaryQuery& query, DebugFile& found) const;
  // Where names in the binary's own files may lead.
  elf::SearchedDirectories SearchedFor(const BinaryQuery& query) const;

  std::filesystem::path symfs_;
  std::vector<std::filesystem::path> directories_;
};

}  // namespace perftape::symbolize

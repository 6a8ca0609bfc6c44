// SPDX-License-Identifier: Apache-2.0
// Split DWARF (-gsplit-dwarf). The entries of a unit are in a separate file (.dwo), or with those
// of other units in a package (.dwp) beside the program. The program contains a skeleton unit that
// names the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "formats/dwarf/unit.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/searched_directories.h"

namespace perftape::dwarf {

class SplitUnits {
 public:
  // `program` is the path of the file with the skeletons. Empty for an image in memory.
  SplitUnits(std::filesystem::path program, elf::SearchedDirectories searched)
      : program_(std::move(program)), searched_(std::move(searched)) {}

  // Returns the unit for `skeleton`, after comparing its id. Searches <program>.dwp, then the .dwo
  // at the compiler's path if that directory is searched, then beside the program. Returns
  // kNotFound with the name and the reason. The unit is valid as long as this object. Thread-safe.
  Result<Unit> Open(const Unit& skeleton, std::uint64_t& work);

 private:
  struct File {
    elf::ElfFile elf;
    LoadedSections sections = {};
    std::vector<UnitHeader> headers = {};
  };

  struct Opened {
    std::unique_ptr<const File> file;  // null: cannot be used
    std::string problem;               // the reason if the file exists
  };

  elf::LinkSearchPaths SearchPathsOf(const Unit& skeleton) const;
  // Opens each file once.
  const Opened& OpenFile(const std::filesystem::path& path);
  static std::optional<Unit> FindIn(const File& file, const Unit& skeleton, std::uint64_t& work);
  static std::optional<Unit> FindInPackage(const File& file, const Unit& skeleton,
                                           std::uint64_t& work);

  std::filesystem::path program_;
  elf::SearchedDirectories searched_;
  std::mutex mutex_;
  std::map<std::filesystem::path, Opened> files_;
};

}  // namespace perftape::dwarf

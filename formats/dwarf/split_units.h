// SPDX-License-Identifier: Apache-2.0
// Split DWARF (-gsplit-dwarf): the entries of a unit are in a file of their own (.dwo), or with
// those of others in a package (.dwp) beside the program; the program has a skeleton that names it.
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

namespace perftape::dwarf {

class SplitUnits {
 public:
  // `program` is where the file with the skeletons lies; without one, only what skeletons name by
  // an absolute path is found.
  explicit SplitUnits(std::filesystem::path program) : program_(std::move(program)) {}

  // The unit that `skeleton` stands for, whose id is compared. Looks for <program>.dwp, then for
  // the .dwo where the compiler put it, then beside the program. kNotFound with the name. Lives as
  // long as this. Threads may call it at once.
  Result<Unit> Open(const Unit& skeleton, std::uint64_t& work);

 private:
  struct File {
    elf::ElfFile elf;
    LoadedSections sections = {};
    std::vector<UnitHeader> headers = {};
  };

  // Null where there is no such file; each is opened once.
  const File* OpenFile(const std::filesystem::path& path);
  static std::optional<Unit> FindIn(const File& file, const Unit& skeleton, std::uint64_t& work);
  static std::optional<Unit> FindInPackage(const File& file, const Unit& skeleton,
                                           std::uint64_t& work);

  std::filesystem::path program_;
  std::mutex mutex_;
  std::map<std::filesystem::path, std::unique_ptr<const File>> files_;  // null: cannot be used
};

}  // namespace perftape::dwarf

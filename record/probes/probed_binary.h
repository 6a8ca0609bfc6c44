// SPDX-License-Identifier: Apache-2.0
// The functions and USDT probes of a program or library, with what the kernel needs to probe them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "formats/elf/candidates.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/usdt_notes.h"

namespace perftape::record {

// Where a probe is in the file.
struct ProbedOffset {
  std::uint64_t offset = 0;
  std::uint64_t semaphore_offset = 0;  // or 0

  auto operator<=>(const ProbedOffset&) const = default;
};

// Movable. Owns the file, and its separate debug file if this machine has it.
class ProbedBinary {
 public:
  // Fails with kNotFound if there is no such file, and with kUnsupported if it is no ELF program or
  // library.
  static Result<ProbedBinary> Open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }

  // Returns the instructions `offset` bytes after the start of each function with this name,
  // sorted. Several versions of a function, and static functions of several source files, have one
  // name. The name is that of the symbol or, of C++, its readable form with or without parameters.
  // Fails with kNotFound, with kInvalidArgument for an offset behind the function, and with
  // kUnsupported for an indirect function (STT_GNU_IFUNC).
  Result<std::vector<ProbedOffset>> FindFunction(std::string_view name, std::uint64_t offset) const;
  // Returns whether the instruction at this offset of the file is one by which the kernel knows,
  // since Linux 6.11, that a probe is at the entry of a function: then the callchain has the
  // caller.
  bool PushesFramePointer(std::uint64_t offset) const;
  // Returns the names of functions that match, sorted; one for each address, no indirect ones.
  std::vector<std::string> MatchingFunctions(const std::string& glob) const;

  // Returns all locations of a USDT probe.
  std::vector<ProbedOffset> FindUsdt(std::string_view provider, std::string_view name) const;
  // Returns "PROVIDER:NAME" of each USDT probe, sorted.
  std::vector<std::string> UsdtNames() const;

 private:
  explicit ProbedBinary(elf::ElfFile file) : file_(std::move(file)) {}
  void ReadFunctions();
  std::unexpected<Error> ExplainIndirect(std::string_view name) const;

  elf::ElfFile file_;
  std::vector<elf::ElfFile> debug_files_;  // the names view these
  std::vector<elf::Candidate> functions_;  // sorted by name, then address
  std::vector<elf::UsdtProbe> usdt_;
};

}  // namespace perftape::record

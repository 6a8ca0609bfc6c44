// SPDX-License-Identifier: Apache-2.0
// The functions and USDT probes of a program or library, with what the kernel needs to probe them.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/elf/candidates.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/plt.h"
#include "formats/elf/usdt_notes.h"
#include "formats/go/pc_line_table.h"

namespace perftape::record {

// Returns the targets of the calls and jumps in `code`, which is at `address`. On x86_64 these are
// the targets of all bytes that may begin one, because instructions are not decoded: compare them
// with known addresses. Empty for other machines than x86_64 and arm64.
std::vector<std::uint64_t> DirectBranches(Bytes code, std::uint64_t address, std::uint16_t machine);

// Where a probe is in the file.
struct ProbedOffset {
  std::uint64_t offset = 0;
  std::uint64_t semaphore_offset = 0;  // or 0

  auto operator<=>(const ProbedOffset&) const = default;
};

// Movable. Owns the file, and its separate debug file if this machine has it. Functions are from
// the sources from which perftape-convert names them: symbol tables, MiniDebugInfo, debug files by
// build id and link, an unstripped file of the same build id, the table of Go, the linkage table.
class ProbedBinary {
 public:
  // Fails with kNotFound if the file does not exist, and with kUnsupported if it is not an ELF
  // program or library; for a script, the message names the interpreter.
  static Result<ProbedBinary> Open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }

  // Returns the instructions `offset` bytes after the start of each function with this name,
  // sorted. Several versions of a function, and static functions of several source files, have one
  // name. The name is that of the symbol or any readable spelling (function_names.h). The copies
  // that a compiler made of a whole function belong to it. Of the constructors and destructors of
  // one class, one that calls another is left out, so that each call counts once. Fails with
  // kNotFound if there is no such function, with kInvalidArgument for an offset after its end, and
  // with kUnsupported for an indirect function (STT_GNU_IFUNC).
  Result<std::vector<ProbedOffset>> FindFunction(std::string_view name, std::uint64_t offset) const;
  // Returns whether FindFunction finds a function of this name.
  bool HasFunction(std::string_view name) const { return !FindNamed(name).empty(); }
  bool is_go() const { return is_go_; }
  // Returns whether the code at this offset of the file is Go code: Go moves its stacks.
  bool IsGoCode(std::uint64_t offset) const;
  // Returns whether the instruction at this offset of the file is one by which the kernel knows,
  // since Linux 6.11, that a probe is at the entry of a function: then the callchain has the
  // caller.
  bool PushesFramePointer(std::uint64_t offset) const;
  // Returns the names of functions that match, sorted; one for each address, no indirect ones. A
  // glob that begins as a mangled name does is compared with symbols, others with all spellings.
  // The names are readable then.
  std::vector<std::string> MatchingFunctions(const std::string& glob) const;
  // Returns the readable names of all functions.
  std::vector<std::string> ReadableNames() const;
  bool has_functions() const { return !functions_.empty(); }
  const elf::ElfFile& file() const { return file_; }

  // Returns all locations of a USDT probe.
  std::vector<ProbedOffset> FindUsdt(std::string_view provider, std::string_view name) const;
  // Returns "PROVIDER:NAME" of each USDT probe, sorted.
  std::vector<std::string> UsdtNames() const;

 private:
  explicit ProbedBinary(elf::ElfFile file) : file_(std::move(file)) {}
  void ReadFunctions();
  void ReadFile(Result<elf::ElfFile> opened);
  void ReadGoTable();
  void ReadPlt();
  std::vector<elf::Candidate> FindNamed(std::string_view name) const;
  std::vector<elf::Candidate> FindSymbol(std::string_view name) const;
  std::vector<elf::Candidate> FindSpelling(std::string_view name) const;
  void RemoveCallers(std::vector<elf::Candidate>& found) const;
  bool CallsOneOf(const elf::Candidate& caller, const std::vector<elf::Candidate>& called) const;
  std::unexpected<Error> ExplainIndirect(std::string_view name) const;

  elf::ElfFile file_;
  std::vector<elf::ElfFile> other_files_;  // debug files and MiniDebugInfo; the names view these
  std::deque<std::string> made_names_;     // names that are in no file
  std::vector<elf::Candidate> functions_;  // sorted by name, then address
  std::vector<elf::PltEntry> plt_;         // sorted by address
  std::vector<elf::UsdtProbe> usdt_;
  bool is_go_ = false;
  std::optional<go::PcLineTable> go_table_;
};

}  // namespace perftape::record

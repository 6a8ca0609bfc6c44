// SPDX-License-Identifier: Apache-2.0
// An ELF file opened for reading: its segments, its build id, and the way from an offset in the
// file to the address by which its symbols call that place.
//
//   TRY_ASSIGN(const ElfFile file, ElfFile::Open("/usr/bin/ls"));
//   const SymbolTable symbols = SymbolTable::Read(file);
//   if (const auto address = file.ToImage(offset)) symbol = symbols.Find(*address);
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::elf {

// What of the file is mapped, and where: a PT_LOAD with bytes in the file.
struct Segment {
  FileOffset offset;
  ImageAddress address;
  std::uint64_t size = 0;  // in the file
  bool executable = false;
};

class ElfFile {
 public:
  // Maps the file. kUnsupported for what is no regular file (it is not read), kCorrupt for what is
  // no ELF file; else what the file system says.
  static Result<ElfFile> Open(const std::filesystem::path& path);
  // Of an image in memory, which must outlive the ElfFile: the vdso, a test's.
  static Result<ElfFile> FromBytes(Bytes image);

  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&& other) noexcept;
  ~ElfFile();

  const BuildId& build_id() const { return build_id_; }  // empty where it has none

  // In the order of the program headers. A file without any PT_LOAD (a kernel module, code dumped
  // by a JIT) has one for each allocated section instead; for relocatable files, whose sections
  // have no addresses yet, the file offset stands for the address.
  std::span<const Segment> segments() const { return segments_; }

  // The address of what lies at `offset`: offset - p_offset + p_vaddr of the segment that holds it,
  // an executable one before others. Mappings begin at a page, so what lies less than a page before
  // a segment counts as its own. Nothing for what no segment holds.
  std::optional<ImageAddress> ToImage(FileOffset offset) const;
  std::optional<FileOffset> ToFile(ImageAddress address) const;

  // For the room itself (libelf_handle.h).
  struct Handle;
  const Handle& handle() const { return *handle_; }

 private:
  explicit ElfFile(std::unique_ptr<Handle> handle);

  std::unique_ptr<Handle> handle_;
  std::vector<Segment> segments_;
  BuildId build_id_;
};

}  // namespace perftape::elf

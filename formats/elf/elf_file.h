// SPDX-License-Identifier: Apache-2.0
// An ELF file opened for reading: its sections, its segments, its build id, and the way from an
// offset in the file to the address that its symbols have for it.
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
#include <string_view>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/elf/headers.h"

namespace perftape::elf {

// What of the file is mapped, and where: a PT_LOAD with bytes in the file.
struct Segment {
  FileOffset offset;
  ImageAddress address;
  std::uint64_t size = 0;  // in the file
  bool executable = false;
};

// May be moved; views of the file live as long as it does, wherever it went.
class ElfFile {
 public:
  // Maps the file. kUnsupported for what is no regular file (it is not read), kCorrupt for what is
  // no ELF file; else what the file system says.
  static Result<ElfFile> Open(const std::filesystem::path& path);
  // Of an image in memory, which must outlive the ElfFile: a file in a bundle, the vdso, a test's.
  static Result<ElfFile> FromBytes(Bytes image);
  // The same of one that it keeps itself: what was expanded.
  static Result<ElfFile> Owning(std::vector<std::byte> image);

  const BuildId& build_id() const { return build_id_; }  // empty where it has none
  // Where it was opened, for what lies beside it; empty for an image in memory.
  const std::filesystem::path& path() const { return path_; }
  const FileHeader& header() const { return header_; }
  Bytes image() const { return image_; }  // the whole file

  // By number, section 0 included.
  std::span<const Section> sections() const { return sections_; }
  // The first of that name; null where there is none.
  const Section* FindSection(std::string_view name) const;
  // What the section has in the file, as it lies there: nothing for SHT_NOBITS, less than its size
  // where the file ends before. What may be compressed is read by ReadSection (sections.h).
  Bytes RawBytes(const Section& section) const;

  // In the order of the program headers. A file without any PT_LOAD (a kernel module, code dumped
  // by a JIT) has one for each allocated section instead; for relocatable files, whose sections
  // have no addresses yet, the file offset stands for the address. In debug files, whose segments
  // are empty, they are as those of the file that they were taken from, so far as can be told.
  std::span<const Segment> segments() const { return segments_; }

  // The address of what lies at `offset`: offset - p_offset + p_vaddr of the segment that holds it,
  // an executable one before others. Mappings begin at a page, so what lies less than a page before
  // a segment counts as its own. Nothing for what no segment holds.
  std::optional<ImageAddress> ToImage(FileOffset offset) const;
  std::optional<FileOffset> ToFile(ImageAddress address) const;

 private:
  ElfFile() = default;
  static Result<ElfFile> Decode(ElfFile file);

  std::filesystem::path path_;
  std::optional<MappedFile> mapping_;  // one of the two, ...
  std::vector<std::byte> owned_;       // ... or neither, for an image of the caller's
  Bytes image_;
  FileHeader header_;
  std::vector<Section> sections_;
  std::vector<Segment> segments_;
  BuildId build_id_;
};

}  // namespace perftape::elf

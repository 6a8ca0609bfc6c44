// SPDX-License-Identifier: Apache-2.0
// An ELF file that is opened for reading: sections, segments, build id, and the conversion of file
// offsets to the addresses of its symbols.
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

// A mapped part of the file: a PT_LOAD with bytes in the file.
struct Segment {
  FileOffset offset;
  ImageAddress address;
  std::uint64_t size = 0;  // in the file
  bool executable = false;
};

// Converts an offset in the file to an address, as ElfFile::ToImage does with its segments.
std::optional<ImageAddress> ToImage(std::span<const Segment> segments, FileOffset offset);

// Movable. Views of the file live as long as the ElfFile, even if it is moved.
class ElfFile {
 public:
  // Maps the file, or expands it if it is compressed as a whole (stored_file.h). Returns
  // kUnsupported for a file that is not regular (it is not read), kCorrupt for one that is not ELF,
  // and otherwise the error of the file system.
  static Result<ElfFile> Open(const std::filesystem::path& path);
  // Views an image in memory, which must outlive the ElfFile: a member of a bundle, the vdso.
  static Result<ElfFile> FromBytes(Bytes image);
  // The same for an image that the ElfFile owns, such as expanded bytes.
  static Result<ElfFile> Owning(std::vector<std::byte> image);

  const BuildId& build_id() const { return build_id_; }  // empty if the file has none
  // The path that was opened, to find files beside it. Empty for an image in memory.
  const std::filesystem::path& path() const { return path_; }
  const FileHeader& header() const { return header_; }
  Bytes image() const { return image_; }  // the whole file

  // Indexed by section number, including section 0.
  std::span<const Section> sections() const { return sections_; }
  // The first section with that name. Null if there is none.
  const Section* FindSection(std::string_view name) const;
  // The bytes of the section as they are in the file. Empty for SHT_NOBITS. Fewer than its size if
  // the file ends earlier. ReadSection (sections.h) also expands compressed sections.
  Bytes RawBytes(const Section& section) const;

  // In the order of the program headers. A file without a PT_LOAD (a kernel module, code that a JIT
  // dumped) has one segment for each allocated section instead. Sections of relocatable files have
  // no addresses yet, so their file offsets are used. The segments of debug files are empty; they
  // are reconstructed as far as possible as those of the original file.
  std::span<const Segment> segments() const { return segments_; }

  // Converts an offset to an address: offset - p_offset + p_vaddr of the segment that contains it.
  // Prefers an executable segment. Mappings begin at a page boundary. So the bytes before a
  // segment in its first page belong to it too, unless another segment contains them. Returns
  // nothing if no segment contains the offset.
  std::optional<ImageAddress> ToImage(FileOffset offset) const;
  // The reverse. Returns nothing if no segment contains the address.
  std::optional<FileOffset> ToFile(ImageAddress address) const;

 private:
  ElfFile() = default;
  static Result<ElfFile> Decode(ElfFile file);

  std::filesystem::path path_;
  std::optional<MappedFile> mapping_;  // either this or owned_, ...
  std::vector<std::byte> owned_;       // ... or neither, if the caller owns the image
  Bytes image_;
  FileHeader header_;
  std::vector<Section> sections_;
  std::vector<Segment> segments_;
  BuildId build_id_;
};

}  // namespace perftape::elf

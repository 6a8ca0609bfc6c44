// SPDX-License-Identifier: Apache-2.0
// The memory of a Go binary, by address. Sections are used before segments, because in a slim copy
// only the section headers still have the right file offsets.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/base/bytes.h"
#include "formats/elf/elf_file.h"

namespace perftape::go {

// Bytes that are contiguous in the file and in memory.
struct ImagePart {
  std::string_view section;  // name of the section; empty for a segment
  ImageAddress address;
  Bytes bytes;
};

// The encoding of numbers in the file.
struct Encoding {
  std::endian order = std::endian::native;
  unsigned word_size = 8;  // of an address, in bytes: 4 or 8
};

class Image {
 public:
  // Views `file`, which must outlive the Image.
  explicit Image(const elf::ElfFile& file);

  const Encoding& encoding() const { return encoding_; }
  // The loaded parts that are not code: sections, or the segments of a file without sections.
  const std::vector<ImagePart>& data() const { return data_; }
  bool has_sections() const { return has_sections_; }
  // The address of the section with that name. Its contents may be missing.
  std::optional<ImageAddress> AddressOf(std::string_view section) const;

  // The bytes from `address` to the end of its part. Empty if no part contains it.
  Bytes At(ImageAddress address) const;
  // The word at `address`. 0 if no part contains it.
  std::uint64_t NumberAt(ImageAddress address) const;
  // The pointer in the word at `address`: its value or, in position-independent files, the value
  // that a relocation will write. 0 if no part contains the word.
  std::uint64_t PointerAt(ImageAddress address) const;
  // The addresses of all words that contain this pointer, or will after relocation.
  std::vector<ImageAddress> AddressesOf(ImageAddress value) const;

 private:
  std::uint64_t WordAt(Bytes bytes, std::uint64_t offset) const;
  template <class Visit>
  void ForEachRelative(const Visit& visit) const;

  Encoding encoding_;
  bool has_sections_ = false;
  std::vector<ImagePart> data_;
  std::vector<Bytes> relocations_;
  std::vector<std::pair<std::string_view, ImageAddress>> names_;
};

}  // namespace perftape::go

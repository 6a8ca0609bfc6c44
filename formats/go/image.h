// SPDX-License-Identifier: Apache-2.0
// The memory of a Go binary, by address. Sections are used before segments: in a slim copy only the
// section headers still have the right file offsets.
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

// Bytes that lie side by side in the file and in memory.
struct ImagePart {
  std::string_view section;  // its name; empty of a segment
  ImageAddress address;
  Bytes bytes;
};

// How the file writes numbers.
struct Encoding {
  std::endian order = std::endian::native;
  unsigned word_size = 8;  // of an address, in bytes: 4 or 8
};

class Image {
 public:
  // Views are of `file`, which must outlive it.
  explicit Image(const elf::ElfFile& file);

  const Encoding& encoding() const { return encoding_; }
  // What is loaded and is no code; sections, or the segments of a file that has lost them.
  const std::vector<ImagePart>& data() const { return data_; }
  bool has_sections() const { return has_sections_; }
  // Whether a section has that name; its contents may be missing.
  std::optional<ImageAddress> AddressOf(std::string_view section) const;

  // From `address` to the end of the part that it lies in; empty where it lies in none.
  Bytes At(ImageAddress address) const;
  // The word there; 0 where it is in no part.
  std::uint64_t NumberAt(ImageAddress address) const;
  // The address in a word: what lies there, or in files that are moved where they are mapped, what
  // a relocation will put there. 0 where the word is in no part.
  std::uint64_t PointerAt(ImageAddress address) const;
  // The words that hold this address, or will.
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

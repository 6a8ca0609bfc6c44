// SPDX-License-Identifier: Apache-2.0
// The contents of sections, compressed or not. Three compressions are supported: SHF_COMPRESSED
// with zlib or zstd (gABI, "Section Compression"), and the older ".zdebug_info", which begins with
// "ZLIB" and the size as eight bytes, big endian.
#pragma once

#include <string>
#include <vector>

#include "formats/elf/elf_file.h"
#include "formats/elf/expand.h"

namespace perftape::elf {

// The bytes of a section: a view of the file, which must outlive this, or owned bytes.
class SectionBytes {
 public:
  explicit SectionBytes(Bytes of_file) : view_(of_file) {}
  explicit SectionBytes(ExpandedBytes expanded)
      : expanded_(std::move(expanded)), view_(expanded_.bytes()) {}

  Bytes bytes() const { return view_; }

 private:
  ExpandedBytes expanded_;
  Bytes view_;
};

bool IsCompressed(const ElfFile& file, const Section& section);

// Returns kTruncated if the file ends inside the section, kCorrupt if it does not expand to its
// size, and kUnsupported for an unknown compression. Empty for SHT_NOBITS.
Result<SectionBytes> ReadSection(const ElfFile& file, const Section& section);

// Returns ".debug_info" for ".zdebug_info", and other names unchanged.
std::string PlainName(std::string_view section_name);

}  // namespace perftape::elf

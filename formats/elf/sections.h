// SPDX-License-Identifier: Apache-2.0
// What sections hold, whether compressed or not. Three ways of compressing are about:
// SHF_COMPRESSED with zlib or zstd (gABI, "Section Compression"), and the older ".zdebug_info",
// which begins with "ZLIB" and the size as eight bytes, big endian.
#pragma once

#include <string>
#include <vector>

#include "formats/elf/elf_file.h"
#include "formats/elf/expand.h"

namespace perftape::elf {

// The bytes of a section: a view of the file, which must outlive this, or bytes of their own.
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

// kTruncated where the file ends inside the section, kCorrupt where it does not expand as it says,
// kUnsupported for a compression that is not known. Of SHT_NOBITS there are no bytes.
Result<SectionBytes> ReadSection(const ElfFile& file, const Section& section);

// ".debug_info" of ".zdebug_info"; other names as they are.
std::string PlainName(std::string_view section_name);

}  // namespace perftape::elf

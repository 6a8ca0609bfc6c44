// SPDX-License-Identifier: Apache-2.0
// The vdso: code that the kernel maps into every process. It is in no file, but this process has it
// too, and it is the same for all as long as the kernel runs.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "convert/symbolize/elf_names.h"
#include "convert/symbolize/symbolizer.h"

namespace perftape {

// A copy of this process's vdso; kNotFound where it has none.
Result<std::vector<std::byte>> ReadOwnVdso();

class VdsoSymbolizer : public Symbolizer {
 public:
  // `image` is an ELF file in memory; what is none names nothing.
  explicit VdsoSymbolizer(std::vector<std::byte> image);

  Result<Resolution> Resolve(const Profile& profile, MappingId mapping,
                             std::span<const FileOffset> offsets) override;

 private:
  std::vector<std::byte> image_;
  Result<elf::ElfFile> file_;
  std::optional<ElfNames> names_;
};

}  // namespace perftape

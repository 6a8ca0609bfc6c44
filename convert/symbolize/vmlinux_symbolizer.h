// SPDX-License-Identifier: Apache-2.0
// Resolves names of the kernel itself from its ELF file, vmlinux, with lines and inlined functions
// if it has DWARF.
#pragma once

#include <memory>
#include <string>

#include "convert/symbolize/elf_binary.h"
#include "convert/symbolize/kernel_relocation.h"
#include "convert/symbolize/profile_origin.h"
#include "convert/symbolize/symbolizer.h"

namespace perftape::symbolize {

class VmlinuxSymbolizer : public Symbolizer {
 public:
  // `vmlinux` must have an image. The recording was made on `recorded`.
  VmlinuxSymbolizer(std::shared_ptr<ElfBinary> vmlinux, RecordedKernel recorded);

  // For mappings of the kernel itself; modules get no names.
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

 private:
  std::shared_ptr<ElfBinary> vmlinux_;
  RecordedKernel recorded_;
  KernelMove move_;
};

}  // namespace perftape::symbolize

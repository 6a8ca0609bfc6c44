// SPDX-License-Identifier: Apache-2.0
// Slims an ELF image of any bytes. The copy is smaller than the image, opens if the image did, and
// can be read in all ways. A slim copy of the copy is no larger.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "formats/elf/elf_file.h"
#include "formats/elf/plt.h"
#include "formats/elf/slim.h"
#include "formats/elf/symbols.h"

namespace perftape::elf {
namespace {

void SlimImage(Bytes image, const SlimOptions& options) {
  const Result<ElfFile> file = ElfFile::FromBytes(image);
  if (!file) return;
  const auto slim = SlimCopy(*file, options);
  if (!slim) return;
  if (slim->size() >= image.size()) std::abort();
  const Result<ElfFile> copy = ElfFile::FromBytes(*slim);
  if (!copy) std::abort();
  ReadPlt(*copy);
  SymbolTable::Read(*copy);
  const auto again = SlimCopy(*copy, options);
  if (again && again->size() >= slim->size()) std::abort();
}

}  // namespace
}  // namespace perftape::elf

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perftape;
  const Bytes image = std::as_bytes(std::span(data, size));
  elf::SlimImage(image, {});
  const elf::FileRange also[] = {{{size / 4}, size / 8}, {{size / 2}, size}};
  elf::SlimImage(image, {.dwarf = elf::SlimDwarf::kKeep, .also = also});
  return 0;
}

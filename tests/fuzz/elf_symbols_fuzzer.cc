// SPDX-License-Identifier: Apache-2.0
// An ELF image of any bytes: build id, segments, symbols, linkage table.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

#include "formats/elf/build_id.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/plt.h"
#include "formats/elf/symbols.h"

namespace perftape::elf {
namespace {

void ReadSymbols(const ElfFile& file) {
  const SymbolTable table = SymbolTable::Read(file);
  for (const Symbol& symbol : table.symbols()) {
    if (symbol.size == 0) std::abort();
    const Symbol* found = table.Find(symbol.start);
    if (found == nullptr || found->start.value > symbol.start.value) std::abort();
    if (symbol.start.value - found->start.value >= found->size) std::abort();
    if (const std::optional<FileOffset> offset = file.ToFile(symbol.start)) file.ToImage(*offset);
  }
  table.Find(ImageAddress{0});
  table.Find(ImageAddress{UINT64_MAX});
}

void ReadImage(Bytes image) {
  const Result<BuildId> build_id = BuildIdOf(image);
  BuildIdFromNotes(image);
  const Result<ElfFile> file = ElfFile::FromBytes(image);
  if (!file) return;
  for (const Segment& segment : file->segments()) {
    file->ToImage(segment.offset);
    file->ToFile(segment.address);
  }
  file->ToImage(FileOffset{UINT64_MAX});
  ReadPlt(*file);
  ReadSymbols(*file);
}

}  // namespace
}  // namespace perftape::elf

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perftape::elf::ReadImage(std::as_bytes(std::span(data, size)));
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Resolves addresses all over the code of an ELF file of any bytes with debug information. The
// answers are bounded, and a saved index gives the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "formats/dwarf/source_index.h"
#include "formats/elf/elf_file.h"

namespace perftape::dwarf {
namespace {

std::vector<ImageAddress> SomeAddresses(const elf::ElfFile& file) {
  constexpr std::uint64_t kAddresses = 64;
  std::vector<ImageAddress> addresses;
  for (const elf::Segment& segment : file.segments()) {
    const std::uint64_t step = segment.size / kAddresses + 1;
    for (std::uint64_t i = 0; i < kAddresses && i * step < segment.size; ++i) {
      addresses.push_back({segment.address.value + i * step});
    }
    if (addresses.size() > 4 * kAddresses) break;
  }
  addresses.push_back({0});
  addresses.push_back({UINT64_MAX});
  return addresses;
}

void ReadIndex(Bytes image) {
  const auto file = elf::ElfFile::FromBytes(image);
  if (!file) return;
  const auto index = SourceIndex::Open(*file, *file, {.path = {}, .shared = &*file});
  if (!index) return;
  const std::vector<ImageAddress> addresses = SomeAddresses(*file);
  index->Prepare(addresses);
  const std::vector<std::byte> saved = index->Save();
  const auto restored = SourceIndex::Open(*file, *file, {.path = {}, .shared = &*file});
  restored->Restore(saved);
  if (index->has_built() && restored->has_built()) std::abort();
  for (const ImageAddress address : addresses) {
    const std::vector<CallFrame> frames = index->Find(address), again = restored->Find(address);
    if (frames.size() != again.size()) std::abort();
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (frames[i].line != again[i].line || frames[i].filename != again[i].filename) std::abort();
      if (frames[i].function != again[i].function) std::abort();
    }
  }
  if (restored->has_built()) std::abort();
  index->problem();
}

}  // namespace
}  // namespace perftape::dwarf

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perftape::dwarf::ReadIndex(std::as_bytes(std::span(data, size)));
  return 0;
}

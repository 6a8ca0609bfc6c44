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

std::vector<ImageAddress> SomePlaces(const elf::ElfFile& file) {
  constexpr std::uint64_t kPlaces = 64;
  std::vector<ImageAddress> places;
  for (const elf::Segment& segment : file.segments()) {
    const std::uint64_t step = segment.size / kPlaces + 1;
    for (std::uint64_t i = 0; i < kPlaces && i * step < segment.size; ++i) {
      places.push_back({segment.address.value + i * step});
    }
    if (places.size() > 4 * kPlaces) break;
  }
  places.push_back({0});
  places.push_back({UINT64_MAX});
  return places;
}

void ReadIndex(Bytes image) {
  const auto file = elf::ElfFile::FromBytes(image);
  if (!file) return;
  const auto index = SourceIndex::Open(*file, *file, {.path = {}, .shared = &*file});
  if (!index) return;
  const std::vector<ImageAddress> places = SomePlaces(*file);
  index->Prepare(places);
  const std::vector<std::byte> saved = index->Save();
  const auto restored = SourceIndex::Open(*file, *file, {.path = {}, .shared = &*file});
  restored->Restore(saved);
  if (index->has_built() && restored->has_built()) std::abort();
  for (const ImageAddress place : places) {
    const std::vector<CallFrame> frames = index->Find(place), again = restored->Find(place);
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

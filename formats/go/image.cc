// SPDX-License-Identifier: Apache-2.0
#include "formats/go/image.h"

#include <algorithm>

#include "formats/base/symbol_limits.h"

namespace perftape::go {

Image::Image(const elf::ElfFile& file)
    : encoding_{.order = file.header().order, .word_size = file.header().is_64 ? 8U : 4U},
      has_sections_(file.sections().size() > 1) {  // besides the empty section 0
  for (const elf::Section& section : file.sections()) {
    Bytes bytes = file.RawBytes(section);
    if (bytes.size() < section.size && section.type != SHT_NOBITS) continue;
    if (bytes.size() > symbol_limits::kSymbolTables) bytes = {};
    names_.emplace_back(section.name, ImageAddress{section.address});
    if (section.address == 0) continue;
    if (section.type == SHT_RELA) relocations_.push_back(bytes);
    const bool is_data = section.is_loaded() && !section.is_code() && section.type == SHT_PROGBITS;
    if (is_data) data_.push_back({section.name, {section.address}, bytes});
  }
  if (has_sections_) return;
  const Bytes all = file.image();
  for (const elf::Segment& segment : file.segments()) {
    if (segment.executable || segment.offset.value >= all.size()) continue;
    const Bytes rest = all.subspan(segment.offset.value);
    const std::uint64_t size =
        std::min({segment.size, std::uint64_t{rest.size()}, symbol_limits::kSymbolTables});
    data_.push_back({{}, segment.address, rest.first(size)});
  }
}

std::optional<ImageAddress> Image::AddressOf(std::string_view section) const {
  for (const auto& [name, address] : names_) {
    if (name == section) return address;
  }
  return std::nullopt;
}

Bytes Image::At(ImageAddress address) const {
  for (const ImagePart& part : data_) {
    if (address < part.address) continue;
    const std::uint64_t offset = address.value - part.address.value;
    if (offset < part.bytes.size()) return part.bytes.subspan(offset);
  }
  return {};
}

std::uint64_t Image::WordAt(Bytes bytes, std::uint64_t offset) const {
  const std::byte* at = bytes.data() + offset;
  return encoding_.word_size == 8 ? LoadFixed<std::uint64_t>(at, encoding_.order)
                                  : LoadFixed<std::uint32_t>(at, encoding_.order);
}

// Calls visit(address, addend) for each relative relocation until it returns true. An entry is {
// word offset, info; signed word addend }, without a symbol.
template <class Visit>
void Image::ForEachRelative(const Visit& visit) const {
  const std::uint64_t word = encoding_.word_size;
  const unsigned type_bits = word == 8 ? 32 : 8;
  for (const Bytes& entries : relocations_) {
    for (std::uint64_t at = 0; at + 3 * word <= entries.size(); at += 3 * word) {
      const std::uint64_t info = WordAt(entries, at + word);
      if (info == 0 || info >> type_bits != 0) continue;
      if (visit(ImageAddress{WordAt(entries, at)}, WordAt(entries, at + 2 * word))) return;
    }
  }
}

std::uint64_t Image::NumberAt(ImageAddress address) const {
  const Bytes bytes = At(address);
  return bytes.size() < encoding_.word_size ? 0 : WordAt(bytes, 0);
}

std::uint64_t Image::PointerAt(ImageAddress address) const {
  std::uint64_t pointer = NumberAt(address);
  if (pointer != 0) return pointer;
  ForEachRelative([&](ImageAddress relocated, std::uint64_t addend) {
    if (relocated == address) pointer = addend;
    return relocated == address;
  });
  return pointer;
}

std::vector<ImageAddress> Image::AddressesOf(ImageAddress value) const {
  std::vector<ImageAddress> addresses;
  const std::uint64_t word = encoding_.word_size;
  for (const ImagePart& part : data_) {
    std::uint64_t at = -part.address.value % word;
    for (; at + word <= part.bytes.size(); at += word) {
      if (WordAt(part.bytes, at) == value.value) addresses.push_back({part.address.value + at});
    }
  }
  ForEachRelative([&](ImageAddress address, std::uint64_t addend) {
    if (addend == value.value) addresses.push_back(address);
    return false;
  });
  return addresses;
}

}  // namespace perftape::go

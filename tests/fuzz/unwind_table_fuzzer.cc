// SPDX-License-Identifier: Apache-2.0
// Builds the unwind table of an ELF image of any bytes, saves and loads it, and finds the rules of
// addresses in and around it. Decodes the same bytes as a saved table.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "formats/elf/elf_file.h"
#include "formats/unwind/frame_sections.h"
#include "formats/unwind/saved_table.h"
#include "formats/unwind/table.h"
#include "tests/fuzz/dice.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace perftape::unwind {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void FindAround(const Table& table, std::uint64_t address) {
  for (const std::uint64_t near : {address - 1, address, address + 1}) {
    Require(table.Find(ImageAddress{near}).cfa <= CfaRule::kUnsupported);
  }
}

// Checks what table.h promises.
void Check(const Table& table) {
  std::uint64_t next = 0;
  for (const Row& row : table.rows()) {
    Require(row.pc >= next && row.rule < table.rules().size());
    next = std::uint64_t{row.pc} + 1;
    Require(&table.Find(ImageAddress{table.base().value + row.pc}) == &table.rules()[row.rule]);
    FindAround(table, table.base().value + row.pc);
  }
  for (const std::uint64_t address : {std::uint64_t{0}, table.base().value, ~std::uint64_t{0}}) {
    FindAround(table, address);
  }
  Require(table.empty() || table.rules()[table.rows().back().rule].cfa == CfaRule::kNone);
}

void BuildTable(const elf::ElfFile& file) {
  const Result<Table> table = Table::Build(file);
  if (!table) return;
  Check(*table);
  const std::uint64_t fingerprint = SummaryOf(file).fingerprint;
  const auto bytes =
      std::make_shared<const std::vector<std::byte>>(EncodeTable(*table, fingerprint));
  const std::optional<Table> again = DecodeTable(*bytes, fingerprint, bytes);
  Require(again && again->base() == table->base() && again->machine() == table->machine());
  Require(std::ranges::equal(again->rules(), table->rules()));
  Require(std::ranges::equal(again->rows(), table->rows(), {}, &Row::pc, &Row::pc));
  Require(std::ranges::equal(again->rows(), table->rows(), {}, &Row::rule, &Row::rule));
}

void DecodeSaved(Bytes image) {
  std::uint64_t fingerprint = 0;
  if (image.size() < 2 * sizeof(fingerprint)) return;
  std::memcpy(&fingerprint, image.data() + sizeof(fingerprint), sizeof(fingerprint));
  const auto aligned = std::make_shared<const std::vector<std::byte>>(image.begin(), image.end());
  if (const auto table = DecodeTable(*aligned, fingerprint, aligned)) {
    for (const Row& row : table->rows()) FindAround(*table, table->base().value + row.pc);
  }
}

// Changes bytes of the call frame information to opcodes, small operands or any others.
void ChangeFrames(std::span<std::uint8_t> image, const elf::ElfFile& file, fuzz::Dice& dice) {
  constexpr std::uint8_t kBytes[] = {0x01, 0x04, 0x07, 0x0a, 0x0b, 0x0e, 0x0f, 0x10,
                                     0x2d, 0x41, 0x7f, 0x80, 0x86, 0xc6, 0xff};
  for (const elf::Section& section : file.sections()) {
    if (!section.name.ends_with("_frame") || file.RawBytes(section).empty()) continue;
    const Bytes frames = file.RawBytes(section);
    const auto start = static_cast<std::size_t>(frames.data() - file.image().data());
    for (std::size_t changes = 1 + dice.Below(4); changes > 0; --changes) {
      image[start + dice.Below(frames.size())] =
          dice.OneIn(2) ? dice.OneOf(kBytes) : static_cast<std::uint8_t>(dice.Bits());
    }
  }
}

}  // namespace
}  // namespace perftape::unwind

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perftape;
  const Bytes image = std::as_bytes(std::span(data, size));
  unwind::DecodeSaved(image);
  if (const auto file = elf::ElfFile::FromBytes(image)) unwind::BuildTable(*file);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  using namespace perftape;
  fuzz::Dice dice(seed);
  const std::span image(data, size);
  const auto file = elf::ElfFile::FromBytes(std::as_bytes(image));
  if (!file || dice.OneIn(3)) return LLVMFuzzerMutate(data, size, max_size);
  unwind::ChangeFrames(image, *file, dice);
  return size;
}

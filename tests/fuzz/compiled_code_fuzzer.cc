// SPDX-License-Identifier: Apache-2.0
// Reads binary tables of compilers, of any bytes: a jitdump, and Go's pc-line table, alone and in
// an ELF file.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "formats/base/bytes.h"
#include "formats/elf/elf_file.h"
#include "formats/go/pc_line_table.h"
#include "formats/jitdump/jitdump.h"

namespace perftape {
namespace {

void ReadJitDump(Bytes bytes) {
  const auto dump = jitdump::JitDump::Read(bytes);
  if (!dump) return;
  for (const jitdump::Function& function : dump->functions()) {
    if (dump->Find(function.code) != &function) std::abort();
    dump->LineOf(function, {function.code.value + function.size - 1});
    if (function.code.value + function.size > bytes.size()) std::abort();
  }
  for (const jitdump::Placement& placement : dump->placements()) {
    if (placement.function >= dump->functions().size()) std::abort();
  }
  if (dump->cut_bytes() > bytes.size()) std::abort();
}

// Looks up only a few functions: the table may claim to have millions.
void FindSome(const go::PcLineTable& table) {
  const std::uint64_t last = table.functions();
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(last, 16); ++i) {
    const std::uint64_t entry = table.entry(i).value;
    for (const std::uint64_t address : {entry, entry + 1, entry + 16}) table.Find({address});
  }
  table.Find({0});
  table.Find({UINT64_MAX});
  table.RangesRead();
}

void ReadGoTable(Bytes bytes) {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    const auto table = go::PcLineTable::FromParts({.table = bytes,
                                                   .order = order,
                                                   .text = {0x401000},
                                                   .function_data = bytes.last(bytes.size() / 2)});
    if (table) FindSome(*table);
  }
}

void ReadGoBinary(Bytes bytes) {
  const auto file = elf::ElfFile::FromBytes(bytes);
  if (!file) return;
  const auto table = go::PcLineTable::Read(*file);
  if (table) FindSome(*table);
}

}  // namespace
}  // namespace perftape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const perftape::Bytes bytes = std::as_bytes(std::span(data, size));
  perftape::ReadJitDump(bytes);
  perftape::ReadGoTable(bytes);
  perftape::ReadGoBinary(bytes);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "formats/go/module_data.h"

namespace perftape::go {
namespace {

// The words of moduledata: pcHeader, then the slices funcnametab, cutab, filetab, pctab, pclntable
// and ftab of three words each, findfunctab, minpc, maxpc, text, etext, ...
constexpr std::uint64_t kPclntable = 13;
constexpr std::uint64_t kFunctionCount = 17;
constexpr std::uint64_t kText = 22;
// ..., rodata, gofunc; Go 1.20 added covctrs and ecovctrs before them.
constexpr std::uint64_t kFunctionData118 = 38;
constexpr std::uint64_t kFunctionData120 = 40;

std::optional<ModuleData> ReadAt(const Image& image, ImageAddress address,
                                 const TableHeader& header) {
  const std::uint64_t word = header.word_size;
  const auto at = [&](std::uint64_t index) {
    return image.PointerAt({address.value + index * word});
  };
  const std::uint64_t size = (kFunctionData120 + 1) * word;
  const Bytes bytes = image.At(address);
  if (bytes.size() < size) return std::nullopt;
  if (image.NumberAt({address.value + kFunctionCount * word}) != header.functions + 1) {
    return std::nullopt;
  }
  ModuleData data{.words = bytes.first(size),
                  .text = {at(kText)},
                  .tables_end = {at(kPclntable) + at(kPclntable + 1)},
                  .function_data = {}};
  if (header.version == TableVersion::kGo118) data.function_data = {at(kFunctionData118)};
  if (header.version == TableVersion::kGo120) data.function_data = {at(kFunctionData120)};
  return data;
}

}  // namespace

std::optional<ModuleData> FindModuleData(const Image& image, ImageAddress table,
                                         const TableHeader& header) {
  if (header.version == TableVersion::kGo12) return std::nullopt;
  for (const ImageAddress address : image.AddressesOf(table)) {
    if (const auto data = ReadAt(image, address, header)) return data;
  }
  return std::nullopt;
}

}  // namespace perftape::go

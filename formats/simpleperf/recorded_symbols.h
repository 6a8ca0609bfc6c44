// SPDX-License-Identifier: Apache-2.0
// The symbols that Android's simpleperf puts into a recording: the features FILE and, since 2022,
// FILE2 (record_file_format.h and record_file.proto of platform_system_extras). They belong to the
// files in the samples, as stored on the device.
//
//   FILE    { u32 size; char path[]; u32 type; u64 min_vaddr;
//             u32 symbols; { u64 vaddr; u32 size; char name[]; }[symbols];
//             for a dex file: u32 offsets; u64[offsets];
//             for an ELF file or module, since 2019: u64 offset_of_min_vaddr; }[]
//   FILE2   { u32 size; FileFeature message; }[]
//
// simpleperf writes names as the linker has them. A file is little-endian.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace perftape::simpleperf {

// DsoType of dso.h.
enum class FileType : std::uint32_t {
  kKernel = 0,
  kKernelModule = 1,
  kElf = 2,
  kDex = 3,
  kSymbolMap = 4,  // a perf map
  kUnknown = 5,
};

struct Symbol {
  std::uint64_t address = 0, size = 0;  // an address of the file, see AddressIn
  std::string_view name = {};
};

struct RecordedFile {
  std::string_view path = {};
  FileType type = FileType::kUnknown;
  // The first address of code, and its offset: in the file, or of a module from its start in
  // memory. Older versions do not write the offset of ELF files.
  std::uint64_t min_address = 0;
  std::optional<std::uint64_t> offset_of_min_address = {};
  std::vector<Symbol> symbols = {};  // sorted by address

  // Returns the symbol that contains the address, or null.
  const Symbol* Find(std::uint64_t address) const;
};

// A mapped address: its distance from the start of its mapping, and the mapping.
struct MappedAddress {
  std::uint64_t mapping_start = 0;
  std::uint64_t page_offset = 0;  // of the mapping in its file
  std::uint64_t distance = 0;
};

// Returns the address that the symbols of the file have, as Dso::IpToVaddrInFile of dso.cpp does:
// the runtime address for the kernel and for memory without a file, the offset in a dex file, the
// virtual address in ELF files and modules.
std::uint64_t AddressIn(const RecordedFile& file, const MappedAddress& mapped);

struct RecordedSymbols {
  std::map<std::string_view, RecordedFile> files = {};  // by path
  std::string problem = {};  // why files are missing; empty if the section was read to its end
};

// Names are views of `section`. Files after damage are missing.
RecordedSymbols ReadFileFeature(Bytes section);
RecordedSymbols ReadFile2Feature(Bytes section);

}  // namespace perftape::simpleperf

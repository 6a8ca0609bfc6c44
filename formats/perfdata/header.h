// SPDX-License-Identifier: Apache-2.0
// The header of a perf.data: its container and the offsets of its sections. Sources:
// tools/perf/util/header.h (struct perf_file_header) and header.c (check_magic_endian,
// perf_file_header__read).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/abi.h"

namespace perftape::perfdata {

enum class Container : std::uint8_t { kFile, kPipe };

struct Section {
  std::uint64_t offset = 0, size = 0;
};

// The facts in the first 16 bytes.
struct Preamble {
  // 2 for "PERFILE2". 1 for "PERFFILE", which perf wrote before about Linux 2.6.36. Version 1 has
  // the same layout, but its magic is the same in both byte orders.
  int version = 2;
  std::endian order = std::endian::native;
  Container container = Container::kFile;
};

// struct perf_file_header
struct FileHeader {
  static constexpr std::uint64_t kSize = 104;
  static constexpr std::uint64_t kSizeWithoutFeatures = 72;  // before Linux 2.6.33
  static constexpr std::uint64_t kPipeSize = 16;

  std::uint64_t magic = 0, size = 0, attr_size = 0;
  Section attrs, data, event_types;
  std::array<std::uint64_t, kFeatureBits / 64> features = {};
};

// Whether the bytes are the beginning of a perf.data: file or pipe, of either version.
bool LooksLikePerfData(Bytes beginning);

// Decodes the first 16 bytes. kCorrupt if the magic is wrong, kTruncated if there are fewer bytes.
Result<Preamble> ReadPreamble(Bytes beginning);

// The header of a file (not of a pipe). A size that perf never writes is read as kSize and added to
// `problems`. kTruncated if the file ends inside the header.
Result<FileHeader> ReadFileHeader(Bytes file, std::endian order,
                                  std::vector<std::string>& problems);

// The bytes of a section, or nothing if the file does not contain all of them.
std::optional<Bytes> BytesOf(const Section& section, Bytes file);

// Reads a section's { u64 offset, size; }.
void SectionLayout(ByteReader& at, Section& section);

}  // namespace perftape::perfdata

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

// The first 16 bytes.
struct Preamble {
  // "PERFILE2" is 2. "PERFFILE", of perf before Linux 2.6.36 or so, is 1: the same layout, but the
  // text is that in either byte order.
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

// Whether the bytes open a perf.data of any kind and age.
bool LooksLikePerfData(Bytes beginning);

// kCorrupt where the magic is another, kTruncated where fewer than 16 bytes are there.
Result<Preamble> ReadPreamble(Bytes beginning);

// The header of a file (not of a pipe). A size that no perf writes is taken for the usual one, and
// told in `problems`. kTruncated where the file ends inside it.
Result<FileHeader> ReadFileHeader(Bytes file, std::endian order,
                                  std::vector<std::string>& problems);

// The section's bytes, if the file has them all.
std::optional<Bytes> BytesOf(const Section& section, Bytes file);

// Reads a section's { u64 offset, size; }.
void SectionLayout(ByteReader& at, Section& section);

}  // namespace perftape::perfdata

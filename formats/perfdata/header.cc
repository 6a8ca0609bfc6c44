// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/header.h"

#include <fmt/core.h>

#include "formats/base/perfdata_magic.h"
#include "formats/perfdata/attr.h"

namespace perftape::perfdata {
namespace {

constexpr std::string_view kMagicVersion1 = "PERFFILE";  // in both byte orders

constexpr std::size_t kAttrSizeAt = 16;

bool IsVersion1(Bytes beginning) {
  return AsText(beginning).starts_with(kMagicVersion1);
}

bool IsVersion2(Bytes beginning, std::endian order) {
  return beginning.size() >= sizeof kPerfDataMagic &&
         LoadFixed<std::uint64_t>(beginning.data(), order) == kPerfDataMagic;
}

// Detects the byte order by the attribute size: a size that is small in one order is huge in the
// other. perf tries all sizes that an attribute ever had in both byte orders (try_all_file_abis).
std::endian OrderOfVersion1(Bytes beginning) {
  constexpr std::uint64_t kLargest = 4096;
  if (beginning.size() < kAttrSizeAt + sizeof(std::uint64_t)) return std::endian::little;
  const auto attr_size =
      LoadFixed<std::uint64_t>(beginning.data() + kAttrSizeAt, std::endian::little);
  return attr_size <= kLargest ? std::endian::little : std::endian::big;
}

bool HasFeature(const FileHeader& header, FeatureBit bit) {
  const auto number = std::to_underlying(bit);
  return (header.features[number / 64] >> (number % 64) & 1) != 0;
}

// Swaps the halves of the words if a 32-bit machine of the other byte order wrote the bitmap. Like
// perf_file_header__read, it detects this by HOSTNAME, which every file has.
void RecoverBitmap(FileHeader& header, std::endian order) {
  if (order == std::endian::native || HasFeature(header, FeatureBit::kHostname)) return;
  FileHeader halves = header;
  for (std::uint64_t& word : halves.features) word = word << 32 | word >> 32;
  if (HasFeature(halves, FeatureBit::kHostname)) header = halves;
}

}  // namespace

bool LooksLikePerfData(Bytes beginning) {
  return IsVersion2(beginning, std::endian::little) || IsVersion2(beginning, std::endian::big) ||
         IsVersion1(beginning);
}

Result<Preamble> ReadPreamble(Bytes beginning) {
  if (beginning.empty()) return Fail(ErrorCode::kTruncated, "the file is empty");
  if (!LooksLikePerfData(beginning)) {
    return Fail(ErrorCode::kCorrupt,
                "at 0x0: not a perf.data file: it does not begin with PERFILE2");
  }
  Preamble preamble;
  preamble.version = IsVersion1(beginning) ? 1 : 2;
  preamble.order = IsVersion2(beginning, std::endian::big) ? std::endian::big : std::endian::little;
  if (preamble.version == 1) preamble.order = OrderOfVersion1(beginning);
  ByteReader at(beginning, preamble.order);
  std::uint64_t magic = 0, size = 0;
  at.Fixed(magic);
  at.Fixed(size);
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "at 0x0: the file ends inside its header");
  if (size == FileHeader::kPipeSize) preamble.container = Container::kPipe;
  return preamble;
}

Result<FileHeader> ReadFileHeader(Bytes file, std::endian order,
                                  std::vector<std::string>& problems) {
  ByteReader at(file, order);
  FileHeader header;
  at.Fixed(header.magic);
  at.Fixed(header.size);
  at.Fixed(header.attr_size);
  SectionLayout(at, header.attrs);
  SectionLayout(at, header.data);
  SectionLayout(at, header.event_types);
  if (at.ok() && header.size == FileHeader::kSizeWithoutFeatures) return header;
  for (std::uint64_t& word : header.features) at.Fixed(word);
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "at 0x0: the file ends inside its header");
  if (header.size != FileHeader::kSize) {
    problems.push_back(fmt::format("at 0x8: header size {} is invalid; {} is used instead",
                                   header.size, FileHeader::kSize));
  }
  RecoverBitmap(header, order);
  return header;
}

std::optional<Bytes> BytesOf(const Section& section, Bytes file) {
  if (section.offset > file.size() || section.size > file.size() - section.offset) return {};
  return file.subspan(section.offset, section.size);
}

void SectionLayout(ByteReader& at, Section& section) {
  at.Fixed(section.offset);
  at.Fixed(section.size);
}

}  // namespace perftape::perfdata

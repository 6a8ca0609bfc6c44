// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/compressor.h"

#include <algorithm>

#include "formats/perfdata/abi.h"
#include "formats/perfdata/features.h"

namespace perftape::perfdata {
namespace {

// The bytes of a slice. Its compressed form always fits into one record, even if zstd cannot make
// it smaller. Otherwise its block would end in the next record and the first record would expand to
// nothing. perf aborts at such a record ("Couldn't decompress data").
constexpr std::size_t kSliceSize = std::size_t{60} << 10;
static_assert(kSliceSize < RecordCompressor::kMostExpanded);
static_assert(kSliceSize + 4000 < kMaxRecordSize);  // zstd adds at most 1%

// The size of an empty zstd block: { last = 0, type = raw, size = 0 } (RFC 8878, 3.1.1.2).
constexpr std::size_t kEmptyBlock = 3;

// Fills the record with empty blocks up to a multiple of 8, so that all records of the file are
// aligned. perf does not align COMPRESSED records; newer perf writes COMPRESSED2, which contains
// its size without padding.
void AlignWithEmptyBlocks(std::size_t start, std::vector<std::byte>& out) {
  while ((out.size() - start) % sizeof(std::uint64_t) != 0) out.resize(out.size() + kEmptyBlock);
}

}  // namespace

double Compression::ratio() const {
  return compressed == 0 ? 0 : static_cast<double>(original) / static_cast<double>(compressed);
}

Result<RecordCompressor> RecordCompressor::Create(int level) {
  TRY_ASSIGN(ZstdCompressor zstd, ZstdCompressor::Create(level));
  return RecordCompressor(level, std::move(zstd));
}

Status RecordCompressor::Append(Bytes records, std::vector<std::byte>& out) {
  while (!records.empty()) {
    const Bytes part = records.first(std::min(records.size(), kSliceSize - slice_.size()));
    slice_.insert(slice_.end(), part.begin(), part.end());
    records = records.subspan(part.size());
    if (slice_.size() == kSliceSize) TRY(Flush(out));
  }
  return {};
}

Status RecordCompressor::Flush(std::vector<std::byte>& out) {
  if (slice_.empty()) return {};
  const std::size_t start = out.size();
  out.resize(start + sizeof(RecordHeader));
  TRY(zstd_.Compress(slice_, out));
  TRY(zstd_.Flush(out));
  AlignWithEmptyBlocks(start, out);
  const std::size_t size = out.size() - start;
  if (size > kMaxRecordSize) {
    out.resize(start);
    return Fail(ErrorCode::kIo, "the output of zstd does not fit into a record");
  }
  const RecordHeader header{RecordType::kCompressed, 0, static_cast<std::uint16_t>(size)};
  std::memcpy(out.data() + start, &header, sizeof header);
  total_.original += slice_.size();
  total_.compressed += size;
  slice_.clear();
  return {};
}

std::vector<std::byte> RecordCompressor::FeaturePayload() const {
  std::vector<std::byte> payload;
  EncodeFeature(CompressionInfo{.level = static_cast<std::uint32_t>(level_),
                                .ratio = static_cast<std::uint32_t>(total_.ratio()),
                                .mmap_len = kMostExpanded},
                payload);
  return payload;
}

}  // namespace perftape::perfdata

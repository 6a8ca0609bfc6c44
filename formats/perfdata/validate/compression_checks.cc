// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/compression_checks.h"

#include <fmt/core.h>

namespace perftape::perfdata {

CompressionChecks::CompressionChecks(const Reader& reader, Report& report) : report_(report) {
  const std::optional<Bytes> section = reader.feature(FeatureBit::kCompressed);
  if (!section) return;
  ByteReader at(*section, reader.order());
  std::uint32_t version = 0, type = 0, level = 0, ratio = 0, mmap_len = 0;
  at.Fixed(version);
  at.Fixed(type);
  at.Fixed(level);
  at.Fixed(ratio);
  at.Fixed(mmap_len);
  if (!at.ok()) return;
  mmap_len_ = mmap_len;
  constexpr std::uint32_t kZstd = 1;  // enum perf_compression_type
  if (type == kZstd) return;
  report_.AddAt(Rule::kCompressedTypeUnknown,
                static_cast<std::uint64_t>(section->data() - reader.file().data()),
                fmt::format("the feature COMPRESSED has method {}", type));
}

void CompressionChecks::Check(const RecordView& record) {
  if (IsCompressed(record.type)) {
    piece_ = record;
    piece_->payload = {};
    is_piece_reported_ = false;
    report_.Add(Rule::kCompressedForeign, record, [&] {
      return fmt::format("{} has {} bytes", RecordName(record.type), record.size());
    });
    if (!mmap_len_) {
      report_.Add(Rule::kCompressedWithoutFeature, record, [&] {
        return fmt::format("{} in a file without the feature COMPRESSED", RecordName(record.type));
      });
    }
    return;
  }
  // Finds a record that begins beyond perf's buffer of mmap_len bytes. The record before it may
  // cross the end of the buffer and is not reported, because it may continue in the next COMPRESSED
  // record. mmap_len is a multiple of the page size, so the difference does not matter.
  if (record.inside < 0 || !mmap_len_ || is_piece_reported_ || !piece_) return;
  if (static_cast<std::uint32_t>(record.inside) < *mmap_len_) return;
  is_piece_reported_ = true;
  report_.Add(Rule::kCompressedBufferSmall, *piece_, [&] {
    return fmt::format("{} expands to more than the mmap_len of {} bytes", RecordName(piece_->type),
                       *mmap_len_);
  });
}

}  // namespace perftape::perfdata

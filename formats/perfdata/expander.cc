// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/expander.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace perftape::perfdata {
namespace {

// The size of the buffer for expanded bytes. It is much larger than a record, so that incomplete
// records are rarely moved to its start.
constexpr std::size_t kBufferSize = std::size_t{256} << 10;

bool BeginsFrame(Bytes bytes) {
  return bytes.size() >= sizeof kZstdFrameMagic &&
         LoadFixed<std::uint32_t>(bytes.data(), std::endian::little) == kZstdFrameMagic;
}

}  // namespace

Status Expander::Begin(const RecordView& compressed) {
  begun_before_ = PositionOfNext();
  piece_ = {.file_offset = compressed.file_offset, .inside = 0};
  made_ = 0;
  part_ = compressed.part;
  compressed_ = compressed.payload;
  if (compressed.type == RecordType::kCompressed2) {
    // struct perf_record_compressed2: { u64 data_size; char data[]; }, padded to 8.
    ByteReader at(compressed.payload, compressed.order);
    std::uint64_t size = 0;
    at.Fixed(size);
    at.Blob(compressed_, size);
    if (!at.ok()) {
      compressed_ = {};
      return LoseStream({ErrorCode::kTruncated,
                         fmt::format("record at {}: COMPRESSED2 has {} bytes, but declares {}",
                                     PositionOf(compressed), compressed.size(), size)});
    }
  }
  budget_.AddCompressed(compressed_.size());
  if (!is_lost_) return {};
  if (BeginsFrame(compressed_)) {
    zstd_.Restart();
    is_lost_ = false;
  } else {
    compressed_ = {};
    ++passed_over_;
  }
  return {};
}

Result<std::optional<RecordView>> Expander::Next() {
  while (true) {
    const Bytes ready = Bytes(buffer_).subspan(begin_, end_ - begin_);
    ByteReader at(ready, order_);
    RecordHeader header = {};
    at.Fixed(header.type);
    at.Fixed(header.misc);
    at.Fixed(header.size);
    const Position position = PositionOfNext();
    if (at.ok() && header.size < sizeof header) {
      return LoseStream({ErrorCode::kCorrupt,
                         fmt::format("record at {:#x}+{:#x}: size {} is less than a record header",
                                     position.file_offset, position.inside, header.size)});
    }
    if (at.ok() && header.size <= ready.size()) {
      begin_ += header.size;
      return RecordView{.type = header.type,
                        .misc = header.misc,
                        .payload = ready.subspan(sizeof header, header.size - sizeof header),
                        .file_offset = position.file_offset,
                        .order = order_,
                        .is_lasting = false,
                        .part = part_,
                        .inside = static_cast<std::int32_t>(position.inside)};
    }
    TRY_ASSIGN(const std::size_t more, Fill());
    if (more == 0) return std::nullopt;
  }
}

// Fills the buffer with expanded bytes. Returns their number, which is 0 at the end of the piece.
Result<std::size_t> Expander::Fill() {
  if (is_lost_) return 0;
  if (buffer_.empty()) buffer_.resize(kBufferSize);
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const Result<std::size_t> made =
      zstd_.Expand(compressed_, std::span(buffer_).subspan(end_, buffer_.size() - end_));
  if (!made) {
    return LoseStream(
        InContext(fmt::format("record at {:#x}: COMPRESSED", piece_.file_offset), made.error()));
  }
  end_ += *made;
  made_ += *made;
  if (!budget_.Allows(*made)) {
    return LoseStream(
        {ErrorCode::kCorrupt,
         fmt::format("record at {:#x}: the COMPRESSED records up to this one expand to "
                     "more than 1000 times their size",
                     piece_.file_offset)});
  }
  if (made_ > kMostExpanded) {
    return LoseStream({ErrorCode::kCorrupt,
                       fmt::format("record at {:#x}: COMPRESSED expands to more than {} bytes",
                                   piece_.file_offset, kMostExpanded)});
  }
  return *made;
}

std::unexpected<Error> Expander::LoseStream(Error error) {
  is_lost_ = true;
  compressed_ = {};
  begin_ = end_ = 0;
  return Fail(std::move(error));
}

Expander::Position Expander::PositionOfNext() const {
  const std::size_t unread = end_ - begin_;
  if (unread > made_) return begun_before_;
  return {.file_offset = piece_.file_offset, .inside = static_cast<std::int64_t>(made_ - unread)};
}

}  // namespace perftape::perfdata

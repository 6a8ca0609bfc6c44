// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/record_cursor.h"

#include <fmt/format.h>

#include <limits>

namespace perftape::perfdata {
namespace {

// Two tool records are followed by bytes that their size does not count: the tracing data, padded
// to 8 (perf_event__synthesize_tracing_data), and an AUX trace (perf_event__process_auxtrace).
std::uint64_t BytesBehind(RecordType type, Bytes payload, std::endian order) {
  ByteReader at(payload, order);
  if (type == RecordType::kHeaderTracingData) {
    // simpleperf puts the data inside the record.
    if (payload.size() > sizeof(std::uint64_t)) return 0;
    std::uint32_t size = 0;
    at.Fixed(size);
    return (std::uint64_t{size} + 7) / 8 * 8;
  }
  std::uint64_t size = 0;
  if (type == RecordType::kAuxtrace) at.Fixed(size);
  return size;
}

bool IsCompressed(RecordType type) {
  return type == RecordType::kCompressed || type == RecordType::kCompressed2;
}

}  // namespace

RecordCursor::RecordCursor(std::vector<Part> parts, std::endian order, Compressed compressed)
    : order_(order), compressed_(compressed), parts_(std::move(parts)) {
  if (parts_.empty()) return;
  left_ = parts_.front().bytes;
  file_offset_ = parts_.front().file_offset;
}

RecordCursor::RecordCursor(Input& stream, std::uint64_t offset, std::endian order)
    : file_offset_(offset), order_(order), compressed_(Compressed::kExpand), stream_(&stream) {}

Result<std::optional<RecordView>> RecordCursor::Next() {
  while (true) {
    if (is_inside_) {
      if (const std::optional<RecordView> record = NextInside()) return record;
    }
    if (const std::optional<RecordView> record = NextInPart()) return record;
    EndPart();
    if (part_ + 1U >= parts_.size()) return AtEnd();
    ++part_;
    left_ = parts_[part_].bytes;
    file_offset_ = parts_[part_].file_offset;
  }
}

Result<std::optional<RecordView>> RecordCursor::AtEnd() {
  parts_.clear();
  part_ = 0;
  if (failure_) return Fail(*std::exchange(failure_, std::nullopt));
  return std::nullopt;
}

std::optional<RecordView> RecordCursor::NextInside() {
  Result<std::optional<RecordView>> record = expander_->Next();
  if (record && *record) return *record;
  if (!record) Remember(std::move(record).error());
  is_inside_ = false;
  return std::nullopt;
}

std::optional<RecordView> RecordCursor::NextInPart() {
  if (stream_ != nullptr) stream_->Consume(std::exchange(delivered_, 0));
  const Bytes left = Left(sizeof(RecordHeader));
  if (left.empty()) return std::nullopt;
  const std::optional<RecordView> record = TakeRecord(left);
  if (!record) {
    left_ = {};
    return std::nullopt;
  }
  const std::size_t size = record->size() + record->behind.size();
  if (stream_ == nullptr) {
    left_ = left_.subspan(size);
  } else {
    delivered_ = size;
  }
  file_offset_ += size;
  if (IsCompressed(record->type) && compressed_ == Compressed::kExpand) {
    if (expander_ == nullptr) expander_ = std::make_unique<Expander>(order_);
    const Status begun = expander_->Begin(*record);
    if (!begun) Remember(begun.error());
    is_inside_ = begun.has_value();
  }
  return record;
}

// The record that `left` begins with; nothing, and a failure, where that is none.
std::optional<RecordView> RecordCursor::TakeRecord(Bytes left) {
  ByteReader at(left, order_);
  RecordHeader header = {};
  at.Fixed(header.type);
  at.Fixed(header.misc);
  at.Fixed(header.size);
  if (at.ok() && header.size > left.size()) left = Left(header.size);
  if (!at.ok() || header.size > left.size()) {
    FailHere(ErrorCode::kTruncated,
             fmt::format("{} bytes are left, which is no whole record", left.size()));
    return std::nullopt;
  }
  if (header.size < sizeof header) {
    FailHere(ErrorCode::kCorrupt, fmt::format("size {} is less than its header's", header.size));
    return std::nullopt;
  }
  const std::uint64_t behind =
      BytesBehind(header.type, left.subspan(sizeof header, header.size - sizeof header), order_);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / 2;
  if (behind > left.size() - header.size && behind < kMost) left = Left(header.size + behind);
  if (behind > left.size() - header.size) {
    FailHere(ErrorCode::kTruncated,
             fmt::format("{} says that {} bytes follow it, of {} left", RecordName(header.type),
                         behind, left.size() - header.size));
    return std::nullopt;
  }
  return RecordView{.type = header.type,
                    .misc = header.misc,
                    .payload = left.subspan(sizeof header, header.size - sizeof header),
                    .file_offset = file_offset_,
                    .order = order_,
                    .is_lasting = stream_ == nullptr,
                    .part = part_,
                    .behind = left.subspan(header.size, behind)};
}

void RecordCursor::EndPart() {
  left_ = {};
  if (stream_ != nullptr && stream_->error()) failure_ = stream_->error();
  if (expander_ != nullptr && expander_->waiting() > 0) {
    FailHere(
        ErrorCode::kTruncated,
        fmt::format("{} expanded bytes are left, which is no whole record", expander_->waiting()));
  }
  expander_.reset();
}

void RecordCursor::FailHere(ErrorCode code, std::string_view what) {
  const RecordView place{.file_offset = file_offset_, .part = part_};
  Remember({code, fmt::format("record at {}: {}", PlaceOf(place), what)});
}

// The first failure is the one to tell.
void RecordCursor::Remember(Error error) {
  if (!failure_) failure_ = std::move(error);
}

}  // namespace perftape::perfdata

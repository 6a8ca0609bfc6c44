// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/record_cursor.h"

#include <fmt/core.h>

#include <limits>

#include "formats/base/joined_files.h"
#include "formats/perfdata/header.h"

namespace perftape::perfdata {
namespace {

RecordHeader LoadHeader(Bytes record, std::endian order) {
  return {.type = LoadFixed<RecordType>(&record[offsetof(RecordHeader, type)], order),
          .misc = LoadFixed<std::uint16_t>(&record[offsetof(RecordHeader, misc)], order),
          .size = LoadFixed<std::uint16_t>(&record[offsetof(RecordHeader, size)], order)};
}

}  // namespace

RecordCursor::RecordCursor(std::vector<Part> parts, std::endian order, Compressed compressed,
                           std::shared_ptr<const EventTable> events)
    : order_(order), compressed_(compressed), parts_(std::move(parts)), events_(std::move(events)) {
  BeginPart();
}

RecordCursor::RecordCursor(Input& stream, std::uint64_t offset, std::endian order,
                           std::shared_ptr<const EventTable> events)
    : file_offset_(offset),
      order_(order),
      compressed_(Compressed::kExpand),
      events_(std::move(events)),
      stream_(&stream) {}

Result<std::optional<RecordView>> RecordCursor::Next() {
  if (Step()) return record_;
  if (std::optional<Error> failure = ReleaseFailure()) return Fail(*std::move(failure));
  return std::nullopt;
}

bool RecordCursor::StepAnywhere() {
  if (!StepInParts()) return false;
  if (events_ == nullptr || !MayHaveExcess(record_.type)) return true;
  record_ = WithoutExcess(record_, *events_);
  if (next_in_ == NextIn::kBytes && record_.excess > 0) next_in_ = NextIn::kAnywhere;
  return true;
}

bool RecordCursor::StepInParts() {
  while (true) {
    if (next_in_ == NextIn::kExpander && StepInside()) return true;
    if (StepInPart()) return true;
    EndPart();
    if (!BeginPart()) return false;
  }
}

// Returns false if there is no further part.
bool RecordCursor::BeginPart() {
  if (next_part_ == parts_.size()) return false;
  const Part& next = parts_[next_part_++];
  left_ = next.bytes;
  file_offset_ = next.file_offset;
  part_ = next.part;
  return true;
}

bool RecordCursor::StepInside() {
  Result<std::optional<RecordView>> next = expander_->Next();
  if (next && *next) {
    record_ = **next;
    return true;
  }
  if (!next) Remember(std::move(next).error());
  return false;
}

bool RecordCursor::StepInPart() {
  next_in_ = NextIn::kAnywhere;
  if (stream_ != nullptr) stream_->Consume(std::exchange(delivered_, 0));
  const Bytes left = Left(sizeof(RecordHeader));
  if (left.empty()) return false;
  if (!ReadRecord(left)) {
    left_ = {};
    return false;
  }
  const std::size_t size = record_.size() + record_.appended.size();
  if (stream_ == nullptr) {
    left_ = left_.subspan(size);
  } else {
    delivered_ = size;
  }
  file_offset_ += size;
  if (stream_ == nullptr && record_.appended.empty()) next_in_ = NextIn::kBytes;
  if (IsCompressed(record_.type) && compressed_ == Compressed::kExpand && BeginToExpand()) {
    next_in_ = NextIn::kExpander;
  }
  return true;
}

// Returns false if nothing of the COMPRESSED record can be expanded.
bool RecordCursor::BeginToExpand() {
  if (expander_ == nullptr) expander_ = std::make_unique<Expander>(order_);
  const Status begun = expander_->Begin(record_);
  if (!begun) Remember(begun.error());
  return begun.has_value();
}

// Sets record_ to the record at the start of `left`. If it is not a valid record, remembers the
// error and returns false.
bool RecordCursor::ReadRecord(Bytes left) {
  RecordHeader header = {};
  const bool has_header = left.size() >= sizeof header;
  if (has_header) header = LoadHeader(left, order_);
  if (header.size > left.size()) left = Left(header.size);
  if (LooksLikePerfData(left)) {
    FailHere(ErrorCode::kCorrupt, kJoinedFiles);
    return false;
  }
  if (!has_header || header.size > left.size()) {
    FailHere(ErrorCode::kTruncated,
             fmt::format("the last {} bytes are not a whole record", left.size()));
    return false;
  }
  if (header.size < sizeof header) {
    FailHere(ErrorCode::kCorrupt, fmt::format("size {} is less than a record header", header.size));
    return false;
  }
  record_ = {.type = header.type,
             .misc = header.misc,
             .payload = left.subspan(sizeof header, header.size - sizeof header),
             .file_offset = file_offset_,
             .order = order_,
             .is_lasting = stream_ == nullptr,
             .part = part_};
  const std::uint64_t appended = AppendedSize(record_);
  return appended == 0 || ReadAppended(left, appended);
}

// Sets record_.appended. `left` begins with record_.
bool RecordCursor::ReadAppended(Bytes left, std::uint64_t appended) {
  const std::size_t size = record_.size();
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / 2;
  if (stream_ != nullptr && appended > kMostAppendedInStream) {
    FailHere(ErrorCode::kUnsupported,
             fmt::format("{} declares {} bytes after it, but at most {} can be read from a pipe: "
                         "save the stream to a file first",
                         RecordName(record_.type), appended, kMostAppendedInStream));
    return false;
  }
  if (appended > left.size() - size && appended < kMost) {
    left = Left(size + appended);
    record_.payload = left.subspan(sizeof(RecordHeader), record_.payload.size());
  }
  if (appended > left.size() - size) {
    FailHere(ErrorCode::kTruncated,
             fmt::format("{} declares {} bytes after it, but only {} are left",
                         RecordName(record_.type), appended, left.size() - size));
    return false;
  }
  record_.appended = left.subspan(size, appended);
  return true;
}

void RecordCursor::EndPart() {
  left_ = {};
  if (stream_ != nullptr && stream_->error()) failure_ = stream_->error();
  if (expander_ != nullptr && expander_->waiting() > 0) {
    FailHere(ErrorCode::kTruncated, fmt::format("the last {} expanded bytes are not a whole record",
                                                expander_->waiting()));
  }
  expander_.reset();
}

void RecordCursor::FailHere(ErrorCode code, std::string_view what) {
  const RecordView end{.file_offset = file_offset_, .part = part_};
  Remember({code, fmt::format("record at {}: {}", PositionOf(end), what)});
}

// Keeps only the first failure.
void RecordCursor::Remember(Error error) {
  if (!failure_) failure_ = std::move(error);
}

}  // namespace perftape::perfdata

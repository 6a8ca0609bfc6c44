// SPDX-License-Identifier: Apache-2.0
// Walks the records of a perf.data in file order. After a COMPRESSED record it returns the records
// inside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/input.h"
#include "formats/base/result.h"
#include "formats/perfdata/expander.h"
#include "formats/perfdata/kernel_size.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// Whether a cursor returns the records inside a COMPRESSED record, or skips them.
enum class Compressed : std::uint8_t { kExpand, kStepOver };

// Returns how many bytes follow a record that its size does not count: the tracing data, padded to
// 8 (tools/perf, perf_event__synthesize_tracing_data), or an AUX trace
// (perf_event__process_auxtrace). 0 for all other types, and if the payload is too short.
inline std::uint64_t AppendedSize(const RecordView& record) {
  ByteReader at(record.payload, record.order);
  if (record.type == RecordType::kHeaderTracingData) {
    // simpleperf writes the data inside the record.
    if (record.payload.size() > sizeof(std::uint64_t)) return 0;
    std::uint32_t size = 0;
    at.Fixed(size);
    return RoundUpToWord(size);
  }
  std::uint64_t size = 0;
  if (record.type == RecordType::kAuxtrace) at.Fixed(size);
  return size;
}

class RecordCursor {
 public:
  // The bytes of consecutive records, their offset in the file, and the file's RecordView::part.
  struct Part {
    Bytes bytes;
    std::uint64_t file_offset = 0;
    std::uint32_t part = 0;
  };

  RecordCursor(Bytes section, std::uint64_t file_offset, std::endian order,
               Compressed compressed = Compressed::kExpand)
      : RecordCursor({{section, file_offset}}, order, compressed) {}
  // Several files, one after the other: data, data.0, data.1 and so on of a directory. Each has its
  // own zstd stream. With `events`, records whose header.size is too large are returned
  // WithoutExcess (kernel_size.h).
  RecordCursor(std::vector<Part> parts, std::endian order,
               Compressed compressed = Compressed::kExpand,
               std::shared_ptr<const EventTable> events = nullptr);
  // All records of a stream, which must outlive the cursor. `offset` is the offset of the first
  // record, for messages.
  RecordCursor(Input& stream, std::uint64_t offset, std::endian order,
               std::shared_ptr<const EventTable> events = nullptr);

  // The limit for the bytes after an AUXTRACE or TRACING_DATA record of a stream, which have to be
  // in memory. Those of perf are as large as an AUX buffer, usually 4 MiB.
  static constexpr std::uint64_t kMostAppendedInStream = std::uint64_t{32} << 20;

  // The next record, or nothing at the end. A view that is_lasting lives as long as the bytes of
  // the file; any other lives until the next call. If no whole record follows, the cursor skips the
  // rest of the part, and whatever a damaged COMPRESSED record makes unreadable. It returns the
  // first such error (kTruncated, kCorrupt, with the offset; for a stream also kIo, kUnsupported)
  // instead of the end, after all readable records. Then the cursor is at its end.
  Result<std::optional<RecordView>> Next();

  // The same for the fastest loops. Step returns whether there is a next record, which record()
  // then returns. After the last one, ReleaseFailure returns and clears the first error, if any.
  bool Step() { return StepInBytes() || StepAnywhere(); }
  const RecordView& record() const { return record_; }
  std::optional<Error> ReleaseFailure() { return std::exchange(failure_, std::nullopt); }

 private:
  // What the next record is in.
  enum class NextIn : std::uint8_t {
    kBytes,     // left_, like record_, after which no bytes follow that its size does not count
    kExpander,  // the COMPRESSED record that expander_ expands, or after it
    kAnywhere,  // left_, the stream or the next part
  };

  // Handles kernel records that are completely in the remaining bytes, without a function call.
  // These are nearly all records. StepAnywhere handles the others.
  bool StepInBytes() {
    if (next_in_ != NextIn::kBytes || left_.size() < sizeof(RecordHeader)) return false;
    const std::byte* at = left_.data();
    const auto type = LoadFixed<RecordType>(at + offsetof(RecordHeader, type), order_);
    const auto size = LoadFixed<std::uint16_t>(at + offsetof(RecordHeader, size), order_);
    if (std::to_underlying(type) >= kFirstToolType || MayHaveExcess(type) ||
        size < sizeof(RecordHeader) || size > left_.size()) {
      return false;
    }
    record_.type = type;
    record_.misc = LoadFixed<std::uint16_t>(at + offsetof(RecordHeader, misc), order_);
    record_.payload = Bytes(at + sizeof(RecordHeader), size - sizeof(RecordHeader));
    record_.file_offset = file_offset_;
    left_ = left_.subspan(size);
    file_offset_ += size;
    return true;
  }
  bool StepAnywhere();
  bool StepInParts();
  bool BeginPart();

  // Each of these sets record_, or returns false.
  bool StepInside();
  bool StepInPart();
  bool BeginToExpand();
  bool ReadRecord(Bytes left);
  bool ReadAppended(Bytes left, std::uint64_t appended);
  void EndPart();
  void FailHere(ErrorCode code, std::string_view what);
  void Remember(Error error);
  // At least `size` bytes of the part from the cursor on, or all that are left.
  Bytes Left(std::size_t size) { return stream_ == nullptr ? left_ : stream_->Window(0, size); }

  RecordView record_;
  Bytes left_;
  std::uint64_t file_offset_ = 0;
  std::endian order_;
  Compressed compressed_;
  std::uint32_t part_ = 0;  // RecordView::part of the current part
  std::size_t next_part_ = 0;
  NextIn next_in_ = NextIn::kAnywhere;
  std::unique_ptr<Expander> expander_;  // created at the first COMPRESSED record of a part
  std::vector<Part> parts_;
  std::shared_ptr<const EventTable> events_;
  Input* stream_ = nullptr;
  std::size_t delivered_ = 0;  // in a stream: the size of the last record, still in the window
  std::optional<Error> failure_;
};

}  // namespace perftape::perfdata

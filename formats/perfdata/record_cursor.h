// SPDX-License-Identifier: Apache-2.0
// Walks the records of a perf.data in the order in which they lie. Behind a COMPRESSED record come
// those that are inside it.
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

// What a cursor does at a COMPRESSED record: go on with what is inside it, or with what is behind.
enum class Compressed : std::uint8_t { kExpand, kStepOver };

class RecordCursor {
 public:
  // Records that lie together, and where in their file.
  struct Part {
    Bytes bytes;
    std::uint64_t file_offset = 0;
  };

  RecordCursor(Bytes section, std::uint64_t file_offset, std::endian order,
               Compressed compressed = Compressed::kExpand)
      : RecordCursor({{section, file_offset}}, order, compressed) {}
  // Several files, one behind the other: a directory's data, data.0, data.1 and so on. Each has a
  // zstd stream of its own. With `events`, records whose header counts too many bytes are delivered
  // WithoutExcess.
  RecordCursor(std::vector<Part> parts, std::endian order,
               Compressed compressed = Compressed::kExpand,
               std::shared_ptr<const EventTable> events = nullptr);
  // What comes through a stream, which must outlive the cursor, up to its end. `offset` is that of
  // the first record, for messages.
  RecordCursor(Input& stream, std::uint64_t offset, std::endian order,
               std::shared_ptr<const EventTable> events = nullptr);

  // Bytes behind a record (AUXTRACE, TRACING_DATA) that are taken from a stream, where they have to
  // be in memory. perf's own are as large as an AUX buffer, most often 4 MiB.
  static constexpr std::uint64_t kMostBehindInStream = std::uint64_t{32} << 20;

  // The next record; nothing at the end. A view that is_lasting lives as long as the file's bytes,
  // any other until the next call. Where no whole record follows, what is left of the part is
  // passed over, and so is what a damaged COMPRESSED record makes unreadable. The first of such
  // errors (kTruncated, kCorrupt, naming the offset; of a stream also kIo, kUnsupported) is told in
  // place of the end, when all that can be read was delivered; then the cursor is at its end.
  Result<std::optional<RecordView>> Next();

  // The same for those who count nanoseconds: whether there is a next record, which is then
  // record(), and behind the last one the failure, if any.
  bool Step() { return StepInBytes() || StepAnywhere(); }
  const RecordView& record() const { return record_; }
  std::optional<Error> TakeFailure() { return std::exchange(failure_, std::nullopt); }

 private:
  // Most records are the kernel's own, and lie whole in the bytes that are left. This knows only
  // those, so that a step over them costs no call; all else is left to StepAnywhere.
  bool StepInBytes() {
    if (!is_simple_ || left_.size() < sizeof(RecordHeader)) return false;
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

  // Each of these fills record_ in, or returns false.
  bool StepInside();
  bool StepInPart();
  bool TakeRecord(Bytes left);
  bool TakeBytesBehind(Bytes left);
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
  std::uint16_t part_ = 0;
  bool is_inside_ = false;
  // record_ lies in the bytes of this part, with nothing behind it, and so does the next one.
  bool is_simple_ = false;
  std::unique_ptr<Expander> expander_;  // made for the first COMPRESSED record of a part
  std::vector<Part> parts_;
  std::shared_ptr<const EventTable> events_;
  Input* stream_ = nullptr;
  std::size_t delivered_ = 0;  // of a stream: bytes that the last record takes, still in the window
  std::optional<Error> failure_;
};

}  // namespace perftape::perfdata

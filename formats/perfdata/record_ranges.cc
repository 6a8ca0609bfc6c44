// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/record_ranges.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace perftape::perfdata {
namespace {

// In bytes. A shorter range costs more time than it saves.
constexpr std::uint64_t kShortestRange = std::uint64_t{1} << 20;
// The bytes that are searched for the start of a record, and the number of valid headers that must
// follow one another there. No payload looks like this many headers.
constexpr std::uint64_t kLongestSearch = std::uint64_t{256} << 10;
constexpr int kFollowing = 64;

// Returns the size of the record at the start of the bytes. Nothing unless it looks like a kernel
// record or a FINISHED_ROUND.
std::optional<std::uint64_t> PlausibleSize(Bytes bytes, std::endian order) {
  if (bytes.size() < sizeof(RecordHeader)) return {};
  const auto type = LoadFixed<RecordType>(&bytes[offsetof(RecordHeader, type)], order);
  const auto size = LoadFixed<std::uint16_t>(&bytes[offsetof(RecordHeader, size)], order);
  const bool has_size =
      size >= sizeof(RecordHeader) && size % kWordSize == 0 && size <= bytes.size();
  const bool is_plain = type == RecordType::kFinishedRound ||
                        (IsKnown(type) && std::to_underlying(type) < kFirstToolType);
  if (!has_size || !is_plain) return {};
  return size;
}

bool LooksLikeRecords(Bytes bytes, std::endian order) {
  for (int i = 0; i < kFollowing && !bytes.empty(); ++i) {
    const std::optional<std::uint64_t> size = PlausibleSize(bytes, order);
    if (!size) return false;
    bytes = bytes.subspan(*size);
  }
  return true;
}

// The first offset in `data` at or after `from`, rounded down to a word, at which records seem to
// begin. Nothing if the search finds none.
std::optional<std::uint64_t> FindRecord(Bytes data, std::uint64_t from, std::endian order) {
  const std::uint64_t end = std::min<std::uint64_t>(data.size(), from + kLongestSearch);
  for (std::uint64_t at = from / kWordSize * kWordSize; at < end; at += kWordSize) {
    if (LooksLikeRecords(data.subspan(at), order)) return at;
  }
  return {};
}

}  // namespace

std::vector<std::uint64_t> GuessRangeStarts(const Reader& reader, std::size_t count) {
  std::vector<std::uint64_t> starts = {reader.data_offset()};
  if (reader.is_stream() || reader.further_files() > 0) return starts;
  const Bytes data = reader.file().subspan(reader.data_offset(), reader.data_size());
  const std::uint64_t size =
      std::max(kShortestRange, data.size() / std::max<std::size_t>(count, 1));
  for (std::uint64_t at = size; at + kShortestRange < data.size(); at += size) {
    const std::optional<std::uint64_t> found = FindRecord(data, at, reader.order());
    const std::uint64_t start = reader.data_offset() + found.value_or(0);
    if (found && start > starts.back()) starts.push_back(start);
  }
  return starts;
}

}  // namespace perftape::perfdata

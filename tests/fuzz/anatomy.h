// SPDX-License-Identifier: Apache-2.0
// A perf.data taken apart: what stands before the records, the records one by one, what stands
// behind them. A mutation changes one of these; put together again, the header's size of the data
// and the offsets of the feature sections are right for what there is now. So a reader does not
// stop at the first changed length, and damage reaches what lies deeper.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/header.h"

namespace perftape::fuzz {

using Buffer = std::vector<std::byte>;

struct Anatomy {
  perfdata::Container container = perfdata::Container::kFile;
  std::endian order = std::endian::native;
  Buffer head;                  // header, ids, attributes; of a pipe, its 16 bytes
  std::vector<Buffer> records;  // each with the bytes behind it that its size does not count
  Buffer torn;                  // the rest of the data, where no whole record follows
  Buffer tail;                  // behind the data: the feature table and its sections
  std::uint64_t data_size = 0;  // as it was, which the offsets in `head` and `tail` go by
};

// Nothing where `file` is no perf.data, or its data does not lie behind its header.
std::optional<Anatomy> Dissect(Bytes file);

// The file again: what was dissected and not changed comes out as it was, but that data.size is
// that of the data which is there.
Buffer Assemble(const Anatomy& anatomy);

// Where a file's header tells of its sections (struct perf_file_header).
inline constexpr std::size_t kAttrSizeField = 16, kAttrsField = 24, kDataField = 40,
                             kFeaturesField = 72;

// A field in the file's byte order; `at` must leave room for it.
template <FixedField T>
T Load(const Buffer& bytes, std::size_t at, std::endian order) {
  return LoadFixed<T>(bytes.data() + at, order);
}
template <FixedField T>
void Store(Buffer& bytes, std::size_t at, T value, std::endian order) {
  const T stored = LoadFixed<T>(reinterpret_cast<const std::byte*>(&value), order);
  std::memcpy(bytes.data() + at, &stored, sizeof stored);
}

perfdata::RecordType TypeOf(const Buffer& record, std::endian order);
// Makes the size in the record's header, and in its payload that of what is behind it, agree with
// its bytes, of which `behind` are not counted. Cuts or pads what no record can hold.
void MendSizes(Buffer& record, std::size_t behind, std::endian order);
// How many bytes lie behind the record.
std::size_t BytesBehind(const Buffer& record, std::endian order);

}  // namespace perftape::fuzz

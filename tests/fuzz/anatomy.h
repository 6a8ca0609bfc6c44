// SPDX-License-Identifier: Apache-2.0
// Splits a perf.data into the bytes before the records, the records, and the bytes after them. A
// mutation changes one of these. The reassembled file has the right size of the data and the right
// offsets of feature sections. So a reader does not stop at the first changed length, and damage
// reaches deeper code.
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
inline constexpr std::size_t kHeaderSize = sizeof(perfdata::RecordHeader);

struct Anatomy {
  perfdata::Container container = perfdata::Container::kFile;
  std::endian order = std::endian::native;
  Buffer head;                  // header, ids, attributes; of a pipe, its 16 bytes
  std::vector<Buffer> records;  // each with the bytes after it that its size does not count
  Buffer torn;                  // the rest of the data, if no whole record follows
  Buffer tail;                  // behind the data: the feature table and its sections
  std::uint64_t data_size = 0;  // the old size, for the offsets in `head` and `tail`
};

// Nothing if `file` is no perf.data, or if its data is not behind its header.
std::optional<Anatomy> Dissect(Bytes file);

// Returns the file. Unchanged parts are equal to the original, except data.size, which is that of
// the present data.
Buffer Assemble(const Anatomy& anatomy);

// Offsets of the fields of a file's header that locate its sections (struct perf_file_header).
inline constexpr std::size_t kAttrSizeField = 16, kAttrsField = 24, kDataField = 40,
                             kFeaturesField = 72;

// A field in the file's byte order; `at` must leave enough bytes for it.
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
// Corrects the size in the record's header, and in its payload the size of the bytes after it.
// `behind` bytes are not counted in the header. Truncates or pads a record of an impossible size.
void CorrectSizes(Buffer& record, std::size_t behind, std::endian order);
// Returns the number of bytes after the record that belong to it.
std::size_t BytesBehind(const Buffer& record, std::endian order);

}  // namespace perftape::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/anatomy.h"

#include <algorithm>
#include <string>

#include "formats/perfdata/record_cursor.h"

namespace perftape::fuzz {
namespace {

using perfdata::Compressed;
using perfdata::Container;
using perfdata::FileHeader;
using perfdata::RecordCursor;
using perfdata::RecordType;

Buffer Copy(Bytes bytes) {
  return {bytes.begin(), bytes.end()};
}

void Append(Buffer& to, const Buffer& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void TakeRecords(Bytes data, Anatomy& anatomy) {
  RecordCursor cursor(data, 0, anatomy.order, Compressed::kStepOver);
  std::size_t taken = 0;
  while (true) {
    const auto record = cursor.Next();
    if (!record || !*record) break;
    const std::size_t size = (*record)->size() + (*record)->appended.size();
    anatomy.records.push_back(Copy(data.subspan(taken, size)));
    taken += size;
  }
  anatomy.torn = Copy(data.subspan(taken));
}

// Adds the growth of the data to an offset, if it points behind the data.
void Shift(Buffer& bytes, std::size_t at, const Anatomy& anatomy, std::uint64_t growth) {
  if (at + sizeof(std::uint64_t) > bytes.size()) return;
  const auto offset = Load<std::uint64_t>(bytes, at, anatomy.order);
  if (offset < anatomy.head.size() + anatomy.data_size) return;
  Store<std::uint64_t>(bytes, at, offset + growth, anatomy.order);
}

}  // namespace

std::optional<Anatomy> Dissect(Bytes file) {
  const auto preamble = perfdata::ReadPreamble(file);
  if (!preamble) return {};
  Anatomy anatomy;
  anatomy.container = preamble->container;
  anatomy.order = preamble->order;
  Bytes data;
  if (preamble->container == Container::kPipe) {
    anatomy.head = Copy(file.first(FileHeader::kPipeSize));
    data = file.subspan(FileHeader::kPipeSize);
  } else {
    std::vector<std::string> ignored;
    const auto header = perfdata::ReadFileHeader(file, preamble->order, ignored);
    if (!header || file.size() < FileHeader::kSize) return {};
    if (header->data.offset < FileHeader::kSize || header->data.offset > file.size()) return {};
    anatomy.head = Copy(file.first(header->data.offset));
    const std::size_t there = file.size() - header->data.offset;
    const std::size_t size = std::min<std::uint64_t>(header->data.size, there);
    data = file.subspan(header->data.offset, size == 0 ? there : size);
    anatomy.tail = Copy(file.subspan(header->data.offset + data.size()));
  }
  anatomy.data_size = data.size();
  TakeRecords(data, anatomy);
  return anatomy;
}

Buffer Assemble(const Anatomy& anatomy) {
  Buffer file = anatomy.head;
  for (const Buffer& record : anatomy.records) Append(file, record);
  Append(file, anatomy.torn);
  if (anatomy.container == Container::kPipe) return file;

  const std::uint64_t size = file.size() - anatomy.head.size();
  const std::uint64_t growth = size - anatomy.data_size;  // wraps if the data shrank
  Shift(file, kAttrsField, anatomy, growth);
  Store<std::uint64_t>(file, kDataField + 8, size, anatomy.order);
  Buffer tail = anatomy.tail;
  std::size_t sections = 0;
  for (std::size_t word = 0; word < perfdata::kFeatureBits / 64; ++word) {
    const auto bits = Load<std::uint64_t>(file, kFeaturesField + word * 8, anatomy.order);
    sections += static_cast<std::size_t>(std::popcount(bits));
  }
  for (std::size_t i = 0; i < sections; ++i) Shift(tail, i * 16, anatomy, growth);
  Append(file, tail);
  return file;
}

RecordType TypeOf(const Buffer& record, std::endian order) {
  return Load<RecordType>(record, 0, order);
}

std::size_t BytesBehind(const Buffer& record, std::endian order) {
  return record.size() - Load<std::uint16_t>(record, 6, order);
}

void CorrectSizes(Buffer& record, std::size_t behind, std::endian order) {
  if (record.size() < kHeaderSize + behind) record.resize(kHeaderSize + behind);
  const RecordType type = TypeOf(record, order);
  std::size_t own = record.size() - behind;
  const bool has_size_field = own >= kHeaderSize + sizeof(std::uint64_t);
  const bool counts_behind = (type == RecordType::kAuxtrace && has_size_field) ||
                             (type == RecordType::kHeaderTracingData &&
                              own == kHeaderSize + sizeof(std::uint64_t) && behind % 8 == 0);
  if (!counts_behind) own += std::exchange(behind, 0);
  if (own > perfdata::kMaxRecordSize) {
    own = perfdata::kMaxRecordSize;
    behind = 0;
    record.resize(own);
  }
  Store<std::uint16_t>(record, 6, static_cast<std::uint16_t>(own), order);
  if (type == RecordType::kAuxtrace && own >= kHeaderSize + sizeof(std::uint64_t)) {
    Store<std::uint64_t>(record, kHeaderSize, behind, order);
  }
  if (type == RecordType::kHeaderTracingData && own >= kHeaderSize + 4) {
    Store<std::uint32_t>(record, kHeaderSize, static_cast<std::uint32_t>(behind), order);
  }
}

}  // namespace perftape::fuzz

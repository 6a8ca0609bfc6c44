// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/transcode.h"

#include <fmt/core.h>

#include <bit>
#include <utility>

namespace perftape::perfdata {
namespace {

bool HasSameShape(const SampleFormat& a, const SampleFormat& b) {
  return a.sample_type == b.sample_type && a.read_format == b.read_format &&
         a.branch_sample_type == b.branch_sample_type && a.regs_user_mask == b.regs_user_mask &&
         a.regs_intr_mask == b.regs_intr_mask && a.sample_id_all == b.sample_id_all &&
         a.simd_regs == b.simd_regs;
}

// Whether a record of this type may be padded. COMPRESSED contains a part of a zstd stream, and the
// data after TRACING_DATA must follow directly.
bool MayBePadded(RecordType type) {
  return type != RecordType::kCompressed && type != RecordType::kHeaderTracingData;
}

Status CopyVerbatim(const RecordView& record, std::vector<std::byte>& out) {
  const std::size_t padding = MayBePadded(record.type) ? -record.size() % 8 : 0;
  const std::size_t size = record.size() + padding;
  if (size > kMaxRecordSize + 7) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("record at {}: {} of {} bytes is too large to be padded",
                            PositionOf(record), RecordName(record.type), record.size()));
  }
  ByteWriter at(out);
  at.Fixed(record.type);
  at.Fixed(record.misc);
  at.Fixed(static_cast<std::uint16_t>(size));
  at.Blob(record.payload, record.payload.size() + padding);
  return {};
}

// Keeps the words of the registers in `kept`, of those in `mask`.
WordArray KeepRegisters(const WordArray& registers, std::uint64_t mask, std::uint64_t kept,
                        std::vector<std::uint64_t>& words) {
  std::size_t next = 0;
  for (; mask != 0 && next < registers.size(); mask &= mask - 1) {
    const std::uint64_t word = registers[next++];
    if ((mask & -mask & kept) != 0) words.push_back(word);
  }
  return WordArray(words);
}

std::unexpected<Error> Unknown(const RecordView& record) {
  return Fail(ErrorCode::kUnsupported,
              fmt::format("record at {}: cannot convert the byte order of {}: unknown layout",
                          PositionOf(record), RecordName(record.type)));
}

// Decodes and encodes the record. A record whose type has no struct is copied if it is in native
// order.
Status EncodeAgain(const RecordView& record, const SampleFormat& from, const SampleFormat& to,
                   std::vector<std::byte>& out) {
  Status status;
  const bool has_value =
      VisitRecordType(record.type, [&]<class Record>(std::type_identity<Record>) {
        const Result<Record> value = Decode<Record>(record, from);
        status = value ? Encode(*value, DecodeSampleId(record, from), to, record.misc, out)
                       : Status(std::unexpected(value.error()));
      });
  if (has_value) return status;
  if (record.order == std::endian::native) return CopyVerbatim(record, out);
  return Unknown(record);
}

}  // namespace

Status EncodeSampleFor(Sample sample, const SampleFormat& from, const SampleFormat& to,
                       std::uint16_t misc, std::vector<std::byte>& out) {
  std::vector<std::uint64_t> user, intr;
  if (from.regs_user_mask != to.regs_user_mask) {
    sample.regs_user =
        KeepRegisters(sample.regs_user, from.regs_user_mask, to.regs_user_mask, user);
  }
  if (from.regs_intr_mask != to.regs_intr_mask) {
    sample.regs_intr =
        KeepRegisters(sample.regs_intr, from.regs_intr_mask, to.regs_intr_mask, intr);
  }
  if (from.simd_regs && !to.simd_regs) {
    sample.regs_user_abi &= ~kRegsAbiSimd;
    sample.regs_intr_abi &= ~kRegsAbiSimd;
    sample.regs_user_simd = sample.regs_intr_simd = {};
  }
  return EncodeSample(sample, to, misc, out);
}

Status Transcode(const RecordView& record, const SampleFormat* format, const SampleFormat* target,
                 std::vector<std::byte>& out) {
  const bool is_kernel_record = std::to_underlying(record.type) < kFirstToolType;
  if (format == nullptr && is_kernel_record) {
    return record.order == std::endian::native ? CopyVerbatim(record, out) : Unknown(record);
  }
  static const SampleFormat kNoFormat;
  const SampleFormat& from = format == nullptr ? kNoFormat : *format;
  const SampleFormat& to = target == nullptr ? from : *target;
  const bool is_native = record.order == std::endian::native;
  if (is_native && HasSameShape(from, to)) return CopyVerbatim(record, out);
  if (record.type != RecordType::kSample) return EncodeAgain(record, from, to, out);
  TRY_ASSIGN(const Sample sample, DecodeSample(record, from));
  return EncodeSampleFor(sample, from, to, record.misc, out);
}

}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/transcode.h"

#include <fmt/format.h>

#include <bit>
#include <optional>
#include <utility>

namespace perftape::perfdata {
namespace {

bool HasSameShape(const SampleFormat& a, const SampleFormat& b) {
  return a.sample_type == b.sample_type && a.read_format == b.read_format &&
         a.branch_sample_type == b.branch_sample_type && a.regs_user_mask == b.regs_user_mask &&
         a.regs_intr_mask == b.regs_intr_mask && a.sample_id_all == b.sample_id_all;
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

// The chain without PERF_CONTEXT_USER_DEFERRED and the cookie at its end. Nothing if it does not
// end in these.
std::optional<WordArray> WithoutDeferred(const WordArray& chain) {
  const std::size_t size = chain.size();
  if (size < 2 || chain[size - 2] != kContextUserDeferred) return std::nullopt;
  return WordArray(chain.bytes().first((size - 2) * sizeof(std::uint64_t)), chain.order());
}

bool HasDeferredChain(const RecordView& record, const SampleFormat& format) {
  if (!format.Has(kCallchain)) return false;
  const Result<Sample> sample = DecodeSample(record, format);
  return sample && WithoutDeferred(sample->callchain);
}

// Whether the bytes of the record can be copied.
bool CanCopy(const RecordView& record, const SampleFormat& from, const SampleFormat& to,
             DeferredChains chains) {
  if (record.order != std::endian::native || !HasSameShape(from, to)) return false;
  return record.type != RecordType::kSample || chains == DeferredChains::kKeep ||
         !HasDeferredChain(record, from);
}

Status EncodeSampleAgain(const RecordView& record, const SampleFormat& from, const SampleFormat& to,
                         DeferredChains chains, std::vector<std::byte>& out) {
  TRY_ASSIGN(Sample sample, DecodeSample(record, from));
  if (chains == DeferredChains::kCut) {
    if (const auto cut = WithoutDeferred(sample.callchain)) sample.callchain = *cut;
  }
  return EncodeSample(sample, to, record.misc, out);
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

Status Transcode(const RecordView& record, const SampleFormat* format, const RecordTarget& target,
                 std::vector<std::byte>& out) {
  const bool is_kernel_record = std::to_underlying(record.type) < kFirstToolType;
  if (format == nullptr && is_kernel_record) {
    return record.order == std::endian::native ? CopyVerbatim(record, out) : Unknown(record);
  }
  static const SampleFormat kNone;
  const SampleFormat& from = format == nullptr ? kNone : *format;
  const SampleFormat& to = target.format == nullptr ? from : *target.format;
  if (CanCopy(record, from, to, target.deferred_chains)) return CopyVerbatim(record, out);
  if (record.type != RecordType::kSample) return EncodeAgain(record, from, to, out);
  return EncodeSampleAgain(record, from, to, target.deferred_chains, out);
}

}  // namespace perftape::perfdata

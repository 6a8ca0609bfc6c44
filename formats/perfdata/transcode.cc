// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/transcode.h"

#include <fmt/format.h>

#include <bit>
#include <optional>

namespace perftape::perfdata {
namespace {

bool HasSameShape(const SampleFormat& a, const SampleFormat& b) {
  return a.sample_type == b.sample_type && a.read_format == b.read_format &&
         a.branch_sample_type == b.branch_sample_type && a.regs_user_mask == b.regs_user_mask &&
         a.regs_intr_mask == b.regs_intr_mask && a.sample_id_all == b.sample_id_all;
}

// Whether a record's bytes stay what they are where words follow: those of COMPRESSED are a part of
// a stream, and TRACING_DATA's are followed by what its reader takes.
bool MayBePadded(RecordType type) {
  return type != RecordType::kCompressed && type != RecordType::kHeaderTracingData;
}

Status CopyVerbatim(const RecordView& record, std::vector<std::byte>& out) {
  const std::size_t padding = MayBePadded(record.type) ? -record.size() % 8 : 0;
  const std::size_t size = record.size() + padding;
  if (size > kMaxRecordSize + 7) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("record at {}: {} of {} bytes cannot be padded", PlaceOf(record),
                            RecordName(record.type), record.size()));
  }
  ByteWriter at(out);
  at.Fixed(record.type);
  at.Fixed(record.misc);
  at.Fixed(static_cast<std::uint16_t>(size));
  at.Blob(record.payload, record.payload.size() + padding);
  return {};
}

// Where the chain ends in PERF_CONTEXT_USER_DEFERRED and a cookie, it without them.
std::optional<WordArray> WithoutDeferred(const WordArray& chain) {
  const std::size_t size = chain.size();
  if (size < 2 || chain[size - 2] != kContextUserDeferred) return std::nullopt;
  return WordArray(chain.bytes().first((size - 2) * sizeof(std::uint64_t)), chain.order());
}

Status TranscodeSample(const RecordView& record, const SampleFormat& format,
                       const RecordTarget& target, std::vector<std::byte>& out) {
  TRY_ASSIGN(Sample sample, DecodeSample(record, format));
  if (target.deferred_chains == DeferredChains::kCut) {
    if (const auto cut = WithoutDeferred(sample.callchain)) sample.callchain = *cut;
  }
  return EncodeSample(sample, target.format, record.misc, out);
}

bool HasDeferredChain(const RecordView& record, const SampleFormat& format) {
  if (!format.Has(kCallchain)) return false;
  const Result<Sample> sample = DecodeSample(record, format);
  return sample && WithoutDeferred(sample->callchain);
}

}  // namespace

Status Transcode(const RecordView& record, const SampleFormat& format, const RecordTarget& target,
                 std::vector<std::byte>& out) {
  const bool is_native = record.order == std::endian::native;
  const bool stays = is_native && HasSameShape(format, target.format);
  if (record.type == RecordType::kSample) {
    const bool is_cut =
        stays && target.deferred_chains == DeferredChains::kCut && HasDeferredChain(record, format);
    return stays && !is_cut ? CopyVerbatim(record, out)
                            : TranscodeSample(record, format, target, out);
  }
  if (stays) return CopyVerbatim(record, out);
  Status status;
  const bool has_value =
      VisitRecordType(record.type, [&]<class Record>(std::type_identity<Record>) {
        const Result<Record> value = Decode<Record>(record, format);
        status =
            value ? Encode(*value, DecodeSampleId(record, format), target.format, record.misc, out)
                  : Status(std::unexpected(value.error()));
      });
  if (has_value) return status;
  if (is_native) return CopyVerbatim(record, out);
  return Fail(ErrorCode::kUnsupported,
              fmt::format("record at {}: it is not known how the bytes of {} are ordered",
                          PlaceOf(record), RecordName(record.type)));
}

}  // namespace perftape::perfdata

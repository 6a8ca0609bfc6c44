// SPDX-License-Identifier: Apache-2.0
// A decoded record must encode, and the result must decode and encode to the same bytes. The first
// encoding may differ from the file in byte order or padding.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {
namespace {

using Buffer = std::vector<std::byte>;

// Encodes in native order; empty if the result is too large for a record.
template <class Record>
Buffer EncodeAgain(const RecordView& view, const Record& value, const SampleFormat& format) {
  Buffer out;
  Status encoded;
  if constexpr (std::is_same_v<Record, Sample>) {
    encoded = EncodeSample(value, format, view.misc, out);
  } else {
    encoded = Encode(value, DecodeSampleId(view, format), format, view.misc, out);
  }
  if (!encoded && !out.empty()) std::abort();
  return out;
}

template <class Record>
Result<Record> DecodeAs(const RecordView& view, const SampleFormat& format) {
  if constexpr (std::is_same_v<Record, Sample>) {
    return DecodeSample(view, format);
  } else {
    return Decode<Record>(view, format);
  }
}

template <class Record>
void RoundTrip(const RecordView& view, const SampleFormat& format) {
  if (view.type != Record::kType) return;
  const Result<Record> value = DecodeAs<Record>(view, format);
  if (!value) return;
  const Buffer first = EncodeAgain(view, *value, format);
  if (first.empty()) return;

  // Does not use a cursor, which needs the bytes after an AUXTRACE or TRACING_DATA.
  RecordHeader header = {};
  std::memcpy(&header, first.data(), sizeof header);
  if (header.type != view.type || header.size != first.size()) std::abort();
  RecordView again = view;
  again.payload = Bytes(first).subspan(sizeof header);
  again.order = std::endian::native;
  const Result<Record> same = DecodeAs<Record>(again, format);
  if (!same || EncodeAgain(again, *same, format) != first) std::abort();
}

void RoundTripRecords(const Reader& reader) {
  RecordCursor cursor = reader.records();
  while (true) {
    const Result<std::optional<RecordView>> record = cursor.Next();
    if (!record || !*record) return;
    const Event* event = reader.events().EventOf(**record);
    if (event == nullptr) continue;
    if ((*record)->type == RecordType::kSample) RoundTrip<Sample>(**record, event->format);
    VisitRecordType((*record)->type, [&]<class Record>(std::type_identity<Record>) {
      RoundTrip<Record>(**record, event->format);
    });
  }
}

void RoundTripAttrs(const Reader& reader) {
  for (const Event& event : reader.events().all()) {
    Buffer first;
    EncodeAttr(event.attr, first);
    const Result<EventAttr> again = DecodeAttr(first, std::endian::native);
    if (!again) std::abort();
    Buffer second;
    EncodeAttr(*again, second);
    if (first != second) std::abort();
  }
}

void RoundTripFeatures(const Reader& reader) {
  const std::optional<FeatureValue> cpus = reader.DecodedFeature(FeatureBit::kNrCpus);
  const NrCpus* count = cpus ? std::get_if<NrCpus>(&*cpus) : nullptr;
  for (const auto& [bit, section] : reader.features()) {
    const std::optional<FeatureValue> value = reader.DecodedFeature(bit);
    if (!value) continue;
    Buffer first;
    EncodeFeature(*value, first);
    const Result<FeatureValue> again =
        DecodeFeature(bit, first, std::endian::native, count != nullptr ? count->available : 0);
    if (!again) std::abort();
    Buffer second;
    EncodeFeature(*again, second);
    if (first != second) std::abort();
  }
}

}  // namespace
}  // namespace perftape::perfdata

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perftape::perfdata;
  const auto reader = Reader::FromBytes(std::as_bytes(std::span(data, size)));
  if (!reader) return 0;
  RoundTripAttrs(*reader);
  RoundTripFeatures(*reader);
  RoundTripRecords(*reader);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/visit_fields.h"

#include <optional>
#include <utility>
#include <variant>

#include "formats/perfdata/feature_layout.h"
#include "formats/perfdata/field_cursor.h"
#include "formats/perfdata/kernel_layout.h"
#include "formats/perfdata/tool_layout.h"

namespace perftape::perfdata {
namespace {

void VisitTrailer(const RecordView& record, const SampleFormat& format, FieldVisitor& to) {
  if (format.trailer_size() == 0) return;
  const SampleId trailer = DecodeSampleId(record, format);
  to.Trailer();
  FieldCursor at(to);
  TrailerLayout(at, trailer, format);
}

void VisitSample(const RecordView& record, const Event* event, FieldVisitor& to) {
  const Result<Sample> sample =
      DecodeSample(record, event == nullptr ? SampleFormat{} : event->format);
  if (event == nullptr || !sample) {
    to.Remark(event == nullptr ? "of no known event" : "cut off");
    to.Blob("payload", record.payload);
    return;
  }
  to.Word("event", event->name);
  FieldCursor at(to);
  SampleLayout(at, *sample, event->format);
  if (event->tracepoint) VisitTracepointFields(*event->tracepoint, sample->raw, to);
}

void VisitValue(std::string_view name, const FieldValue& value, FieldVisitor& to) {
  switch (value.content) {
    case TracepointField::Content::kSigned:
      return to.Signed(name, static_cast<std::int64_t>(value.number));
    case TracepointField::Content::kUnsigned:
      return to.Number(name, value.number);
    case TracepointField::Content::kHex:
      return to.Hex(name, value.number);
    case TracepointField::Content::kText:
      return to.Text(name, value.text);
    case TracepointField::Content::kArray:
      return to.Words(name, value.Elements());
  }
}

template <class Record>
void VisitTyped(const RecordView& record, const SampleFormat& format, FieldVisitor& to) {
  const Result<Record> value = Decode<Record>(record, format);
  if (value) {
    FieldCursor at(to);
    Layout(at, *value, RecordShape{record.misc, format});
  } else {
    to.Remark("cut off");
    to.Blob("payload", record.payload);
  }
}

}  // namespace

void VisitTracepointFields(const TracepointFormat& format, Bytes raw, FieldVisitor& to) {
  bool is_open = false;
  for (const TracepointField& field : format.fields) {
    if (field.is_common()) continue;
    const std::optional<FieldValue> value = ValueOf(field, raw, format.order);
    if (!value) continue;
    if (!std::exchange(is_open, true)) to.OpenGroup("fields");
    VisitValue(field.name, *value, to);
  }
  if (is_open) to.CloseGroup();
}

void VisitFields(const RecordView& record, const EventTable& events, FieldVisitor& to) {
  const Event* event = events.EventOf(record);
  if (record.type == RecordType::kSample) return VisitSample(record, event, to);
  const bool is_tool_record = std::to_underlying(record.type) >= kFirstToolType;
  const SampleFormat format = event == nullptr || is_tool_record ? SampleFormat{} : event->format;
  const bool is_typed = VisitRecordType(record.type, [&]<class Record>(std::type_identity<Record>) {
    VisitTyped<Record>(record, format, to);
  });
  if (!is_typed) to.Blob("payload", record.payload);
  VisitTrailer(record, format, to);
}

void VisitFeatureFields(const FeatureValue& value, std::endian order, FieldVisitor& to) {
  std::visit(
      [&](const auto& feature) {
        FieldCursor at(to, order);
        AnyFeatureLayout(at, feature, 0);
      },
      value);
}

}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
#include "formats/pyroscope/push_request.h"

#include <algorithm>
#include <utility>

#include "formats/protobuf/field_writer.h"

namespace perftape::pyroscope {
namespace {

using protobuf::EncodedBytes;

enum class LabelPairField : std::uint8_t { kName = 1, kValue = 2 };
enum class RawSampleField : std::uint8_t { kRawProfile = 1 };
enum class RawProfileSeriesField : std::uint8_t { kLabels = 1, kSamples = 2 };
enum class PushRequestField : std::uint8_t { kSeries = 1 };

struct RawSample {
  EncodedBytes raw_profile = {};
};

struct RawProfileSeries {
  std::vector<LabelPair> labels = {};
  std::vector<RawSample> samples = {};
};

}  // namespace

template <class Visitor>
void Layout(Visitor& field, const LabelPair& message) {
  field(LabelPairField::kName, message.name);
  field(LabelPairField::kValue, message.value);
}

namespace {

template <class Visitor>
void Layout(Visitor& field, const RawSample& message) {
  field(RawSampleField::kRawProfile, message.raw_profile);
}

template <class Visitor>
void Layout(Visitor& field, const RawProfileSeries& message) {
  field(RawProfileSeriesField::kLabels, message.labels);
  field(RawProfileSeriesField::kSamples, message.samples);
}

}  // namespace

std::string EncodePushRequest(const Series& series) {
  const RawProfileSeries message = {.labels = series.labels, .samples = {{{series.pprof}}}};
  std::string encoded;
  protobuf::AppendFields(encoded,
                         [&](auto& fields) { fields.Nested(PushRequestField::kSeries, message); });
  return encoded;
}

std::string ValidName(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_other = [&](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c));
  };
  std::string name(text.empty() || is_digit(text.front()) ? "_" : "");
  name += text;
  std::ranges::replace_if(name, is_other, '_');
  return name;
}

}  // namespace perftape::pyroscope

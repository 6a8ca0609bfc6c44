// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/pipe_features.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "formats/perfdata/record.h"

namespace perftape::rewrite {
namespace {

using perfdata::Feature;
using perfdata::FeatureBit;

// HEADER_FEATURE: { struct perf_event_header header; u64 feat_id; char data[]; }
constexpr std::size_t kMostInARecord = perfdata::kMaxRecordSize - 16;

std::vector<std::byte> SectionOf(const Feature& feature) {
  std::vector<std::byte> section;
  EncodeFeature(feature.value, section);
  return section;
}

// Returns why a pipe cannot contain the feature; empty if it can.
std::string ReasonAgainst(const Feature& feature) {
  // tools/perf/util/header.c, feat_ops: perf report fails at a feature above the last one.
  if (feature.bit == FeatureBit::kAuxtrace) return "its offsets have no meaning in a pipe";
  if (feature.bit > FeatureBit::kMemoryRanges) return "perf does not read this feature from a pipe";
  if (SectionOf(feature).size() > kMostInARecord) return "it does not fit into a record";
  return "";
}

bool IsARecordOfItsOwn(FeatureBit bit) {
  return bit == FeatureBit::kTracingData || bit == FeatureBit::kBuildId;
}

Status AppendTracingData(Bytes section, std::vector<std::byte>& out) {
  const std::size_t padding = -section.size() % 8;
  const auto size = static_cast<std::uint32_t>(section.size() + padding);
  TRY(perfdata::Encode(perfdata::HeaderTracingData{.size = size}, 0, out));
  ByteWriter(out).Blob(section, size);
  return {};
}

Status AppendBuildIds(Bytes section, std::vector<std::byte>& out) {
  TRY_ASSIGN(const perfdata::FeatureValue value,
             perfdata::DecodeFeature(FeatureBit::kBuildId, section, std::endian::native, 0));
  for (const perfdata::BuildIdEntry& entry : std::get<perfdata::BuildIds>(value).entries) {
    const auto misc =
        static_cast<std::uint16_t>(perfdata::MiscOf(entry.mode) | perfdata::kMiscBuildIdSize);
    TRY(perfdata::Encode(
        perfdata::HeaderBuildId{.build_id = entry.build_id, .filename = entry.filename}, misc,
        out));
  }
  return {};
}

}  // namespace

std::vector<Feature> FeaturesOfPipe(std::span<const Feature> features,
                                    std::vector<FeatureOutcome>& outcomes) {
  std::vector<Feature> sent;
  for (const Feature& feature : features) {
    if (IsARecordOfItsOwn(feature.bit)) continue;
    std::string reason = ReasonAgainst(feature);
    if (reason.empty()) {
      sent.push_back(feature);
      continue;
    }
    const auto outcome = std::ranges::find(outcomes, feature.bit, &FeatureOutcome::bit);
    if (outcome != outcomes.end())
      *outcome = {feature.bit, FeatureFate::kLeftOut, std::move(reason)};
  }
  return sent;
}

Result<std::vector<std::byte>> RecordsOfFeatures(std::span<const Feature> features) {
  std::vector<std::byte> records;
  for (const Feature& feature : features) {
    if (feature.bit == FeatureBit::kTracingData)
      TRY(AppendTracingData(SectionOf(feature), records));
    if (feature.bit == FeatureBit::kBuildId) TRY(AppendBuildIds(SectionOf(feature), records));
  }
  return records;
}

}  // namespace perftape::rewrite

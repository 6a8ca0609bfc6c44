// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/stream_checks.h"

#include <gmock/gmock.h>

#include "tests/formats/perfdata/validate/judged.h"

namespace perftape::perfdata {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;

void AddAttr(PerfDataBuilder& file, std::uint64_t id, std::uint32_t stored_size) {
  EventAttr attr;
  attr.sample_type = kIdentifier | kIp | kTid | kTime | kCpu | kPeriod | kCallchain;
  attr.flags = kSampleIdAll;
  std::vector<std::byte> bytes;
  EncodeAttr(attr, bytes);
  ByteWriter(bytes).Fixed(id);
  Put(bytes, 4, stored_size);
  file.AddHeaderOnly(
      {.type = RecordType::kHeaderAttr, .size = static_cast<std::uint16_t>(8 + bytes.size())});
  file.AddRaw(bytes);
}

// Returns a pipe whose first record is a sample.
std::vector<std::byte> PipeWithoutAttrs() {
  PerfDataBuilder file = GoodFile({{}}, Container::kPipe);
  AddGoodSample(file);
  std::vector<std::byte> pipe = file.Build();
  const auto attr_size = Get<std::uint16_t>(pipe, 16 + 6);
  pipe.erase(pipe.begin() + 16, pipe.begin() + 16 + attr_size);
  return pipe;
}

TEST(StreamChecks, ReportASampleBeforeItsAttribute) {
  std::vector<std::byte> pipe = PipeWithoutAttrs();
  PerfDataBuilder late = GoodFile();
  const std::size_t before = late.records().size();
  AddAttr(late, 101, EventAttr::kSize);
  pipe.insert(pipe.end(), late.records().begin() + static_cast<std::ptrdiff_t>(before),
              late.records().end());
  EXPECT_THAT(RulesOf(Judge(pipe)), IsSupersetOf({"pipe-record-before-attr", "pipe-attr-late"}));
}

TEST(StreamChecks, ReportAnAttributeAfterOtherRecords) {
  PerfDataBuilder file = GoodFile({{}}, Container::kPipe);
  AddAttr(file, 102, EventAttr::kSize);
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), Contains("pipe-attr-late"));
  EXPECT_EQ(report.broken(), Readers::kSamply);
}

TEST(StreamChecks, ReportAnAttributeLongerThanItsRecord) {
  PerfDataBuilder file = GoodFile({{}}, Container::kPipe);
  AddAttr(file, 102, 60000);
  EXPECT_THAT(RulesOf(Judge(file)), Contains("pipe-attr-undecodable"));
}

TEST(StreamChecks, ReportAFeatureUnknownToPerfReport) {
  PerfDataBuilder file = GoodFile({{}}, Container::kPipe);
  file.AddFeature(static_cast<FeatureBit>(33), RawFeature{std::vector<std::byte>(8)});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("pipe-feature-unknown"));
}

TEST(StreamChecks, AcceptTheEndMarkOfFeatures) {
  PerfDataBuilder file = GoodFile({{}}, Container::kPipe);
  file.Add(HeaderFeature{.bit = 32});
  EXPECT_THAT(RulesOf(Judge(file)), IsEmpty());
  file.Add(HeaderFeature{.bit = 35});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("pipe-feature-unknown"));
}

TEST(StreamChecks, ReportAnIndexWithAnUnknownId) {
  PerfDataBuilder file = GoodFile();
  const std::vector<std::uint64_t> known = {101, 0, 0, 7}, unknown = {999, 0, 0, 7};
  file.Add(IdIndex{WordArray(known)});
  EXPECT_THAT(RulesOf(Judge(file)), IsEmpty());
  file.Add(IdIndex{WordArray(unknown)});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("id-index-unknown"));
}

TEST(StreamChecks, ReportInvalidTracingData) {
  PerfDataBuilder file = GoodFile({{.type = kTypeTracepoint, .config = 300}});
  file.AddFeature(FeatureBit::kTracingData, RawFeature{std::vector<std::byte>(64)});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("tracing-data-undecodable"));
}

// Adds { u64 size, offset, reference; u32 idx, tid, cpu, reserved; } followed by the trace.
void AddAuxtrace(PerfDataBuilder& file) {
  file.AddHeaderOnly({.type = RecordType::kAuxtrace, .size = 48});
  const std::vector<std::uint64_t> words = {16, 0, 0, 0, 0};
  file.AddRaw(std::as_bytes(std::span(words)));
  file.AddRaw(std::vector<std::byte>(16));
}

RawFeature AuxtraceIndex(std::uint64_t offset, std::uint64_t size) {
  RawFeature index;
  ByteWriter at(index.payload);
  for (const std::uint64_t field : {std::uint64_t{1}, offset, size}) at.Fixed(field);
  return index;
}

TEST(StreamChecks, FollowTheIndexOfAuxtrace) {
  PerfDataBuilder file = GoodFile();
  const std::uint64_t offset = Get<std::uint64_t>(file.Build(), 40) + file.records().size();
  AddAuxtrace(file);
  file.AddFeature(FeatureBit::kAuxtrace, AuxtraceIndex(offset, 48));
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("auxtrace-present"));
  EXPECT_EQ(report.broken(), Readers::kHotspot);
}

TEST(StreamChecks, ReportAnIndexWithWrongOffsets) {
  PerfDataBuilder file = GoodFile();
  AddAuxtrace(file);
  file.AddFeature(FeatureBit::kAuxtrace, AuxtraceIndex(8, 48));
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("auxtrace-present", "auxtrace-index"));
}

}  // namespace
}  // namespace perftape::perfdata

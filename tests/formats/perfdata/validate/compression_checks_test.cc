// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/compression_checks.h"

#include <gmock/gmock.h>

#include "tests/formats/perfdata/validate/judged.h"
#include "tests/support/compressed.h"

namespace perftape::perfdata {
namespace {

using testing::Contains;
using testing::ElementsAre;

// { u32 version, type, level, ratio, mmap_len; }
RawFeature Zstd(std::uint32_t type, std::uint32_t mmap_len) {
  RawFeature feature;
  ByteWriter at(feature.payload);
  for (const std::uint32_t field : {0U, type, 1U, 4U, mmap_len}) at.Fixed(field);
  return feature;
}

// Returns ten samples of 88 bytes each.
std::vector<std::byte> TenSamples() {
  PerfDataBuilder file = GoodFile();
  const std::size_t before = file.records().size();
  for (int i = 0; i < 10; ++i) AddGoodSample(file);
  return {file.records().begin() + static_cast<std::ptrdiff_t>(before), file.records().end()};
}

PerfDataBuilder CompressedFile() {
  PerfDataBuilder file = GoodFile();
  file.AddRaw(CompressedRecords(TenSamples(), 60000));
  return file;
}

TEST(CompressionChecks, ListReadersThatCannotDecompress) {
  PerfDataBuilder file = CompressedFile();
  file.AddFeature(FeatureBit::kCompressed, Zstd(1, 528384));
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("compressed-foreign"));
  EXPECT_FALSE(Overlap(report.broken(), kAnyPerf));
}

TEST(CompressionChecks, ReportAMissingFeature) {
  PerfDataBuilder file = CompressedFile();
  EXPECT_THAT(RulesOf(Judge(file)), Contains("compressed-without-feature"));
}

TEST(CompressionChecks, ReportAnUnknownMethod) {
  PerfDataBuilder file = CompressedFile();
  file.AddFeature(FeatureBit::kCompressed, Zstd(99, 528384));
  EXPECT_THAT(RulesOf(Judge(file)), Contains("compressed-type-unknown"));
}

TEST(CompressionChecks, ReportARecordTooLargeForPerf) {
  PerfDataBuilder file = CompressedFile();
  file.AddFeature(FeatureBit::kCompressed, Zstd(1, 400));
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), Contains("compressed-buffer-small"));
  EXPECT_EQ(report.tally(Rule::kCompressedBufferSmall).count, 1U);
}

TEST(CompressionChecks, ReportAnInvalidFrame) {
  PerfDataBuilder file = GoodFile();
  file.AddRaw(CompressedRecord(AsBytes("no zstd, whatever it says")));
  file.AddFeature(FeatureBit::kCompressed, Zstd(1, 528384));
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), Contains("compressed-damaged"));
  EXPECT_EQ(report.broken(), kEveryReader);
}

}  // namespace
}  // namespace perftape::perfdata

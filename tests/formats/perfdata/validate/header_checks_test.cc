// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "formats/perfdata/validate/checks.h"
#include "tests/formats/perfdata/validate/judged.h"

namespace perftape::perfdata {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// Offsets in struct perf_file_header.
constexpr std::uint64_t kHeaderSizeAt = 8, kAttrSizeAt = 16, kAttrsOffsetAt = 24, kAttrsSizeAt = 32,
                        kDataOffsetAt = 40, kDataSizeAt = 48;

std::vector<std::byte> GoodBytes() {
  PerfDataBuilder file = GoodFile();
  AddGoodSample(file);
  return file.Build();
}

std::uint64_t AttrsOffset(const std::vector<std::byte>& file) {
  return Get<std::uint64_t>(file, kAttrsOffsetAt);
}

TEST(HeaderChecks, ReportTheFirstVersion) {
  std::vector<std::byte> file = GoodBytes();
  std::memcpy(file.data(), "PERFFILE", 8);
  const Report report = Judge(file);
  // No version of perf with that magic wrote 128 bytes.
  EXPECT_THAT(RulesOf(report), ElementsAre("header-version-1", "header-version-1-attr-size"));
  EXPECT_TRUE(Overlap(report.broken(), Readers::kPerf61));
}

TEST(HeaderChecks, ReportThatPerfReadsTheFirstVersion) {
  PerfDataBuilder builder = GoodFile({{.attr_size = 104}});
  AddGoodSample(builder);
  std::vector<std::byte> file = builder.Build();
  std::memcpy(file.data(), "PERFFILE", 8);
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("header-version-1"));
  EXPECT_FALSE(Overlap(report.broken(), kAnyPerf));
}

TEST(HeaderChecks, ReportAHeaderOfAnotherSize) {
  std::vector<std::byte> file = GoodBytes();
  Put<std::uint64_t>(file, kHeaderSizeAt, 96);
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("header-size"));
}

TEST(HeaderChecks, ReportEntriesOfAnotherSizeThanTheirAttribute) {
  std::vector<std::byte> file = GoodBytes();
  Put<std::uint32_t>(file, AttrsOffset(file) + 4, 96);
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("header-attr-size"));
  EXPECT_EQ(report.InFileOrder().at(0).offset, AttrsOffset(file) + 4);
}

TEST(HeaderChecks, ReportAnImpossibleEntrySize) {
  std::vector<std::byte> file = GoodBytes();
  Put<std::uint64_t>(file, kAttrSizeAt, 8);
  EXPECT_THAT(RulesOf(Judge(file)), Contains("header-attr-size"));
  Put<std::uint64_t>(file, kAttrSizeAt, std::uint64_t{1} << 40);
  EXPECT_THAT(RulesOf(Judge(file)), Contains("header-attr-size"));
}

TEST(HeaderChecks, ReportAttributesBehindTheEnd) {
  std::vector<std::byte> file = GoodBytes();
  Put<std::uint64_t>(file, kAttrsOffsetAt, std::uint64_t{1} << 50);
  EXPECT_THAT(RulesOf(Judge(file)), Contains("header-attrs-outside"));
}

TEST(HeaderChecks, ReportARecordingThatWasKilled) {
  std::vector<std::byte> file = GoodBytes();
  Put<std::uint64_t>(file, kDataSizeAt, 0);
  EXPECT_THAT(RulesOf(Judge(file)), Contains("header-data-empty"));
}

TEST(HeaderChecks, ReportDataBehindTheEnd) {
  std::vector<std::byte> file = GoodBytes();
  Put<std::uint64_t>(file, kDataSizeAt, std::uint64_t{1} << 62);
  EXPECT_THAT(RulesOf(Judge(file)), Contains("header-data-outside"));
}

TEST(HeaderChecks, ReportSectionsThatOverlap) {
  std::vector<std::byte> file = GoodBytes();
  Put<std::uint64_t>(file, kDataOffsetAt, Get<std::uint64_t>(file, kDataOffsetAt) - 8);
  EXPECT_THAT(RulesOf(Judge(file)), Contains("header-overlap"));
}

TEST(HeaderChecks, ReportRecordsAtAnUnalignedOffset) {
  std::vector<std::byte> file = GoodBytes();
  // Adds a gap of four bytes between attributes and records, and moves the features.
  const auto data = Get<std::uint64_t>(file, kDataOffsetAt);
  const auto size = Get<std::uint64_t>(file, kDataSizeAt);
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(data), 4, std::byte{0});
  Put<std::uint64_t>(file, kDataOffsetAt, data + 4);
  for (std::uint64_t entry = data + 4 + size, i = 0; i < 7; ++i, entry += 16) {
    Put<std::uint64_t>(file, entry, Get<std::uint64_t>(file, entry) + 4);
  }
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("header-data-unaligned"));
}

TEST(HeaderChecks, ReportBytesBehindTheLastSection) {
  std::vector<std::byte> file = GoodBytes();
  const std::size_t end = file.size();
  file.resize(end + 100);
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("header-trailing-bytes"));
  EXPECT_EQ(report.InFileOrder().at(0).offset, end);
  EXPECT_TRUE(report.is_clean());
}

TEST(HeaderChecks, AcceptAttributesBehindTheData) {
  std::vector<std::byte> file = GoodBytes();
  // As perf inject writes them: attributes, then ids, at the end.
  const std::uint64_t attrs = AttrsOffset(file);
  const auto size = Get<std::uint64_t>(file, kAttrsSizeAt);
  const std::vector<std::byte> copy(file.begin() + static_cast<std::ptrdiff_t>(attrs),
                                    file.begin() + static_cast<std::ptrdiff_t>(attrs + size));
  Put<std::uint64_t>(file, kAttrsOffsetAt, file.size());
  file.insert(file.end(), copy.begin(), copy.end());
  EXPECT_THAT(RulesOf(Judge(file)), IsEmpty());
}

}  // namespace
}  // namespace perftape::perfdata

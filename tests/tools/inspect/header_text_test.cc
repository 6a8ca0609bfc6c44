// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/header_text.h"

#include <gmock/gmock.h>

#include "tests/support/perfdata_builder.h"
#include "tools/inspect/flag_text.h"

namespace perftape::inspect {
namespace {

using perfdata::FeatureBit;
using perfdata::PerfDataBuilder;
using testing::HasSubstr;

TEST(HeaderText, TellsFileFromPipe) {
  PerfDataBuilder file;
  file.AddEvent();
  EXPECT_THAT(HeaderText(file.Open()), HasSubstr("format: perf.data, file, little endian\n"));
  PerfDataBuilder pipe(perfdata::Container::kPipe);
  pipe.AddEvent();
  EXPECT_THAT(HeaderText(pipe.Open()), HasSubstr("format: perf.data, pipe, little endian\n"));
}

TEST(HeaderText, ShowsFeaturesAsText) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddFeature(FeatureBit::kHostname, perfdata::TextFeature{"he\tre"});
  file.AddFeature(FeatureBit::kNrCpus, perfdata::NrCpus{.available = 8, .online = 6});
  file.AddFeature(FeatureBit::kCmdline, perfdata::Cmdline{{"perftape-record", "-a"}});
  file.AddFeature(FeatureBit::kSampleTime, perfdata::SampleTime{1'500'000'000, 2'000'000'001});
  file.AddRound();
  const std::string text = HeaderText(file.Open());
  EXPECT_THAT(text, HasSubstr("\nHOSTNAME: he\\tre\n"));
  EXPECT_THAT(text, HasSubstr("\nNRCPUS: 6 online, 8 available\n"));
  EXPECT_THAT(text, HasSubstr("\nCMDLINE: perftape-record -a\n"));
  EXPECT_THAT(text, HasSubstr("\nSAMPLE_TIME: first 1.500000000 s, last 2.000000001 s\n"));
}

TEST(HeaderSummary, ShowsRateAndFieldsOfEachEvent) {
  PerfDataBuilder file;
  file.AddEvent({.config = perfdata::kSoftwareDummy,
                 .sample_period = 99,
                 .sample_type = perfdata::kIp | perfdata::kTid,
                 .flags = perfdata::kFreq});
  EXPECT_THAT(HeaderSummary(file.Open()), HasSubstr("  dummy:HG: 99 Hz, IP|TID\n"));
}

TEST(AttrFlagsText, ShowsTheTwoBitsOfPreciseIpAsANumber) {
  EXPECT_EQ(AttrFlagsText(perfdata::kInherit | std::uint64_t{2} << 15), "inherit|precise_ip=2");
  EXPECT_EQ(AttrFlagsText(0), "none");
}

TEST(SampleTypeText, ShowsBitsWithoutANameAsANumber) {
  EXPECT_EQ(SampleTypeText(perfdata::kIp | std::uint64_t{1} << 60), "IP|0x1000000000000000");
}

}  // namespace
}  // namespace perftape::inspect

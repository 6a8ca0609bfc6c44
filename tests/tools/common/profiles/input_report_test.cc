// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/input_report.h"

#include <gmock/gmock.h>

namespace perftape::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReadLine, OmitsWhatDidNotHappen) {
  EXPECT_EQ(ReadLine({.samples = 4950, .frames = 80123, .problems = {}}),
            "4950 samples; 80123 frames");
}

TEST(ReadLine, ReportsLosses) {
  EXPECT_EQ(ReadLine({.samples = 9,
                      .lost_samples = 2,
                      .lost_records = 3,
                      .frames = 5,
                      .unmapped_frames = 1,
                      .problems = {}}),
            "9 samples, 2 lost while recording, 3 records lost while recording; 5 frames, 1 of "
            "them in no mapping");
}

TEST(ReadLine, ReportsJitCode) {
  EXPECT_EQ(
      ReadLine({.samples = 9, .frames = 5, .jit_dumps = 1, .jit_functions = 12, .problems = {}}),
      "9 samples; 5 frames; 12 functions of compiled code in 1 jitdump");
}

TEST(DamageLines, AreNoneForASoundInput) {
  EXPECT_THAT(DamageLines({.samples = 9, .lost_samples = 2, .problems = {}}), IsEmpty());
}

TEST(RemarkLines, ReportRemarksThatAreNoDamage) {
  const convert::ImportReport report = {.late_records = 1, .unknown_records = 2, .problems = {}};
  EXPECT_THAT(DamageLines(report), IsEmpty());
  EXPECT_THAT(RemarkLines(report),
              ElementsAre("found after newer records, and sorted by time: 1 record",
                          "of unknown types, skipped: 2 records"));
  EXPECT_THAT(RemarkLines({.problems = {}}), IsEmpty());
}

TEST(DamageLines, ReportAllThatCouldNotBeRead) {
  EXPECT_THAT(
      DamageLines({.skipped_samples = 4,
                   .unknown_events = 3,
                   .first_skipped = "0x1f40",
                   .damaged_records = 2,
                   .problems = {"feature BUILD_ID: cut off"}}),
      ElementsAre(
          "feature BUILD_ID: cut off",
          "4 samples could not be read, the first at 0x1f40; 3 of them have an unknown event",
          "2 records shorter than the size in the header"));
}

}  // namespace
}  // namespace perftape::cli

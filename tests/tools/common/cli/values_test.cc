// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/values.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace perftape::cli {
namespace {

using std::chrono::nanoseconds;
using testing::ElementsAre;

template <class T>
std::string ErrorOf(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}

TEST(ParseNumber, RefusesWhatIsNoWholeNumber) {
  EXPECT_EQ(ParseNumber("-c", "1000"), 1000U);
  for (const char* text : {"", "-1", "+1", "0x10", "1e3", "12 "}) {
    EXPECT_EQ(ErrorOf(ParseNumber("-c", text)),
              "-c: '" + std::string(text) + "' is not a whole number");
  }
}

TEST(ParseNumber, ReportsTheRangeOfNumbers) {
  EXPECT_EQ(ErrorOf(ParseNumber("-F", "0", {.smallest = 1})),
            "-F: 0 is out of range: use at least 1");
  EXPECT_EQ(ErrorOf(ParseNumber("-F", "9", {.smallest = 1, .largest = 8})),
            "-F: 9 is out of range: use 1 to 8");
  EXPECT_EQ(ErrorOf(ParseNumber("-F", "99999999999999999999", {.largest = 8})),
            "-F: 99999999999999999999 is out of range: use 0 to 8");
}

TEST(ParseDuration, CountsSecondsOrUnits) {
  EXPECT_EQ(ParseDuration("--duration", "5"), nanoseconds(5'000'000'000));
  EXPECT_EQ(ParseDuration("--duration", "0.25"), nanoseconds(250'000'000));
  EXPECT_EQ(ParseDuration("--duration", "100ms"), nanoseconds(100'000'000));
}

TEST(ParseDuration, RefusesWhatIsNoTimeToWait) {
  for (const char* text : {"0", "0ms", "-1", "nan", "inf", "1e3", "1x", "", "99999999999"}) {
    EXPECT_EQ(
        ErrorOf(ParseDuration("--duration", text)),
        "--duration: '" + std::string(text) +
            "' is not a time above 0: use a number of seconds, or one with ns, us, ms, s, m, h "
            "or d, such as 500ms");
  }
}

TEST(ParseTimeWith, HasTheRuleOfItsOption) {
  const TimeRule rule = {.shortest = nanoseconds(0),
                         .bare_unit = std::chrono::milliseconds(1),
                         .bare_units = "milliseconds"};
  EXPECT_EQ(ParseTimeWith("-t", "5", rule), std::chrono::milliseconds(5));
  EXPECT_EQ(ParseTimeWith("-t", "5s", rule), std::chrono::seconds(5));
  EXPECT_EQ(ParseTimeWith("-t", "0", rule), nanoseconds(0));
  EXPECT_EQ(ErrorOf(ParseTimeWith("-t", "x", rule)),
            "-t: 'x' is not a time: use a number of milliseconds, or one with ns, us, ms, s, m, h "
            "or d, such as 500ms");
}

TEST(ParseSize, CountsBytesOrUnits) {
  EXPECT_EQ(ParseSize("--keep-bytes", "10"), 10U);
  EXPECT_EQ(ParseSize("--keep-bytes", "10M"), 10U << 20);
  EXPECT_EQ(ErrorOf(ParseSize("--keep-bytes", "10m")),
            "--keep-bytes: '10m' is not a size: use a number of bytes, or one with B, K, M or G");
  EXPECT_EQ(ErrorOf(ParseSize("--keep-bytes", "0K")),
            "--keep-bytes: 0K is out of range: use at least 1B");
}

TEST(ParseSizeWith, HasTheRuleOfItsOption) {
  const SizeRule rule = {
      .smallest = 4096, .largest = 1 << 30, .bare_unit = 4096, .bare_units = "pages"};
  EXPECT_EQ(ParseSizeWith("-m", "3", rule), 3U * 4096);
  EXPECT_EQ(ParseSizeWith("-m", "4K", rule), 4096U);
  EXPECT_EQ(ParseSizeWith("-m", "1G", rule), 1U << 30);
  EXPECT_EQ(ErrorOf(ParseSizeWith("-m", "4095B", rule)), "-m: 4095B is out of range: use 4K to 1G");
  EXPECT_EQ(ErrorOf(ParseSizeWith("-m", "99999999999999999999G", rule)),
            "-m: 99999999999999999999G is out of range: use 4K to 1G");
  EXPECT_EQ(ErrorOf(ParseSizeWith("-m", "0", rule)),
            "-m: 0 is out of range: use 4K to 1G; a number without a unit counts pages");
  EXPECT_EQ(ErrorOf(ParseSizeWith("-m", "x", rule)),
            "-m: 'x' is not a size: use a number of pages, or one with B, K, M or G");
}

TEST(ParsePercent, AcceptsFractionsAndBothEnds) {
  EXPECT_EQ(ParsePercent("--max-loss", "0"), 0);
  EXPECT_EQ(ParsePercent("--max-loss", "0.5"), 0.5);
  EXPECT_EQ(ParsePercent("--max-loss", "100"), 100);
  EXPECT_EQ(ParsePercent("--max-loss", "5%"), 5);
}

TEST(ParsePercent, RefusesWhatIsNoShare) {
  for (const char* text : {"-1", "100.1", "nan", "inf", "5 %", ""}) {
    EXPECT_EQ(ErrorOf(ParsePercent("--max-loss", text)),
              "--max-loss: '" + std::string(text) +
                  "' is not a percentage: use a number from 0 to 100, such as 5 or 5%");
  }
}

TEST(ParseIdList, AcceptsSeveral) {
  const auto ids = ParseIdList("-p", "1,4194304");
  ASSERT_TRUE(ids);
  EXPECT_THAT(*ids, ElementsAre(1, 4194304));
}

TEST(ParseIdList, ReportsTheInvalidId) {
  EXPECT_EQ(ErrorOf(ParseIdList("-p", "1,x2")), "-p: 'x2' is not a process or thread id");
  EXPECT_EQ(ErrorOf(ParseIdList("-p", "1,")), "-p: '' is not a process or thread id");
  EXPECT_EQ(ErrorOf(ParseIdList("-p", "0")), "-p: '0' is not a process or thread id");
}

TEST(ParseCpuList, SortsAndRemovesDuplicates) {
  const auto cpus = ParseCpuList("-C", "8,0-2,1");
  ASSERT_TRUE(cpus);
  EXPECT_THAT(*cpus, ElementsAre(0, 1, 2, 8));
}

TEST(ParseCpuList, RefusesRangesThatAreNone) {
  for (const char* text : {"3-1", "-1", "1-", "0-4000000000", "a"}) {
    EXPECT_EQ(ErrorOf(ParseCpuList("-C", text)),
              "-C: '" + std::string(text) + "' is not a CPU or a range of CPUs");
  }
  EXPECT_EQ(ErrorOf(ParseCpuList("-C", "1,\x1b")), "-C: '\\x1b' is not a CPU or a range of CPUs");
}

TEST(ParseUser, AcceptsNamesAndNumbers) {
  EXPECT_EQ(ParseUser("-u", "root"), 0U);
  EXPECT_EQ(ParseUser("-u", "1234"), 1234U);
}

TEST(ParseUser, EscapesAnUnknownName) {
  EXPECT_EQ(
      ErrorOf(ParseUser("-u", "no\x1bone")),
      "-u: 'no\\x1bone' is not a user in /etc/passwd: use the number that 'id -u USER' prints");
}

constexpr std::string_view kUsers =
    "root:x:0:0:root:/root:/bin/sh\n"
    "# ann:x:9:9::/:\n"
    "+::::::\n"
    "none:x:4294967295:4294967295::/:\n"
    "ann:x:1001:1001:Ann:/home/ann:/bin/sh\n"
    "ann:x:1002:1002::/:\n"
    "last:x:7";

TEST(UserIn, ReturnsTheNumberOfTheFirstLine) {
  EXPECT_EQ(UserIn(kUsers, "root"), 0U);
  EXPECT_EQ(UserIn(kUsers, "ann"), 1001U);
  EXPECT_EQ(UserIn(kUsers, "last"), 7U);
}

TEST(UserIn, ReturnsNothingForOtherLines) {
  EXPECT_EQ(UserIn(kUsers, "an"), std::nullopt);
  EXPECT_EQ(UserIn(kUsers, "none"), std::nullopt);
  EXPECT_EQ(UserIn(kUsers, "+"), std::nullopt);
  EXPECT_EQ(UserIn("", "root"), std::nullopt);
  EXPECT_EQ(UserIn("root", "root"), std::nullopt);
}

}  // namespace
}  // namespace perftape::cli

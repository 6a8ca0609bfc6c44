// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "convert/import/from_other_programs.h"
#include "tests/convert/profile_lines.h"
#include "tests/support/matchers.h"
#include "tests/support/profile_check.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A thread as samply writes it: stacks of addresses, "0x10" called by "0x21".
constexpr std::string_view kSamplyProfile =
    R"({"meta":{"interval":1.0,"preprocessedProfileVersion":55,"product":"app"},)"
    R"("libs":[{"name":"app","path":"/nowhere/app","codeId":"aa115d1f",)"
    R"("breakpadId":"1F5D11AA61BDE37C3548B0D00DB9E5EB0"}],)"
    R"("threads":[{"name":"app","pid":"7","tid":"7",)"
    R"("samples":{"stack":[1,1,0,9],"time":[1.0,2.0,3.0,4.0],"weight":[1,1,1,1],)"
    R"("weightType":"samples"},)"
    R"("stackTable":{"frame":[1,0],"prefix":[null,0]},)"
    R"("frameTable":{"address":[16,33],"func":[0,1],"line":[null,null]},)"
    R"("funcTable":{"name":[0,1],"resource":[0,0]},"resourceTable":{"lib":[0]},)"
    R"("stringArray":["0x10","0x21"]}]})";
constexpr std::string_view kNamesBeside =
    R"({"string_table":["work","main"],"data":[{)"
    R"("debug_id":"1f5d11aa-61bd-e37c-3548-b0d00db9e5eb",)"
    R"("symbol_table":[{"rva":16,"size":8,"symbol":0},{"rva":32,"size":8,"symbol":1}],)"
    R"("known_addresses":[[16,0],[33,1]]}]})";

struct ReadFile {
  Profile profile;
  ImportReport report;
};

ReadFile ReadProfile(const std::string& path) {
  Input input = Input::Open(path).value();
  EXPECT_TRUE(IsFirefoxFile(input));
  ReadFile read = {};
  auto profile = ReadFirefox(input, {}, read.report);
  EXPECT_THAT(profile, IsOk());
  read.profile = *std::move(profile);
  EXPECT_THAT(Validate(read.profile), IsOk());
  return read;
}

TEST(ReadFirefox, CountsAddressesAndBrokenStacks) {
  const TempDir dir;
  const ReadFile read = ReadProfile(dir.Write("profile.json", kSamplyProfile));
  EXPECT_THAT(SampleLines(read.profile),
              ElementsAre("samples app/7 0x21 1", "samples app/7 0x21;0x10 2"));
  EXPECT_EQ(read.report.skipped_samples, 1U);
  EXPECT_THAT(read.report.notes, ElementsAre(HasSubstr("frames without a name")));
}

TEST(ReadFirefox, UsesTheNamesThatSamplyWroteBeside) {
  const TempDir dir;
  dir.Write("profile.syms.json", kNamesBeside);
  const ReadFile read = ReadProfile(dir.Write("profile.json", kSamplyProfile));
  EXPECT_THAT(SampleLines(read.profile),
              ElementsAre("samples app/7 main 1", "samples app/7 main;work 2"));
  EXPECT_THAT(read.report.notes, IsEmpty());
  EXPECT_THAT(read.report.problems, IsEmpty());
}

TEST(ReadFirefox, ReportsNamesThatItCannotRead) {
  const TempDir dir;
  dir.Write("profile.syms.json", kNamesBeside.substr(0, 50));
  const ReadFile read = ReadProfile(dir.Write("profile.json", kSamplyProfile));
  EXPECT_EQ(read.report.samples, 3U);
  EXPECT_THAT(read.report.problems, ElementsAre(HasSubstr("its names are not used")));
}

}  // namespace
}  // namespace perftape::convert

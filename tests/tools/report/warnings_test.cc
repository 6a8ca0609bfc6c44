// SPDX-License-Identifier: Apache-2.0
#include "tools/report/warnings.h"

#include <gmock/gmock.h>

#include "convert/model/hidden_kernel.h"
#include "tests/convert/export/profile_maker.h"

namespace perftape::report_tool {
namespace {

using convert::EventId;
using convert::LocationId;
using convert::MappingId;
using convert::Profile;
using convert::ProfileMaker;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> WarningsFor(const Profile& profile, const ReadContents& read = {}) {
  const Contents contents = MakeContents(profile, read, ReportPlan());
  return contents.events.at(0).warnings;
}

TEST(WarningsOf, AreNoneForManySamplesWithWholeStacks) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "work"}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  EXPECT_THAT(WarningsFor(made.Make()), IsEmpty());
}

TEST(WarningsOf, TellHowExactSharesOfFewSamplesAre) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "work"}), made.Runs("app"), made.Counts("cycles"), 100, 100);
  // 1.96 * sqrt(0.1 * 0.9 / 100)
  EXPECT_THAT(WarningsFor(made.Make()),
              ElementsAre(HasSubstr("only 100 samples: a share of 10 % is exact to 6 percentage")));
}

TEST(WarningsOf, NameMissingCallChains) {
  ProfileMaker made;
  made.Hit(made.Calls({"work"}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  EXPECT_THAT(WarningsFor(made.Make()), ElementsAre(HasSubstr("without call chains")));
}

TEST(WarningsOf, NameStacksThatMayBeCut) {
  ProfileMaker made;
  const LocationId leaf = made.Frame(made.Map("/bin/app"), 1, {"main"});
  const LocationId wrong = made.Frame(MappingId{}, 7);
  made.Hit(made.Calls({wrong, leaf}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  EXPECT_THAT(WarningsFor(made.Make()),
              ElementsAre(HasSubstr("100.0 % of the samples have a stack whose outermost frame")));
}

TEST(WarningsOf, NameTheBinariesWithoutNames) {
  ProfileMaker made;
  const LocationId main = made.Frame(made.Map("/bin/app"), 1, {"main"});
  const LocationId unnamed = made.Frame(made.Map("/lib/libz.so"), 2);
  made.Hit(made.Calls({main, unnamed}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  ReadContents read;
  read.symbols.mappings.push_back({.filename = "/lib/libz.so",
                                   .build_id = "",
                                   .counts = {0, 1, 0, 0},
                                   .problem = "",
                                   .source = "",
                                   .tried = {}});
  EXPECT_THAT(WarningsFor(made.Make(), read),
              ElementsAre(HasSubstr("100.0 % of the samples are in code of /lib/libz.so without a "
                                    "name: no file: bundle the symbols")));
}

TEST(WarningsOf, TellLossesAboveAPercent) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "work"}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  const Profile profile = made.Make();
  ReadContents read;
  read.inputs.push_back({.name = "a.data", .format = "perf.data", .read = {}});
  read.inputs[0].read.samples = 5000;
  read.inputs[0].read.lost_samples = 40;
  EXPECT_THAT(WarningsFor(profile, read), IsEmpty());
  read.inputs[0].read.lost_samples = 200;
  EXPECT_THAT(WarningsFor(profile, read),
              ElementsAre(HasSubstr("a.data: 3.8 % of the samples were lost")));
}

TEST(WarningsOf, NameTheHiddenKernel) {
  ProfileMaker made;
  const LocationId main = made.Frame(made.Map("/bin/app"), 1, {"main"});
  const LocationId hidden = made.Frame(convert::AddHiddenKernel(made.builder), 0xffffffff81000010);
  made.Hit(made.Calls({main, hidden}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  EXPECT_THAT(WarningsFor(made.Make()),
              ElementsAre("100.0 % of the samples are in code of [kernel] without a name: recorded "
                          "without CAP_SYSLOG: no kernel names"));
}

}  // namespace
}  // namespace perftape::report_tool

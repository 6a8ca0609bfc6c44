// SPDX-License-Identifier: Apache-2.0
#include "convert/model/mappings_without_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/convert/export/profile_maker.h"

namespace perftape::convert {
namespace {

using testing::HasSubstr;

TEST(HiddenKernel, IsNoMappingOfFoldedFrames) {
  ProfileMaker made;
  const MappingId hidden = AddHiddenKernel(made.builder);
  const MappingId folded = made.builder.Add(Mapping{
      .filename = made.builder.Add(kHiddenKernelName), .limit = 0, .type = MappingType::kKernel});
  const MappingId known = made.Map("[kernel.kallsyms]", MappingType::kKernel);
  const Profile profile = made.Make();
  EXPECT_TRUE(IsHiddenKernel(profile, profile[hidden]));
  EXPECT_FALSE(IsHiddenKernel(profile, profile[folded]));
  EXPECT_FALSE(IsHiddenKernel(profile, profile[known]));
  EXPECT_FALSE(IsHiddenKernel(profile, profile[MappingId{}]));
}

TEST(HiddenKernel, IsOfARecordingWithoutCapSyslogUnlessTheKernelIsKnown) {
  ProfileMaker made;
  AddHiddenKernel(made.builder);
  made.Map("[nf_tables]", MappingType::kKernel);
  EXPECT_EQ(WhyHidden(made.Make()), "recorded without CAP_SYSLOG: no kernel names");

  ProfileMaker known;
  AddHiddenKernel(known.builder);
  known.Map("[kernel.kallsyms]", MappingType::kKernel);
  EXPECT_THAT(std::string(WhyHidden(known.Make())), HasSubstr("in no mapping of the kernel"));
}

constexpr MappingNames kNames = {.functions = true};

TEST(FoldedMapping, IsOneForProgramsAndOneForTheKernel) {
  ProfileMaker made;
  const MappingId user = AddFoldedMapping(made.builder, MappingType::kUser, kNames);
  const MappingId kernel = AddFoldedMapping(made.builder, MappingType::kKernel, kNames);
  const MappingId file = made.Map("/bin/app");
  const Profile profile = made.Make();
  EXPECT_TRUE(IsOfFolded(profile, profile[user]));
  EXPECT_TRUE(IsOfFolded(profile, profile[kernel]));
  EXPECT_FALSE(IsOfFolded(profile, profile[file]));
}

TEST(FoldedMapping, IsNotTheHiddenKernel) {
  ProfileMaker made;
  const MappingId hidden = AddHiddenKernel(made.builder);
  const Profile profile = made.Make();
  EXPECT_FALSE(IsOfFolded(profile, profile[hidden]));
}

TEST(FoldedMapping, IsKnownByItsNameAndItsAddresses) {
  EXPECT_TRUE(IsOfFolded("[folded]", 0));
  EXPECT_TRUE(IsOfFolded("[folded]", 0x10));
  EXPECT_TRUE(IsOfFolded("[kernel]", 0));
  EXPECT_FALSE(IsOfFolded("[kernel]", 0xffffffff81000000));
  EXPECT_FALSE(IsOfFolded("[kernel.kallsyms]", 0));
  EXPECT_TRUE(IsFoldedProgram("[folded]"));
  EXPECT_FALSE(IsFoldedProgram("[kernel]"));
}

TEST(FoldedMapping, HasFunctionsWithAnEmptyName) {
  ProfileMaker made;
  const MappingId user = AddFoldedMapping(made.builder, MappingType::kUser, kNames);
  const LocationId folded = made.Frame(user, 0, {""});
  const LocationId of_file = made.Frame(made.Map("/bin/app"), 0x10, {""});
  const LocationId named = made.Frame(made.Map("/bin/app"), 0x20, {"main"});
  const Profile profile = made.Make();
  const auto has_name = [&](LocationId id) {
    return HasName(profile, profile[id], profile[id].lines.front());
  };
  EXPECT_TRUE(has_name(folded));
  EXPECT_FALSE(has_name(of_file));
  EXPECT_TRUE(has_name(named));
}

}  // namespace
}  // namespace perftape::convert

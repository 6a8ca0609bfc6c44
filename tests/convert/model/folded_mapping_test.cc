// SPDX-License-Identifier: Apache-2.0
#include "convert/model/folded_mapping.h"

#include <gtest/gtest.h>

#include "convert/model/hidden_kernel.h"
#include "tests/convert/export/profile_maker.h"

namespace perftape::convert {
namespace {

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

// SPDX-License-Identifier: Apache-2.0
#include "convert/model/hidden_kernel.h"

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

}  // namespace
}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
#include "tests/support/pprof_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/formats/pprof/every_field.h"

namespace perftape::pprof {
namespace {

std::string WhatIsWrong(const Profile& profile) {
  const Status status = CheckValid(profile);
  return status ? "nothing" : status.error().message;
}

TEST(CheckValid, AcceptsAValidProfile) {
  EXPECT_EQ(WhatIsWrong(EveryField()), "nothing");
}

TEST(CheckValid, AcceptsTheEmptyProfile) {
  Profile profile;
  profile.string_table = {""};
  EXPECT_EQ(WhatIsWrong(profile), "nothing");
}

TEST(CheckValid, RequiresTheEmptyStringFirst) {
  Profile profile = EveryField();
  profile.string_table[0] = "x";
  EXPECT_EQ(WhatIsWrong(profile), "the string table does not begin with the empty string");
  profile.string_table.clear();
  EXPECT_EQ(WhatIsWrong(profile), "the string table does not begin with the empty string");
}

TEST(CheckValid, RequiresAValueForEachType) {
  Profile profile = EveryField();
  profile.samples[1].values.push_back(1);
  EXPECT_EQ(WhatIsWrong(profile), "sample 1: not one value for each sample type");
}

TEST(CheckValid, RequiresTypesIfThereAreSamples) {
  Profile profile = EveryField();
  profile.header.sample_types.clear();
  EXPECT_EQ(WhatIsWrong(profile), "there are samples but no sample types");
}

TEST(CheckValid, RejectsIdZero) {
  Profile profile = EveryField();
  profile.functions[0].id = 0;
  EXPECT_EQ(WhatIsWrong(profile), "function 0: id 0");
}

TEST(CheckValid, RejectsDuplicateIds) {
  Profile profile = EveryField();
  profile.locations[1].id = 7;
  EXPECT_EQ(WhatIsWrong(profile), "location id 7 is used twice");
}

TEST(CheckValid, RejectsUnknownIds) {
  Profile profile = EveryField();
  profile.samples[0].location_ids[1] = 8;
  EXPECT_EQ(WhatIsWrong(profile), "sample 0: no such location");
  profile = EveryField();
  profile.locations[0].mapping_id = 4;
  EXPECT_EQ(WhatIsWrong(profile), "location 0: no such mapping");
  profile = EveryField();
  profile.locations[0].lines[1].function_id = 0;
  EXPECT_EQ(WhatIsWrong(profile), "location 0: no such function");
}

TEST(CheckValid, SearchesTablesNumberedFromOneToo) {
  Profile profile = EveryField();
  profile.locations[0].id = 1;
  profile.locations[1].id = 2;
  profile.samples[0].location_ids = {1, 2};
  EXPECT_EQ(WhatIsWrong(profile), "nothing");
  profile.samples[0].location_ids = {3};
  EXPECT_EQ(WhatIsWrong(profile), "sample 0: no such location");
  profile.samples[0].location_ids = {0};
  EXPECT_EQ(WhatIsWrong(profile), "sample 0: no such location");
}

TEST(CheckValid, RejectsTextsOutsideTheTable) {
  const StringIndex behind = 7;
  Profile profile = EveryField();
  profile.mappings[0].build_id = behind;
  EXPECT_EQ(WhatIsWrong(profile), "mapping 0: string out of range");
  profile = EveryField();
  profile.functions[0].filename = -1;
  EXPECT_EQ(WhatIsWrong(profile), "function 0: string out of range");
  profile = EveryField();
  profile.samples[1].labels[0].num_unit = behind;
  EXPECT_EQ(WhatIsWrong(profile), "sample 1: label's string out of range");
}

TEST(CheckValid, RejectsHeaderTextsOutsideTheTable) {
  const StringIndex behind = 7;
  for (StringIndex Header::*text : {&Header::drop_frames, &Header::keep_frames,
                                    &Header::default_sample_type, &Header::doc_url}) {
    Profile profile = EveryField();
    profile.header.*text = behind;
    EXPECT_EQ(WhatIsWrong(profile), "header: string out of range");
  }
  Profile profile = EveryField();
  profile.header.comments[2] = behind;
  EXPECT_EQ(WhatIsWrong(profile), "header: string out of range");
  profile = EveryField();
  profile.header.sample_types[1].unit = behind;
  EXPECT_EQ(WhatIsWrong(profile), "header: string out of range");
  profile = EveryField();
  profile.header.period_type->type = behind;
  EXPECT_EQ(WhatIsWrong(profile), "header: string out of range");
}

}  // namespace
}  // namespace perftape::pprof

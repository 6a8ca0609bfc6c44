// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/conventions.h"

#include <gtest/gtest.h>

#include <string>

namespace perftape::otlp {
namespace {

TEST(UcumOfUnit, KnowsTheUnitsOfPprofAndPerf) {
  EXPECT_EQ(UcumOfUnit("nanoseconds"), "ns");
  EXPECT_EQ(UcumOfUnit("bytes"), "By");
  EXPECT_EQ(UcumOfUnit("count"), "1");
  EXPECT_EQ(UcumOfUnit(""), "");
  EXPECT_EQ(UcumOfUnit("pid"), "{pid}");
}

TEST(UnitOfUcum, ReturnsTheWordAgain) {
  for (const std::string word : {"", "nanoseconds", "bytes", "count", "pid", "ns", "By", "1", "{a}",
                                 "MiBy", "{", "}", "{}", "%"}) {
    EXPECT_EQ(UnitOfUcum(UcumOfUnit(word)), word);
  }
}

TEST(IsOfResource, TellsProcessesAndMachinesFromSamples) {
  EXPECT_TRUE(IsOfResource("service.name"));
  EXPECT_TRUE(IsOfResource("k8s.pod.name"));
  EXPECT_FALSE(IsOfResource("thread.name"));
  EXPECT_FALSE(IsOfResource("services"));
}

}  // namespace
}  // namespace perftape::otlp

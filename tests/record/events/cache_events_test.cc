// SPDX-License-Identifier: Apache-2.0
#include "record/events/cache_events.h"

#include <gtest/gtest.h>

namespace perftape::record {
namespace {

// The configs of `perf record -vv` of perf 6.1.
TEST(CacheEvents, HaveTheNamesOfPerf) {
  EXPECT_EQ(CacheConfigOf("LLC"), 0x2U);
  EXPECT_EQ(CacheConfigOf("L2"), 0x2U);
  EXPECT_EQ(CacheConfigOf("LLC-load-miss"), 0x10002U);
  EXPECT_EQ(CacheConfigOf("LLC-misses"), 0x10002U);
  EXPECT_EQ(CacheConfigOf("l1d-loads"), 0x0U);
  EXPECT_EQ(CacheConfigOf("l1-d-write-access"), 0x100U);
  EXPECT_EQ(CacheConfigOf("dTLB-speculative-read-misses"), 0x10203U);
  EXPECT_EQ(CacheConfigOf("node-prefetches"), 0x206U);
  EXPECT_EQ(CacheConfigOf("bpu-read"), 0x5U);
}

TEST(CacheEvents, HaveNoOtherNames) {
  for (const char* name : {"", "L1-d-load-refs", "LLC-", "LLC-load-", "LLC-load-store",
                           "iTLB-stores", "llc-loads", "LLC-miss-load", "LLCloads"}) {
    EXPECT_EQ(CacheConfigOf(name), std::nullopt) << name;
  }
}

TEST(CacheEvents, AreListedByNamesThatTheyHave) {
  for (const CacheEvent& event : CacheEvents()) {
    EXPECT_EQ(CacheConfigOf(event.name), event.config) << event.name;
  }
  EXPECT_EQ(CacheEvents().size(), 32U);
}

}  // namespace
}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/push/push_queue.h"

#include <gtest/gtest.h>

namespace perftape::serve {
namespace {

Payload Sized(std::size_t bytes, std::uint64_t samples) {
  return {.body = std::vector<std::byte>(bytes), .samples = samples};
}

TEST(PushQueue, DropsTheOldestAndCountsTheirSamples) {
  PushCounts counts;
  PushQueue queue(100, counts);
  queue.Add(Sized(40, 1));
  queue.Add(Sized(60, 2));
  EXPECT_EQ(counts.dropped(PushDrop::kQueueFull), 0U);
  EXPECT_EQ(counts.queue_bytes, 100U);
  queue.Add(Sized(50, 4));
  EXPECT_EQ(counts.dropped(PushDrop::kQueueFull), 3U);
  EXPECT_EQ(queue.Pop().samples, 4U);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(counts.queue_bytes, 0U);
}

TEST(PushQueue, DropsAPayloadThatAloneIsTooLarge) {
  PushCounts counts;
  PushQueue queue(100, counts);
  queue.Add(Sized(101, 7));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(counts.dropped(PushDrop::kQueueFull), 7U);
}

TEST(PushQueue, DropsAllAtTheEnd) {
  PushCounts counts;
  PushQueue queue(100, counts);
  queue.Add(Sized(10, 1));
  queue.Add(Sized(10, 2));
  queue.DropAll(PushDrop::kEnd);
  EXPECT_EQ(counts.dropped(PushDrop::kEnd), 3U);
  EXPECT_EQ(counts.queue_bytes, 0U);
}

}  // namespace
}  // namespace perftape::serve

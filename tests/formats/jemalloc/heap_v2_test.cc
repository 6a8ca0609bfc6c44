// SPDX-License-Identifier: Apache-2.0
#include "formats/jemalloc/heap_v2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/matchers.h"

namespace perftape::jemalloc {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr std::string_view kHeap =
    "heap_v2/524288\n  t*: 3: 6291456 [0: 0]\n  t0: 3: 6291456 [0: 0]\n@ 0x10 0x20\n"
    "  t*: 2: 4194304 [5: 600]\n  t0: 2: 4194304 [5: 600]\n\nMAPPED_LIBRARIES:\n"
    "1000-2000 r-xp 00000400 08:01 123 /srv/my app\n";

TEST(ReadHeapV2, ReadsStacksAndMappings) {
  const HeapFile file = ReadHeapV2(kHeap).value();
  EXPECT_EQ(file.rate, 524288);
  ASSERT_THAT(file.stacks, SizeIs(1));
  EXPECT_THAT(file.stacks[0].addresses, ElementsAre(0x10, 0x20));
  EXPECT_EQ(file.stacks[0].numbers.objects, 2);
  EXPECT_EQ(file.stacks[0].numbers.all_bytes, 600);
  ASSERT_THAT(file.mappings, SizeIs(1));
  EXPECT_EQ(file.mappings[0].offset, 0x400);
  EXPECT_EQ(file.mappings[0].path, "/srv/my app");
  EXPECT_EQ(file.bad_lines, 0);
}

TEST(ReadHeapV2, ReadsAFileThatIsCutAnywhere) {
  for (std::size_t size = 0; size <= kHeap.size(); ++size) {
    const auto file = ReadHeapV2(kHeap.substr(0, size));
    EXPECT_LE(file ? file->bad_lines : 0, 1U) << size;
  }
  EXPECT_THAT(ReadHeapV2("heap_v2/x\n"), FailsWith(ErrorCode::kCorrupt));
  EXPECT_THAT(ReadHeapV2(""), FailsWith(ErrorCode::kCorrupt));
}

TEST(ReadHeapV2, CountsLinesThatItDoesNotKnow) {
  const HeapFile file = ReadHeapV2("heap_v2/1\nwhat\n@ 0xxyz\n  t*: -1: 2 [0: 0]\n").value();
  EXPECT_EQ(file.bad_lines, 3);
  EXPECT_EQ(file.first_bad, 2);
}

// jeprof: an object of the size of the rate is sampled with the probability 1 - 1/e.
TEST(Unsampled, ScalesByTheProbabilityOfASample) {
  const HeapNumbers numbers = Unsampled({.objects = 632, .bytes = 632'000}, 1000);
  EXPECT_EQ(numbers.objects, 1000);
  EXPECT_NEAR(static_cast<double>(numbers.bytes), 999'810, 100);
  EXPECT_EQ(Unsampled({.objects = 3, .bytes = 48}, 1).objects, 3);
  EXPECT_EQ(Unsampled({}, 1000).objects, 0);
  EXPECT_GT(Unsampled({.objects = INT64_MAX, .bytes = 1}, UINT64_MAX).objects, 0);
}

}  // namespace
}  // namespace perftape::jemalloc

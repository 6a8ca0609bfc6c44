// SPDX-License-Identifier: Apache-2.0
#include "record/rings/perf_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <array>
#include <cstring>
#include <string>

#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The kernel's side of a ring of 64 bytes: writes records and advances data_head.
class FakeKernel {
 public:
  static constexpr std::size_t kDataSize = 64;

  explicit FakeKernel(std::uint64_t start = 0) {
    control_.data_head = start;
    control_.data_tail = start;
  }

  Ring ring() { return {&control_, data_.data(), kDataSize}; }
  std::uint64_t tail() const { return control_.data_tail; }
  void MoveHead(std::uint64_t bytes) { control_.data_head += bytes; }

  // Writes a record of a header and `body`. The header contains `claimed_size` as its size (0: the
  // real size).
  void Write(std::string_view body, std::uint16_t claimed_size = 0) {
    perf_event_header header{};
    header.type = PERF_RECORD_COMM;
    header.size =
        claimed_size != 0 ? claimed_size : static_cast<std::uint16_t>(sizeof header + body.size());
    Put(std::as_bytes(std::span(&header, 1)));
    Put(AsBytes(body));
  }

 private:
  void Put(Bytes bytes) {
    for (const std::byte byte : bytes) data_[control_.data_head++ % kDataSize] = byte;
  }

  perf_event_mmap_page control_ = {};
  std::array<std::byte, kDataSize> data_ = {};
};

// The bodies of the records that a drain returned, and how it ended.
struct Drained {
  std::vector<std::string> bodies;
  Result<std::size_t> outcome;
};
Drained DrainAll(Ring& ring) {
  std::vector<std::string> bodies;
  Result<std::size_t> outcome = ring.Drain([&](Bytes record) {
    bodies.emplace_back(AsText(record.subspan(sizeof(perf_event_header))));
  });
  return {std::move(bodies), std::move(outcome)};
}

TEST(Ring, ReturnsNothingIfItIsEmpty) {
  FakeKernel kernel;
  Ring ring = kernel.ring();
  const Drained drained = DrainAll(ring);
  EXPECT_EQ(drained.outcome.value(), 0U);
  EXPECT_THAT(drained.bodies, IsEmpty());
}

TEST(Ring, ReturnsEachRecordOnce) {
  FakeKernel kernel;
  kernel.Write("first...");
  kernel.Write("the second one..");
  Ring ring = kernel.ring();
  EXPECT_THAT(DrainAll(ring).bodies, ElementsAre("first...", "the second one.."));
  EXPECT_THAT(DrainAll(ring).bodies, IsEmpty());
}

TEST(Ring, ReturnsARecordWithoutABody) {
  FakeKernel kernel;
  kernel.Write("");
  Ring ring = kernel.ring();
  EXPECT_THAT(DrainAll(ring).bodies, ElementsAre(""));
}

TEST(Ring, JoinsARecordThatWraps) {
  FakeKernel kernel(/*start=*/40);
  kernel.Write("sixteen bytes in");  // 16 of 24 bytes are before the end
  kernel.Write("twenty-four bytes here..");
  Ring ring = kernel.ring();
  EXPECT_THAT(DrainAll(ring).bodies, ElementsAre("sixteen bytes in", "twenty-four bytes here.."));
}

TEST(Ring, JoinsAWrappedRecordAtEveryOffset) {
  for (std::uint64_t start = 0; start < FakeKernel::kDataSize; ++start) {
    FakeKernel kernel(start);
    kernel.Write("0123456789abcdef");
    Ring ring = kernel.ring();
    EXPECT_THAT(DrainAll(ring).bodies, ElementsAre("0123456789abcdef")) << start;
  }
}

TEST(Ring, ReadsACompletelyFullRing) {
  FakeKernel kernel(/*start=*/24);
  kernel.Write(std::string(56, 'x'));
  Ring ring = kernel.ring();
  EXPECT_THAT(DrainAll(ring).bodies, ElementsAre(std::string(56, 'x')));
}

TEST(Ring, ContinuesWhenTheCountersWrapAround) {
  FakeKernel kernel(/*start=*/~std::uint64_t{0} - 7);
  kernel.Write("01234567");
  Ring ring = kernel.ring();
  EXPECT_THAT(DrainAll(ring).bodies, ElementsAre("01234567"));
  EXPECT_EQ(kernel.tail(), 8U);
}

TEST(Ring, GivesTheRoomBack) {
  FakeKernel kernel;
  kernel.Write("01234567");
  Ring ring = kernel.ring();
  ASSERT_TRUE(DrainAll(ring).outcome);
  EXPECT_EQ(kernel.tail(), 16U);
}

TEST(Ring, RefusesARecordSmallerThanItsHeader) {
  FakeKernel kernel;
  kernel.Write("good....");
  kernel.Write("bad.....", /*claimed_size=*/7);
  Ring ring = kernel.ring();
  const Drained drained = DrainAll(ring);
  EXPECT_THAT(drained.bodies, ElementsAre("good...."));
  EXPECT_THAT(drained.outcome,
              FailsWith(ErrorCode::kCorrupt, HasSubstr("record of 7 bytes where 16 are left")));
}

TEST(Ring, RefusesARecordThatReachesBeyondTheHead) {
  FakeKernel kernel;
  kernel.Write("bad.....", /*claimed_size=*/24);
  Ring ring = kernel.ring();
  const Drained drained = DrainAll(ring);
  EXPECT_THAT(drained.bodies, IsEmpty());
  EXPECT_THAT(drained.outcome, FailsWith(ErrorCode::kCorrupt));
}

TEST(Ring, RefusesLessThanAHeader) {
  FakeKernel kernel;
  kernel.MoveHead(4);
  Ring ring = kernel.ring();
  EXPECT_FALSE(DrainAll(ring).outcome);
}

TEST(Ring, RefusesAHeadFurtherAheadThanTheRingIsLong) {
  FakeKernel kernel;
  kernel.MoveHead(FakeKernel::kDataSize + 8);
  Ring ring = kernel.ring();
  const Drained drained = DrainAll(ring);
  EXPECT_THAT(drained.outcome, FailsWith(ErrorCode::kCorrupt));
}

TEST(Ring, ContinuesAfterARejectedRecord) {
  FakeKernel kernel;
  kernel.Write("bad.....", /*claimed_size=*/3);
  Ring ring = kernel.ring();
  ASSERT_FALSE(DrainAll(ring).outcome);
  kernel.Write("good....");
  EXPECT_THAT(DrainAll(ring).bodies, ElementsAre("good...."));
}

}  // namespace
}  // namespace perftape::record

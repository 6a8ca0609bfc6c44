// SPDX-License-Identifier: Apache-2.0
// Tests SAMPLE, the record whose layout depends on the attribute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"
#include "tests/formats/perfdata/big_endian.h"
#include "tests/support/matchers.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kAllBits = (std::uint64_t{1} << 25) - 1;

// The contents of each array of a sample.
struct Arrays {
  std::vector<std::uint64_t> read = {71, 72, 73};
  std::vector<std::uint64_t> callchain = {kContextUser, 81, 82};
  std::string raw = "raw.";  // with its size, a whole word
  std::vector<std::uint64_t> branches = {91, 92, 93, 94, 95, 96};
  std::vector<std::uint64_t> counters = {97, 98};
  std::vector<std::uint64_t> regs_user = {101, 102, 103};
  std::string stack = "stack of 16 byte";
  std::vector<std::uint64_t> regs_intr = {111, 112};
  std::string aux = "auxtrace";
};

const SampleFormat kFullFormat{.sample_type = kAllBits & ~kWeightStruct,
                               .read_format = kReadTotalTimeEnabled | kReadId,
                               .branch_sample_type = kBranchHwIndex | kBranchCounters,
                               .regs_user_mask = 0b1011,
                               .regs_intr_mask = 0b11};

Sample FullSample(const Arrays& arrays) {
  return Sample{.id = 1,
                .ip = 2,
                .pid = 3,
                .tid = 4,
                .time = 5,
                .addr = 6,
                .stream_id = 7,
                .cpu = 8,
                .period = 9,
                .read = WordArray(arrays.read),
                .callchain = WordArray(arrays.callchain),
                .raw = AsBytes(arrays.raw),
                .branch_hw_index = 10,
                .branches = WordArray(arrays.branches),
                .branch_counters = WordArray(arrays.counters),
                .regs_user_abi = 2,
                .regs_user = WordArray(arrays.regs_user),
                .stack_user = AsBytes(arrays.stack),
                .stack_user_size = 24,
                .weight = 11,
                .data_src = 12,
                .transaction = 13,
                .regs_intr_abi = 1,
                .regs_intr = WordArray(arrays.regs_intr),
                .phys_addr = 14,
                .cgroup = 15,
                .data_page_size = 16,
                .code_page_size = 17,
                .aux = AsBytes(arrays.aux)};
}

std::vector<std::byte> Encoded(const Sample& sample, const SampleFormat& format) {
  std::vector<std::byte> bytes;
  EXPECT_THAT(EncodeSample(sample, format, MiscOf(CpuMode::kUser), bytes), IsOk());
  return bytes;
}

RecordView ViewOf(Bytes payload, std::endian order = std::endian::native) {
  return {.type = RecordType::kSample, .misc = 2, .payload = payload, .order = order};
}

Result<Sample> Decoded(std::span<const std::uint64_t> payload, const SampleFormat& format) {
  return DecodeSample(ViewOf(std::as_bytes(payload)), format);
}

std::vector<std::uint64_t> ToVector(const WordArray& words) {
  return {words.begin(), words.end()};
}

TEST(Sample, HasItsFieldsInTheKernelsOrder) {
  const Arrays arrays;
  const std::vector<std::byte> bytes = Encoded(FullSample(arrays), kFullFormat);
  const auto pair = [](std::uint64_t low, std::uint64_t high) { return high << 32 | low; };
  const auto text = [](std::string_view eight) {
    return LoadFixed<std::uint64_t>(AsBytes(eight).data(), std::endian::native);
  };
  // perf_output_sample() of kernel/events/core.c, from top to bottom.
  EXPECT_THAT(ToVector(WordArray(Bytes(bytes).subspan(8), std::endian::native)),
              ElementsAre(1, 2, pair(3, 4), 5, 6, 1, 7, 8, 9,             // ... period
                          71, 72, 73,                                     // read
                          3, kContextUser, 81, 82,                        // callchain
                          text(std::string_view("\4\0\0\0raw.", 8)),      // raw
                          2, 10, 91, 92, 93, 94, 95, 96, 97, 98,          // branch stack
                          2, 101, 102, 103,                               // user registers
                          24, text("stack of"), text(" 16 byte"), 0, 16,  // user stack
                          11, 12, 13,                                     // weight ... transaction
                          1, 111, 112,                                    // registers at interrupt
                          14, 15, 16, 17,                                 // phys_addr ...
                          8, text("auxtrace")));
}

// Since the vector registers are recorded, abi is a mask, and they follow the general registers.
TEST(Sample, MayHaveVectorRegisters) {
  const SampleFormat format{.sample_type = kRegsUser | kWeight | kRegsIntr | kSampleCgroup,
                            .regs_user_mask = 0b11,
                            .regs_intr_mask = 0b1,
                            .simd_regs = true};
  const std::vector<std::uint64_t> payload = {6,  11, 12, 2, 2, 1, 1,  21, 22, 23, 24, 25,  // user
                                              33,                       // weight
                                              5,  41, 1,  1, 0, 8, 51,  // at the interrupt
                                              77};
  const auto sample = Decoded(payload, format);
  ASSERT_THAT(sample, IsOk());
  EXPECT_THAT(ToVector(sample->regs_user), ElementsAre(11, 12));
  EXPECT_THAT(ToVector(sample->regs_user_simd), ElementsAre(2, 2, 1, 1, 21, 22, 23, 24, 25));
  EXPECT_EQ(sample->weight, 33U);
  EXPECT_THAT(ToVector(sample->regs_intr_simd), ElementsAre(1, 1, 0, 8, 51));
  EXPECT_EQ(sample->cgroup, 77U);
  EXPECT_EQ(AsText(Bytes(Encoded(*sample, format)).subspan(8)),
            AsText(std::as_bytes(std::span(payload))));
  for (std::size_t words = 0; words < payload.size(); ++words) {
    EXPECT_THAT(Decoded(std::span(payload).first(words), format), FailsWith(ErrorCode::kTruncated))
        << words;
  }
}

TEST(Sample, HasNoMoreVectorRegistersThanItsRecordHolds) {
  const SampleFormat format{.sample_type = kRegsUser, .regs_user_mask = 0b1, .simd_regs = true};
  for (const std::uint64_t count : {std::uint64_t{1} << 32, std::uint64_t{1} << 63, ~0UL}) {
    for (std::size_t at = 0; at < 4; ++at) {
      std::vector<std::uint64_t> payload = {4, 11, 1, 1, 1, 1, 21, 22};
      payload[2 + at] = count;
      EXPECT_THAT(Decoded(payload, format), FailsWith(ErrorCode::kTruncated)) << count;
    }
  }
}

TEST(Sample, DecodesToWhatWasEncodedWithEachBitAlone) {
  const Arrays arrays;
  for (unsigned bit = 0; bit < 25; ++bit) {
    SampleFormat format = kFullFormat;
    format.sample_type = std::uint64_t{1} << bit;
    const std::vector<std::byte> bytes = Encoded(FullSample(arrays), format);
    EXPECT_GT(bytes.size(), 8U) << bit;
    const Result<Sample> decoded = DecodeSample(ViewOf(Bytes(bytes).subspan(8)), format);
    ASSERT_THAT(decoded, IsOk()) << bit;
    EXPECT_EQ(Encoded(*decoded, format), bytes) << bit;
  }
}

TEST(Sample, DecodesToWhatWasEncodedWithAllBitsTogether) {
  const Arrays arrays;
  SampleFormat format = kFullFormat;
  format.sample_type = kAllBits;
  const std::vector<std::byte> bytes = Encoded(FullSample(arrays), format);
  const Result<Sample> decoded = DecodeSample(ViewOf(Bytes(bytes).subspan(8)), format);
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(Encoded(*decoded, format), bytes);
  EXPECT_EQ(decoded->code_page_size, 17U);
  EXPECT_EQ(AsText(decoded->stack_user), "stack of 16 byte");
  EXPECT_EQ(AsText(decoded->aux), "auxtrace");
}

// Under the address sanitizer this also shows that nothing reads behind the end.
TEST(Sample, IsTruncatedWhereverItIsCut) {
  const Arrays arrays;
  const std::vector<std::byte> bytes = Encoded(FullSample(arrays), kFullFormat);
  for (std::size_t size = 8; size < bytes.size(); ++size) {
    const std::vector<std::byte> piece(bytes.begin() + 8,
                                       bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THAT(DecodeSample(ViewOf(piece), kFullFormat), FailsWith(ErrorCode::kTruncated)) << size;
  }
}

TEST(Sample, AbsurdCountsAreTruncatedNotAllocated) {
  const std::array<std::uint64_t, 5> bits = {kCallchain, kBranchStack, kStackUser, kAux, kRead};
  for (const std::uint64_t bit : bits) {
    // 2^61 words, a third of 2^64 branches, and 2^60 members of a group wrap around.
    for (const std::uint64_t count :
         {std::uint64_t{1} << 61, std::uint64_t{1} << 60, ~std::uint64_t{0} / 3 + 1,
          std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
      const std::array<std::uint64_t, 4> payload = {count, 1, 2, 3};
      EXPECT_THAT(Decoded(payload, {.sample_type = bit, .read_format = kReadGroup | kReadId}),
                  FailsWith(ErrorCode::kTruncated))
          << bit << ' ' << count;
    }
  }
  const std::array<std::uint64_t, 1> raw = {0xffffffff};
  EXPECT_THAT(Decoded(raw, {.sample_type = kRaw}), FailsWith(ErrorCode::kTruncated));
}

TEST(Sample, ReadsEveryShapeOfAReadBlock) {
  for (std::uint64_t read_format = 0; read_format < 32; ++read_format) {
    const SampleFormat format{.sample_type = kRead | kPhysAddr, .read_format = read_format};
    const auto times = static_cast<std::size_t>(
        std::popcount(read_format & (kReadTotalTimeEnabled | kReadTotalTimeRunning)));
    const auto values =
        static_cast<std::size_t>(1 + std::popcount(read_format & (kReadId | kReadLost)));
    // A group of three, or one event.
    const std::size_t size =
        (read_format & kReadGroup) != 0 ? 1 + times + 3 * values : times + values;
    std::vector<std::uint64_t> payload(size, 3);
    payload.push_back(77);  // phys_addr, which follows
    const Result<Sample> decoded = Decoded(payload, format);
    ASSERT_THAT(decoded, IsOk()) << read_format;
    EXPECT_EQ(decoded->read.size(), size) << read_format;
    EXPECT_EQ(decoded->phys_addr, 77U) << read_format;
  }
}

TEST(Sample, HasNoRegistersWhereTheTaskHadNone) {
  const SampleFormat format{.sample_type = kRegsUser | kRegsIntr | kCodePageSize,
                            .regs_user_mask = 0xff,
                            .regs_intr_mask = 0xff};
  const std::array<std::uint64_t, 3> payload = {0, 0, 4096};
  const Result<Sample> decoded = Decoded(payload, format);
  ASSERT_THAT(decoded, IsOk());
  EXPECT_TRUE(decoded->regs_user.empty());
  EXPECT_EQ(decoded->code_page_size, 4096U);
}

TEST(Sample, HasNoDynamicSizeBehindAStackOfSizeZero) {
  const std::array<std::uint64_t, 2> payload = {0, 5};
  const Result<Sample> decoded = Decoded(payload, {.sample_type = kStackUser | kWeight});
  ASSERT_THAT(decoded, IsOk());
  EXPECT_TRUE(decoded->stack_user.empty());
  EXPECT_EQ(decoded->weight, 5U);
}

TEST(Sample, ShowsOnlyTheValidPartOfAStack) {
  const std::array<std::uint64_t, 4> payload = {16, 1, 2, 8};
  const Result<Sample> decoded = Decoded(payload, {.sample_type = kStackUser});
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(decoded->stack_user_size, 16U);
  EXPECT_EQ(decoded->stack_user.size(), 8U);
}

TEST(Sample, LimitsTheStackToItsField) {
  const std::array<std::uint64_t, 4> payload = {16, 1, 2, 0xffff'ffff'ffff};
  const Result<Sample> decoded = Decoded(payload, {.sample_type = kStackUser});
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(decoded->stack_user.size(), 16U);
}

TEST(Sample, HasABranchStackWithoutIndexAndCountersWhereTheyWereNotAskedFor) {
  const std::array<std::uint64_t, 5> payload = {1, 10, 20, 30, 99};
  const Result<Sample> decoded = Decoded(payload, {.sample_type = kBranchStack | kWeight});
  ASSERT_THAT(decoded, IsOk());
  EXPECT_THAT(ToVector(decoded->branches), ElementsAre(10, 20, 30));
  EXPECT_EQ(decoded->weight, 99U);
}

TEST(Sample, HasOneWordForWeightAndWeightStruct) {
  const std::array<std::uint64_t, 2> payload = {7, 8};
  const Result<Sample> decoded = Decoded(payload, {.sample_type = kWeightStruct | kDataSrc});
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(decoded->weight, 7U);
  EXPECT_EQ(decoded->data_src, 8U);
}

TEST(Sample, OfABigEndianMachineReadsTheSame) {
  const SampleFormat format{.sample_type = kIp | kTid | kCpu | kCallchain | kRaw | kWeight};
  BigEndianBytes payload;
  payload.U64(0x401136).U32(7).U32(8).U32(3).U32(0);
  payload.U64(2).U64(kContextUser).U64(0x401136);
  payload.U32(4).Text("\1\2\3\4", 4).U64(5);
  const Result<Sample> sample = DecodeSample(ViewOf(payload.bytes(), std::endian::big), format);
  ASSERT_THAT(sample, IsOk());
  EXPECT_EQ(sample->ip, 0x401136U);
  EXPECT_EQ(sample->pid, 7U);
  EXPECT_EQ(sample->tid, 8U);
  EXPECT_EQ(sample->cpu, 3U);
  EXPECT_THAT(ToVector(sample->callchain), ElementsAre(kContextUser, 0x401136));
  EXPECT_EQ(AsText(sample->raw), "\1\2\3\4");
  EXPECT_EQ(sample->weight, 5U);
}

TEST(Sample, OfABigEndianMachineIsWrittenInNativeOrder) {
  const SampleFormat format{.sample_type = kCallchain};
  const auto payload = BigEndianBytes().U64(2).U64(0x11).U64(0x22).bytes();
  const Result<Sample> sample = DecodeSample(ViewOf(payload, std::endian::big), format);
  ASSERT_THAT(sample, IsOk());
  const std::vector<std::byte> bytes = Encoded(*sample, format);
  EXPECT_THAT(ToVector(WordArray(Bytes(bytes).subspan(8), std::endian::native)),
              ElementsAre(2, 0x11, 0x22));
}

TEST(Sample, StaysReadableWhereItsArraysDoNotFitItsFormat) {
  const Sample sample{.branches = {},
                      .branch_counters = {},
                      .regs_user_abi = 2,
                      .regs_user = {},
                      .stack_user = AsBytes("12345678"),
                      .stack_user_size = 4};
  const SampleFormat format{.sample_type = kRegsUser | kStackUser, .regs_user_mask = 0xf};
  const std::vector<std::byte> bytes = Encoded(sample, format);
  const Result<Sample> decoded = DecodeSample(ViewOf(Bytes(bytes).subspan(8)), format);
  ASSERT_THAT(decoded, IsOk());
  EXPECT_THAT(ToVector(decoded->regs_user), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(AsText(decoded->stack_user), "1234");
}

TEST(Sample, LargerThanARecordCanBeIsRefused) {
  const std::vector<std::uint64_t> chain(8192, 0x1000);
  std::vector<std::byte> out;
  EXPECT_THAT(
      EncodeSample(Sample{.callchain = WordArray(chain)}, {.sample_type = kCallchain}, 0, out),
      FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(out.empty());
}

TEST(Sample, HasItsTimeWhereTimeOfLooks) {
  const std::array<SampleBit, 6> bits = {kIdentifier, kIp, kTid, kAddr, kId, kCallchain};
  const Arrays arrays;
  for (unsigned chosen = 0; chosen < 1U << bits.size(); ++chosen) {
    SampleFormat format{.sample_type = kTime};
    for (unsigned i = 0; i < bits.size(); ++i) {
      if ((chosen >> i & 1) != 0) format.sample_type |= bits[i];
    }
    const std::vector<std::byte> bytes = Encoded(FullSample(arrays), format);
    EXPECT_EQ(TimeOf(ViewOf(Bytes(bytes).subspan(8)), format), 5U) << chosen;
  }
}

}  // namespace
}  // namespace perftape::perfdata

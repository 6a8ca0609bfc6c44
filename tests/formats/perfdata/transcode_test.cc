// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/transcode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/formats/perfdata/big_endian.h"
#include "tests/support/matchers.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const SampleFormat kNoFields;
constexpr auto kForeign =
    std::endian::native == std::endian::little ? std::endian::big : std::endian::little;

RecordView ViewOf(RecordType type, Bytes payload, std::endian order = std::endian::native) {
  return {.type = type, .misc = 2, .payload = payload, .file_offset = 0x100, .order = order};
}

// Returns a view of the record, which is all of `bytes`.
RecordView RecordIn(const std::vector<std::byte>& bytes) {
  RecordHeader header = {};
  std::memcpy(&header, bytes.data(), sizeof header);
  EXPECT_EQ(header.size, bytes.size());
  RecordView view = ViewOf(header.type, Bytes(bytes).subspan(sizeof header));
  view.misc = header.misc;
  return view;
}

std::vector<std::uint64_t> WordsOf(const WordArray& words) {
  return {words.begin(), words.end()};
}

TEST(Transcode, LeavesTheBytesOfANativeRecordAsTheyAre) {
  const std::string_view payload("\1\0\0\0\2\0\0\0sh\0garb!", 16);
  std::vector<std::byte> out;
  ASSERT_THAT(Transcode(ViewOf(RecordType::kComm, AsBytes(payload)), &kNoFields, {}, out), IsOk());
  EXPECT_EQ(AsText(RecordIn(out).payload), payload);
  EXPECT_EQ(RecordIn(out).misc, 2);
}

TEST(Transcode, LeavesARecordOfAnUnknownTypeAsItIs) {
  std::vector<std::byte> out;
  ASSERT_THAT(Transcode(ViewOf(RecordType{99}, AsBytes("12345678")), &kNoFields, {}, out), IsOk());
  EXPECT_EQ(RecordIn(out).type, RecordType{99});
  EXPECT_EQ(AsText(RecordIn(out).payload), "12345678");
}

TEST(Transcode, PadsARecordThatEndsWithinAWord) {
  std::vector<std::byte> out;
  ASSERT_THAT(
      Transcode(ViewOf(RecordType::kHeaderFeature, AsBytes("12345678abc")), &kNoFields, {}, out),
      IsOk());
  EXPECT_EQ(AsText(RecordIn(out).payload), std::string_view("12345678abc\0\0\0\0\0", 16));
}

TEST(Transcode, SwapsTheBytesOfEachField) {
  const std::vector<std::byte> comm =
      BigEndianBytes().U32(7).U32(8).Text("worker", 8).U32(7).U32(8).U64(99).bytes();
  const SampleFormat format{.sample_type = kTid | kTime, .sample_id_all = true};
  std::vector<std::byte> out;
  ASSERT_THAT(Transcode(ViewOf(RecordType::kComm, comm, kForeign), &format, {}, out), IsOk());
  const RecordView view = RecordIn(out);
  const auto value = Decode<Comm>(view, format);
  ASSERT_THAT(value, IsOk());
  EXPECT_EQ(value->pid, 7U);
  EXPECT_EQ(value->tid, 8U);
  EXPECT_EQ(value->comm, "worker");
  EXPECT_EQ(DecodeSampleId(view, format).time, 99U);
}

TEST(Transcode, SwapsTheBitFieldsOfABranch) {
  // mispred, cycles 3, type 5: counted from the top, as a big-endian compiler does.
  const std::uint64_t flags =
      std::uint64_t{1} << 63 | std::uint64_t{3} << 44 | std::uint64_t{5} << 40;
  const std::vector<std::byte> sample =
      BigEndianBytes().U64(1).U64(0x10).U64(0x20).U64(flags).bytes();
  const SampleFormat format{.sample_type = kBranchStack};
  std::vector<std::byte> out;
  ASSERT_THAT(Transcode(ViewOf(RecordType::kSample, sample, kForeign), &format, {}, out), IsOk());
  const auto value = DecodeSample(RecordIn(out), format);
  ASSERT_THAT(value, IsOk());
  EXPECT_THAT(WordsOf(value->branches), ElementsAre(0x10, 0x20, 1 | 3 << 4 | 5 << 20));
}

TEST(Transcode, LeavesOutTheBranchCountersThatTheTargetHasNot) {
  const std::vector<std::uint64_t> branches = {0x10, 0x20, 1}, counters = {77};
  const SampleFormat with{.sample_type = kBranchStack | kWeight,
                          .branch_sample_type = kBranchCounters};
  const SampleFormat without{.sample_type = kBranchStack | kWeight};
  std::vector<std::byte> record, out;
  ASSERT_THAT(
      EncodeSample(
          {.branches = WordArray(branches), .branch_counters = WordArray(counters), .weight = 5},
          with, 2, record),
      IsOk());
  ASSERT_THAT(Transcode(RecordIn(record), &with, &without, out), IsOk());
  EXPECT_EQ(out.size(), record.size() - 8);
  const auto value = DecodeSample(RecordIn(out), without);
  ASSERT_THAT(value, IsOk());
  EXPECT_THAT(WordsOf(value->branches), ElementsAre(0x10, 0x20, 1));
  EXPECT_EQ(value->weight, 5U);
}

TEST(Transcode, RemovesRegistersThatTheTargetHasNot) {
  const SampleFormat with = {.sample_type = kRegsUser | kWeight,
                             .regs_user_mask = std::uint64_t{1} << 30 | 0b101,
                             .simd_regs = true};
  const SampleFormat without = {.sample_type = kRegsUser | kWeight, .regs_user_mask = 0b101};
  const std::vector<std::uint64_t> general = {1, 2, 3}, vectors = {1, 2, 0, 0, 8, 9};
  std::vector<std::byte> record, out;
  ASSERT_THAT(EncodeSample({.regs_user_abi = kRegsAbi64 | kRegsAbiSimd,
                            .regs_user = WordArray(general),
                            .regs_user_simd = WordArray(vectors),
                            .weight = 7},
                           with, 0, record),
              IsOk());
  ASSERT_THAT(Transcode(RecordIn(record), &with, &without, out), IsOk());
  const auto sample = DecodeSample(RecordIn(out), without);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->regs_user_abi, kRegsAbi64);
  EXPECT_THAT(WordsOf(sample->regs_user), ElementsAre(1, 2));
  EXPECT_TRUE(sample->regs_user_simd.empty());
  EXPECT_EQ(sample->weight, 7U);
}

TEST(Transcode, RejectsAForeignRecordWithUnknownFields) {
  std::vector<std::byte> out;
  EXPECT_THAT(Transcode(ViewOf(RecordType{99}, AsBytes("12345678"), kForeign), &kNoFields, {}, out),
              FailsWith(ErrorCode::kUnsupported, testing::HasSubstr("0x100")));
  EXPECT_THAT(out, IsEmpty());
}

TEST(Transcode, RejectsOnlyForeignRecordsOfUnknownEvents) {
  std::vector<std::byte> out;
  EXPECT_THAT(
      Transcode(ViewOf(RecordType::kSample, AsBytes("12345678"), kForeign), nullptr, {}, out),
      FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(out, IsEmpty());
  ASSERT_THAT(Transcode(ViewOf(RecordType::kSample, AsBytes("12345678")), nullptr, {}, out),
              IsOk());
  EXPECT_EQ(AsText(RecordIn(out).payload), "12345678");
}

TEST(Transcode, RefusesAForeignRecordThatEndsInsideItsFields) {
  std::vector<std::byte> out;
  EXPECT_THAT(
      Transcode(ViewOf(RecordType::kLost, AsBytes("12345678"), kForeign), &kNoFields, {}, out),
      FailsWith(ErrorCode::kTruncated));
  EXPECT_THAT(out, IsEmpty());
}

}  // namespace
}  // namespace perftape::perfdata

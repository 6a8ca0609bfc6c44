// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/attr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "tests/formats/perfdata/big_endian.h"
#include "tests/support/matchers.h"

namespace perftape::perfdata {
namespace {

using testing::HasSubstr;

// Returns an attribute in which every field has a different value: 144 bytes, with the largest
// field last.
EventAttr FullAttr() {
  EventAttr attr;
  attr.type = 1;
  attr.size = 144;
  attr.config = 2;
  attr.sample_period = 3;
  attr.sample_type = 4;
  attr.read_format = 5;
  attr.flags = 6;
  attr.wakeup_events = 7;
  attr.bp_type = 8;
  attr.config1 = 9;
  attr.config2 = 10;
  attr.branch_sample_type = 11;
  attr.sample_regs_user = 12;
  attr.sample_stack_user = 13;
  attr.clockid = -14;
  attr.sample_regs_intr = 15;
  attr.aux_watermark = 16;
  attr.sample_max_stack = 17;
  attr.aux_sample_size = 18;
  attr.aux_action = 19;
  attr.sig_data = 20;
  attr.config3 = 21;
  attr.config4 = 22;
  return attr;
}

// The same with the fields of vector registers: 176 bytes.
EventAttr LargestAttr() {
  EventAttr attr = FullAttr();
  attr.size = 176;
  attr.simd_regs_enabled = 23;
  attr.simd_predicate_words = 24;
  attr.simd_vector_words = 25;
  attr.simd_predicates_intr = 26;
  attr.simd_predicates_user = 27;
  attr.simd_vectors_intr = 28;
  attr.simd_vectors_user = 29;
  return attr;
}

std::vector<std::byte> Encoded(const EventAttr& attr) {
  std::vector<std::byte> bytes;
  EncodeAttr(attr, bytes);
  return bytes;
}

// PERF_ATTR_SIZE_VER10 has no header here yet.
TEST(EventAttr, HasTheFieldsOfVectorRegistersAtTheirOffsets) {
  const std::vector<std::byte> bytes = Encoded(LargestAttr());
  ASSERT_EQ(bytes.size(), 176U);
  const auto at = [&]<class T>(std::size_t offset, T) {
    return LoadFixed<T>(bytes.data() + offset, std::endian::native);
  };
  EXPECT_EQ(at(144, std::uint16_t{}), 23);
  EXPECT_EQ(at(146, std::uint16_t{}), 24);
  EXPECT_EQ(at(148, std::uint16_t{}), 25);
  EXPECT_EQ(at(152, std::uint32_t{}), 26U);
  EXPECT_EQ(at(156, std::uint32_t{}), 27U);
  EXPECT_EQ(at(160, std::uint64_t{}), 28U);
  EXPECT_EQ(at(168, std::uint64_t{}), 29U);
  const auto decoded = DecodeAttr(bytes, std::endian::native);
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(Encoded(*decoded), bytes);
  EXPECT_TRUE(FormatOf(*decoded).simd_regs);
}

TEST(EventAttr, HasItsFieldsWhereTheKernelHasThem) {
  perf_event_attr kernel = {};
  kernel.type = PERF_TYPE_SOFTWARE;
  kernel.size = 112;
  kernel.config = PERF_COUNT_SW_CPU_CLOCK;
  kernel.sample_freq = 99;
  kernel.freq = 1;
  kernel.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
  kernel.sample_id_all = 1;
  kernel.comm_exec = 1;
  kernel.use_clockid = 1;
  kernel.clockid = 1;
  kernel.precise_ip = 2;
  kernel.sample_regs_user = 0xff;
  kernel.sample_stack_user = 8192;
  kernel.sample_max_stack = 127;

  const auto attr =
      DecodeAttr(std::as_bytes(std::span(&kernel, 1)).first(112), std::endian::native);
  ASSERT_THAT(attr, IsOk());
  EXPECT_EQ(attr->type, kTypeSoftware);
  EXPECT_EQ(attr->sample_period, 99U);
  EXPECT_EQ(attr->sample_type, kIp | kCallchain);
  EXPECT_EQ(attr->flags, kFreq | kSampleIdAll | kCommExec | kUseClockid | std::uint64_t{2} << 15);
  EXPECT_EQ(attr->clockid, 1);
  EXPECT_EQ(attr->sample_regs_user, 0xffU);
  EXPECT_EQ(attr->sample_stack_user, 8192U);
  EXPECT_EQ(attr->sample_max_stack, 127);
}

TEST(EventAttr, DecodesToWhatWasEncodedInEverySize) {
  for (const std::uint32_t size : {64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 200}) {
    EventAttr attr = FullAttr();
    attr.size = size;
    const std::vector<std::byte> bytes = Encoded(attr);
    EXPECT_EQ(bytes.size(), size);
    const auto decoded = DecodeAttr(bytes, std::endian::native);
    ASSERT_THAT(decoded, IsOk()) << size;
    EXPECT_EQ(Encoded(*decoded), bytes) << size;
  }
}

TEST(EventAttr, FieldsBehindTheEndOfASmallOneAreZero) {
  EventAttr attr = FullAttr();
  attr.size = 72;
  std::vector<std::byte> bytes = Encoded(attr);
  bytes.resize(144, std::byte{0xee});  // followed by other bytes
  const auto decoded = DecodeAttr(bytes, std::endian::native);
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(decoded->config2, 10U);
  EXPECT_EQ(decoded->branch_sample_type, 0U);
  EXPECT_EQ(decoded->config4, 0U);
}

TEST(EventAttr, OfSizeZeroHasTheSmallestSize) {
  std::vector<std::byte> bytes = Encoded(FullAttr());
  std::fill_n(bytes.begin() + 4, 4, std::byte{0});
  const auto decoded = DecodeAttr(bytes, std::endian::native);
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(decoded->size, 64U);
  EXPECT_EQ(decoded->config1, 9U);
  EXPECT_EQ(decoded->config2, 0U);
}

TEST(EventAttr, IgnoresWhatALaterKernelAddsBehind) {
  EventAttr attr = FullAttr();
  attr.size = 160;
  std::vector<std::byte> bytes = Encoded(attr);
  bytes.back() = std::byte{1};
  const auto decoded = DecodeAttr(bytes, std::endian::native);
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(decoded->size, 160U);
  EXPECT_EQ(decoded->config4, 22U);
}

TEST(EventAttr, IsTruncatedBelowTheSmallestSize) {
  const std::vector<std::byte> bytes = Encoded(FullAttr());
  for (std::size_t cut = 0; cut < EventAttr::kSmallestSize; ++cut) {
    const std::vector<std::byte> piece(bytes.begin(), bytes.begin() + static_cast<long>(cut));
    EXPECT_THAT(DecodeAttr(piece, std::endian::native), FailsWith(ErrorCode::kTruncated)) << cut;
  }
}

TEST(EventAttr, RejectsTooLargeAndTooSmallSizes) {
  std::vector<std::byte> bytes = Encoded(FullAttr());
  for (const std::uint32_t size : {1U, 63U, 145U, 0xffffffffU}) {
    std::memcpy(bytes.data() + 4, &size, sizeof size);
    EXPECT_THAT(DecodeAttr(bytes, std::endian::native),
                FailsWith(ErrorCode::kCorrupt, HasSubstr("only 144 are present")))
        << size;
  }
}

TEST(EventAttr, OfABigEndianMachineHasItsBitFieldsFromTheTop) {
  // There `disabled` is the highest bit, `inherit` the next one, and so on.
  const auto bit = [](unsigned number) { return std::uint64_t{1} << (63 - number); };
  BigEndianBytes bytes;
  bytes.U32(1).U32(64).U64(0).U64(99).U64(kIp | kTid).U64(4);
  bytes.U64(bit(1) | bit(10) | bit(18) | bit(33)).U32(0).U32(0).U64(7);
  const auto attr = DecodeAttr(bytes.bytes(), std::endian::big);
  ASSERT_THAT(attr, IsOk());
  EXPECT_EQ(attr->sample_period, 99U);
  EXPECT_EQ(attr->sample_type, kIp | kTid);
  EXPECT_EQ(attr->flags, kInherit | kFreq | kSampleIdAll | kAttrTextPoke);
  EXPECT_EQ(attr->config1, 7U);
}

TEST(EventAttr, OfABigEndianMachineKeepsTheTwoBitsOfPreciseIpInOrder) {
  for (const std::uint64_t precise : {0, 1, 2, 3}) {
    // The field has bits 15 and 16 counted from the top, with its own highest bit first.
    BigEndianBytes bytes;
    bytes.U32(0).U32(64).Zeros(32).U64(precise << (63 - 16)).Zeros(16);
    const auto attr = DecodeAttr(bytes.bytes(), std::endian::big);
    ASSERT_THAT(attr, IsOk());
    EXPECT_EQ(attr->flags >> 15 & 3, precise);
    EXPECT_EQ(attr->flags & ~(std::uint64_t{3} << 15), 0U);
  }
}

TEST(SampleFormat, HasATrailerOfOneWordForEachBitThatItCarries) {
  SampleFormat format{.sample_type = kIp | kTid | kTime | kId | kStreamId | kCpu | kIdentifier |
                                     kPeriod | kCallchain | kAddr};
  EXPECT_EQ(format.trailer_size(), 0U);
  format.sample_id_all = true;
  EXPECT_EQ(format.trailer_size(), 6U * 8);
  format.sample_type = kIp | kCallchain;
  EXPECT_EQ(format.trailer_size(), 0U);
}

std::string NameOf(std::uint32_t type, std::uint64_t config, std::uint64_t flags = kExcludeGuest) {
  EventAttr attr;
  attr.type = type;
  attr.config = config;
  attr.flags = flags;
  return DefaultEventName(attr);
}

TEST(EventName, IsPerfsForWhatTheFileDoesNotName) {
  EXPECT_EQ(NameOf(kTypeHardware, 0), "cycles");
  EXPECT_EQ(NameOf(kTypeHardware, 9), "ref-cycles");
  EXPECT_EQ(NameOf(kTypeHardware, 10), "type 0 config 0xa");
  EXPECT_EQ(NameOf(kTypeSoftware, kSoftwareCpuClock), "cpu-clock");
  EXPECT_EQ(NameOf(kTypeSoftware, kSoftwareDummy), "dummy");
  EXPECT_EQ(NameOf(kTypeRaw, 0x1a8), "raw 0x1a8");
  EXPECT_EQ(NameOf(kTypeTracepoint, 314), "tracepoint:314");
}

// evsel__add_modifiers() of tools/perf/util/evsel.c: guests are excluded by default, unless a mode
// is.
TEST(EventName, ShowsTheCountedModes) {
  EXPECT_EQ(NameOf(kTypeHardware, 0, 0), "cycles:HG");
  EXPECT_EQ(NameOf(kTypeHardware, 0, kExcludeKernel | kExcludeHv), "cycles:u");
  EXPECT_EQ(NameOf(kTypeHardware, 0, kExcludeUser | kExcludeHv), "cycles:k");
  EXPECT_EQ(NameOf(kTypeHardware, 0, kExcludeUser | kExcludeHv | kExcludeGuest), "cycles:kH");
  EXPECT_EQ(NameOf(kTypeHardware, 0, std::uint64_t{2} << 15), "cycles:pp");
}

}  // namespace
}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
#include "record/rings/wire_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/types.h>

#include <bit>
#include <cstring>
#include <optional>

#include "bpf/wire.h"
#include "record/rings/user_registers.h"
#include "tests/record/records.h"
#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

using perfdata::kContextKernel;
using perfdata::kContextUser;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kLimit = std::uint64_t{1} << 47;
constexpr std::uint64_t kKernelIp = 0xffffffff81234567;

// A valid message with these frames.
struct Message {
  wire_sample sample = {};
  std::vector<std::uint64_t> raw = {};
  std::vector<std::uint64_t> kernel, user;
  std::optional<wire_user_state> user_state = {};
  std::vector<std::byte> stack = {};

  static Message InUserMode() {
    Message message;
    message.sample.header.type = WIRE_SAMPLE;
    message.sample.header.cpu = 1;
    message.sample.header.time_ns = 123456789;
    message.sample.ip = 0x401000;
    message.sample.period = 10101010;
    message.sample.pid = 7;
    message.sample.tid = 9;
    message.sample.mode = WIRE_MODE_USER;
    message.user = {0x401000, 0x402000};
    return message;
  }
  static Message InKernelMode() {
    Message message = InUserMode();
    message.sample.ip = kKernelIp;
    message.sample.mode = WIRE_MODE_KERNEL;
    message.kernel = {kKernelIp, kKernelIp + 0x100};
    return message;
  }

  std::vector<std::byte> bytes() const {
    wire_sample head = sample;
    head.kernel_frames = static_cast<__u16>(kernel.size());
    head.user_frames = static_cast<__u16>(user.size());
    if (user_state) head.flags |= WIRE_HAS_USER_STATE;
    std::vector<std::byte> bytes;
    const auto append = [&](Bytes some) { bytes.insert(bytes.end(), some.begin(), some.end()); };
    append(std::as_bytes(std::span(&head, 1)));
    append(std::as_bytes(std::span(raw)));
    append(std::as_bytes(std::span(kernel)));
    append(std::as_bytes(std::span(user)));
    if (user_state) {
      append(std::as_bytes(std::span(&*user_state, 1)));
      append(stack);
      bytes.resize((bytes.size() + 7) / 8 * 8);
      const std::uint64_t size = stack.size();
      append(std::as_bytes(std::span(&size, 1)));
    }
    head.header.size = static_cast<__u32>(bytes.size());
    std::memcpy(bytes.data(), &head, sizeof head);
    return bytes;
  }
};

class WireDecoding : public testing::Test {
 protected:
  WireDecoding() { ids_.Add(0, 1, 42); }

  // Returns the only record of a message; valid until the next call.
  perfdata::Sample SampleOfMessage(const Message& message) {
    out_.clear();
    EXPECT_TRUE(decoder_.Append(message.bytes(), out_));
    record_ = RecordsIn(out_).at(0);
    return perfdata::DecodeSample(record_, kTestFormat).value();
  }
  std::vector<std::uint64_t> ChainOf(const Message& message) {
    const perfdata::Sample sample = SampleOfMessage(message);
    return {sample.callchain.begin(), sample.callchain.end()};
  }
  std::string ErrorOf(Bytes message) {
    out_.clear();
    const Result<std::uint64_t> time = decoder_.Append(message, out_);
    EXPECT_TRUE(out_.empty());
    if (time) return "";
    EXPECT_EQ(time.error().code, ErrorCode::kCorrupt);
    return time.error().message;
  }

  EventIds ids_;
  WireDecoder decoder_{ids_, {kTestFormat}, kLimit};
  std::vector<std::byte> out_;
  perfdata::RecordView record_;
};

TEST_F(WireDecoding, CopiesTaskTimeAndCpu) {
  const perfdata::Sample sample = SampleOfMessage(Message::InUserMode());
  EXPECT_EQ(sample.id, 42u);
  EXPECT_EQ(sample.ip, 0x401000u);
  EXPECT_EQ(sample.pid, 7u);
  EXPECT_EQ(sample.tid, 9u);
  EXPECT_EQ(sample.time, 123456789u);
  EXPECT_EQ(sample.cpu, 1u);
  EXPECT_EQ(sample.period, 10101010u);
}

TEST_F(WireDecoding, HasTheCgroupIfTheEventHas) {
  perfdata::SampleFormat format = kTestFormat;
  format.sample_type |= perfdata::kSampleCgroup;
  Message message = Message::InUserMode();
  message.sample.cgroup = 4711;
  EXPECT_EQ(SampleOfMessage(message).cgroup, 0U);
  WireDecoder decoder(ids_, {format}, kLimit);
  out_.clear();
  ASSERT_TRUE(decoder.Append(message.bytes(), out_));
  const perfdata::RecordView record = RecordsIn(out_).at(0);
  EXPECT_EQ(perfdata::DecodeSample(record, format)->cgroup, 4711U);
}

TEST_F(WireDecoding, ReturnsTheTime) {
  EXPECT_EQ(decoder_.Append(Message::InUserMode().bytes(), out_).value(), 123456789u);
}

TEST_F(WireDecoding, SetsTheCpuMode) {
  SampleOfMessage(Message::InUserMode());
  EXPECT_EQ(record_.cpumode(), perfdata::CpuMode::kUser);
  SampleOfMessage(Message::InKernelMode());
  EXPECT_EQ(record_.cpumode(), perfdata::CpuMode::kKernel);
}

TEST_F(WireDecoding, OpensAUserChainWithItsMarker) {
  EXPECT_THAT(ChainOf(Message::InUserMode()), ElementsAre(kContextUser, 0x401000, 0x402000));
}

// A probe at the entry of a function: the caller's return address, then what the kernel walked.
TEST_F(WireDecoding, PutsTheCallerBehindTheProbedFunction) {
  Message message = Message::InUserMode();
  message.sample.flags = WIRE_CALLER_FIRST;
  message.user = {0x402000, 0x401000, 0x403000};
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextUser, 0x401000, 0x402000, 0x403000));
  message.user = {0x402000, 0x401000, 0x402000};  // a recursion
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextUser, 0x401000, 0x402000, 0x402000));
  message.user = {0x402000};  // no walk
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextUser, 0x401000, 0x402000));
}

TEST_F(WireDecoding, HasTheCallerOnceIfTheKernelFoundIt) {
  Message message = Message::InUserMode();
  message.sample.flags = WIRE_CALLER_FIRST | WIRE_CALLER_MAY_BE_FRAME;
  message.user = {0x402000, 0x401000, 0x402000, 0x403000};
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextUser, 0x401000, 0x402000, 0x403000));
  message.user = {0x402000, 0x401000, 0x403000};
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextUser, 0x401000, 0x402000, 0x403000));
}

TEST_F(WireDecoding, HasNoCallerThatIsNoUserAddress) {
  Message message = Message::InUserMode();
  message.sample.flags = WIRE_CALLER_FIRST;
  message.user = {kLimit, 0x401000, 0x403000};
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextUser, 0x401000, 0x403000));
  message.user = {};
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextUser, 0x401000));
}

TEST_F(WireDecoding, PutsUserFramesBehindThoseOfTheKernel) {
  EXPECT_THAT(
      ChainOf(Message::InKernelMode()),
      ElementsAre(kContextKernel, kKernelIp, kKernelIp + 0x100, kContextUser, 0x401000, 0x402000));
}

TEST_F(WireDecoding, HasNoUserMarkerWithoutUserFrames) {
  Message message = Message::InKernelMode();
  message.user = {};
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextKernel, kKernelIp, kKernelIp + 0x100));
  message.user = {0};
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextKernel, kKernelIp, kKernelIp + 0x100));
}

TEST_F(WireDecoding, HasTheAddressAloneWhereThereAreNoFrames) {
  Message message = Message::InUserMode();
  message.user = {};
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextUser, 0x401000));
}

TEST_F(WireDecoding, KeepsUserFramesWhereTheKernelsAreMissing) {
  Message message = Message::InKernelMode();
  message.kernel = {};
  EXPECT_THAT(ChainOf(message),
              ElementsAre(kContextKernel, kKernelIp, kContextUser, 0x401000, 0x402000));
}

TEST_F(WireDecoding, EndsUserFramesAtZero) {
  Message message = Message::InUserMode();
  message.user = {0x401000, 0, 0x402000};
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextUser, 0x401000));
}

TEST_F(WireDecoding, MarksTheFrameThatASignalInterrupted) {
  Message message = Message::InUserMode();
  message.user = {0x401000, 0x402000, WIRE_INTERRUPTED, 0x403000, 0x404000, WIRE_INTERRUPTED};
  EXPECT_THAT(ChainOf(message),
              ElementsAre(kContextUser, 0x401000, 0x402000, kContextUser, 0x403000, 0x404000));
}

TEST_F(WireDecoding, EndsUserFramesAtWhatIsNoUserAddress) {
  for (const std::uint64_t bad : {kLimit, ~std::uint64_t{0}, kKernelIp, kContextUser}) {
    Message message = Message::InUserMode();
    message.user = {0x401000, kLimit - 1, bad, 0x402000};
    EXPECT_THAT(ChainOf(message), ElementsAre(kContextUser, 0x401000, kLimit - 1)) << bad;
  }
}

TEST_F(WireDecoding, EndsKernelFramesAtWhatLooksLikeAMarker) {
  Message message = Message::InKernelMode();
  message.kernel = {kKernelIp, perfdata::kContextMax, kKernelIp};
  message.user = {};
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextKernel, kKernelIp));
}

TEST_F(WireDecoding, KeepsAnAddressThatLooksLikeAMarkerOutOfTheChain) {
  Message message = Message::InUserMode();
  message.sample.ip = ~std::uint64_t{0};
  message.user = {};
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextUser));
}

TEST_F(WireDecoding, KeepsTheAddressOfAVsyscallPage) {
  Message message = Message::InUserMode();
  message.sample.ip = 0xffffffffff600000;
  message.user = {0xffffffffff600000, 0x401000};
  EXPECT_THAT(ChainOf(message), ElementsAre(kContextUser, 0xffffffffff600000));
}

TEST_F(WireDecoding, KeepsIdleAndForeignTasks) {
  Message message = Message::InKernelMode();
  message.sample.pid = message.sample.tid = 0;
  EXPECT_EQ(SampleOfMessage(message).pid, 0u);
  message.sample.pid = message.sample.tid = WIRE_FOREIGN_PID;
  EXPECT_EQ(SampleOfMessage(message).tid, 0xffffffffu);
}

TEST_F(WireDecoding, StartsEachChainAnew) {
  ChainOf(Message::InKernelMode());
  EXPECT_EQ(ChainOf(Message::InUserMode()).size(), 3u);
}

TEST_F(WireDecoding, AppendsBehindWhatIsThere) {
  ASSERT_TRUE(decoder_.Append(Message::InUserMode().bytes(), out_));
  ASSERT_TRUE(decoder_.Append(Message::InKernelMode().bytes(), out_));
  EXPECT_EQ(RecordsIn(out_).size(), 2u);
}

TEST_F(WireDecoding, RefusesAMessageCutAtAnyByte) {
  const std::vector<std::byte> bytes = Message::InKernelMode().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(ErrorOf(Bytes(bytes).first(size)), "") << size;
  }
}

// A sample in user mode with registers 100, 101, ... in the order of the message, and a stack.
Message WithUserState(Message message, std::size_t stack_size) {
  wire_user_state& state = message.user_state.emplace();
  state.abi = 2;
  for (std::uint64_t i = 0; i < WIRE_USER_REGS; ++i) state.regs[i] = 100 + i;
  message.user = {};
  for (std::size_t i = 0; i < stack_size; ++i) message.stack.push_back(std::byte(i % 251));
  return message;
}

class StackDecoding : public WireDecoding {
 protected:
  StackDecoding() {
    format_.sample_type |= perfdata::kRegsUser | perfdata::kStackUser;
    format_.regs_user_mask = kUserRegisterMask;
  }

  Status Append(Bytes message) {
    out_.clear();
    WireDecoder decoder(ids_, {format_}, kLimit);
    TRY(decoder.Append(message, out_));
    return {};
  }
  // Valid until the next call.
  perfdata::Sample SampleWithState(const Message& message) {
    EXPECT_TRUE(Append(message.bytes()));
    record_ = RecordsIn(out_).at(0);
    return perfdata::DecodeSample(record_, format_).value();
  }

  perfdata::SampleFormat format_ = kTestFormat;
};

TEST_F(StackDecoding, HasRegistersAndStack) {
  const Message message = WithUserState(Message::InUserMode(), 100);
  const perfdata::Sample sample = SampleWithState(message);
  EXPECT_EQ(sample.regs_user_abi, 2U);
  ASSERT_EQ(sample.regs_user.size(), std::size_t(std::popcount(kUserRegisterMask)));
  EXPECT_EQ(sample.stack_user_size, 104U) << "whole words";
  EXPECT_THAT(sample.stack_user, testing::ElementsAreArray(message.stack));
#if defined(__x86_64__)
  EXPECT_EQ(sample.regs_user[0], 110U) << "ax";
  EXPECT_EQ(sample.regs_user[7], 119U) << "sp";
  EXPECT_EQ(sample.regs_user[8], 116U) << "ip";
  EXPECT_EQ(sample.regs_user[19], 100U) << "r15";
#endif
}

// As in perf: readers put what they unwind behind the callchain.
TEST_F(StackDecoding, HasOnlyTheKernelPartOfTheCallchain) {
  EXPECT_EQ(SampleWithState(WithUserState(Message::InUserMode(), 8)).callchain.size(), 0U);
  const perfdata::Sample sample = SampleWithState(WithUserState(Message::InKernelMode(), 8));
  EXPECT_THAT(std::vector(sample.callchain.begin(), sample.callchain.end()),
              ElementsAre(kContextKernel, kKernelIp, kKernelIp + 0x100));
}

TEST_F(StackDecoding, HasTheUserPartToo) {
  Message message = WithUserState(Message::InUserMode(), 8);
  message.user = {0x401000, 0x402000};
  const perfdata::Sample sample = SampleWithState(message);
  EXPECT_THAT(std::vector(sample.callchain.begin(), sample.callchain.end()),
              ElementsAre(kContextUser, 0x401000, 0x402000));
}

TEST_F(StackDecoding, HasNeitherForAThreadOfTheKernel) {
  Message message = WithUserState(Message::InKernelMode(), 0);
  message.user_state->abi = 0;
  const perfdata::Sample sample = SampleWithState(message);
  EXPECT_EQ(sample.regs_user_abi, 0U);
  EXPECT_EQ(sample.regs_user.size(), 0U);
  EXPECT_EQ(sample.stack_user_size, 0U);
}

// So are the sums of short waits.
TEST_F(StackDecoding, AcceptsASampleWithoutThem) {
  EXPECT_EQ(SampleWithState(Message::InUserMode()).regs_user_abi, 0U);
}

TEST_F(StackDecoding, ShortensTheLargestStackToTheLargestRecord) {
  Message message = WithUserState(Message::InKernelMode(), WIRE_MAX_STACK);
  message.kernel.assign(WIRE_MAX_FRAMES, kKernelIp);
  const perfdata::Sample sample = SampleWithState(message);
  EXPECT_LE(out_.size(), perfdata::kMaxRecordSize);
  EXPECT_GT(out_.size(), perfdata::kMaxRecordSize - 512);
  EXPECT_EQ(sample.stack_user.size() % 8, 0U);
  EXPECT_TRUE(
      std::ranges::equal(sample.stack_user, Bytes(message.stack).first(sample.stack_user.size())));
}

TEST_F(StackDecoding, RefusesAMessageCutAtAnyByte) {
  const std::vector<std::byte> bytes = WithUserState(Message::InKernelMode(), 77).bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Append(Bytes(bytes).first(size))) << size;
    // The same with a size that agrees.
    if (size < sizeof(wire_sample)) continue;
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const auto own_size = static_cast<__u32>(size);
    std::memcpy(cut.data() + offsetof(wire_header, size), &own_size, sizeof own_size);
    EXPECT_FALSE(Append(cut)) << size;
  }
}

TEST_F(StackDecoding, RefusesASizeThatItsBytesDoNotHold) {
  std::vector<std::byte> bytes = WithUserState(Message::InUserMode(), 64).bytes();
  for (const std::uint64_t size : {std::uint64_t{72}, std::uint64_t{WIRE_MAX_STACK} + 1,
                                   ~std::uint64_t{0}, ~std::uint64_t{0} - 6}) {
    std::memcpy(bytes.data() + bytes.size() - sizeof size, &size, sizeof size);
    EXPECT_THAT(Append(bytes), FailsWith(ErrorCode::kCorrupt, HasSubstr("do not hold a stack")));
  }
}

TEST_F(StackDecoding, RefusesStacksOfAnEventWithoutThem) {
  EXPECT_THAT(ErrorOf(WithUserState(Message::InUserMode(), 8).bytes()),
              HasSubstr("no user stacks"));
}

TEST_F(WireDecoding, RejectsMoreBytesThanItsFramesNeed) {
  std::vector<std::byte> bytes = Message::InUserMode().bytes();
  bytes.resize(bytes.size() + 8);
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("says it has 80 bytes but has 88"));
}

// A message of event 1, a tracepoint, with two words between the fixed part and the frames.
std::vector<std::byte> TracepointMessage() {
  Message message = Message::InKernelMode();
  message.sample.event = 1;
  std::vector<std::byte> bytes = message.bytes();
  const std::uint64_t raw[] = {0x1111, 0x2222};
  const auto raw_bytes = std::as_bytes(std::span(raw));
  bytes.insert(bytes.begin() + sizeof(wire_sample), raw_bytes.begin(), raw_bytes.end());
  const auto size = static_cast<__u32>(bytes.size());
  std::memcpy(bytes.data() + offsetof(wire_header, size), &size, sizeof size);
  return bytes;
}

TEST_F(WireDecoding, TakesOverTheRawRecordOfATracepoint) {
  perfdata::SampleFormat with_raw = kTestFormat;
  with_raw.sample_type |= perfdata::kRaw;
  ids_.Add(1, 1, 43);
  WireDecoder decoder(ids_, {kTestFormat, with_raw}, kLimit);
  ASSERT_TRUE(decoder.Append(TracepointMessage(), out_));
  const perfdata::Sample sample = perfdata::DecodeSample(RecordsIn(out_).at(0), with_raw).value();
  EXPECT_EQ(sample.id, 43U);
  EXPECT_EQ(sample.callchain.size(), 6U);
  ASSERT_EQ(sample.raw.size(), 20U) << "with the kernel's padding";
  EXPECT_EQ(LoadFixed<std::uint64_t>(sample.raw.data() + 8, std::endian::native), 0x2222U);
  EXPECT_EQ(out_.size() % 8, 0U);
}

TEST_F(WireDecoding, RefusesARawRecordOfAnEventWithoutOne) {
  ids_.Add(1, 1, 43);
  WireDecoder decoder(ids_, {kTestFormat, kTestFormat}, kLimit);
  EXPECT_THAT(decoder.Append(TracepointMessage(), out_), FailsWith(ErrorCode::kCorrupt));
}

TEST_F(WireDecoding, RefusesCountsThatItsBytesDoNotHold) {
  std::vector<std::byte> bytes = Message::InKernelMode().bytes();
  constexpr __u16 kAbsurd = 0xffff;
  std::memcpy(bytes.data() + offsetof(wire_sample, kernel_frames), &kAbsurd, sizeof kAbsurd);
  std::memcpy(bytes.data() + offsetof(wire_sample, user_frames), &kAbsurd, sizeof kAbsurd);
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("131070 frames"));
}

TEST_F(WireDecoding, RefusesMoreFramesThanARecordHolds) {
  Message message = Message::InUserMode();
  message.user.assign(9000, 0x401000);
  EXPECT_NE(ErrorOf(message.bytes()), "");
}

TEST_F(WireDecoding, PassesTheAddressOfAnEventWithAddresses) {
  perfdata::SampleFormat format = kTestFormat;
  format.sample_type |= perfdata::kAddr;
  WireDecoder decoder(ids_, {format}, kLimit);
  Message message = Message::InKernelMode();
  EXPECT_FALSE(decoder.Append(message.bytes(), out_));  // it has none
  message.raw = {4711};
  ASSERT_TRUE(decoder.Append(message.bytes(), out_));
  const perfdata::Sample sample = perfdata::DecodeSample(RecordsIn(out_).at(0), format).value();
  EXPECT_EQ(sample.addr, 4711u);
  EXPECT_THAT(std::vector(sample.callchain.begin(), sample.callchain.end()),
              testing::Contains(kKernelIp));
  message.raw = {4711, 0};
  EXPECT_FALSE(decoder.Append(message.bytes(), out_));
}

TEST_F(WireDecoding, RefusesAnUnknownKind) {
  Message message = Message::InUserMode();
  message.sample.header.type = 77;
  EXPECT_THAT(ErrorOf(message.bytes()), HasSubstr("type 77"));
}

TEST_F(WireDecoding, RefusesAnUnknownMode) {
  Message message = Message::InUserMode();
  message.sample.mode = 3;
  EXPECT_THAT(ErrorOf(message.bytes()), HasSubstr("mode 3"));
}

TEST_F(WireDecoding, RefusesKernelFramesInUserMode) {
  Message message = Message::InKernelMode();
  message.sample.mode = WIRE_MODE_USER;
  EXPECT_THAT(ErrorOf(message.bytes()), HasSubstr("kernel frames"));
}

TEST_F(WireDecoding, RefusesAnEventOrCpuThatWasNotOpened) {
  Message message = Message::InUserMode();
  message.sample.header.cpu = 5;
  EXPECT_THAT(ErrorOf(message.bytes()), HasSubstr("CPU 5"));
  message = Message::InUserMode();
  message.sample.event = 3;
  EXPECT_THAT(ErrorOf(message.bytes()), HasSubstr("event 3"));
}

}  // namespace
}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "record/rings/wire_decoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "record/rings/user_registers.h"

namespace perftape::record {
namespace {

// Returns the fixed part of a sample after checking all of it except the numbers of frames.
Result<wire_sample> ReadFixedPart(Bytes message) {
  if (message.size() < sizeof(wire_sample)) {
    return FailWireMessage(fmt::format("{} bytes are shorter than a sample", message.size()));
  }
  wire_sample sample;
  std::memcpy(&sample, message.data(), sizeof sample);
  if (sample.header.type != WIRE_SAMPLE) {
    return FailWireMessage(fmt::format("unknown type {}", sample.header.type));
  }
  if (sample.header.size != message.size()) {
    return FailWireMessage(
        fmt::format("says it has {} bytes but has {}", sample.header.size, message.size()));
  }
  if (sample.mode != WIRE_MODE_KERNEL && sample.mode != WIRE_MODE_USER) {
    return FailWireMessage(fmt::format("unknown mode {}", sample.mode));
  }
  if (sample.mode == WIRE_MODE_USER && sample.kernel_frames > 0) {
    return FailWireMessage("kernel frames in a sample of user mode");
  }
  return sample;
}

// Sets the user state of `message`. Returns `body` without it. The size of the stack is the last
// word.
Result<Bytes> SplitUserState(Bytes body, WireMessage& message) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  if (body.size() < sizeof(wire_user_state) + kWord) {
    return FailWireMessage(fmt::format("{} bytes do not hold the registers", body.size()));
  }
  const std::size_t room = body.size() - sizeof(wire_user_state) - kWord;
  const auto size = LoadFixed<std::uint64_t>(body.last(kWord).data(), std::endian::native);
  const std::uint64_t padded = size <= WIRE_MAX_STACK ? (size + kWord - 1) / kWord * kWord : size;
  if (padded > room) {
    return FailWireMessage(fmt::format("{} bytes do not hold a stack of {}", body.size(), size));
  }
  const std::size_t start = room - padded;
  wire_user_state& state = message.user_state.emplace();
  std::memcpy(&state, body.data() + start, sizeof state);
  message.stack = body.subspan(start + sizeof state, size);
  return body.first(start);
}

constexpr std::size_t kWordOfRecord = sizeof(std::uint64_t);

}  // namespace

std::unexpected<Error> FailWireMessage(std::string_view what) {
  return Fail(ErrorCode::kCorrupt, fmt::format("message of the kernel side: {}", what));
}

Result<WireMessage> ReadWireMessage(Bytes bytes) {
  WireMessage message;
  TRY_ASSIGN(message.sample, ReadFixedPart(bytes));
  Bytes body = bytes.subspan(sizeof(wire_sample));
  if ((message.sample.flags & WIRE_HAS_USER_STATE) != 0) {
    TRY_ASSIGN(body, SplitUserState(body, message));
  }
  // Both counts are 16 bits wide: their sum cannot overflow.
  const std::size_t kernel_bytes = message.sample.kernel_frames * sizeof(std::uint64_t);
  const std::size_t user_bytes = message.sample.user_frames * sizeof(std::uint64_t);
  if (body.size() % sizeof(std::uint64_t) != 0 || body.size() < kernel_bytes + user_bytes) {
    return FailWireMessage(fmt::format("{} bytes do not hold {} frames", bytes.size(),
                                       message.sample.kernel_frames + message.sample.user_frames));
  }
  message.user_frames = body.last(user_bytes);
  message.kernel_frames = body.last(kernel_bytes + user_bytes).first(kernel_bytes);
  message.raw = body.first(body.size() - kernel_bytes - user_bytes);
  return message;
}

Result<std::uint64_t> WireDecoder::Append(Bytes bytes, std::vector<std::byte>& out) {
  TRY_ASSIGN(const WireMessage message, ReadWireMessage(bytes));
  const wire_sample& sample = message.sample;
  const std::optional<std::uint64_t> id = ids_.Find(sample.event, sample.header.cpu);
  if (!id || sample.event >= formats_.size()) {
    return FailWireMessage(
        fmt::format("event {} was not opened on CPU {}", sample.event, sample.header.cpu));
  }
  const perfdata::SampleFormat& format = formats_[sample.event];
  const bool has_address = format.Has(perfdata::kAddr);
  const bool is_raw_known =
      has_address ? message.raw.size() == kWordOfRecord : format.Has(perfdata::kRaw);
  if ((has_address || !message.raw.empty()) && !is_raw_known) {
    return FailWireMessage(fmt::format("{} bytes are more than the frames", bytes.size()));
  }
  if (message.user_state && !format.Has(perfdata::kStackUser)) {
    return FailWireMessage("the event has no user stacks");
  }
  BuildCallchain(message);
  perfdata::Sample record{
      .id = *id,
      .ip = sample.ip,
      .pid = sample.pid,
      .tid = sample.tid,
      .time = sample.header.time_ns,
      .cpu = sample.header.cpu,
      .period = sample.period,
      .callchain = WordArray(chain_),
      .raw = has_address ? Bytes() : Padded(message.raw),
      .cgroup = sample.cgroup,
  };
  if (has_address) {
    record.addr = LoadFixed<std::uint64_t>(message.raw.data(), std::endian::native);
  }
  if (message.user_state) AddUserState(message, record);
  const bool in_kernel = sample.mode == WIRE_MODE_KERNEL;
  const auto mode = in_kernel ? perfdata::CpuMode::kKernel : perfdata::CpuMode::kUser;
  const Status encoded = perfdata::EncodeSample(record, format, MiscOf(mode), out);
  if (!encoded) return FailWireMessage(encoded.error().message);
  return sample.header.time_ns;
}

void WireDecoder::AddUserState(const WireMessage& message, perfdata::Sample& record) {
  OrderUserRegisters(*message.user_state, registers_);
  record.regs_user_abi = message.user_state->abi;
  record.regs_user = WordArray(registers_);
  record.stack_user = message.stack.first(std::min(message.stack.size(), RoomForStack(record)));
  record.stack_user_size =
      (record.stack_user.size() + kWordOfRecord - 1) / kWordOfRecord * kWordOfRecord;
}

// The fields that are not counted one by one have fewer than 32 words.
std::size_t WireDecoder::RoomForStack(const perfdata::Sample& record) {
  constexpr std::size_t kOtherFields = 32 * kWordOfRecord;
  const std::size_t used = kOtherFields + record.raw.size() +
                           (record.callchain.size() + record.regs_user.size()) * kWordOfRecord;
  return used < perfdata::kMaxRecordSize
             ? (perfdata::kMaxRecordSize - used) / kWordOfRecord * kWordOfRecord
             : 0;
}

// The kernel's padding: the field { u32 size; char data[size]; } has whole words.
Bytes WireDecoder::Padded(Bytes raw) {
  if (raw.empty()) return raw;
  raw_.assign(raw.begin(), raw.end());
  raw_.resize(raw.size() + sizeof(std::uint32_t));
  return raw_;
}

void WireDecoder::BuildCallchain(const WireMessage& message) {
  const wire_sample& sample = message.sample;
  const bool in_kernel = sample.mode == WIRE_MODE_KERNEL;
  const WordArray kernel_frames(message.kernel_frames, std::endian::native);
  Bytes user = message.user_frames;
  std::uint64_t caller = 0;
  if ((sample.flags & WIRE_CALLER_FIRST) != 0 && !user.empty()) {
    caller = LoadFixed<std::uint64_t>(user.data(), std::endian::native);
    user = user.subspan(sizeof caller);
  }
  chain_.clear();
  // Readers find the user part with the registers.
  if (!in_kernel && message.user_state && user.empty()) return;
  const WordArray user_frames(user, std::endian::native);
  chain_.push_back(in_kernel ? perfdata::kContextKernel : perfdata::kContextUser);
  AppendFrames(in_kernel ? kernel_frames : user_frames,
               in_kernel ? perfdata::kContextMax : user_limit_);
  if (chain_.size() == 1 && sample.ip < perfdata::kContextMax) chain_.push_back(sample.ip);
  if (in_kernel && !user_frames.empty()) {
    chain_.push_back(perfdata::kContextUser);
    AppendFrames(user_frames, user_limit_);
    if (chain_.back() == perfdata::kContextUser) chain_.pop_back();
  }
  if (caller != 0) AddCaller(sample, caller);
}

// Since Linux 6.11 the walk itself finds the caller if the function starts with the usual
// instructions. In a recursion the next frame may be equal and not the caller. A sample of user
// code only: its chain is { PERF_CONTEXT_USER, leaf, caller, ... }.
WireTask TaskOf(Bytes message) {
  wire_sample sample;
  if (message.size() < sizeof sample) return {};
  std::memcpy(&sample, message.data(), sizeof sample);
  return {.pid = sample.pid, .tid = sample.tid};
}

void WireDecoder::AddCaller(const wire_sample& sample, std::uint64_t caller) {
  constexpr std::size_t kCaller = 2;
  if (sample.mode != WIRE_MODE_USER || caller >= user_limit_ || chain_.size() < kCaller) return;
  const bool may_be_frame = (sample.flags & WIRE_CALLER_MAY_BE_FRAME) != 0;
  if (may_be_frame && chain_.size() > kCaller && chain_[kCaller] == caller) return;
  chain_.insert(chain_.begin() + kCaller, caller);
}

void WireDecoder::AppendFrames(WordArray frames, std::uint64_t limit) {
  const std::size_t before = chain_.size();
  for (const std::uint64_t frame : frames) {
    const bool is_marker = frame == WIRE_INTERRUPTED && limit == user_limit_;
    if (!is_marker && (frame == 0 || frame >= limit)) break;
    // As readers expect it (formats/perfdata/callchain.h).
    chain_.push_back(is_marker ? perfdata::kContextUser : frame);
  }
  if (chain_.size() > before && chain_.back() == perfdata::kContextUser) chain_.pop_back();
}

}  // namespace perftape::record

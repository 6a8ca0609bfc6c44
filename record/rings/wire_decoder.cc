// SPDX-License-Identifier: Apache-2.0
#include "record/rings/wire_decoder.h"

#include <linux/types.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "bpf/wire.h"
#include "formats/perfdata/record.h"

namespace perftape::record {
namespace {

std::unexpected<Error> FailMessage(std::string what) {
  return Fail(ErrorCode::kCorrupt, "message of the kernel side: " + std::move(what));
}

// Returns the fixed part of a sample after checking that the message has all frames.
Result<wire_sample> ReadSample(Bytes message) {
  if (message.size() < sizeof(wire_sample)) {
    return FailMessage(std::to_string(message.size()) + " bytes are shorter than a sample");
  }
  wire_sample sample;
  std::memcpy(&sample, message.data(), sizeof sample);
  if (sample.header.type != WIRE_SAMPLE) {
    return FailMessage("unknown type " + std::to_string(sample.header.type));
  }
  if (sample.header.size != message.size()) {
    return FailMessage("says it has " + std::to_string(sample.header.size) + " bytes but has " +
                       std::to_string(message.size()));
  }
  // Both counts are 16 bits wide: their sum cannot overflow.
  const std::size_t frames = std::size_t{sample.kernel_frames} + sample.user_frames;
  const std::size_t words = message.size() - sizeof sample;
  if (words % sizeof(std::uint64_t) != 0 || words < frames * sizeof(std::uint64_t)) {
    return FailMessage(std::to_string(message.size()) + " bytes do not hold " +
                       std::to_string(frames) + " frames");
  }
  if (sample.mode != WIRE_MODE_KERNEL && sample.mode != WIRE_MODE_USER) {
    return FailMessage("unknown mode " + std::to_string(sample.mode));
  }
  if (sample.mode == WIRE_MODE_USER && sample.kernel_frames > 0) {
    return FailMessage("kernel frames in a sample of user mode");
  }
  return sample;
}

}  // namespace

Result<std::uint64_t> WireDecoder::Append(Bytes message, std::vector<std::byte>& out) {
  TRY_ASSIGN(const wire_sample sample, ReadSample(message));
  const std::optional<std::uint64_t> id = ids_.Find(sample.event, sample.header.cpu);
  if (!id || sample.event >= formats_.size()) {
    return FailMessage("event " + std::to_string(sample.event) + " was not opened on CPU " +
                       std::to_string(sample.header.cpu));
  }
  const perfdata::SampleFormat& format = formats_[sample.event];
  const std::size_t kernel_bytes = sample.kernel_frames * sizeof(std::uint64_t);
  const std::size_t user_bytes = sample.user_frames * sizeof(std::uint64_t);
  const Bytes raw =
      message.first(message.size() - kernel_bytes - user_bytes).subspan(sizeof sample);
  if (!raw.empty() && !format.Has(perfdata::kRaw)) {
    return FailMessage(std::to_string(message.size()) + " bytes are more than the frames");
  }
  Bytes user = message.last(user_bytes);
  std::uint64_t caller = 0;
  if ((sample.flags & WIRE_CALLER_FIRST) != 0 && !user.empty()) {
    caller = LoadFixed<std::uint64_t>(user.data(), std::endian::native);
    user = user.subspan(sizeof caller);
  }
  BuildCallchain(
      sample,
      WordArray(message.last(kernel_bytes + user_bytes).first(kernel_bytes), std::endian::native),
      WordArray(user, std::endian::native));
  if (caller != 0) AddCaller(sample, caller);

  const perfdata::Sample record{
      .id = *id,
      .ip = sample.ip,
      .pid = sample.pid,
      .tid = sample.tid,
      .time = sample.header.time_ns,
      .cpu = sample.header.cpu,
      .period = sample.period,
      .callchain = WordArray(chain_),
      .raw = Padded(raw),
      .cgroup = sample.cgroup,
  };
  const bool in_kernel = sample.mode == WIRE_MODE_KERNEL;
  const auto mode = in_kernel ? perfdata::CpuMode::kKernel : perfdata::CpuMode::kUser;
  const Status encoded = perfdata::EncodeSample(record, format, MiscOf(mode), out);
  if (!encoded) return FailMessage(encoded.error().message);
  return sample.header.time_ns;
}

// The kernel's padding: the field { u32 size; char data[size]; } has whole words.
Bytes WireDecoder::Padded(Bytes raw) {
  if (raw.empty()) return raw;
  raw_.assign(raw.begin(), raw.end());
  raw_.resize(raw.size() + sizeof(std::uint32_t));
  return raw_;
}

void WireDecoder::BuildCallchain(const wire_sample& sample, WordArray kernel_frames,
                                 WordArray user_frames) {
  const bool in_kernel = sample.mode == WIRE_MODE_KERNEL;
  chain_.assign(1, in_kernel ? perfdata::kContextKernel : perfdata::kContextUser);
  AppendFrames(in_kernel ? kernel_frames : user_frames,
               in_kernel ? perfdata::kContextMax : user_limit_);
  if (chain_.size() == 1 && sample.ip < perfdata::kContextMax) chain_.push_back(sample.ip);
  if (in_kernel && !user_frames.empty()) {
    chain_.push_back(perfdata::kContextUser);
    AppendFrames(user_frames, user_limit_);
    if (chain_.back() == perfdata::kContextUser) chain_.pop_back();
  }
}

// Since Linux 6.11 the walk itself finds the caller if the function starts with the usual
// instructions. In a recursion the next frame may be equal and not the caller. A sample of user
// code only: its chain is { PERF_CONTEXT_USER, leaf, caller, ... }.
void WireDecoder::AddCaller(const wire_sample& sample, std::uint64_t caller) {
  constexpr std::size_t kCaller = 2;
  if (sample.mode != WIRE_MODE_USER || caller >= user_limit_ || chain_.size() < kCaller) return;
  const bool may_be_frame = (sample.flags & WIRE_CALLER_MAY_BE_FRAME) != 0;
  if (may_be_frame && chain_.size() > kCaller && chain_[kCaller] == caller) return;
  chain_.insert(chain_.begin() + kCaller, caller);
}

void WireDecoder::AppendFrames(WordArray frames, std::uint64_t limit) {
  for (const std::uint64_t frame : frames) {
    if (frame == 0 || frame >= limit) return;
    chain_.push_back(frame);
  }
}

}  // namespace perftape::record

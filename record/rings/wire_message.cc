// SPDX-License-Identifier: Apache-2.0
#include "record/rings/wire_message.h"

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

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

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
// A sample message of the BPF programs (bpf/wire.h), divided into its parts, and as a SAMPLE record
// as perf writes it. Checks every length in a message.
#pragma once

#include <linux/types.h>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"
#include "record/rings/event_ids.h"

namespace perftape::record {

// A message, divided into its parts. The views are valid as long as the message.
struct WireMessage {
  wire_sample sample = {};
  Bytes raw = {};            // whole words
  Bytes kernel_frames = {};  // words, leaf first
  Bytes user_frames = {};
  std::optional<wire_user_state> user_state = {};
  Bytes stack = {};  // of user code, from its stack pointer on
};

// The kCorrupt error of a message; `what` is wrong with it.
std::unexpected<Error> FailWireMessage(std::string_view what);

// Fails with kCorrupt if the message is inconsistent.
Result<WireMessage> ReadWireMessage(Bytes message);

// The pid and tid of a message; both are 0 if it is too short. The rest is not checked.
struct WireTask {
  std::uint32_t pid = 0, tid = 0;
};
WireTask TaskOf(Bytes message);

// Keeps a buffer between calls; not thread-safe.
class WireDecoder {
 public:
  // `ids` must outlive this object. Event N of a message is event N of `ids` and of `formats`.
  // `user_limit` is the end of the user address space (UserAddressLimit).
  WireDecoder(const EventIds& ids, std::vector<perfdata::SampleFormat> formats,
              std::uint64_t user_limit)
      : ids_(ids), formats_(std::move(formats)), user_limit_(user_limit) {}

  // Appends the record of one message to `out` and returns its time in nanoseconds. kCorrupt if the
  // message is inconsistent; then nothing is appended, and the caller counts a lost sample.
  //
  // The callchain starts at the leaf: PERF_CONTEXT_KERNEL and the kernel frames (if the sample is
  // in the kernel), then PERF_CONTEXT_USER and the user frames. It always starts with the sampled
  // mode and an address. A frame-pointer walk through code without frame pointers ends at a random
  // value. So user frames end before the first that is 0 or not a user address. perf and hotspot
  // drop a whole chain with an entry that looks like an unknown context marker. The raw record of a
  // tracepoint is passed on as it is; of an event with addresses, its only word is the address. The
  // caller of a probed function follows the leaf.
  //
  // A sample with user registers has a user part in its callchain only if the message has user
  // frames. The stack is shortened if the record would exceed 65,535 bytes, as by the kernel
  // (kernel/events/core.c, perf_sample_ustack_size).
  Result<std::uint64_t> Append(Bytes message, std::vector<std::byte>& out);

 private:
  void BuildCallchain(const WireMessage& message);
  void AddCaller(const wire_sample& sample, std::uint64_t caller);
  Bytes Padded(Bytes raw);
  void AddUserState(const WireMessage& message, perfdata::Sample& record);
  static std::size_t RoomForStack(const perfdata::Sample& record);
  void AppendFrames(WordArray frames, std::uint64_t limit);

  const EventIds& ids_;
  std::vector<perfdata::SampleFormat> formats_;
  std::uint64_t user_limit_;
  std::vector<std::uint64_t> chain_;
  std::vector<std::byte> raw_;
  std::vector<std::uint64_t> registers_;
};

}  // namespace perftape::record

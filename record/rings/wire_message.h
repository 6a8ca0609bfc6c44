// SPDX-License-Identifier: Apache-2.0
// A sample message of the BPF programs (bpf/wire.h), divided into its parts. Every length is
// checked.
#pragma once

#include <linux/types.h>

#include <expected>
#include <optional>
#include <string_view>

#include "bpf/wire.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::record {

// The views are valid as long as the message.
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

}  // namespace perftape::record

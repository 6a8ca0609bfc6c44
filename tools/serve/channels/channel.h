// SPDX-License-Identifier: Apache-2.0
// A connection between two processes of the service, and messages with an open file through it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::serve {

// Two connected ends.
struct Channel {
  UniqueFd sender, receiver;
};
// Of messages that keep their bounds, or of bytes.
enum class ChannelKind : std::uint8_t { kMessages, kBytes };
// Fails as socketpair(2) does.
Result<Channel> MakeChannel(ChannelKind kind);

// Whether to wait until the channel has room.
enum class Waiting : std::uint8_t { kNo, kYes };

// Sends a message and, unless `file` is -1, a copy of this descriptor. Returns its size as
// sendmsg(2) does, or -1 with errno.
ssize_t SendMessage(int channel, Bytes message, int file, Waiting waiting);
// Receives a message into `message`, and the descriptor that came with it, if any, into `file`.
// Returns the size as recvmsg(2) does: 0 at the end of the channel, or -1 with errno.
ssize_t ReceiveMessage(int channel, std::span<std::byte> message, UniqueFd& file);

}  // namespace perftape::serve

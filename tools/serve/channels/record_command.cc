// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/channels/record_command.h"

#include <sys/socket.h>

#include <cerrno>

namespace perftape::serve {
Status SendCommand(int channel, const RecordCommand& command) {
  if (send(channel, &command, sizeof command, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof command)
    return {};
  return FailErrno("the channel of recordings", errno);
}

std::optional<RecordCommand> ReceiveCommand(int channel) {
  while (true) {
    RecordCommand command;
    const ssize_t size = recv(channel, &command, sizeof command, MSG_TRUNC);
    if (size == sizeof command) return command;
    if (size == 0 || (size < 0 && errno != EINTR)) return std::nullopt;
  }
}

}  // namespace perftape::serve

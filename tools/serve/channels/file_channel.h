// SPDX-License-Identifier: Apache-2.0
// What the recorder tells the importer: which files are finished, and which binaries their samples
// are in. A binary comes open, since it may be in a container or deleted.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string_view>

#include "formats/base/build_id.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "tools/serve/channels/channel.h"

namespace perftape::serve {

struct FileMessage {
  // kPayloads: not of the recorder, but the channel to a pusher that was started again.
  enum class Kind : std::uint8_t { kRecording, kBinary, kPayloads };
  Kind kind = Kind::kRecording;
  BuildId build_id = {};              // of a binary
  std::uint64_t recorder_cpu_ns = 0;  // so far
  std::uint64_t failed_files = 0;     // so far: files that the importer was not told about
  char path[PATH_MAX] = {};           // ends with NUL, after which nothing is sent
};

// Never blocks: messages that the channel does not take wait for the next call. A recording that
// the importer cannot be told about is deleted and counted.
class FileSender {
 public:
  static constexpr std::size_t kMostWaiting = 1000;

  explicit FileSender(UniqueFd channel) : channel_(std::move(channel)) {}

  void SendRecording(const std::filesystem::path& file);
  void SendBinary(std::string_view path, const BuildId& build_id, int file);
  // Waits until all messages are sent, or the importer has ended.
  void Finish();

 private:
  struct Message {
    FileMessage message;
    UniqueFd file = {};
  };

  void Send(Message message);
  static bool SendTo(int channel, const Message& message, Waiting waiting);
  friend Status SendPayloadChannel(int channel, const UniqueFd& payloads);

  UniqueFd channel_;
  std::deque<Message> waiting_;
  std::uint64_t failed_files_ = 0;
};

// Sends the channel of payloads, which `file` of the next Receive is. Does not block. Fails with
// kIo.
Status SendPayloadChannel(int channel, const UniqueFd& payloads);

// Returns the next message, with `file` of a binary or a channel; false at the end of the channel.
bool Receive(int channel, FileMessage& message, UniqueFd& file);

}  // namespace perftape::serve

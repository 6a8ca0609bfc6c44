// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/channels/file_channel.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "formats/base/bytes.h"
#include "record/machine/clock.h"

namespace perftape::serve {
namespace {

constexpr std::size_t kHead = offsetof(FileMessage, path);

FileMessage MessageOf(FileMessage::Kind kind, std::string_view path) {
  FileMessage message = {.kind = kind, .recorder_cpu_ns = record::SystemClock().CpuNs()};
  std::memcpy(&message.path[0], path.data(), std::min(path.size(), sizeof message.path - 1));
  return message;
}

}  // namespace

void FileSender::SendRecording(const std::filesystem::path& file) {
  if (waiting_.size() >= kMostWaiting) {
    ++failed_files_;
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    return;
  }
  Send({.message = MessageOf(FileMessage::Kind::kRecording, file.native())});
}

// Without the file, the importer searches for the path.
void FileSender::SendBinary(std::string_view path, const BuildId& build_id, int file) {
  if (waiting_.size() >= kMostWaiting) return;
  UniqueFd copy(fcntl(file, F_DUPFD_CLOEXEC, 0));
  if (!copy) return;
  Message message = {.message = MessageOf(FileMessage::Kind::kBinary, path),
                     .file = std::move(copy)};
  message.message.build_id = build_id;
  Send(std::move(message));
}

void FileSender::Send(Message message) {
  message.message.failed_files = failed_files_;
  waiting_.push_back(std::move(message));
  while (!waiting_.empty() && SendTo(channel_.get(), waiting_.front(), Waiting::kNo))
    waiting_.pop_front();
}

void FileSender::Finish() {
  while (!waiting_.empty() && SendTo(channel_.get(), waiting_.front(), Waiting::kYes))
    waiting_.pop_front();
}

Status SendPayloadChannel(int channel, const UniqueFd& payloads) {
  const FileSender::Message message = {.message = MessageOf(FileMessage::Kind::kPayloads, ""),
                                       .file = Duplicate(payloads.get())};
  if (message.file && FileSender::SendTo(channel, message, Waiting::kNo)) return {};
  return FailErrno("a channel of pushes", errno);
}

bool FileSender::SendTo(int channel, const Message& message, Waiting waiting) {
  const std::size_t size = kHead + std::strlen(&message.message.path[0]) + 1;
  const Bytes bytes = std::as_bytes(std::span(&message.message, 1)).first(size);
  return SendMessage(channel, bytes, message.file.get(), waiting) >= 0;
}

bool Receive(int channel, FileMessage& message, UniqueFd& file) {
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&message, 1));
  const ssize_t size = ReceiveMessage(channel, bytes.first(bytes.size() - 1), file);
  if (size <= static_cast<ssize_t>(kHead)) return false;
  bytes[static_cast<std::size_t>(size)] = std::byte{0};
  return true;
}

}  // namespace perftape::serve

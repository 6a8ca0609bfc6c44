// SPDX-License-Identifier: Apache-2.0
// Files of several messages, as the file exporter of the OpenTelemetry collector writes them:
//
//   format: json                 a ProfilesData in JSON on each line
//   format: proto                each message behind its length, 4 bytes, the highest first
//   compression: zstd            as proto, and each message, of either format, is a zstd frame
//
// An exporter that was ended, or whose disk is full, leaves a part of a message at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "formats/base/bytes.h"

namespace perftape::otlp {

enum class Framing : std::uint8_t {
  kOne,      // one message in protobuf
  kJson,     // JSON, one value after the other; usually one
  kLengths,  // messages behind their lengths
};

// Returns the form of a file with OTLP profiles, by its beginning; nothing for other files.
// `beginning` has its first bytes, without a byte order mark.
std::optional<Framing> FramingOf(Bytes beginning);

class MessageCursor {
 public:
  // `file` must outlive the object, and what Next returns.
  MessageCursor(Bytes file, Framing framing) : file_(file), framing_(framing) {}

  // Returns the next message; nothing at the end, and for a message whose end is missing.
  std::optional<Bytes> Next();

  std::size_t offset() const { return begin_; }  // of the last message in the file
  // Whether the end of the last message is missing. Next returns it only if it is the first one.
  bool is_cut() const { return is_cut_; }

 private:
  std::optional<Bytes> NextJson();
  std::optional<Bytes> NextWithLength();
  // Moves past the `size` bytes that begin at begin_.
  Bytes Skip(std::size_t size);

  Bytes file_;
  Framing framing_;
  std::size_t begin_ = 0, end_ = 0;  // of the last message, in file_
  bool is_cut_ = false;
};

}  // namespace perftape::otlp

// SPDX-License-Identifier: Apache-2.0
// The numbers at the beginning of what a process of the service sends to another as a stream or a
// file. Both are the same program, so a header is the bytes of a struct, after a magic number that
// no other struct has.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::serve {

// `Fields` has a constant kMagic. Numbers of 64 bits have no gaps between them, so that no byte of
// the memory behind them is sent.
template <class Fields>
struct MessageHeader {
  static_assert(std::has_unique_object_representations_v<Fields>);

  std::uint64_t magic = Fields::kMagic;
  Fields fields = {};
};

// Fails as WriteAll does.
template <class Fields>
Status WriteHeader(int fd, const Fields& fields) {
  const MessageHeader<Fields> header = {.fields = fields};
  return WriteAll(fd, std::as_bytes(std::span(&header, 1)));
}

// Returns the fields of the header at the beginning of `bytes`, and removes it. Returns nothing,
// and removes nothing, if `bytes` are fewer than a header has. Fails with kCorrupt and `problem` if
// they begin with something else.
template <class Fields>
Result<std::optional<Fields>> ReadHeader(Bytes& bytes, std::string_view problem) {
  MessageHeader<Fields> header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != Fields::kMagic) return Fail(ErrorCode::kCorrupt, std::string(problem));
  bytes = bytes.subspan(sizeof header);
  return header.fields;
}

}  // namespace perftape::serve

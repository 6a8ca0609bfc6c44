// SPDX-License-Identifier: Apache-2.0
// A zstd stream in pieces. Both directions keep their history between calls. Memory use does not
// depend on the expanded size. Only zstd.cc uses the types of zstd.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape {
inline namespace base {

// The first bytes of each zstd frame (RFC 8878, section 3.1.1).
inline constexpr std::uint32_t kZstdFrameMagic = 0xfd2fb528;

class ZstdDecompressor {
 public:
  ZstdDecompressor();
  ZstdDecompressor(ZstdDecompressor&&) noexcept;
  ZstdDecompressor& operator=(ZstdDecompressor&&) noexcept;
  ~ZstdDecompressor();

  // Expands bytes from the front of `input` into `room`, and removes from `input` what it read.
  // Returns the number of bytes written. That is less than room.size() in two cases: `input` is
  // used up and the stream needs more, or the stream is damaged. After the bytes before the
  // damage, all calls return kCorrupt until Restart.
  Result<std::size_t> Expand(Bytes& input, std::span<std::byte> room);

  // Discards the state of the stream. The next input begins a new frame.
  void Restart();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
  std::optional<Error> damage_;  // found after the bytes that were returned last
};

class ZstdCompressor {
 public:
  // The levels of perf record -z and of zstd.
  static constexpr int kLowestLevel = 1, kHighestLevel = 22;

  // Returns kInvalidArgument for a level outside of these.
  static Result<ZstdCompressor> Create(int level);
  ZstdCompressor(ZstdCompressor&&) noexcept;
  ZstdCompressor& operator=(ZstdCompressor&&) noexcept;
  ~ZstdCompressor();

  // Appends to `out` the compressed bytes that are ready. zstd keeps the rest until more input
  // comes.
  Status Compress(Bytes input, std::vector<std::byte>& out);
  // Appends all pending bytes. All bytes appended so far then expand to all input so far. The
  // stream and its history continue.
  Status Flush(std::vector<std::byte>& out);

 private:
  struct Free {
    void operator()(void* context) const;
  };
  explicit ZstdCompressor(void* context) : context_(context) {}
  Status Run(Bytes input, int directive, std::vector<std::byte>& out);
  std::unique_ptr<void, Free> context_;
};

}  // namespace base
}  // namespace perftape

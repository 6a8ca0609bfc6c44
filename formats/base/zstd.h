// SPDX-License-Identifier: Apache-2.0
// A zstd stream in pieces. Both directions keep their history between calls, and memory use does
// not depend on the expanded size. Only zstd.cc uses the types of zstd.
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

  // Expands from the front of `input`, which shrinks by what was taken, into `room`. Returns how
  // many bytes it made: fewer than room.size() only where `input` is used up, and the rest of the
  // stream is wanted, or where it is damaged: then the next call fails with kCorrupt, and only
  // Restart helps.
  Result<std::size_t> Expand(Bytes& input, std::span<std::byte> room);

  // Forgets the stream: what comes next begins a new frame.
  void Restart();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
  std::optional<Error> damage_;  // that came behind what was made last
};

class ZstdCompressor {
 public:
  // The levels of perf record -z, and of zstd.
  static constexpr int kLowestLevel = 1, kHighestLevel = 22;

  // kInvalidArgument for a level that zstd does not have.
  static Result<ZstdCompressor> Create(int level);
  ZstdCompressor(ZstdCompressor&&) noexcept;
  ZstdCompressor& operator=(ZstdCompressor&&) noexcept;
  ~ZstdCompressor();

  // Appends to `out` what of the stream is ready; the rest waits for more input.
  Status Compress(Bytes input, std::vector<std::byte>& out);
  // Appends all that waits, so that what was appended so far expands to all that was put in. The
  // stream and its history go on.
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

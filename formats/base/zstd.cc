// SPDX-License-Identifier: Apache-2.0
#include "formats/base/zstd.h"

#include <fmt/core.h>
#include <zstd.h>

#include <utility>

#include "formats/base/library_version.h"

namespace perftape {
inline namespace base {
namespace {

ZSTD_DCtx* Decoder(void* context) {
  return static_cast<ZSTD_DCtx*>(context);
}

ZSTD_CCtx* Encoder(void* context) {
  return static_cast<ZSTD_CCtx*>(context);
}

// Higher levels search tables of hundreds of megabytes. So they get the table sizes of level 19,
// and only search longer.
constexpr int kHighestWithItsOwnTables = 19;
constexpr std::pair<ZSTD_cParameter, int> kTables[] = {
    {ZSTD_c_windowLog, 23}, {ZSTD_c_chainLog, 24}, {ZSTD_c_hashLog, 22}};

std::unexpected<Error> FailZstd(ErrorCode code, std::size_t result) {
  return Fail(code, fmt::format("zstd: {}", ZSTD_getErrorName(result)));
}

}  // namespace

void ZstdDecompressor::Free::operator()(void* context) const {
  ZSTD_freeDCtx(Decoder(context));
}

ZstdDecompressor::ZstdDecompressor() : context_(ZSTD_createDCtx()) {}
ZstdDecompressor::ZstdDecompressor(ZstdDecompressor&&) noexcept = default;
ZstdDecompressor& ZstdDecompressor::operator=(ZstdDecompressor&&) noexcept = default;
ZstdDecompressor::~ZstdDecompressor() = default;

Result<std::size_t> ZstdDecompressor::Expand(Bytes& input, std::span<std::byte> room) {
  if (!context_) return Fail(ErrorCode::kIo, "zstd: no memory for a decompressor");
  if (damage_) return Fail(*damage_);
  ZSTD_inBuffer in = {input.data(), input.size(), 0};
  ZSTD_outBuffer out = {room.data(), room.size(), 0};
  while (out.pos < out.size) {
    const std::size_t before = in.pos + out.pos;
    const std::size_t result = ZSTD_decompressStream(Decoder(context_.get()), &out, &in);
    if (ZSTD_isError(result)) {
      damage_ = FailZstd(ErrorCode::kCorrupt, result).error();
      if (out.pos == 0) return Fail(*damage_);
      break;
    }
    if (in.pos + out.pos == before) break;  // no progress without more input
  }
  input = input.subspan(in.pos);
  return out.pos;
}

void ZstdDecompressor::Restart() {
  damage_.reset();
  if (context_) ZSTD_DCtx_reset(Decoder(context_.get()), ZSTD_reset_session_only);
}

void ZstdCompressor::Free::operator()(void* context) const {
  ZSTD_freeCCtx(Encoder(context));
}

Result<ZstdCompressor> ZstdCompressor::Create(int level) {
  if (level < kLowestLevel || level > kHighestLevel) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("zstd: level {} is not from {} to {}",
                                                         level, kLowestLevel, kHighestLevel));
  }
  ZstdCompressor compressor(ZSTD_createCCtx());
  if (!compressor.context_) return Fail(ErrorCode::kIo, "zstd: no memory for a compressor");
  const std::size_t result =
      ZSTD_CCtx_setParameter(Encoder(compressor.context_.get()), ZSTD_c_compressionLevel, level);
  if (ZSTD_isError(result)) return FailZstd(ErrorCode::kInvalidArgument, result);
  if (level > kHighestWithItsOwnTables) {
    for (const auto& [parameter, value] : kTables) {
      ZSTD_CCtx_setParameter(Encoder(compressor.context_.get()), parameter, value);
    }
  }
  return compressor;
}

ZstdCompressor::ZstdCompressor(ZstdCompressor&&) noexcept = default;
ZstdCompressor& ZstdCompressor::operator=(ZstdCompressor&&) noexcept = default;
ZstdCompressor::~ZstdCompressor() = default;

Status ZstdCompressor::Compress(Bytes input, std::vector<std::byte>& out) {
  return Run(input, ZSTD_e_continue, out);
}

Status ZstdCompressor::Flush(std::vector<std::byte>& out) {
  return Run({}, ZSTD_e_flush, out);
}

// ZSTD_e_continue is done when all input is read, ZSTD_e_flush when nothing is pending.
Status ZstdCompressor::Run(Bytes input, int directive, std::vector<std::byte>& out) {
  const auto mode = static_cast<ZSTD_EndDirective>(directive);
  ZSTD_inBuffer in = {input.data(), input.size(), 0};
  const std::size_t step = ZSTD_CStreamOutSize();
  while (true) {
    const std::size_t start = out.size();
    out.resize(start + step);
    ZSTD_outBuffer room = {out.data() + start, step, 0};
    const std::size_t waiting = ZSTD_compressStream2(Encoder(context_.get()), &room, &in, mode);
    out.resize(start + room.pos);
    if (ZSTD_isError(waiting)) return FailZstd(ErrorCode::kIo, waiting);
    const bool is_done = mode == ZSTD_e_continue ? in.pos == in.size : waiting == 0;
    if (is_done) return {};
  }
}

LibraryVersion ZstdVersion() {
  return {.name = "zstd", .version = ZSTD_versionString()};
}

}  // namespace base
}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
#include "formats/pprof/gzip_writer.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace perftape::pprof {

struct GzipWriter::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { deflateEnd(&stream); }

  z_stream stream = {};
  std::array<char, 65536> compressed = {};
};

Result<GzipWriter> GzipWriter::Create(OutputFile& out) {
  constexpr int kGzip = 16 + MAX_WBITS;  // zlib.h, deflateInit2
  constexpr int kDefaultMemory = 8;
  auto state = std::make_unique<State>();
  if (deflateInit2(&state->stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, kDefaultMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return Fail(ErrorCode::kIo, "out of memory for gzip");
  }
  return GzipWriter(out, std::move(state));
}

GzipWriter::GzipWriter(OutputFile& out, std::unique_ptr<State> state)
    : out_(&out), state_(std::move(state)) {}
GzipWriter::GzipWriter(GzipWriter&&) noexcept = default;
GzipWriter::~GzipWriter() = default;

Status GzipWriter::Write(std::string_view text) {
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, kMost);
    TRY(Run(piece, Z_NO_FLUSH));
    text.remove_prefix(piece.size());
  }
  return {};
}

Status GzipWriter::Finish() {
  return Run({}, Z_FINISH);
}

Status GzipWriter::Run(std::string_view text, int flush) {
  z_stream& stream = state_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  do {
    stream.next_out = reinterpret_cast<Bytef*>(state_->compressed.data());
    stream.avail_out = static_cast<uInt>(state_->compressed.size());
    deflate(&stream, flush);  // cannot fail while there is room in the buffer
    const std::size_t size = state_->compressed.size() - stream.avail_out;
    TRY(out_->Write(std::string_view(state_->compressed.data(), size)));
  } while (stream.avail_out == 0);
  return {};
}

}  // namespace perftape::pprof

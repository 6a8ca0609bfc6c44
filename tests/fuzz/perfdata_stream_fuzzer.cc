// SPDX-License-Identifier: Apache-2.0
// Reads a perf.data of any bytes through a pipe, in pieces of any size. The records and the end
// must be those of the same bytes in a file.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>

#include "formats/base/file.h"
#include "formats/base/input.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/rounds.h"

namespace perftape::perfdata {
namespace {

[[noreturn]] void Break(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

// Returns a pipe that contains all of `bytes`, in separate pieces, without a writer. So no thread
// is needed. Nothing if a pipe cannot hold that much.
std::optional<UniqueFd> FilledPipe(Bytes bytes) {
  constexpr int kRoom = 1 << 20;
  constexpr std::size_t kPage = 4096, kPieces = kRoom / kPage;
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC | O_DIRECT | O_NONBLOCK) != 0) return {};
  UniqueFd reading(ends[0]);
  const UniqueFd writing(ends[1]);
  fcntl(writing.get(), F_SETPIPE_SZ, kRoom);
  // Pieces of an odd size split headers and words.
  std::size_t size = std::min(bytes.size() / (kPieces - 1) + 1, kPage);
  size = std::min(size | (bytes.size() % 7), kPage);
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(size, bytes.size()))) {
    const Bytes piece = bytes.first(std::min(size, bytes.size()));
    if (write(writing.get(), piece.data(), piece.size()) != std::ssize(piece)) return {};
  }
  return reading;
}

struct Walk {
  std::uint64_t records = 0;
  std::uint64_t digest = 14695981039346656037u;  // FNV-1a of all that was read
  std::string error;
};

void Add(std::uint64_t word, Walk& walk) {
  walk.digest = (walk.digest ^ word) * 1099511628211u;
}

Walk WalkThrough(RecordCursor cursor) {
  Walk walk;
  while (true) {
    const Result<std::optional<RecordView>> record = cursor.Next();
    if (!record) walk.error = record.error().message;
    if (!record || !*record) return walk;
    ++walk.records;
    const RecordView& view = **record;
    Add(std::to_underlying(view.type), walk);
    Add(view.misc, walk);
    Add(view.file_offset, walk);
    // A stream does not have later ids yet, so it may detect less of an excess.
    const Bytes stored(view.payload.data(), view.payload.size() + view.excess);
    for (const std::byte byte : stored) Add(static_cast<std::uint64_t>(byte), walk);
    for (const std::byte byte : view.appended) Add(static_cast<std::uint64_t>(byte), walk);
  }
}

void Compare(const Reader& from_pipe, Bytes file) {
  const Result<Reader> from_file = Reader::FromBytes(file);
  if (!from_file) Break("opens through a pipe, and not as a file: " + from_file.error().message);
  const Walk expected = WalkThrough(from_file->records());
  const Walk walk = WalkThrough(from_pipe.records());
  if (walk.records != expected.records) {
    Break(std::to_string(walk.records) + " records come through the pipe, of " +
          std::to_string(expected.records));
  }
  if (walk.digest != expected.digest) Break("other records come through the pipe");
  // A trace too large for memory is cut short in a file, and refused in a pipe.
  const bool is_refused = walk.error.find("save the stream to a file") != std::string::npos;
  if (is_refused && !expected.error.empty()) return;
  if (walk.error != expected.error) Break("ends in " + walk.error + ", not in " + expected.error);
}

void ReadStream(Bytes file) {
  const std::optional<UniqueFd> pipe = FilledPipe(file);
  if (!pipe) return;
  Result<Input> input = Input::Open("/proc/self/fd/" + std::to_string(pipe->get()));
  if (!input) return;
  const Result<Reader> reader = Reader::Open(*input);
  if (reader) {
    Compare(*reader, file);
  } else if (reader.error().message.empty()) {
    Break("an error without a message");
  }
}

}  // namespace
}  // namespace perftape::perfdata

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perftape::perfdata::ReadStream(std::as_bytes(std::span(data, size)));
  return 0;
}

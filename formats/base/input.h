// SPDX-License-Identifier: Apache-2.0
// The input of a tool: a mapped file, a directory, or a stream (a pipe, a terminal) that is read
// once from front to back. A stream is copied into a file only if a reader asks for all of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape {
inline namespace base {

class Input {
 public:
  // "-" is stdin. If the input is a stream, waits for its first bytes. Returns kNotFound,
  // kPermission or kIo.
  static Result<Input> Open(const std::filesystem::path& path);
  // Owns a mapped file. name() and path() return `name` and `path`. For a file that was made from
  // another input, pass those of that input.
  static Input FromFile(MappedFile file, std::string name, std::filesystem::path path);

  // Owns bytes in memory. name() returns `name`, path() nothing.
  static Input FromBytes(std::vector<std::byte> bytes, std::string name);

  // The path, or "stdin". For messages.
  const std::string& name() const { return name_; }

  bool is_directory() const { return kind_ == Kind::kDirectory; }
  // Whether the bytes can be read only once. All() then has to copy them first.
  bool is_stream() const { return kind_ == Kind::kStream; }
  // The path of the input, to find files beside it or in it. Empty for stdin.
  const std::filesystem::path& path() const { return path_; }

  // The first bytes: all of a file, at least 4096 of a stream unless it is shorter, none of a
  // directory. Valid until Window, Consume or All is called.
  Bytes beginning() const { return is_stream() ? Bytes(buffer_).subspan(begin_) : bytes_; }
  // At most `most` of the first bytes. By default as many as suffice to recognize a text.
  Bytes first(std::size_t most = 65536) const {
    return beginning().first(std::min(beginning().size(), most));
  }

  // All bytes. They live as long as the Input. Copies a stream into an unlinked file in $TMPDIR,
  // without the bytes that were consumed. After that the input is no longer a stream.
  Result<Bytes> All();

  // Returns the bytes of a stream from `at` on, counted from the first byte that is not consumed.
  // Returns at least `size` bytes, or fewer if the stream ends or reading fails (error() is set
  // then). The view is valid until the next call of Window, Consume or All. Memory grows with the
  // bytes that arrived, never with `size`.
  Bytes Window(std::size_t at, std::size_t size);
  // Discards the first `size` bytes of the window that begins at 0.
  void Consume(std::size_t size);
  // Why reading failed. Nothing after a regular end of the stream.
  const std::optional<Error>& error() const { return error_; }

 private:
  enum class Kind : std::uint8_t { kBytes, kDirectory, kStream };

  Input() = default;
  // Appends the bytes of one read to the buffer. Returns false at the end.
  bool ReadMore();

  Kind kind_ = Kind::kBytes;
  std::string name_;
  std::filesystem::path path_;
  std::optional<MappedFile> file_;
  Bytes bytes_;
  UniqueFd fd_;                    // streams only
  std::vector<std::byte> buffer_;  // of a stream: bytes that arrived; else those of FromBytes
  std::size_t begin_ = 0;          // consumed bytes at the front of buffer_
  bool at_end_ = false;
  std::optional<Error> error_;
};

}  // namespace base
}  // namespace perftape

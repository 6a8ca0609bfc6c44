// SPDX-License-Identifier: Apache-2.0
// The input of a tool: a mapped file, a directory, or a stream (a pipe, a terminal) that is read
// once from front to back. A stream is copied into a file only if a reader asks for all of it.
#pragma once

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
  // "-" is stdin. Of a stream, waits for its first bytes. kNotFound, kPermission, kIo.
  static Result<Input> Open(const std::filesystem::path& path);
  // A mapped file. `name` and `path` are what name() and path() return; a file that was made from
  // another input gets those of that input.
  static Input FromFile(MappedFile file, std::string name, std::filesystem::path path);

  // For messages: the path, or "stdin".
  const std::string& name() const { return name_; }

  bool is_directory() const { return kind_ == Kind::kDirectory; }
  // Whether its bytes come once: All() then has to copy them first.
  bool is_stream() const { return kind_ == Kind::kStream; }
  // Where it is, for what lies beside or in it; empty for stdin.
  const std::filesystem::path& path() const { return path_; }

  // The first bytes: all of a file, up to 4096 of a stream, none of a directory. Valid until
  // Window or All.
  Bytes beginning() const { return is_stream() ? Bytes(buffer_).subspan(begin_) : bytes_; }

  // All bytes, which then live as long as the Input. A stream goes into an unlinked file in
  // $TMPDIR, with what Consume has not yet taken; it is one no longer.
  Result<Bytes> All();

  // Of a stream, the bytes from `at` (counted from the first that was not consumed) on: at least
  // `size` of them, fewer only at its end or where reading fails, which error() tells. They are
  // valid until the next call. Memory grows with what has come, never with what is asked for.
  Bytes Window(std::size_t at, std::size_t size);
  // Lets go of the first `size` bytes that were in a window.
  void Consume(std::size_t size);
  // Why the stream ended before its end.
  const std::optional<Error>& error() const { return error_; }

 private:
  enum class Kind : std::uint8_t { kBytes, kDirectory, kStream };

  Input() = default;
  // Reads once, as much as comes, into the buffer. False at the end.
  bool ReadMore();

  Kind kind_ = Kind::kBytes;
  std::string name_;
  std::filesystem::path path_;
  std::optional<MappedFile> file_;
  Bytes bytes_;
  UniqueFd fd_;                    // of a stream
  std::vector<std::byte> buffer_;  // of a stream: what has come and was not consumed
  std::size_t begin_ = 0;          // consumed bytes at the front of buffer_
  bool at_end_ = false;
  std::optional<Error> error_;
};

}  // namespace base
}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
#include "formats/base/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "formats/base/progress.h"

namespace perftape {
inline namespace base {
namespace {

constexpr std::size_t kBeginning = 4096;

}  // namespace

Result<Input> Input::Open(const std::filesystem::path& path) {
  const bool is_stdin = path == "-";
  Input input;
  input.name_ = is_stdin ? "stdin" : path.native();
  if (!is_stdin) input.path_ = path;
  UniqueFd fd =
      is_stdin ? Duplicate(STDIN_FILENO) : UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return FailErrno(input.name_, errno);
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return FailErrno(input.name_, errno);
  if (S_ISDIR(status.st_mode)) {
    input.kind_ = Kind::kDirectory;
    return input;
  }
  if (S_ISREG(status.st_mode)) {
    TRY_ASSIGN(MappedFile file, MappedFile::FromInput(fd.get(), input.name_));
    input.bytes_ = file.bytes();
    input.file_ = std::move(file);
    return input;
  }
  input.kind_ = Kind::kStream;
  input.fd_ = std::move(fd);
  input.Window(0, kBeginning);
  if (input.error_) return Fail(*input.error_);
  return input;
}

Input Input::FromFile(MappedFile file, std::string name, std::filesystem::path path) {
  Input input;
  input.name_ = std::move(name);
  input.path_ = std::move(path);
  input.bytes_ = file.bytes();
  input.file_ = std::move(file);
  return input;
}

Input Input::FromBytes(std::vector<std::byte> bytes, std::string name) {
  Input input;
  input.name_ = std::move(name);
  input.buffer_ = std::move(bytes);
  input.bytes_ = input.buffer_;
  return input;
}

Result<Bytes> Input::All() {
  if (kind_ == Kind::kDirectory) return FailErrno(name_, EISDIR);
  if (kind_ == Kind::kBytes) return bytes_;
  TRY_ASSIGN(UniqueFd spool, CreateUnlinked());
  do {
    TRY(WriteAll(spool.get(), Bytes(buffer_).subspan(begin_)));
    buffer_.clear();
    begin_ = 0;
  } while (ReadMore());
  if (error_) return Fail(*error_);
  TRY_ASSIGN(MappedFile file, MappedFile::FromFd(spool.get(), name_));
  bytes_ = file.bytes();
  file_ = std::move(file);
  kind_ = Kind::kBytes;
  return bytes_;
}

Bytes Input::Window(std::size_t at, std::size_t size) {
  while (buffer_.size() - begin_ < at || buffer_.size() - begin_ - at < size) {
    if (!ReadMore()) break;
  }
  const Bytes left = Bytes(buffer_).subspan(begin_);
  return left.subspan(std::min(at, left.size()));
}

void Input::Consume(std::size_t size) {
  begin_ += std::min(size, buffer_.size() - begin_);
  // Moving the rest to the front costs less than was consumed, if the consumed part is the larger.
  if (begin_ < buffer_.size() - begin_) return;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
}

bool Input::ReadMore() {
  if (at_end_) return false;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kIoSize);
  ssize_t got = 0;
  do {
    got = read(fd_.get(), buffer_.data() + before, kIoSize);
  } while (got < 0 && errno == EINTR);
  if (got < 0) error_ = FailErrno(name_, errno).error();
  at_end_ = got <= 0;
  buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  AddStreamedToProgress(buffer_.size() - before);
  return !at_end_;
}

}  // namespace base
}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
#include "formats/base/file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "formats/base/regular_file.h"

namespace perftape {
inline namespace base {
namespace {

// Calls write_some(rest) until nothing is left. It is write(2) or pwrite(2) of `rest`.
template <class WriteSome>
Status WriteEach(Bytes rest, WriteSome write_some) {
  while (!rest.empty()) {
    const ssize_t written = write_some(rest);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FailErrno("write", errno);
    if (written == 0) return Fail(ErrorCode::kIo, "write: nothing was written");
    rest = rest.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Status CopyAll(int from, int to, std::string_view name) {
  std::vector<std::byte> buffer(kIoSize * 4);
  while (true) {
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got == 0) return {};
    if (got < 0) {
      if (errno == EINTR) continue;
      return FailErrno(name, errno);
    }
    TRY(WriteAll(to, Bytes(buffer).first(static_cast<std::size_t>(got))));
  }
}

Result<Bytes> MapWhole(int fd, std::string_view name) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return FailErrno(name, errno);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return Bytes{};
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return FailErrno(name, errno);
  return Bytes(static_cast<const std::byte*>(address), size);
}

}  // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    Reset();
    fd_ = other.Release();
  }
  return *this;
}

int UniqueFd::Release() {
  return std::exchange(fd_, -1);
}

void UniqueFd::Reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

UniqueFd Duplicate(int fd) {
  return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

Result<UniqueFd> CreateUnlinked() {
  const char* directory = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): never set here
  std::string path = std::string(directory == nullptr ? "/tmp" : directory) + "/perftape-XXXXXX";
  UniqueFd fd(mkostemp(path.data(), O_CLOEXEC));
  if (!fd && errno == ENOENT && directory == nullptr) {
    fd = UniqueFd(memfd_create("perftape", MFD_CLOEXEC));
    if (fd) return fd;
  }
  if (!fd) return FailErrno(path, errno);
  unlink(path.c_str());
  return fd;
}

Status WriteAll(int fd, Bytes bytes) {
  return WriteEach(bytes, [fd](Bytes rest) { return write(fd, rest.data(), rest.size()); });
}

Status WriteAllAt(int fd, Bytes bytes, std::uint64_t offset) {
  const std::uint64_t end = offset + bytes.size();
  return WriteEach(bytes, [fd, end](Bytes rest) {
    return pwrite(fd, rest.data(), rest.size(), static_cast<off_t>(end - rest.size()));
  });
}

Result<std::string> ReadWholeFile(const std::filesystem::path& path, std::uint64_t limit) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return FailErrno(path.native(), errno);
  return ReadToEnd(fd.get(), path.native(), limit);
}

Result<MappedFile> MappedFile::FromInput(int fd, std::string_view name) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return FailErrno(name, errno);
  if (S_ISDIR(status.st_mode)) return FailErrno(name, EISDIR);
  const bool is_partly_read = lseek(fd, 0, SEEK_CUR) != 0;
  if (S_ISREG(status.st_mode) && status.st_size > 0 && !is_partly_read) return FromFd(fd, name);
  TRY_ASSIGN(const UniqueFd spool, CreateUnlinked());
  TRY(CopyAll(fd, spool.get(), name));
  return FromFd(spool.get(), name);
}

Result<MappedFile> MappedFile::FromFd(int fd, std::string_view name) {
  TRY_ASSIGN(const Bytes bytes, MapWhole(fd, name));
  return MappedFile(bytes, name);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), guard_(std::move(other.guard_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(guard_, other.guard_);
  return *this;
}

MappedFile::~MappedFile() {
  guard_ = {};
  // Other threads cannot change mappings during a call, which takes some 20 ms a GB.
  constexpr std::size_t kPart = std::size_t{16} << 20;
  for (Bytes left = bytes_; !left.empty(); left = left.subspan(std::min(kPart, left.size()))) {
    munmap(const_cast<std::byte*>(left.data()), std::min(kPart, left.size()));
  }
}

UniqueFd OpenPathWithin(const std::filesystem::path& root, std::string_view path) {
  const UniqueFd directory(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return {};
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const std::string name(path);
  const long fd = syscall(SYS_openat2, directory.get(), name.c_str(), &how, sizeof how);
  // Before Linux 5.6. Nothing can lead out of "/".
  if (fd < 0 && errno == ENOSYS && root == "/") {
    return UniqueFd(open((root / std::filesystem::path(name).relative_path()).c_str(),
                         static_cast<int>(how.flags)));
  }
  return UniqueFd(static_cast<int>(fd));
}

}  // namespace base
}  // namespace perftape

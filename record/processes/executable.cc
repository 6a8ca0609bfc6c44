// SPDX-License-Identifier: Apache-2.0
#include "record/processes/executable.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <paths.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "formats/base/file.h"

namespace perftape::record {
namespace {

// Returns 0 for a file that this user may execute, else the errno of execve(2). Checks directories
// first, because X_OK has another meaning for them.
int ExecError(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

// Follows bash (check_binary_file in general.c): a NUL byte in the first line means a binary.
bool MayBeScript(const std::string& path) {
  std::array<char, 128> buffer = {};
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return true;  // executable but not readable: the kernel decides
  const ssize_t got = read(file.get(), buffer.data(), buffer.size());
  const std::string_view beginning(buffer.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  return !beginning.substr(0, beginning.find('\n')).contains('\0');
}

Executable Found(std::string path) {
  const bool may_be_script = MayBeScript(path);
  return {.path = std::move(path), .may_be_script = may_be_script};
}

// Searches the directories of $PATH; an empty one is the current directory. A file that may not be
// executed does not end the search. It is the error if nothing else is found.
Result<Executable> FindInPath(const std::string& name) {
  // The recorder never sets environment variables.
  const char* variable = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  std::string_view left = variable == nullptr ? _PATH_DEFPATH : variable;
  std::string refused;
  while (true) {
    const std::string_view directory = left.substr(0, left.find(':'));
    std::string path = directory.empty() ? name : fmt::format("{}/{}", directory, name);
    const int error_number = ExecError(path);
    if (error_number == 0) return Found(std::move(path));
    if (error_number == EACCES && refused.empty()) refused = std::move(path);
    if (directory.size() == left.size()) break;
    left.remove_prefix(directory.size() + 1);
  }
  if (!refused.empty()) return FailErrno(refused, EACCES);
  return Fail(ErrorCode::kNotFound, fmt::format("{}: no such command in $PATH", name));
}

}  // namespace

Result<Executable> FindExecutable(const std::string& name) {
  if (name.empty()) return Fail(ErrorCode::kNotFound, "the name of the command is empty");
  if (!name.contains('/')) return FindInPath(name);
  const int error_number = ExecError(name);
  if (error_number == 0) return Found(name);
  return FailErrno(name, error_number);
}

int ExitStatusOfFailedExec(ErrorCode code) {
  return code == ErrorCode::kNotFound ? 127 : 126;
}

}  // namespace perftape::record

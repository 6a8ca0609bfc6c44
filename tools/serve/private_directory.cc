// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/private_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace perftape::serve {
namespace {

constexpr std::string_view kPrefix = "perftape-serve.", kTemplate = "XXXXXX";
constexpr const char* kLock = "perftape-serve.lock";

// The other processes of a service that was killed end soon after it, but not at once.
constexpr std::chrono::milliseconds kPatience(2000), kPause(20);

bool IsOwn(const UniqueFd& file, mode_t type) {
  struct stat status = {};
  return file && fstat(file.get(), &status) == 0 && (status.st_mode & S_IFMT) == type &&
         status.st_uid == geteuid();
}

// Locks the file as soon as no other process does. Returns false if one still does after
// `patience`.
bool TryLock(const UniqueFd& lock, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

// Removes the directory if its service is dead, or dies before `patience` has passed. Others, and
// those without a lock, stay.
void RemoveLeftover(const std::filesystem::path& path, std::chrono::milliseconds patience) {
  const UniqueFd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!IsOwn(directory, S_IFDIR)) return;
  const UniqueFd lock(
      openat(directory.get(), kLock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!IsOwn(lock, S_IFREG) || !TryLock(lock, patience)) return;
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

// Whether mkdtemp(3) may have made the name.
bool IsName(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  const auto is_of_template = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  return name.size() == kTemplate.size() && std::ranges::all_of(name, is_of_template);
}

void RemoveLeftoversIn(const std::filesystem::path& parent) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    if (IsName(entry->path().filename().native())) found.push_back(entry->path());
  }
  for (const std::filesystem::path& path : found) {
    RemoveLeftover(path, std::chrono::milliseconds(0));
  }
}

}  // namespace

Result<PrivateDirectory> PrivateDirectory::Make(const std::filesystem::path& wanted) {
  std::string name;
  if (wanted.empty()) {
    const char* const of_service = std::getenv("RUNTIME_DIRECTORY");
    const std::filesystem::path parent = of_service != nullptr ? of_service : "/run";
    RemoveLeftoversIn(parent);
    name = (parent / kPrefix).native() + std::string(kTemplate);
    if (mkdtemp(name.data()) == nullptr) return FailErrno(name, errno);
  } else {
    RemoveLeftover(wanted, kPatience);
    if (mkdir(wanted.c_str(), S_IRWXU) != 0) return FailErrno(wanted.native(), errno);
    std::error_code error;
    name = std::filesystem::absolute(wanted, error);
  }
  PrivateDirectory directory(std::move(name));
  TRY(directory.Lock());
  return directory;
}

PrivateDirectory::~PrivateDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

// The file gets its name when it is locked: nobody sees it without the lock of a living service.
Status PrivateDirectory::Lock() {
  const std::filesystem::path final_name = path_ / kLock;
  const std::string first_name = final_name.native() + ".new";
  lock_ = UniqueFd(open(first_name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR));
  if (!lock_ || flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 ||
      rename(first_name.c_str(), final_name.c_str()) != 0)
    return FailErrno(first_name, errno);
  return {};
}

}  // namespace perftape::serve

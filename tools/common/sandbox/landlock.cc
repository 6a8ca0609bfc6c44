// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <system_error>

#include "formats/base/file.h"
#include "formats/base/output_target.h"
#include "formats/json_profiles/samply_symbols.h"

namespace perftape::sandbox {
namespace {

// linux/landlock.h of Debian 12 ends with version 2. These are of later ones.
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;     // version 3, Linux 6.2
constexpr std::uint64_t kIoctlDevice = std::uint64_t{1} << 15;  // version 5, Linux 6.10
constexpr std::uint64_t kBindTcp = std::uint64_t{1} << 0;       // version 4, Linux 6.7
constexpr std::uint64_t kConnectTcp = std::uint64_t{1} << 1;
constexpr std::uint64_t kScopeAbstractSockets = std::uint64_t{1} << 0;  // version 6, Linux 6.12
constexpr std::uint64_t kScopeSignals = std::uint64_t{1} << 1;

// struct landlock_ruleset_attr of version 6. An older kernel gets only the fields that it has.
struct RulesetAttributes {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;  // version 4
  std::uint64_t scoped;              // version 6
};

constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE;
constexpr std::uint64_t kReadDirectory = LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kWrite = LANDLOCK_ACCESS_FS_WRITE_FILE;
constexpr std::uint64_t kChangeDirectory =
    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM |
    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR;
constexpr std::uint64_t kOfAFile = kRead | kWrite | kTruncate | kIoctlDevice;
// All of version 1: bits 0 to 12.
constexpr std::uint64_t kFirstVersion = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

bool IsMissing(int error_number) {
  return error_number == ENOSYS || error_number == EOPNOTSUPP || error_number == EPERM ||
         error_number == EINVAL;
}

int Version() {
  return static_cast<int>(
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

class Ruleset {
 public:
  // `version` is that of the kernel.
  static Result<Ruleset> Create(int version, bool may_connect) {
    Ruleset rules;
    rules.handled_ = kFirstVersion;
    if (version >= 2) rules.handled_ |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) rules.handled_ |= kTruncate;
    if (version >= 5) rules.handled_ |= kIoctlDevice;
    RulesetAttributes attributes = {
        .handled_access_fs = rules.handled_,
        .handled_access_net = version < 4 ? 0 : (may_connect ? kBindTcp : kBindTcp | kConnectTcp),
        .scoped = version >= 6 ? kScopeAbstractSockets | kScopeSignals : 0};
    const std::size_t size = version >= 6 ? 24 : (version >= 4 ? 16 : 8);
    rules.fd_ =
        UniqueFd(static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
    if (!rules.fd_) return FailErrno("sandbox: landlock_create_ruleset", errno);
    return rules;
  }

  // Allows what `access` contains for a directory, or what of it applies to a file.
  Status Allow(const std::filesystem::path& path, std::uint64_t access) {
    const UniqueFd fd(open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status = {};
    if (!fd || fstat(fd.get(), &status) != 0) return {};
    access &= S_ISDIR(status.st_mode) ? ~kIoctlDevice : kOfAFile;
    landlock_path_beneath_attr rule = {.allowed_access = access & handled_, .parent_fd = fd.get()};
    if (rule.allowed_access == 0) return {};
    if (syscall(SYS_landlock_add_rule, fd_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0) {
      return {};
    }
    // The file of a descriptor without a name, such as a pipe in /proc/self/fd, needs no rule.
    if (errno == EBADFD || errno == EBADF) return {};
    return FailErrno("sandbox: " + path.native(), errno);
  }

  Status Enforce() const {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return FailErrno("sandbox: prctl", errno);
    if (syscall(SYS_landlock_restrict_self, fd_.get(), 0) == 0) return {};
    return FailErrno("sandbox: landlock_restrict_self", errno);
  }

 private:
  UniqueFd fd_;
  std::uint64_t handled_ = 0;
};

bool IsDirectory(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

}  // namespace

void GrantOutput(const std::filesystem::path& output, FileGrants& grants) {
  if (output.empty() || output == "-") return;
  const Result<OutputTarget> target = ResolveOutput(output);
  if (!target || target->descriptor >= 0) return;
  const std::filesystem::path parent = target->path.parent_path();
  grants.writable.push_back(target->is_stream() ? target->path
                            : parent.empty()    ? std::filesystem::path(".")
                                                : parent);
}

void GrantInput(const std::filesystem::path& input, FileGrants& grants) {
  if (input.empty() || input == "-") return;
  grants.readable.push_back(input);
  // A profile of samply may have its names in a file beside it.
  grants.readable.push_back(json_profiles::SamplySymbolsPath(input));
}

void GrantDirectory(const std::filesystem::path& directory, mode_t mode, FileGrants& grants) {
  if (directory.empty()) return;
  std::error_code error;
  if (!IsDirectory(directory)) {
    std::filesystem::create_directories(directory.parent_path(), error);
    mkdir(directory.c_str(), mode);
  }
  grants.readable.push_back(directory);
  grants.writable.push_back(directory);
}

void GrantTemporaryDirectory(FileGrants& grants) {
  const char* named = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): never set here
  const std::filesystem::path directory = named == nullptr ? "/tmp" : named;
  grants.readable.push_back(directory);
  grants.writable.push_back(directory);
}

Result<Availability> RestrictFiles(const FileGrants& grants) {
  const int version = Version();
  if (version < 0 && IsMissing(errno)) return Availability::kMissing;
  if (version < 0) return FailErrno("sandbox: Landlock", errno);
  TRY_ASSIGN(Ruleset rules, Ruleset::Create(version, grants.may_connect));
  for (const std::filesystem::path& path : grants.readable) {
    TRY(rules.Allow(path, kRead | kReadDirectory));
  }
  for (const std::filesystem::path& path : grants.writable) {
    TRY(rules.Allow(path, kWrite | kTruncate | kIoctlDevice | kReadDirectory | kChangeDirectory |
                              LANDLOCK_ACCESS_FS_REFER));
  }
  TRY(rules.Enforce());
  return Availability::kOn;
}

}  // namespace perftape::sandbox

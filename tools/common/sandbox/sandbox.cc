// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/sandbox.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "formats/base/output_target.h"
#include "tools/common/sandbox/landlock.h"
#include "tools/common/sandbox/seccomp_filter.h"

namespace perftape::sandbox {
namespace {

// Facts that symbolize::FactsOfThisBoot and the C library read. All users may read them.
constexpr const char* kMachineFacts[] = {
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/kernel/kptr_restrict",
    "/proc/kallsyms",
    "/proc/modules",
    "/sys/kernel/notes",
    "/sys/devices/system/cpu/online",
    "/proc/sys/vm/overcommit_memory",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/dev/null",
};

constexpr const char* kOwnFacts[] = {"/proc/self/maps", "/proc/self/auxv"};

FileGrants WithCommonGrants(FileGrants grants) {
  grants.readable.insert(grants.readable.end(), std::begin(kMachineFacts), std::end(kMachineFacts));
  grants.readable.insert(grants.readable.end(), std::begin(kOwnFacts), std::end(kOwnFacts));
  if (IsSanitized()) grants.readable.emplace_back("/proc/self");
  GrantTemporaryDirectory(grants);
  return grants;
}

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
  if (!input.empty() && input != "-") grants.readable.push_back(input);
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

Status Confine(const FileGrants& grants) {
  TRY(RestrictFiles(WithCommonGrants(grants)));
  return ConfineCalls();
}

Status ConfineCalls() {
  TRY(InstallFilter(Caller::kReader));
  return {};
}

bool AskConfined(const FileGrants& grants, const std::function<bool()>& question) {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    const bool is_confined = RestrictFiles(grants) && ConfineCalls();
    _exit(is_confined && question() ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

}  // namespace perftape::sandbox

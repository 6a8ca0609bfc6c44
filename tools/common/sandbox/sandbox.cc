// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/sandbox.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "formats/base/output_target.h"
#include "tools/common/sandbox/capabilities.h"
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

// linux/capability.h of older systems ends before these.
constexpr int kPerfmon = 38, kBpf = 39, kCheckpointRestore = 40;

constexpr CapabilitySet kNeeded = Capability(kPerfmon) | Capability(kBpf) |
                                  Capability(kCheckpointRestore) | Capability(CAP_IPC_LOCK) |
                                  Capability(CAP_SYS_PTRACE) | Capability(CAP_DAC_READ_SEARCH) |
                                  Capability(CAP_SYSLOG) | Capability(CAP_KILL);
constexpr CapabilitySet kSplitFromAdmin = Capability(kPerfmon) | Capability(kBpf);
constexpr CapabilitySet kForeignOutput =
    Capability(CAP_DAC_OVERRIDE) | Capability(CAP_CHOWN) | Capability(CAP_FOWNER);

CapabilitySet NeededOf(CapabilitySet permitted) {
  CapabilitySet needed = kNeeded;
  const bool replaces_others = (permitted & kSplitFromAdmin) != kSplitFromAdmin;
  if (replaces_others || LastCapability() < kCheckpointRestore) needed |= Capability(CAP_SYS_ADMIN);
  return needed & permitted;
}

// Returns whether the current capabilities suffice to create or replace `output`.
bool CanWrite(const std::filesystem::path& output) {
  if (output.empty() || output == "-") return true;
  const Result<OutputTarget> target = ResolveOutput(output);
  if (!target || target->is_stream()) return true;
  if (target->access && target->access->owner != geteuid()) return false;
  const std::filesystem::path parent = target->path.parent_path();
  return faccessat(AT_FDCWD, parent.empty() ? "." : parent.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

Status ReduceCapabilities(std::span<const std::filesystem::path> outputs) {
  TRY_ASSIGN(const ThreadCapabilities own, OwnCapabilities());
  CapabilitySet kept = NeededOf(own.permitted);
  const CapabilitySet foreign = kForeignOutput & own.permitted;
  // The directories are tried without these, which stay permitted meanwhile.
  TRY(SetOwnCapabilities({.effective = kept & own.effective, .permitted = kept | foreign}));
  if (!std::ranges::all_of(outputs, CanWrite)) kept |= foreign;
  TRY(SetOwnCapabilities({.effective = kept & own.effective, .permitted = kept}));
  return KeepInAllThreads(kept);
}

Status GiveUpRoot() {
  constexpr id_t kNobody = 65534;  // the overflow id of the kernel
  if (geteuid() == 0) {
    if (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
        setresuid(kNobody, kNobody, kNobody) != 0) {
      return FailErrno("sandbox: changing the user", errno);
    }
  }
  return SetOwnCapabilities({});
}

}  // namespace

Status Confine(const FileGrants& grants) {
  TRY(RestrictFiles(WithCommonGrants(grants)));
  return ConfineCalls();
}

Status ConfineToReading(const FileGrants& grants) {
  constexpr CapabilitySet kReading =
      Capability(CAP_DAC_READ_SEARCH) | Capability(CAP_SYS_PTRACE) | Capability(CAP_SYSLOG);
  TRY_ASSIGN(const ThreadCapabilities own, OwnCapabilities());
  TRY(SetOwnCapabilities(
      {.effective = own.effective & kReading, .permitted = own.permitted & kReading}));
  return Confine(grants);
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

Status ConfineServer() {
  TRY(GiveUpRoot());
  TRY(RestrictFiles({}));
  return {};
}

Status ConfineServerCalls() {
  TRY(InstallFilter(Caller::kServer));
  return {};
}

Status ConfineClient() {
  TRY(GiveUpRoot());
  // resolv.conf(5) may be a link to one of the files below /run, which are replaced.
  TRY(RestrictFiles({.readable = {"/etc", "/usr", "/lib", "/lib64", "/run/systemd/resolve",
                                  "/run/NetworkManager", "/run/resolvconf", "/dev/urandom"},
                     .may_connect = true}));
  return {};
}

Status ConfineClientCalls() {
  TRY(InstallFilter(Caller::kClient));
  return {};
}

Status ConfineLocalClient() {
  TRY(SetOwnCapabilities({}));
  TRY(RestrictFiles({}));
  return ConfineClientCalls();
}

Status DropRecorderPrivileges(std::span<const std::filesystem::path> outputs) {
  TRY(ReduceCapabilities(outputs));
  TRY(InstallFilter(Caller::kRecorder));
  return {};
}

}  // namespace perftape::sandbox

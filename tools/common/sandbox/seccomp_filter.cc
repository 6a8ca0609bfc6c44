// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/seccomp_filter.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "formats/base/file.h"
#include "formats/base/regular_file.h"

namespace perftape::sandbox {
namespace {

// A filter has at most 4096 instructions of 8 bytes (BPF_MAXINSNS).
constexpr std::uint64_t kMostBytes = 4096 * 8;

std::unexpected<Error> FailSeccomp(std::string_view what, int code) {
  return FailErrno("sandbox: " + std::string(what), code < 0 ? -code : EIO);
}

// The error of a kernel without filters, or of a container that hides them.
bool IsMissingInKernel(int error_number) {
  return error_number == EINVAL || error_number == ENOSYS || error_number == EOPNOTSUPP ||
         error_number == EPERM || error_number == EACCES;
}

scmp_arg_cmp ConditionOf(const ArgumentRule& rule) {
  const auto own_pid = static_cast<std::uint64_t>(getpid());
  switch (rule.test) {
    case ArgumentRule::Test::kOwnPid:
      return {.arg = rule.index, .op = SCMP_CMP_EQ, .datum_a = own_pid, .datum_b = 0};
    case ArgumentRule::Test::kOtherPid:
      return {.arg = rule.index, .op = SCMP_CMP_NE, .datum_a = own_pid, .datum_b = 0};
    case ArgumentRule::Test::kBits:
    case ArgumentRule::Test::kNone:
      break;
  }
  return {.arg = rule.index, .op = SCMP_CMP_MASKED_EQ, .datum_a = rule.mask, .datum_b = rule.value};
}

int AddRow(scmp_filter_ctx context, const SystemCallRow& row) {
  const int number = seccomp_syscall_resolve_name(std::string(row.name).c_str());
  // Negative numbers are calls of other architectures.
  if (number < 0) return 0;
  const std::uint32_t action =
      row.verdict == Verdict::kAllow ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM);
  if (row.argument.test == ArgumentRule::Test::kNone) {
    return seccomp_rule_add(context, action, number, 0);
  }
  const scmp_arg_cmp condition = ConditionOf(row.argument);
  return seccomp_rule_add_array(context, action, number, 1, &condition);
}

// libseccomp 2.5 writes programs only to descriptors. A pipe has room for a program of this size,
// and unlike a file it is not limited by `ulimit -f`.
Result<std::vector<std::uint64_t>> Compile(scmp_filter_ctx context) {
  int ends[2] = {};
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return FailSeccomp("pipe2", -errno);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  if (const int code = seccomp_export_bpf(context, write_end.get()); code != 0) {
    return FailSeccomp("seccomp_export_bpf", code);
  }
  write_end.Reset();
  TRY_ASSIGN(const std::string bytes, ReadToEnd(read_end.get(), "sandbox: filter", kMostBytes));
  std::vector<std::uint64_t> program(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(program.data(), bytes.data(), program.size() * sizeof(std::uint64_t));
  return program;
}

}  // namespace

bool IsSanitized() {
#ifdef PERFTAPE_SANITIZED
  return true;
#else
  return false;
#endif
}

Result<SeccompFilter> SeccompFilter::Build(Caller caller) {
  const std::unique_ptr<void, void (*)(void*)> context(seccomp_init(SCMP_ACT_ERRNO(ENOSYS)),
                                                       &seccomp_release);
  if (!context) return FailSeccomp("seccomp_init", -ENOMEM);
  // Calls of another architecture, such as those of 32 bits, would end the process.
  int code = seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
  if (code != 0) return FailSeccomp("seccomp_attr_set", code);
  for (const SystemCallRow& row : SystemCallTable()) {
    if (row.caller != Caller::kAll && row.caller != caller) continue;
    code = AddRow(context.get(), row);
    if (code != 0) return FailSeccomp("rule of " + std::string(row.name), code);
  }
  SeccompFilter filter;
  TRY_ASSIGN(filter.program_, Compile(context.get()));
  return filter;
}

// Not by seccomp_load: the same program is installed in a child process and in its parent.
Result<Availability> SeccompFilter::Install() const {
  static_assert(sizeof(sock_filter) == sizeof(std::uint64_t));
  std::vector<sock_filter> instructions(program_.size());
  std::memcpy(instructions.data(), program_.data(), program_.size() * sizeof(sock_filter));
  const sock_fprog program = {.len = static_cast<unsigned short>(instructions.size()),
                              .filter = instructions.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return FailSeccomp("prctl", -errno);
  const long code =
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  if (code == 0) return Availability::kOn;
  // A positive number is the id of a thread that has another filter.
  if (code > 0) return FailSeccomp("seccomp", -EBUSY);
  if (IsMissingInKernel(errno)) return Availability::kMissing;
  return FailSeccomp("seccomp", -errno);
}

}  // namespace perftape::sandbox

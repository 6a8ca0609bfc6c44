// SPDX-License-Identifier: Apache-2.0
// Compares our filters with those that libseccomp makes of the same table, for all system calls.
#include "tools/common/sandbox/seccomp_filter.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace perftape::sandbox {
namespace {

constexpr pid_t kOwnPid = 4711;
constexpr std::uint32_t kMostCalls = 600;
constexpr std::uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kMissing = SECCOMP_RET_ERRNO | ENOSYS;

std::uint32_t WordAt(const seccomp_data& call, std::uint32_t offset) {
  std::uint32_t word = 0;
  EXPECT_LE(offset + sizeof word, sizeof call);
  std::memcpy(&word, reinterpret_cast<const char*>(&call) + offset, sizeof word);
  return word;
}

bool IsMet(const sock_filter& jump, std::uint32_t value) {
  switch (BPF_OP(jump.code)) {
    case BPF_JEQ:
      return value == jump.k;
    case BPF_JGT:
      return value > jump.k;
    case BPF_JGE:
      return value >= jump.k;
    default:
      ADD_FAILURE() << "an instruction that this test does not have: " << jump.code;
      return false;
  }
}

// Runs a program as the kernel does. Returns the action.
std::uint32_t Verdict(std::span<const sock_filter> program, const seccomp_data& call) {
  std::uint32_t value = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& now = program[at];
    switch (now.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        value = WordAt(call, now.k);
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        value &= now.k;
        break;
      case BPF_JMP | BPF_JA:
        at += now.k;
        break;
      case BPF_RET | BPF_K:
        return now.k;
      default:
        at += IsMet(now, value) ? now.jt : now.jf;
    }
  }
  ADD_FAILURE() << "the program does not return";
  return 0;
}

seccomp_data Call(std::uint32_t number, std::uint64_t argument = 0) {
  seccomp_data call = {};
  call.nr = static_cast<int>(number);
#ifdef __x86_64__
  call.arch = AUDIT_ARCH_X86_64;
#else
  call.arch = AUDIT_ARCH_AARCH64;
#endif
  for (auto& each : call.args) each = argument;
  return call;
}

class ByLibseccomp {
 public:
  explicit ByLibseccomp(Caller caller)
      : context_(seccomp_init(SCMP_ACT_ERRNO(ENOSYS)), &seccomp_release) {
    seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
    for (const SystemCallRow& row : SystemCallTable()) {
      if (AppliesTo(row, caller)) Add(row);
    }
  }

  std::vector<sock_filter> Program() const {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(tmpfile(), &fclose);
    EXPECT_EQ(seccomp_export_bpf(context_.get(), fileno(file.get())), 0);
    std::vector<sock_filter> program(
        static_cast<std::size_t>(lseek(fileno(file.get()), 0, SEEK_END)) / sizeof(sock_filter));
    const std::size_t bytes = program.size() * sizeof(sock_filter);
    EXPECT_EQ(pread(fileno(file.get()), program.data(), bytes, 0), static_cast<ssize_t>(bytes));
    return program;
  }

 private:
  void Add(const SystemCallRow& row) {
    const auto number = static_cast<int>(row.number);
    if (row.verdict == Verdict::kRefuse) {
      EXPECT_EQ(seccomp_rule_add(context_.get(), SCMP_ACT_ERRNO(EPERM), number, 0), 0);
      return;
    }
    if (row.argument.test == ArgumentRule::Test::kNone) {
      EXPECT_EQ(seccomp_rule_add(context_.get(), SCMP_ACT_ALLOW, number, 0), 0);
      return;
    }
    const bool is_pid = row.argument.test == ArgumentRule::Test::kOwnPid;
    const scmp_arg_cmp condition = {.arg = row.argument.index,
                                    .op = SCMP_CMP_MASKED_EQ,
                                    .datum_a = row.argument.mask,
                                    .datum_b = is_pid ? kOwnPid : row.argument.value};
    EXPECT_EQ(seccomp_rule_add_array(context_.get(), SCMP_ACT_ALLOW, number, 1, &condition), 0)
        << row.number;
  }

  std::unique_ptr<void, void (*)(void*)> context_;
};

// libseccomp has no rule for the other arguments of a call with conditions, so it finds ENOSYS.
bool HasConditions(std::uint32_t number, Caller caller) {
  for (const SystemCallRow& row : SystemCallTable()) {
    if (row.number != number || !AppliesTo(row, caller)) continue;
    if (row.argument.test != ArgumentRule::Test::kNone) return true;
  }
  return false;
}

// Values that decide in any row, and neighbours.
std::set<std::uint64_t> Arguments() {
  std::set<std::uint64_t> values = {0, 1, 2, 4, 7, kOwnPid, kOwnPid + 1, 0xffffffff};
  for (const SystemCallRow& row : SystemCallTable()) {
    for (const std::uint64_t value : {row.argument.value, row.argument.mask}) {
      for (const std::uint64_t other : {value, value + 1, value ^ 0x10000, value | 0x80}) {
        values.insert(other);
      }
    }
  }
  return values;
}

class FilterPrograms : public testing::TestWithParam<Caller> {};
INSTANTIATE_TEST_SUITE_P(Callers, FilterPrograms,
                         testing::Values(Caller::kReader, Caller::kRecorder, Caller::kServer,
                                         Caller::kClient));

TEST_P(FilterPrograms, DecideAsThoseOfLibseccomp) {
  const std::vector<sock_filter> ours = FilterProgram(GetParam(), kOwnPid);
  const std::vector<sock_filter> theirs = ByLibseccomp(GetParam()).Program();
  const std::set<std::uint64_t> arguments = Arguments();
  for (std::uint32_t number = 0; number < kMostCalls; ++number) {
    const bool has_conditions = HasConditions(number, GetParam());
    for (const std::uint64_t argument : arguments) {
      const seccomp_data call = Call(number, argument);
      std::uint32_t expected = Verdict(theirs, call);
      if (has_conditions && expected == kMissing) expected = kRefused;
      ASSERT_EQ(Verdict(ours, call), expected) << number << "(" << argument << ")";
    }
  }
}

TEST_P(FilterPrograms, HaveNoCallsOfOtherArchitectures) {
  const std::vector<sock_filter> ours = FilterProgram(GetParam(), kOwnPid);
  for (const std::uint32_t architecture :
       std::initializer_list<std::uint32_t>{AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_RISCV64}) {
    for (std::uint32_t number = 0; number < kMostCalls; ++number) {
      seccomp_data call = Call(number);
      call.arch = architecture;
      ASSERT_EQ(Verdict(ours, call), kMissing) << number;
    }
  }
  constexpr std::uint32_t kX32 = 0x40000000;  // __X32_SYSCALL_BIT
  for (std::uint32_t number = 0; number < kMostCalls; ++number) {
    ASSERT_EQ(Verdict(ours, Call(kX32 | number)), kMissing) << number;
  }
  EXPECT_EQ(Verdict(ours, Call(0xffffffff)), kMissing);
}

TEST_P(FilterPrograms, AreShortEnough) {
  EXPECT_LT(FilterProgram(GetParam(), kOwnPid).size(), BPF_MAXINSNS / 4);
}

}  // namespace
}  // namespace perftape::sandbox

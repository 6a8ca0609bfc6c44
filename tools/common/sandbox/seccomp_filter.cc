// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/seccomp_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/file.h"

namespace perftape::sandbox {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

using Program = std::vector<sock_filter>;

constexpr std::uint32_t kMissing = SECCOMP_RET_ERRNO | ENOSYS;
constexpr std::uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kAllowed = SECCOMP_RET_ALLOW;

sock_filter Load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter Return(std::uint32_t action) {
  return BPF_STMT(BPF_RET | BPF_K, action);
}

// Continues with the next instruction if A has this value, and skips `skipped` otherwise.
sock_filter SkipUnless(std::uint32_t value, std::uint8_t skipped) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
}

std::size_t OffsetOfArgument(std::uint32_t index) {
  const std::size_t lower_half = std::endian::native == std::endian::big ? 4 : 0;
  return offsetof(seccomp_data, args) + 8 * std::size_t{index} + lower_half;
}

// What happens to a call, as instructions that return. `rows` are the rows of this call.
Program CodeOf(std::span<const SystemCallRow> rows, pid_t own_pid) {
  if (rows.front().verdict == Verdict::kRefuse) return {Return(kRefused)};
  if (rows.front().argument.test == ArgumentRule::Test::kNone) return {Return(kAllowed)};
  Program code;
  for (const SystemCallRow& row : rows) {
    const ArgumentRule& rule = row.argument;
    const bool is_pid = rule.test == ArgumentRule::Test::kOwnPid;
    code.push_back(Load(OffsetOfArgument(rule.index)));
    code.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, rule.mask));
    code.push_back(SkipUnless(is_pid ? static_cast<std::uint32_t>(own_pid) : rule.value, 1));
    code.push_back(Return(kAllowed));
  }
  code.push_back(Return(kRefused));
  return code;
}

// The calls from `first` to the next range, which are all treated equally.
struct Range {
  std::uint32_t first = 0;
  Program code;
};

bool IsEqual(const sock_filter& a, const sock_filter& b) {
  return a.code == b.code && a.jt == b.jt && a.jf == b.jf && a.k == b.k;
}

void AddRange(Range next, std::vector<Range>& ranges) {
  if (!ranges.empty() && std::ranges::equal(ranges.back().code, next.code, IsEqual)) return;
  ranges.push_back(std::move(next));
}

// Covers all numbers.
std::vector<Range> RangesOf(Caller caller, pid_t own_pid) {
  std::vector<SystemCallRow> rows;
  std::ranges::copy_if(SystemCallTable(), std::back_inserter(rows),
                       [&](const SystemCallRow& row) { return AppliesTo(row, caller); });
  std::ranges::stable_sort(rows, {}, &SystemCallRow::number);
  std::vector<Range> ranges;
  std::uint32_t next = 0;  // the first number that has no range yet
  for (std::span<const SystemCallRow> left = rows; !left.empty();) {
    const std::uint32_t number = left.front().number;
    const auto end =
        std::ranges::find_if(left, [&](const SystemCallRow& row) { return row.number != number; });
    const auto count = static_cast<std::size_t>(end - left.begin());
    if (number > next) AddRange({.first = next, .code = {Return(kMissing)}}, ranges);
    AddRange({.first = number, .code = CodeOf(left.first(count), own_pid)}, ranges);
    next = number + 1;
    left = left.subspan(count);
  }
  AddRange({.first = next, .code = {Return(kMissing)}}, ranges);
  return ranges;
}

// Appends a search for the range of the number in A. A conditional jump reaches 255 instructions,
// an unconditional one all.
void AppendSearch(std::span<const Range> ranges, Program& program) {
  if (ranges.size() == 1) {
    program.insert(program.end(), ranges.front().code.begin(), ranges.front().code.end());
    return;
  }
  const std::size_t middle = ranges.size() / 2;
  Program lower;
  AppendSearch(ranges.first(middle), lower);
  const std::uint32_t bound = ranges[middle].first;
  const auto distance = static_cast<std::uint32_t>(lower.size());
  if (distance <= 0xff) {
    program.push_back(
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, bound, static_cast<std::uint8_t>(distance), 0));
  } else {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, bound, 0, 1));
    program.push_back(BPF_STMT(BPF_JMP | BPF_JA, distance));
  }
  program.insert(program.end(), lower.begin(), lower.end());
  AppendSearch(ranges.subspan(middle), program);
}

std::unexpected<Error> FailSeccomp(std::string_view call, int error_number) {
  return FailErrno("sandbox: " + std::string(call), error_number);
}

// The error of a kernel without filters, or of a container that hides them.
bool IsMissingInKernel(int error_number) {
  return error_number == EINVAL || error_number == ENOSYS || error_number == EOPNOTSUPP ||
         error_number == EPERM || error_number == EACCES;
}

}  // namespace

std::vector<sock_filter> FilterProgram(Caller caller, pid_t own_pid) {
  if (kArchitecture == 0) return {};
  Program program = {
      Load(offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      Return(kMissing),
      Load(offsetof(seccomp_data, nr)),
  };
  AppendSearch(RangesOf(caller, own_pid), program);
  return program;
}

bool IsSanitized() {
#ifdef PERFTAPE_SANITIZED
  return true;
#else
  return false;
#endif
}

Result<Availability> InstallFilter(Caller caller) {
  std::vector<sock_filter> instructions = FilterProgram(caller, getpid());
  if (IsSanitized() || instructions.empty()) return Availability::kMissing;
  const sock_fprog program = {.len = static_cast<unsigned short>(instructions.size()),
                              .filter = instructions.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return FailSeccomp("prctl", errno);
  const long code =
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  if (code == 0) return Availability::kOn;
  // A positive number is the id of a thread that has another filter.
  if (code > 0) return FailSeccomp("seccomp", EBUSY);
  if (IsMissingInKernel(errno)) return Availability::kMissing;
  return FailSeccomp("seccomp", errno);
}

}  // namespace perftape::sandbox

// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/system_calls.h"

#include <linux/prctl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

namespace perftape::sandbox {
namespace {

constexpr SystemCallRow Recorder(std::string_view name) {
  return {.name = name, .caller = Caller::kRecorder};
}

constexpr SystemCallRow Refused(std::string_view name, Caller caller = Caller::kAll) {
  return {.name = name, .caller = caller, .verdict = Verdict::kRefuse};
}

constexpr SystemCallRow IfBits(std::string_view name, unsigned index, std::uint64_t mask,
                               std::uint64_t value, Verdict verdict = Verdict::kAllow,
                               Caller caller = Caller::kAll) {
  return {.name = name,
          .caller = caller,
          .verdict = verdict,
          .argument = {
              .test = ArgumentRule::Test::kBits, .index = index, .mask = mask, .value = value}};
}

// Requests of ioctl(2) and options of prctl(2) have 32 bits.
constexpr SystemCallRow If(std::string_view name, unsigned index, std::uint64_t value) {
  return IfBits(name, index, 0xffffffff, value);
}

constexpr SystemCallRow ToSelf(std::string_view name) {
  return {.name = name, .argument = {.test = ArgumentRule::Test::kOwnPid}};
}

constexpr SystemCallRow ToOthers(std::string_view name) {
  return {.name = name,
          .verdict = Verdict::kRefuse,
          .argument = {.test = ArgumentRule::Test::kOtherPid}};
}

// clang-format off
constexpr SystemCallRow kRows[] = {
    // Open files.
    {"read"}, {"readv"}, {"pread64"}, {"preadv"}, {"preadv2"},
    {"write"}, {"writev"}, {"pwrite64"}, {"pwritev"}, {"pwritev2"},
    {"lseek"}, {"_llseek"}, {"close"}, {"close_range"}, {"dup"}, {"dup2"}, {"dup3"},
    {"fcntl"}, {"fcntl64"}, {"flock"}, {"fstat"}, {"fstat64"}, {"fstatfs"}, {"fstatfs64"},
    {"ftruncate"}, {"ftruncate64"}, {"fallocate"}, {"fsync"}, {"fdatasync"}, {"sync_file_range"},
    {"sync_file_range2"}, {"fadvise64"}, {"fadvise64_64"}, {"readahead"}, {"copy_file_range"},
    {"sendfile"}, {"sendfile64"}, {"splice"}, {"pipe"}, {"pipe2"}, {"getdents"}, {"getdents64"},
    {"fchmod"}, {"fchown"}, {"fchown32"}, {"futimesat"},
    // isatty, the width of a terminal, the bytes in a pipe.
    If("ioctl", 1, TCGETS), If("ioctl", 1, 0x802c542a /* TCGETS2 */), If("ioctl", 1, TIOCGWINSZ),
    If("ioctl", 1, FIONREAD), If("ioctl", 1, FIONBIO),

    // Paths. Landlock limits them.
    {"open"}, {"openat"}, {"stat"}, {"stat64"}, {"lstat"}, {"lstat64"}, {"newfstatat"},
    {"fstatat64"}, {"statx"}, {"statfs"}, {"statfs64"}, {"access"}, {"faccessat"}, {"faccessat2"},
    {"readlink"}, {"readlinkat"}, {"getcwd"}, {"mkdir"}, {"mkdirat"}, {"rmdir"}, {"unlink"},
    {"unlinkat"}, {"rename"}, {"renameat"}, {"renameat2"}, {"link"}, {"linkat"}, {"symlink"},
    {"symlinkat"}, {"chmod"}, {"fchmodat"}, {"fchmodat2"}, {"chown"}, {"lchown"}, {"fchownat"},
    {"utimensat"}, {"utimensat_time64"}, {"umask"},

    // Memory that is never executed.
    IfBits("mmap", 2, PROT_EXEC, 0), IfBits("mmap2", 2, PROT_EXEC, 0),
    IfBits("mprotect", 2, PROT_EXEC, 0),
    IfBits("mmap", 2, PROT_EXEC, PROT_EXEC, Verdict::kRefuse),
    IfBits("mmap2", 2, PROT_EXEC, PROT_EXEC, Verdict::kRefuse),
    IfBits("mprotect", 2, PROT_EXEC, PROT_EXEC, Verdict::kRefuse),
    {"munmap"}, {"mremap"}, {"madvise"}, {"brk"}, {"msync"}, {"mincore"}, {"membarrier"},

    // Threads, but no processes.
    IfBits("clone", 0, CLONE_THREAD, CLONE_THREAD),
    IfBits("clone", 0, CLONE_THREAD, 0, Verdict::kRefuse),
    Refused("fork"), Refused("vfork"),
    {"exit"}, {"exit_group"}, {"futex"}, {"futex_time64"}, {"futex_waitv"}, {"set_robust_list"},
    {"get_robust_list"}, {"rseq"}, {"set_tid_address"}, {"sched_yield"}, {"sched_getaffinity"},
    {"sched_getparam"}, {"sched_getscheduler"}, {"sched_get_priority_max"},
    {"sched_get_priority_min"}, {"getpriority"}, {"restart_syscall"},
    If("prctl", 0, PR_SET_NAME), If("prctl", 0, PR_GET_NAME), If("prctl", 0, 0x53564d41 /* PR_SET_VMA */),

    // Signals, to this process only.
    {"rt_sigaction"}, {"rt_sigprocmask"}, {"rt_sigreturn"}, {"rt_sigpending"}, {"rt_sigsuspend"},
    {"rt_sigtimedwait"}, {"rt_sigtimedwait_time64"}, {"sigaltstack"}, {"sigreturn"}, {"pause"},
    ToSelf("tgkill"), ToOthers("tgkill"), ToSelf("kill"), ToOthers("kill"),

    // Waiting and time.
    {"poll"}, {"ppoll"}, {"ppoll_time64"}, {"select"}, {"_newselect"}, {"pselect6"},
    {"pselect6_time64"}, {"epoll_create"}, {"epoll_create1"}, {"epoll_ctl"}, {"epoll_wait"},
    {"epoll_pwait"}, {"epoll_pwait2"}, {"eventfd"}, {"eventfd2"}, {"nanosleep"},
    {"clock_nanosleep"}, {"clock_nanosleep_time64"}, {"clock_gettime"}, {"clock_gettime64"},
    {"clock_getres"}, {"clock_getres_time64"}, {"gettimeofday"}, {"time"}, {"times"},

    // Facts about the process and the machine.
    {"getpid"}, {"getppid"}, {"gettid"}, {"getuid"}, {"getuid32"}, {"geteuid"}, {"geteuid32"},
    {"getgid"}, {"getgid32"}, {"getegid"}, {"getegid32"}, {"getresuid"}, {"getresgid"},
    {"getgroups"}, {"capget"}, {"getrlimit"}, {"ugetrlimit"}, {"getrusage"}, {"getrandom"},
    {"getcpu"}, {"uname"}, {"sysinfo"},
    If("prlimit64", 0, 0), ToSelf("prlimit64"),

    // The recorder opens events on CPUs that come online, and reads maps. It waits for the command and
    // signals it through its pidfd. Without pidfd_open it can signal no other process.
    Recorder("perf_event_open"), Recorder("bpf"),
    IfBits("ioctl", 1, 0xff00, '$' << 8 /* PERF_EVENT_IOC_* */, Verdict::kAllow, Caller::kRecorder),
    IfBits("ioctl", 1, 0xff00, 0xb7 << 8 /* NS_GET_* */, Verdict::kAllow, Caller::kRecorder),
    Recorder("wait4"), Recorder("waitid"), Recorder("pidfd_send_signal"), Recorder("signalfd4"),
    Recorder("timerfd_create"), Recorder("timerfd_settime"), Recorder("timerfd_settime64"),
    Recorder("timerfd_gettime"), Recorder("timerfd_gettime64"), Recorder("name_to_handle_at"),
    Recorder("sendto"), Recorder("recvfrom"), Recorder("sched_setaffinity"), Recorder("inotify_init1"),
    Recorder("inotify_add_watch"), Recorder("inotify_rm_watch"), Recorder("sync"), Recorder("syncfs"),
    Refused("perf_event_open", Caller::kReader), Refused("bpf", Caller::kReader),
    Refused("wait4", Caller::kReader), Refused("pidfd_send_signal", Caller::kReader),

    // The calls that an attacker tries first. All others that are not above fail with ENOSYS. Rows cost
    // time when the filter is built.
    Refused("execve"), Refused("execveat"), Refused("socket"), Refused("socketpair"),
    Refused("socketcall"), Refused("connect"), Refused("bind"), Refused("ptrace"),
    Refused("process_vm_readv"), Refused("process_vm_writev"), Refused("pidfd_open"), Refused("tkill"),
    Refused("unshare"), Refused("setns"), Refused("mount"), Refused("chroot"), Refused("setuid"),
    Refused("capset"), Refused("init_module"), Refused("finit_module"), Refused("keyctl"),
    Refused("io_uring_setup"),
};
// clang-format on

}  // namespace

std::span<const SystemCallRow> SystemCallTable() {
  return kRows;
}

}  // namespace perftape::sandbox

// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/system_calls.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace perftape::sandbox {
namespace {

constexpr SystemCallRow Recorder(std::uint32_t number) {
  return {
      .number = number, .caller = Caller::kRecorder, .verdict = Verdict::kAllow, .argument = {}};
}

constexpr SystemCallRow OnPath(std::uint32_t number) {
  return {
      .number = number, .caller = Caller::kWithFiles, .verdict = Verdict::kAllow, .argument = {}};
}

constexpr SystemCallRow Server(std::uint32_t number) {
  return {.number = number, .caller = Caller::kServer, .verdict = Verdict::kAllow, .argument = {}};
}

constexpr SystemCallRow Client(std::uint32_t number) {
  return {.number = number, .caller = Caller::kClient, .verdict = Verdict::kAllow, .argument = {}};
}

constexpr SystemCallRow Refused(std::uint32_t number, Caller caller = Caller::kAll) {
  return {.number = number, .caller = caller, .verdict = Verdict::kRefuse, .argument = {}};
}

constexpr SystemCallRow IfBits(std::uint32_t number, std::uint32_t index, std::uint32_t mask,
                               std::uint32_t value, Caller caller = Caller::kAll) {
  return {.number = number,
          .caller = caller,
          .verdict = Verdict::kAllow,
          .argument = {
              .test = ArgumentRule::Test::kBits, .index = index, .mask = mask, .value = value}};
}

constexpr SystemCallRow If(std::uint32_t number, std::uint32_t index, std::uint32_t value) {
  return IfBits(number, index, 0xffffffff, value);
}

// A socket of this family.
constexpr SystemCallRow Socket(std::uint32_t family) {
  return IfBits(SYS_socket, 0, 0xffffffff, family, Caller::kClient);
}

constexpr SystemCallRow ToSelf(std::uint32_t number) {
  return {.number = number,
          .caller = Caller::kAll,
          .verdict = Verdict::kAllow,
          .argument = {
              .test = ArgumentRule::Test::kOwnPid, .index = 0, .mask = 0xffffffff, .value = 0}};
}

constexpr std::uint32_t kFchmodat2 = 452;            // Linux 6.6
constexpr std::uint32_t kSetVma = 0x53564d41;        // PR_SET_VMA, Linux 5.17
constexpr std::uint32_t kGetTerminal2 = 0x802c542a;  // TCGETS2

// clang-format off
constexpr SystemCallRow kRows[] = {
    // Open files.
    {SYS_read}, {SYS_readv}, {SYS_pread64}, {SYS_preadv}, {SYS_preadv2},
    {SYS_write}, {SYS_writev}, {SYS_pwrite64}, {SYS_pwritev}, {SYS_pwritev2},
    {SYS_lseek}, {SYS_close}, {SYS_close_range}, {SYS_dup}, {SYS_dup3}, {SYS_fcntl}, {SYS_flock},
    {SYS_fstat}, {SYS_fstatfs}, {SYS_ftruncate}, {SYS_memfd_create}, {SYS_fallocate}, {SYS_fsync}, {SYS_fdatasync},
    {SYS_sync_file_range}, {SYS_fadvise64}, {SYS_readahead}, {SYS_copy_file_range}, {SYS_sendfile},
    {SYS_splice}, {SYS_recvmsg}, {SYS_sendmsg}, {SYS_pipe2}, {SYS_getdents64}, {SYS_fchmod}, {SYS_fchown},
    // isatty, the width of a terminal, the bytes in a pipe.
    If(SYS_ioctl, 1, TCGETS), If(SYS_ioctl, 1, kGetTerminal2), If(SYS_ioctl, 1, TIOCGWINSZ),
    If(SYS_ioctl, 1, FIONREAD), If(SYS_ioctl, 1, FIONBIO),

    // Paths. Landlock limits them.
    OnPath(SYS_openat), OnPath(SYS_openat2), OnPath(SYS_newfstatat), OnPath(SYS_statx), OnPath(SYS_statfs), OnPath(SYS_faccessat),
    OnPath(SYS_faccessat2), OnPath(SYS_readlinkat), OnPath(SYS_getcwd), OnPath(SYS_mkdirat), OnPath(SYS_unlinkat), OnPath(SYS_renameat),
    OnPath(SYS_renameat2), OnPath(SYS_linkat), OnPath(SYS_symlinkat), OnPath(SYS_fchmodat), OnPath(kFchmodat2), OnPath(SYS_fchownat),
    OnPath(SYS_utimensat), OnPath(SYS_umask),

    // Memory that is never executed.
    IfBits(SYS_mmap, 2, PROT_EXEC, 0), IfBits(SYS_mprotect, 2, PROT_EXEC, 0),
    {SYS_munmap}, {SYS_mremap}, {SYS_madvise}, {SYS_brk}, {SYS_msync}, {SYS_mincore},
    {SYS_membarrier},

    // Threads, but no processes.
    IfBits(SYS_clone, 0, CLONE_THREAD, CLONE_THREAD),
    {SYS_exit}, {SYS_exit_group}, {SYS_futex}, {SYS_futex_waitv}, {SYS_set_robust_list},
    {SYS_get_robust_list}, {SYS_rseq}, {SYS_set_tid_address}, {SYS_sched_yield},
    {SYS_sched_getaffinity}, {SYS_sched_getparam}, {SYS_sched_getscheduler},
    {SYS_sched_get_priority_max}, {SYS_sched_get_priority_min}, {SYS_getpriority},
    {SYS_restart_syscall},
    If(SYS_prctl, 0, PR_SET_NAME), If(SYS_prctl, 0, PR_GET_NAME), If(SYS_prctl, 0, kSetVma),

    // Signals, to this process only.
    {SYS_rt_sigaction}, {SYS_rt_sigprocmask}, {SYS_rt_sigreturn}, {SYS_rt_sigpending},
    {SYS_rt_sigsuspend}, {SYS_rt_sigtimedwait}, {SYS_sigaltstack},
    ToSelf(SYS_tgkill), ToSelf(SYS_kill),

    // Waiting and time.
    {SYS_ppoll}, {SYS_pselect6}, {SYS_epoll_create1}, {SYS_epoll_ctl}, {SYS_epoll_pwait},
    {SYS_epoll_pwait2}, {SYS_eventfd2}, {SYS_nanosleep}, {SYS_clock_nanosleep}, {SYS_clock_gettime},
    {SYS_clock_getres}, {SYS_gettimeofday}, {SYS_times},
    // For the recorder's command, and the pager that was started before the sandbox.
    {SYS_wait4}, {SYS_waitid},

    // Facts about the process and the machine.
    {SYS_getpid}, {SYS_getppid}, {SYS_gettid}, {SYS_getuid}, {SYS_geteuid}, {SYS_getgid},
    {SYS_getegid}, {SYS_getresuid}, {SYS_getresgid}, {SYS_getgroups}, {SYS_capget}, {SYS_getrlimit},
    {SYS_getrusage}, {SYS_getrandom}, {SYS_getcpu}, {SYS_uname}, {SYS_sysinfo},
    If(SYS_prlimit64, 0, 0), ToSelf(SYS_prlimit64),

#ifdef __x86_64__
    // Older forms of the above.
    OnPath(SYS_open), OnPath(SYS_stat), OnPath(SYS_lstat), OnPath(SYS_access), OnPath(SYS_readlink), OnPath(SYS_mkdir), OnPath(SYS_rmdir),
    OnPath(SYS_unlink), OnPath(SYS_rename), OnPath(SYS_link), OnPath(SYS_symlink), OnPath(SYS_chmod), OnPath(SYS_chown), OnPath(SYS_lchown),
    OnPath(SYS_futimesat), {SYS_getdents}, {SYS_dup2}, {SYS_pipe}, {SYS_poll}, {SYS_select},
    {SYS_epoll_create}, {SYS_epoll_wait}, {SYS_eventfd}, {SYS_pause}, {SYS_time},
    Refused(SYS_fork), Refused(SYS_vfork),
#endif

    // The recorder opens events on CPUs that come online, and reads maps. It signals the
    // command through its pidfd. Without pidfd_open it can signal no other process. A thread that
    // was busy gives up its capabilities when the filter is already on (capabilities.h).
    Recorder(SYS_perf_event_open), Recorder(SYS_bpf), Recorder(SYS_capset),
    IfBits(SYS_ioctl, 1, 0xff00, '$' << 8 /* PERF_EVENT_IOC_* */, Caller::kRecorder),
    IfBits(SYS_ioctl, 1, 0xff00, 0xb7 << 8 /* NS_GET_* */, Caller::kRecorder),
    Recorder(SYS_pidfd_send_signal), Recorder(SYS_signalfd4), Recorder(SYS_timerfd_create),
    Recorder(SYS_timerfd_settime),
    Recorder(SYS_timerfd_gettime), Recorder(SYS_name_to_handle_at), Recorder(SYS_sendto),
    Recorder(SYS_recvfrom), Recorder(SYS_sched_setaffinity), Recorder(SYS_inotify_init1),
    Recorder(SYS_inotify_add_watch), Recorder(SYS_inotify_rm_watch), Recorder(SYS_sync),
    Recorder(SYS_syncfs),
    Refused(SYS_perf_event_open, Caller::kReader), Refused(SYS_bpf, Caller::kReader),
    Refused(SYS_pidfd_send_signal, Caller::kReader), Refused(SYS_capset, Caller::kReader),

    // The server accepts connections, and gets files through a socket.
    Server(SYS_accept4), Server(SYS_sendto), Server(SYS_recvfrom),
    Server(SYS_shutdown), Server(SYS_getsockopt), Server(SYS_setsockopt), Server(SYS_getsockname),
    Server(SYS_timerfd_settime),
    // fstat of the C library.
    IfBits(SYS_newfstatat, 3, AT_EMPTY_PATH, AT_EMPTY_PATH, Caller::kServer),

    // The client connects, and asks for addresses of names: by DNS, a local service, and netlink
    // for the addresses of this machine.
    Socket(AF_INET), Socket(AF_INET6), Socket(AF_UNIX), Socket(AF_NETLINK), Client(SYS_socketpair), Client(SYS_connect),
    Client(SYS_bind), Client(SYS_sendto), Client(SYS_recvfrom), Client(SYS_sendmmsg),
    Client(SYS_shutdown), Client(SYS_getsockopt), Client(SYS_setsockopt), Client(SYS_getsockname), Client(SYS_getpeername),

    // The calls that an attacker tries first.
    Refused(SYS_execve), Refused(SYS_execveat), Refused(SYS_socket, Caller::kWithoutSockets), Refused(SYS_socketpair, Caller::kWithoutSockets),
    Refused(SYS_connect, Caller::kWithoutSockets), Refused(SYS_bind, Caller::kWithoutSockets), Refused(SYS_listen), Refused(SYS_ptrace),
    Refused(SYS_process_vm_readv), Refused(SYS_process_vm_writev), Refused(SYS_pidfd_open),
    Refused(SYS_pidfd_getfd), Refused(SYS_tkill), Refused(SYS_unshare), Refused(SYS_setns),
    Refused(SYS_mount), Refused(SYS_chroot), Refused(SYS_setuid), Refused(SYS_init_module),
    Refused(SYS_finit_module), Refused(SYS_keyctl), Refused(SYS_userfaultfd),
    Refused(SYS_io_uring_setup),
};
// clang-format on

}  // namespace

std::span<const SystemCallRow> SystemCallTable() {
  return kRows;
}

}  // namespace perftape::sandbox

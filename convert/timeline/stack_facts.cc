// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/stack_facts.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace perftape::timeline {

using convert::LocationId;
using convert::MappingType;
using convert::Profile;
using convert::StackId;

// What the functions of a location say.
enum class StackFacts::Fact : std::uint8_t {
  kUnread,
  kNothing,
  kLock,       // locks
  kCondition,  // waits for a condition, and unlocks meanwhile
  kInterrupt,  // the entry of an interrupt, or the thread that serves them
  kTimer,
  kNetwork,
  kDisk,
};

namespace {

struct Pattern {
  std::string_view name;
  bool is_prefix = false;
};

// kernel/locking of Linux.
constexpr Pattern kKernelLocks[] = {
    {"mutex_lock", true},    {"__mutex_lock", true},       {"__ww_mutex_lock", true},
    {"rt_mutex_", true},     {"rwsem_down_", true},        {"down_read", true},
    {"down_write", true},    {"__percpu_down_read", true}, {"percpu_rwsem_wait"},
    {"futex_lock_pi", true},
};

// glibc: nptl. Go: runtime/lock_futex.go, sync/mutex.go. Rust: std::sys.
constexpr Pattern kLocks[] = {
    {"pthread_mutex_lock"},
    {"__pthread_mutex_lock"},
    {"___pthread_mutex_lock"},
    {"pthread_mutex_timedlock"},
    {"__pthread_mutex_timedlock"},
    {"___pthread_mutex_timedlock"},
    {"__pthread_mutex_lock_full"},
    {"__pthread_mutex_clocklock_common"},
    {"__lll_lock_wait", true},
    {"__GI___lll_lock_wait", true},
    {"lll_mutex_lock_optimized"},
    {"pthread_rwlock_", true},
    {"__pthread_rwlock_", true},
    {"___pthread_rwlock_", true},
    {"std::mutex::lock"},
    {"runtime.lock2"},
    {"sync.(*Mutex).", true},
    {"sync.(*RWMutex).", true},
    {"internal/sync.(*Mutex).", true},
    {"std::sys::sync::mutex::", true},
    {"parking_lot::raw_mutex::", true},
    {"absl::Mutex::", true},
};

constexpr Pattern kConditions[] = {
    {"pthread_cond_", true},     {"__pthread_cond_", true},
    {"___pthread_cond_", true},  {"sem_wait"},
    {"__new_sem_wait", true},    {"pthread_barrier_wait", true},
    {"___pthread_barrier_wait"}, {"std::condition_variable::", true},
    {"sync.(*Cond).", true},     {"sync.(*WaitGroup).", true},
};

// x86-64: arch/x86/include/asm/idtentry.h. arm64: arch/arm64/kernel/entry.S.
constexpr Pattern kInterrupts[] = {
    {"asm_sysvec_", true},       {"sysvec_", true},   {"asm_common_interrupt"},
    {"common_interrupt"},        {"__sysvec_", true}, {"el1h_64_irq", true},
    {"el0t_64_irq", true},       {"el1_irq"},         {"el0_irq", true},
    {"gic_handle_irq"},          {"run_ksoftirqd"},   {"irq_thread"},
    {"common_interrupt_return"},
};

constexpr Pattern kTimers[] = {
    {"hrtimer_wakeup"},        {"process_timeout"},    {"it_real_fn"},        {"posix_timer_fn"},
    {"timerfd_", true},        {"alarm_timer_", true}, {"hrtimer_interrupt"}, {"call_timer_fn"},
    {"delayed_work_timer_fn"}, {"tick_", true},
};

constexpr Pattern kNetworks[] = {
    {"net_rx_action"},
    {"__netif_receive_skb", true},
    {"netif_receive_skb", true},
    {"napi_", true},
    {"__napi_", true},
    {"tcp_v4_rcv"},
    {"tcp_v6_rcv"},
    {"udp_rcv"},
    {"sock_def_readable"},
    {"net_tx_action"},
    {"process_backlog"},
};

constexpr Pattern kDisks[] = {
    {"blk_", true},       {"__blk_", true},       {"bio_endio"},
    {"nvme_", true},      {"scsi_", true},        {"virtblk_", true},
    {"ata_", true},       {"end_bio_", true},     {"submit_bio_wait_endio"},
    {"folio_end_", true}, {"end_page_writeback"},
};

template <std::size_t N>
bool Matches(const Pattern (&patterns)[N], std::string_view name) {
  return std::ranges::any_of(patterns, [&](const Pattern& pattern) {
    return pattern.is_prefix ? name.starts_with(pattern.name) : name == pattern.name;
  });
}

// "pthread_mutex_lock@GLIBC_2.2.5" and "__mutex_lock.constprop.0" are parts of these functions.
std::string_view WithoutSuffix(std::string_view name) {
  name = name.substr(0, name.find('@'));
  for (const std::string_view part : {".constprop.", ".isra.", ".part.", ".cold"}) {
    name = name.substr(0, name.find(part));
  }
  return name;
}

}  // namespace

StackFacts::StackFacts(const Profile& profile)
    : profile_(profile), facts_(profile.locations().size()) {}

StackFacts::Fact StackFacts::FactOf(LocationId location) {
  Fact& fact = facts_[location.index];
  if (fact != Fact::kUnread) return fact;
  fact = Fact::kNothing;
  const bool is_kernel = profile_[profile_[location].mapping].type == MappingType::kKernel;
  for (const convert::Line& line : profile_[location].lines) {
    const std::string_view name = WithoutSuffix(profile_.text(profile_[line.function].name));
    if (!is_kernel) {
      if (Matches(kLocks, name)) fact = Fact::kLock;
      if (Matches(kConditions, name)) fact = Fact::kCondition;
      continue;
    }
    if (Matches(kKernelLocks, name)) fact = Fact::kLock;
    if (Matches(kInterrupts, name)) fact = Fact::kInterrupt;
    if (Matches(kTimers, name)) fact = Fact::kTimer;
    if (Matches(kNetworks, name)) fact = Fact::kNetwork;
    if (Matches(kDisks, name)) fact = Fact::kDisk;
  }
  return fact;
}

// The function of the library that locks is among the innermost of user code. A function that was
// called with a lock held is further outside.
bool StackFacts::WaitsForLock(StackId stack) {
  constexpr int kMostUserFrames = 4;
  int user_frames = 0;
  for (; stack != StackId{} && user_frames < kMostUserFrames; stack = profile_[stack].caller) {
    const LocationId location = profile_[stack].leaf;
    const Fact fact = FactOf(location);
    if (fact == Fact::kLock) return true;
    if (fact == Fact::kCondition) return false;
    if (profile_[profile_[location].mapping].type != MappingType::kKernel) ++user_frames;
  }
  return false;
}

// A thread that sends over loopback runs the receiving side, too, without an interrupt.
Waker StackFacts::WakerOf(StackId stack, bool is_idle_thread) {
  std::optional<Waker> reason;
  bool is_interrupt = is_idle_thread;
  for (; stack != StackId{} && !(is_interrupt && reason); stack = profile_[stack].caller) {
    switch (FactOf(profile_[stack].leaf)) {
      case Fact::kInterrupt:
        is_interrupt = true;
        break;
      case Fact::kTimer:
        if (!reason) reason = Waker::kTimer;
        break;
      case Fact::kNetwork:
        if (!reason) reason = Waker::kNetwork;
        break;
      case Fact::kDisk:
        if (!reason) reason = Waker::kDisk;
        break;
      default:
        break;
    }
  }
  if (!is_interrupt) return Waker::kThread;
  return reason.value_or(Waker::kInterrupt);
}

}  // namespace perftape::timeline

// SPDX-License-Identifier: Apache-2.0
// perftape-burner: a program whose profile is known in advance. Its threads share their CPU time 40
// : 30 : 20 : 10, whatever else runs on the machine, because they wait for each other after each
// round of work:
//
//   thread           share  call chain, outermost first
//   burn-matrix       40 %  matrix_worker  burn_rounds  burn_matrix
//   burn-hash         30 %  hash_worker    burn_rounds  burn_hash
//   burn-sort         20 %  sort_worker    burn_rounds  burn_sort
//   perftape-burner   10 %  main  burn_threads  read_worker  burn_rounds  burn_read  (kernel)
//
// With --processes it instead forks short-lived children. They execute this program again and spend
// 20 ms each in main > burn_child > burn_hash.
//
// Built with frame pointers, without inlining and without tail calls, so that each of these names
// is a frame. The names have C linkage for the same reason: a profile shows linker names.
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "formats/base/duration.h"

namespace {

constexpr std::int64_t kRoundCpuNs = 50'000'000;  // of all threads together
constexpr std::int64_t kChildCpuNs = 20'000'000;
constexpr int kChildrenAtOnce = 4;
constexpr int kThreads = 4;

struct Options {
  double seconds = 5;
  int processes = 0;
  int child = 0;  // this process is such a child
};

// The threads wait for each other after each round. The main thread determines the last one. A late
// thread compares with its own round, so it cannot mistake a later round for it.
struct Rounds {
  pthread_barrier_t barrier;
  std::int64_t deadline_ns;
  std::atomic<std::uint64_t> last_round{UINT64_MAX};
};
Rounds rounds;

// Receives results, so that the compiler cannot remove the work.
volatile std::uint64_t sink;

std::int64_t NowNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * perftape::kNsPerSecond + now.tv_nsec;
}

// GCC omits the frame of a function that calls no other one, regardless of options. A walk by frame
// pointers then misses the caller. Using the frame's address keeps the frame.
[[gnu::always_inline]] inline void KeepFrame() {
  asm volatile("" : : "r"(__builtin_frame_address(0)));
}

// read(2) without the C library: its wrapper has no frame pointer, so the walk would miss the
// wrapper's caller.
[[gnu::always_inline]] inline std::int64_t ReadDirectly(int fd, void* buffer, std::size_t size) {
#if defined(__x86_64__)
  std::int64_t result = 0;  // SYS_read
  asm volatile("syscall"
               : "+a"(result)
               : "D"(static_cast<std::int64_t>(fd)), "S"(buffer), "d"(size)
               : "rcx", "r11", "memory");
  return result;
#else
  return read(fd, buffer, size);
#endif
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): named for the eyes of a profile's reader.
extern "C" {

// Each call of a burn_ function works for some tens of microseconds.

void burn_matrix() {
  KeepFrame();
  constexpr int kSide = 32;
  static double left[kSide][kSide];
  static double right[kSide][kSide];
  double trace = 0;
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      double sum = 0;
      for (int k = 0; k < kSide; ++k) sum += left[row][k] * right[k][column] + 0.5;
      left[row][column] = sum / (1.0 + sum);
      if (row == column) trace += left[row][column];
    }
  }
  sink = static_cast<std::uint64_t>(trace);
}

void burn_hash() {
  KeepFrame();
  std::uint64_t hash = sink + 0xcbf29ce484222325;
  for (std::uint64_t i = 0; i < 20'000; ++i) hash = (hash ^ (i & 0xff)) * 0x100000001b3;
  sink = hash;
}

void burn_sort() {
  KeepFrame();
  constexpr int kCount = 256;
  std::uint32_t numbers[kCount];
  std::uint32_t state = 12345;
  for (int i = 0; i < kCount; ++i) {
    state = state * 1664525 + 1013904223;
    std::uint32_t moving = state;
    int place = i;
    for (; place > 0 && numbers[place - 1] > moving; --place) numbers[place] = numbers[place - 1];
    numbers[place] = moving;
  }
  sink = numbers[kCount / 2];
}

void burn_read() {
  KeepFrame();
  static const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  static char buffer[1 << 18];
  if (ReadDirectly(zeros, buffer, sizeof buffer) < 0) abort();
}

// Calls `burn` until it has used its share of each round's CPU time.
void burn_rounds(int share_percent, void (*burn)()) {
  const std::int64_t quota_ns = kRoundCpuNs / 100 * share_percent;
  std::int64_t goal_ns = NowNs(CLOCK_THREAD_CPUTIME_ID);
  for (std::uint64_t round = 0;; ++round) {
    goal_ns += quota_ns;
    while (NowNs(CLOCK_THREAD_CPUTIME_ID) < goal_ns) burn();
    const bool names_the_last = burn == burn_read;  // only the main thread
    if (names_the_last && NowNs(CLOCK_MONOTONIC) >= rounds.deadline_ns) rounds.last_round = round;
    pthread_barrier_wait(&rounds.barrier);
    if (round == rounds.last_round) return;
  }
}

void* matrix_worker(void*) {
  burn_rounds(40, burn_matrix);
  return nullptr;
}

void* hash_worker(void*) {
  burn_rounds(30, burn_hash);
  return nullptr;
}

void* sort_worker(void*) {
  burn_rounds(20, burn_sort);
  return nullptr;
}

void read_worker() {
  burn_rounds(10, burn_read);
}

void burn_threads(double seconds) {
  rounds.deadline_ns =
      NowNs(CLOCK_MONOTONIC) + static_cast<std::int64_t>(seconds * perftape::kNsPerSecond);
  pthread_barrier_init(&rounds.barrier, nullptr, kThreads);

  const struct {
    const char* name;
    void* (*start)(void*);
  } workers[kThreads - 1] = {
      {"burn-matrix", matrix_worker}, {"burn-hash", hash_worker}, {"burn-sort", sort_worker}};
  pthread_t threads[kThreads - 1];
  for (int i = 0; i < kThreads - 1; ++i) {
    if (pthread_create(&threads[i], nullptr, workers[i].start, nullptr) != 0) abort();
    pthread_setname_np(threads[i], workers[i].name);
  }
  read_worker();
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

void burn_child() {
  while (NowNs(CLOCK_PROCESS_CPUTIME_ID) < kChildCpuNs) burn_hash();
}

// Returns whether all children succeeded. They are started by this program's path, because the
// kernel would name them "exe" after /proc/self/exe.
int burn_processes(int count, char* program) {
  char path[4096] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) <= 0) return 0;
  char child_option[] = "--child";
  char* arguments[] = {program, child_option, nullptr};
  int started = 0;
  int ended = 0;
  bool good = true;
  while (ended < count) {
    while (started < count && started - ended < kChildrenAtOnce) {
      const pid_t pid = fork();
      if (pid == 0) {
        execv(path, arguments);
        _exit(127);
      }
      good = good && pid > 0;
      if (pid < 0) return good;
      ++started;
    }
    int status = 0;
    if (wait(&status) < 0 && errno != EINTR) return 0;
    good = good && status == 0;
    ++ended;
  }
  return good;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

namespace {

constexpr char kUsage[] =
    "usage: perftape-burner [--seconds S] [--processes N]\n"
    "\n"
    "Keeps some CPUs busy with a profile that is known beforehand.\n"
    "\n"
    "  --seconds S    burn for S seconds in four threads (default 5)\n"
    "  --processes N  instead, start N short-lived children, each of which burns 20 ms\n"
    "  --help         show this\n";

Options ReadOptions(int argc, char** argv) {
  Options options;
  const option known[] = {{"seconds", required_argument, nullptr, 's'},
                          {"processes", required_argument, nullptr, 'p'},
                          {"child", no_argument, &options.child, 1},
                          {"help", no_argument, nullptr, 'h'},
                          {}};
  bool good = true;
  for (int letter = 0; (letter = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
    char* end = nullptr;
    switch (letter) {
      case 0:
        break;
      case 's':
        options.seconds = std::strtod(optarg, &end);
        good =
            good && end != optarg && *end == '\0' && options.seconds >= 0 && options.seconds < 1e6;
        break;
      case 'p': {
        const long count = std::strtol(optarg, &end, 10);
        good = good && end != optarg && *end == '\0' && count > 0 && count <= 1'000'000;
        options.processes = static_cast<int>(std::clamp(count, 0L, 1'000'000L));
        break;
      }
      case 'h':
        std::exit(std::fputs(kUsage, stdout) < 0 ? 1 : 0);
      default:
        good = false;
    }
  }
  if (!good || optind != argc) {
    std::fputs(kUsage, stderr);
    std::exit(2);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = ReadOptions(argc, argv);
  if (options.child != 0) {
    burn_child();
  } else if (options.processes > 0) {
    return burn_processes(options.processes, argv[0]) != 0 ? 0 : 1;
  } else {
    burn_threads(options.seconds);
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Burns CPU time and waits, in functions with names of their own, and measures each with its own
// clock. Prints "NAME VALUE" lines; times are in nanoseconds, those of CLOCK_MONOTONIC.
//
//   waiter mix ROUNDS      each round: burns 30 ms, waits 40 ms for a mutex, 20 ms for a socket,
//                          sleeps 10 ms
//   waiter naps N NS       sleeps N times
//   waiter children N NS   starts N child processes, one after the other, that sleep; waits for
//   each in
//                          state D
//   waiter threads N       N threads that sleep
//   waiter spin N NS       N threads that burn so much CPU time each, on one CPU
//   waiter stall BEFORE AFTER  burns so many milliseconds, stalls once for 700 ms, burns again
//   waiter deadlock        prints "ready" and waits for ever, in two threads
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <thread>
#include <vector>

namespace {

std::int64_t Now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// Run time and wait for a CPU of the calling thread (Documentation/scheduler/sched-stats.rst).
struct SchedStat {
  long long run_ns = 0, wait_ns = 0;

  static SchedStat Read() {
    SchedStat stat;
    char name[64];
    std::snprintf(name, sizeof name, "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
    if (FILE* file = std::fopen(name, "re")) {
      if (std::fscanf(file, "%lld %lld", &stat.run_ns, &stat.wait_ns) != 2) stat = {};
      std::fclose(file);
    }
    return stat;
  }
};

void Print(const char* name, std::int64_t value) {
  std::printf("%s %lld\n", name, static_cast<long long>(value));
}

// A time, and the account of the thread at that time: the thread did not wait in between.
struct Reading {
  std::int64_t ns = 0;
  SchedStat stat;

  static Reading Take() {
    constexpr std::int64_t kSoon = 200'000;
    Reading reading;
    for (int attempt = 0; attempt < 100; ++attempt) {
      reading.ns = Now();
      reading.stat = SchedStat::Read();
      if (Now() - reading.ns < kSoon) break;
    }
    return reading;
  }
};

// The account of one thread between two readings.
struct Account {
  long tid = 0;
  long long before_ns = 0;  // what it waited for a CPU before the start
  Reading start, end;

  void Print() const {
    std::printf("tid %ld\nbefore %lld\nstart %lld\nend %lld\nrun %lld\nwait %lld\n", tid, before_ns,
                static_cast<long long>(start.ns), static_cast<long long>(end.ns),
                end.stat.run_ns - start.stat.run_ns, end.stat.wait_ns - start.stat.wait_ns);
    std::fflush(stdout);
  }
};

// Measures one thread from construction to Finish. `earlier` is an account from before the
// recording; a thread that starts in it has none.
class Measured {
 public:
  explicit Measured(const SchedStat& earlier = {})
      : before_ns_(start_.stat.wait_ns - earlier.wait_ns) {}
  Account Finish() const {
    return {.tid = syscall(SYS_gettid),
            .before_ns = before_ns_,
            .start = start_,
            .end = Reading::Take()};
  }

 private:
  Reading start_ = Reading::Take();
  long long before_ns_;
};

SchedStat at_entry;  // of the main thread

void SleepFor(std::int64_t ns) {
  const timespec time{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  nanosleep(&time, nullptr);
}

// The C library has no frame pointers. So the caller of one of its functions is missing in a stack,
// and each of these has a function in between. recv(2) uses the register for other values.
constexpr int kMs = 1'000'000;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int sockets[2];
std::atomic<int> step = 0;

[[gnu::noinline]] void Lock() {
  pthread_mutex_lock(&mutex);
}
[[gnu::noinline]] void Receive() {
  char byte = 0;
  if (syscall(SYS_read, sockets[0], &byte, 1) != 1) std::abort();
}
[[gnu::noinline]] void Nap(std::int64_t ns) {
  SleepFor(ns);
}

[[gnu::noinline]] void BurnFor(std::int64_t ns) {
  const std::int64_t end = Now(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (Now(CLOCK_THREAD_CPUTIME_ID) < end) {
    for (int i = 0; i < 5000; ++i) asm volatile("");
  }
}
[[gnu::noinline]] void burn_cpu(std::int64_t ns) {
  BurnFor(ns);
}
[[gnu::noinline]] void wait_for_mutex() {
  Lock();
  pthread_mutex_unlock(&mutex);
}
[[gnu::noinline]] void wait_for_socket() {
  Receive();
}
[[gnu::noinline]] void take_a_nap(std::int64_t ns) {
  Nap(ns);
}

// The kernel waits for the child uninterruptibly, as for a disk (kernel/fork.c,
// wait_for_vfork_done). Unlike vfork(2) the child has its own memory, so it may call functions.
[[gnu::noinline]] void StartChild(std::int64_t sleep_ns) {
  const long pid = syscall(SYS_clone, CLONE_VFORK | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid < 0) std::abort();
  if (pid == 0) {
    SleepFor(sleep_ns);
    _exit(0);
  }
  if (waitpid(static_cast<pid_t>(pid), nullptr, 0) != pid) std::abort();
}
[[gnu::noinline]] void wait_for_child(std::int64_t sleep_ns) {
  StartChild(sleep_ns);
}

// The other side: holds the mutex for 40 ms, then sends after 20 ms. Spins until it is called.
void Serve(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    while (step != 4 * round + 1) SleepFor(kMs / 10);
    pthread_mutex_lock(&mutex);
    ++step;
    SleepFor(40 * kMs);
    pthread_mutex_unlock(&mutex);
    while (step != 4 * round + 3) SleepFor(kMs / 10);
    SleepFor(20 * kMs);
    ++step;
    if (send(sockets[1], "x", 1, 0) != 1) std::abort();
  }
}

int Mix(int rounds) {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 1;
  std::thread server(Serve, rounds);
  std::int64_t burnt = 0, locked = 0, received = 0, napped = 0;
  const Measured measured(at_entry);
  for (int round = 0; round < rounds; ++round) {
    // With the time that a hypervisor steals, which cpu-clock samples, too.
    const Reading before = Reading::Take();
    burn_cpu(30 * kMs);
    const Reading after = Reading::Take();
    burnt += after.ns - before.ns - (after.stat.wait_ns - before.stat.wait_ns);
    ++step;
    while (step != 4 * round + 2) sched_yield();
    const std::int64_t lock = Now();
    wait_for_mutex();
    const std::int64_t socket = Now();
    ++step;
    wait_for_socket();
    const std::int64_t nap = Now();
    take_a_nap(10 * kMs);
    napped += Now() - nap;
    locked += socket - lock;
    received += nap - socket;
  }
  measured.Finish().Print();
  Print("burn_cpu", burnt);
  Print("wait_for_mutex", locked);
  Print("wait_for_socket", received);
  Print("take_a_nap", napped);
  server.join();
  return 0;
}

int Naps(int count, std::int64_t ns) {
  const Measured measured(at_entry);
  for (int i = 0; i < count; ++i) take_a_nap(ns);
  measured.Finish().Print();
  return 0;
}

int Children(int count, std::int64_t ns) {
  const Measured measured(at_entry);
  const std::int64_t begin = Now();
  for (int i = 0; i < count; ++i) wait_for_child(ns);
  const std::int64_t end = Now();
  measured.Finish().Print();
  Print("wait_for_child", end - begin);
  return 0;
}

template <class Work>
int InThreads(int count, Work work) {
  std::vector<std::thread> threads;
  std::vector<Account> accounts(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([=, &accounts] {
      const Measured measured;
      work(i);
      accounts[static_cast<std::size_t>(i)] = measured.Finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Account& account : accounts) account.Print();
  return 0;
}

int Spin(int count, std::int64_t ns) {
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  if (sched_setaffinity(0, sizeof first, &first) != 0) return 1;
  return InThreads(count, [=](int) { burn_cpu(ns); });
}

[[gnu::noinline]] void stall_once() {
  Nap(700 * kMs);
}
int Stall(std::int64_t before_ms, std::int64_t after_ms) {
  burn_cpu(before_ms * kMs);
  const std::int64_t start = Now();
  stall_once();
  Print("start", start);
  Print("end", Now());
  burn_cpu(after_ms * kMs);
  return 0;
}

int Deadlock() {
  pthread_mutex_lock(&mutex);
  std::thread waiting([] { wait_for_mutex(); });
  std::puts("ready");
  std::fflush(stdout);
  prctl(PR_SET_PDEATHSIG, 9);
  waiting.join();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  at_entry = SchedStat::Read();
  char start = 0;
  if (read(STDIN_FILENO, &start, 1) < 0) return 1;
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const auto number = [&](int at) { return argc > at ? std::atoll(argv[at]) : 0; };
  if (mode == "mix") return Mix(static_cast<int>(number(2)));
  if (mode == "naps") return Naps(static_cast<int>(number(2)), number(3));
  if (mode == "children") return Children(static_cast<int>(number(2)), number(3));
  if (mode == "threads") {
    return InThreads(static_cast<int>(number(2)), [](int thread) {
      for (int i = 0; i < 20; ++i) take_a_nap((thread % 7 + 1) * kMs);
    });
  }
  if (mode == "spin") return Spin(static_cast<int>(number(2)), number(3));
  if (mode == "stall") return Stall(number(2), number(3));
  if (mode == "deadlock") return Deadlock();
  std::fputs("waiter: unknown mode\n", stderr);
  return 2;
}

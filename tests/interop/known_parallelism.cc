// SPDX-License-Identifier: Apache-2.0
// The workload of latency_test.py: known_parallelism SERIAL PARALLEL computes SERIAL seconds in one
// thread, then PARALLEL seconds of CPU time in four, which run on two CPUs.
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

namespace {

std::atomic<unsigned> sink;

double ThreadSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Without a frame of its own: a function that calls none has no frame pointer.
inline __attribute__((always_inline)) void Spin() {
  for (unsigned i = 0; i < 100'000; ++i) sink.store(i, std::memory_order_relaxed);
}

}  // namespace

extern "C" __attribute__((noinline)) void serial_phase(double seconds) {
  const double end = ThreadSeconds() + seconds;
  while (ThreadSeconds() < end) Spin();
}

extern "C" __attribute__((noinline)) void parallel_phase(double seconds) {
  const double end = ThreadSeconds() + seconds;
  while (ThreadSeconds() < end) Spin();
}

namespace {

// The scheduler may leave all threads on one CPU of a busy machine.
void RunOnCpu(unsigned number) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(number, &cpus);
  pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
}

void RunInFour(double seconds) {
  constexpr unsigned kThreads = 4;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) {
    threads.emplace_back([seconds, i] {
      RunOnCpu(i % 2);
      parallel_phase(seconds / kThreads);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const double serial = std::atof(argv[1]), parallel = std::atof(argv[2]);
  if (serial > 0) serial_phase(serial);
  if (parallel > 0) RunInFour(parallel);
  return 0;
}

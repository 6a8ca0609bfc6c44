// SPDX-License-Identifier: Apache-2.0
// Distributes work to several threads.
//
//   ParallelFor(parts.size(), threads, [&](std::size_t part, unsigned worker) {
//     tables[worker].Add(parts[part]);
//   });
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <future>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "formats/base/result.h"

namespace perftape {
inline namespace base {

// Calls work(task, worker) for each task from 0 to `tasks` - 1, on up to `threads` threads. Worker
// 0 is the calling thread. Tasks start in order, and each worker runs one task at a time. Returns
// when all tasks are done. Rethrows an exception of a task.
template <class Work>
void ParallelFor(std::size_t tasks, unsigned threads, Work work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&](unsigned worker) {
    for (std::size_t task = next++; task < tasks; task = next++) work(task, worker);
  };
  std::vector<std::future<void>> others;
  try {
    for (unsigned worker = 1; worker < std::min<std::size_t>(threads, tasks); ++worker) {
      others.push_back(std::async(std::launch::async, run, worker));
    }
  } catch (const std::system_error&) {
    // The system has no more threads. The existing ones do all the work.
  }
  run(0);
  for (std::future<void>& other : others) other.get();
}

// Calls write(make(0)), write(make(1)) and so on. Up to `threads` threads call `make`; `write` is
// called by one thread at a time, in the order of the tasks. Each thread keeps at most one result
// of `make`. After the first error of `write`, makes and writes nothing more and returns the error.
// The same for an exception, which is rethrown.
template <class Make, class Write>
Status MakeAndWriteInOrder(std::size_t tasks, unsigned threads, Make make, Write write) {
  std::mutex mutex;  // of `next`, and of changes to `is_stopped`
  std::condition_variable changed;
  std::size_t next = 0;  // the task that is written next
  std::atomic<bool> is_stopped = false;
  Status status;
  const auto change = [&](auto apply) {
    const std::lock_guard lock(mutex);
    apply();
    changed.notify_all();
  };
  const auto make_and_write = [&](std::size_t task) -> Status {
    const auto made = make(task);
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return next == task || is_stopped; });
      if (is_stopped) return {};
    }
    // No other thread writes until this one increments `next`.
    TRY(write(made));
    change([&] { ++next; });
    return {};
  };
  ParallelFor(tasks, threads, [&](std::size_t task, unsigned /*worker*/) {
    if (is_stopped) return;
    try {
      Status written = make_and_write(task);
      if (written) return;
      status = std::move(written);
      change([&] { is_stopped = true; });
    } catch (...) {
      change([&] { is_stopped = true; });
      throw;
    }
  });
  return status;
}

}  // namespace base
}  // namespace perftape

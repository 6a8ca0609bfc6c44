// SPDX-License-Identifier: Apache-2.0
// Work for several threads at once.
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

// Calls work(task, worker) for each task below `tasks`, on up to `threads` threads, of which the
// calling one is worker 0. Tasks start in their order; those of one worker run one after the other.
// Returns when all are done, and throws what one of them threw.
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
    // The system gives no more threads: those that there are do it all.
  }
  run(0);
  for (std::future<void>& other : others) other.get();
}

// Makes things on up to `threads` threads, and gives them to `write`, one at a time, in the order
// of their tasks: write(make(0)), write(make(1)), … Each thread keeps no more than one. Ends with
// the first error of `write`.
template <class Make, class Write>
Status MakeAndWriteInOrder(std::size_t tasks, unsigned threads, Make make, Write write) {
  std::mutex mutex;
  std::condition_variable turn;
  std::size_t next = 0;  // to be written; `tasks` where something failed
  Status status;
  const auto set_next = [&](std::size_t task) {
    const std::lock_guard lock(mutex);
    next = task;
    turn.notify_all();
  };
  ParallelFor(tasks, threads, [&](std::size_t task, unsigned /*worker*/) {
    try {
      const auto made = make(task);
      {
        std::unique_lock lock(mutex);
        turn.wait(lock, [&] { return next == task || next == tasks; });
        if (next == tasks) return;
      }
      // Until it has set `next`, no other thread writes.
      Status written = write(made);
      const bool is_written = written.has_value();
      if (!is_written) status = std::move(written);
      set_next(is_written ? task + 1 : tasks);
    } catch (...) {
      set_next(tasks);
      throw;
    }
  });
  return status;
}

}  // namespace base
}  // namespace perftape

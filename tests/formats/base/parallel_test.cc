// SPDX-License-Identifier: Apache-2.0
#include "formats/base/parallel.h"

#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

namespace perftape {
namespace {

using testing::Each;
using testing::IsEmpty;

TEST(ParallelFor, DoesEachTaskOnceWhateverTheNumberOfThreads) {
  for (const unsigned threads : {0U, 1U, 3U, 200U}) {
    std::vector<int> done(100);
    ParallelFor(done.size(), threads, [&](std::size_t task, unsigned) { ++done[task]; });
    EXPECT_THAT(done, Each(1));
  }
}

TEST(ParallelFor, GivesTheTasksOfAWorkerOneAfterTheOther) {
  std::vector<int> sums(4);
  ParallelFor(1000, 4, [&](std::size_t, unsigned worker) { ++sums.at(worker); });
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0), 1000);
}

TEST(ParallelFor, ThrowsWhatATaskThrew) {
  const auto fail = [](std::size_t task, unsigned) {
    if (task == 5) throw std::runtime_error("task 5");
  };
  EXPECT_THROW(ParallelFor(10, 3, fail), std::runtime_error);
}

TEST(MakeAndWriteInOrder, WritesInTheOrderOfTheTasks) {
  std::string expected;
  for (int i = 0; i < 100; ++i) expected += std::to_string(i) + ' ';
  for (const unsigned threads : {1U, 2U, 7U}) {
    std::string written;
    const auto make = [](std::size_t task) { return std::to_string(task) + ' '; };
    const auto write = [&](const std::string& text) -> Status {
      written += text;
      return {};
    };
    EXPECT_TRUE(MakeAndWriteInOrder(100, threads, make, write));
    EXPECT_EQ(written, expected);
  }
}

TEST(MakeAndWriteInOrder, EndsWithTheFirstError) {
  std::size_t written = 0;
  const auto make = [](std::size_t task) { return task; };
  const auto write = [&](std::size_t task) -> Status {
    if (task == 3) return Fail(ErrorCode::kIo, "full");
    ++written;
    return {};
  };
  const Status done = MakeAndWriteInOrder(100, 4, make, write);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "full");
  EXPECT_EQ(written, 3U);
}

TEST(MakeAndWriteInOrder, MakesNothingAfterAnError) {
  std::size_t made = 0;
  const auto make = [&](std::size_t task) {
    ++made;
    return task;
  };
  const auto write = [](std::size_t task) -> Status {
    if (task == 3) return Fail(ErrorCode::kIo, "full");
    return {};
  };
  EXPECT_FALSE(MakeAndWriteInOrder(100, 1, make, write));
  EXPECT_EQ(made, 4U);
}

// Tasks 0, 1 and 2 each have a thread. Task 1 fails while task 0 is written. Task 2 waits for task
// 1, which is never written.
TEST(MakeAndWriteInOrder, EndsAfterAnExceptionDuringAWrite) {
  constexpr std::chrono::milliseconds kUntilHandled(50);
  std::promise<void> writing, throwing, written;
  const auto make = [&, wait = written.get_future().share()](std::size_t task) {
    if (task == 1) {
      writing.get_future().wait();
      throwing.set_value();
      throw std::runtime_error("task 1");
    }
    if (task == 2) {
      wait.wait();
      std::this_thread::sleep_for(kUntilHandled);
    }
    return task;
  };
  const auto write = [&](std::size_t task) -> Status {
    if (task != 0) return {};
    writing.set_value();
    throwing.get_future().wait();
    std::this_thread::sleep_for(kUntilHandled);
    written.set_value();
    return {};
  };
  const auto run = [&] { EXPECT_TRUE(MakeAndWriteInOrder(4, 3, make, write)); };
  EXPECT_THROW(run(), std::runtime_error);
}

TEST(MakeAndWriteInOrder, ThrowsWhatMakingThrew) {
  const auto make = [](std::size_t task) {
    return task == 3 ? throw std::runtime_error("task 3") : task;
  };
  const auto write = [](std::size_t) -> Status { return {}; };
  const auto run = [&] { EXPECT_TRUE(MakeAndWriteInOrder(100, 4, make, write)); };
  EXPECT_THROW(run(), std::runtime_error);
}

}  // namespace
}  // namespace perftape

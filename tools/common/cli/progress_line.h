// SPDX-License-Identifier: Apache-2.0
// One line on the terminal that shows how far a program is, and is gone when it is done. There is
// one line in a process. All functions are thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>

#include "tools/common/cli/options.h"

namespace perftape::cli {

// Work that takes less time shows no line.
inline constexpr std::chrono::seconds kWorkWithoutProgress{2};

// Returns whether stderr is a terminal with colours and movements of the cursor. Call it before a
// tool starts a thread, because it reads the environment.
bool IsCapableTerminal();

// Returns whether stderr is a terminal that can erase a line, and neither --quiet nor --no-progress
// was given.
bool WantsProgress(const BaseOptions& options);

// The width of the terminal of stderr; 80 if it is unknown.
std::size_t ProgressColumns();

// Replaces the line by `text`, which has no control characters. Does nothing after EndProgress.
void ShowProgress(std::string_view text);
// Erases the line for good. Call it before results are printed.
void EndProgress();

// While it lives, there is no line, and no other thread shows one. For the time of a message.
class HiddenProgress {
 public:
  HiddenProgress();

 private:
  std::unique_lock<std::mutex> lock_;
};

// Shows what was read (formats/base/progress.h) while it lives, from a thread of its own.
class ReadingProgress {
 public:
  explicit ReadingProgress(std::string_view tool);
  ReadingProgress(const ReadingProgress&) = delete;
  ReadingProgress& operator=(const ReadingProgress&) = delete;
  ~ReadingProgress();

 private:
  void Run(std::string_view tool);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

// Returns run(), during which the progress is shown if `is_shown`.
template <class Run>
auto RunWithProgress(bool is_shown, std::string_view tool, Run run) {
  if (!is_shown) return run();
  const ReadingProgress progress(tool);
  return run();
}

}  // namespace perftape::cli

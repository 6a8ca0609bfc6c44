// SPDX-License-Identifier: Apache-2.0
// One line on the terminal that shows how far a program is, and is gone when it is done. There is
// one line in a process. All functions are thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "formats/base/progress.h"
#include "tools/common/cli/options.h"

namespace perftape::cli {

// Returns "950 B", "1.5 MiB".
std::string ShortBytes(std::uint64_t bytes);
// Returns "950", "1.5k", "12M".
std::string ShortCount(std::uint64_t count);
// Returns "7 s", "2:05 min", "1:02:05 h".
std::string ShortTime(std::chrono::seconds time);

// Returns "tool: part, part" with as many parts as fit into a line of `columns`. The last column
// stays empty, because some terminals begin a new line after it.
std::string FitParts(std::string_view tool, std::span<const std::string> parts,
                     std::size_t columns);

// Returns "tool: 45% of 1.2 GiB, 3.4M samples, 120 MiB/s, 7 s left" after `elapsed` of work. The
// time left is shown if all inputs are known.
std::string ReadingText(std::string_view tool, const ProgressCounts& counts,
                        std::chrono::milliseconds elapsed, std::size_t columns);

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

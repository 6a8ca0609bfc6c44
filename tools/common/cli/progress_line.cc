// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/progress_line.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <system_error>

#include "formats/base/file.h"
#include "formats/base/progress.h"
#include "tools/common/cli/progress_text.h"

namespace perftape::cli {
namespace {

// The time between two updates.
constexpr std::chrono::milliseconds kPause{250};

struct Line {
  std::mutex mutex;
  bool is_shown = false;
  bool is_ended = false;
};

Line& TheLine() {
  static Line line;
  return line;
}

// Returns whether a write would not wait: a terminal can be stopped, as by Ctrl-S.
bool IsWritable() {
  pollfd entry = {.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&entry, 1, 0) == 1;
}

// The caller has locked the line. A failed write to stderr cannot be reported.
void Erase(Line& line) {
  if (line.is_shown) (void)WriteAll(STDERR_FILENO, AsBytes("\r\033[K"));
  line.is_shown = false;
}

}  // namespace

bool IsCapableTerminal() {
  const char* terminal = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe)
  const bool is_dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return !is_dumb && isatty(STDERR_FILENO) == 1;
}

bool WantsProgress(const BaseOptions& options) {
  return !options.quiet && !options.no_progress && IsCapableTerminal();
}

std::size_t ProgressColumns() {
  constexpr std::size_t kUsual = 80;
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return size.ws_col;
}

void ShowProgress(std::string_view text) {
  Line& line = TheLine();
  const std::lock_guard lock(line.mutex);
  if (line.is_ended || !IsWritable()) return;
  (void)WriteAll(STDERR_FILENO, AsBytes(std::string("\r").append(text).append("\033[K")));
  line.is_shown = true;
}

void EndProgress() {
  Line& line = TheLine();
  const std::lock_guard lock(line.mutex);
  Erase(line);
  line.is_ended = true;
}

HiddenProgress::HiddenProgress() : lock_(TheLine().mutex) {
  Erase(TheLine());
}

ReadingProgress::ReadingProgress(std::string_view tool) {
  // Signals are for the thread that works.
  sigset_t all = {}, before = {};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this, tool] { Run(tool); });
  } catch (const std::system_error&) {
    // The system has no more threads. The work is done without a line.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ReadingProgress::~ReadingProgress() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  EndProgress();
}

void ReadingProgress::Run(std::string_view tool) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::unique_lock lock(mutex_);
  const auto is_over = [this] { return is_over_; };
  if (changed_.wait_for(lock, kWorkWithoutProgress, is_over)) return;
  do {
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    ShowProgress(ReadingText(tool, CurrentProgress(), elapsed, ProgressColumns()));
  } while (!changed_.wait_for(lock, kPause, is_over));
}

}  // namespace perftape::cli

// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/progress.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "formats/base/file.h"

namespace perftape::cli {
namespace {

// Returns a number below `base` with one of the units: two digits or more, like "1.5 MiB".
std::string Scaled(std::uint64_t number, double base, std::span<const std::string_view> units) {
  auto scaled = static_cast<double>(number);
  std::size_t unit = 0;
  while (scaled >= base && unit + 1 < units.size()) {
    scaled /= base;
    ++unit;
  }
  const bool has_decimal = unit != 0 && scaled < 10;
  return fmt::format("{:.{}f}{}", scaled, has_decimal ? 1 : 0, units[unit]);
}

double Seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

// Bytes of files are counted once for each pass; those of a stream once.
double DonePart(const ProgressCounts& counts) {
  if (counts.work_bytes == 0) return 0;
  return std::min(1.0,
                  static_cast<double>(counts.done_bytes) / static_cast<double>(counts.work_bytes));
}

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

std::string ShortBytes(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 5> kUnits = {" B", " KiB", " MiB", " GiB", " TiB"};
  return Scaled(bytes, 1024, kUnits);
}

std::string ShortCount(std::uint64_t count) {
  static constexpr std::array<std::string_view, 4> kUnits = {"", "k", "M", "G"};
  return Scaled(count, 1000, kUnits);
}

std::string ShortTime(std::chrono::seconds time) {
  const auto seconds = time.count();
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{}:{:02} min", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02} h", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string FitParts(std::string_view tool, std::span<const std::string> parts,
                     std::size_t columns) {
  const std::size_t most = columns == 0 ? 0 : columns - 1;
  std::string line = fmt::format("{}:", tool);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string longer = fmt::format("{}{} {}", line, i == 0 ? "" : ",", parts[i]);
    if (i != 0 && longer.size() > most) break;
    line = longer;
  }
  return line.substr(0, most);
}

std::string ReadingText(std::string_view tool, const ProgressCounts& counts,
                        std::chrono::milliseconds elapsed, std::size_t columns) {
  std::vector<std::string> parts;
  if (counts.expected_inputs > 1) {
    parts.push_back(fmt::format("input {} of {}", counts.inputs, counts.expected_inputs));
  }
  const double done = DonePart(counts);
  const bool has_size = counts.work_bytes != 0;
  const std::uint64_t bytes = counts.input_bytes + counts.streamed_bytes;
  if (has_size) {
    parts.push_back(fmt::format("{}% of {}", static_cast<int>(done * 100), ShortBytes(bytes)));
  } else {
    parts.push_back(fmt::format("{} read", ShortBytes(bytes)));
  }
  if (counts.samples != 0) parts.push_back(ShortCount(counts.samples) + " samples");
  const bool is_finishing = has_size && done >= 1;
  const double seconds = Seconds(elapsed);
  if (!is_finishing && seconds > 0) {
    const double read = static_cast<double>(bytes) * (has_size ? done : 1);
    parts.push_back(ShortBytes(static_cast<std::uint64_t>(read / seconds)) + "/s");
  }
  if (is_finishing) {
    parts.emplace_back("finishing");
  } else if (has_size && done > 0 && counts.inputs >= counts.expected_inputs) {
    const double left = seconds / done * (1 - done);
    parts.push_back(ShortTime(std::chrono::seconds(static_cast<std::int64_t>(left + 0.5))) +
                    " left");
  }
  return FitParts(tool, parts, columns);
}

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

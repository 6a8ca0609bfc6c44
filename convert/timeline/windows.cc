// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/windows.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"
#include "formats/base/text.h"

namespace perftape::timeline {
namespace {

using convert::Globs;
using convert::Label;
using convert::Profile;
using convert::Sample;

bool Matches(const Timeline& timeline, const ThreadLine& line, const ThreadChoice& choice) {
  const Profile& profile = timeline.profile();
  if (!choice.pids.empty() && !choice.pids.contains(line.pid)) return false;
  if (!choice.tids.empty() && !choice.tids.contains(line.tid)) return false;
  if (!choice.cgroups.empty() && !choice.cgroups.Match(profile.text(line.cgroup))) return false;
  return choice.comms.empty() || choice.comms.Match(profile.text(profile[line.thread].comm));
}

// The processes that ran when the timeline begins: those of a command began with one.
std::set<std::int64_t> FirstProcesses(const Timeline& timeline) {
  std::int64_t first = timeline.time().end;
  for (const ThreadLine& line : timeline.threads()) first = std::min(first, line.life().start);
  std::set<std::int64_t> pids;
  for (const ThreadLine& line : timeline.threads()) {
    if (line.life().start == first) pids.insert(line.pid);
  }
  return pids;
}

// "nginx 4711, redis 815 and 12 more"
std::string ProcessesOf(const Timeline& timeline) {
  constexpr std::size_t kMostNamed = 5;
  const Profile& profile = timeline.profile();
  std::map<std::uint32_t, std::string> names;
  for (const ThreadLine& line : timeline.threads()) {
    std::string& name = names[line.pid];
    if (name.empty() || line.pid == line.tid) {
      name = fmt::format("{} {}", profile.text(profile[line.thread].comm), line.pid);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [pid, name] : names) {
    if (texts.size() < kMostNamed) texts.push_back(name);
  }
  const std::size_t more = names.size() - texts.size();
  return Joined(texts, ", ") + (more == 0 ? "" : fmt::format(" and {} more", more));
}

// An event of a pair.
struct Mark {
  std::int64_t time_ns = 0;
  std::uint32_t thread = kNone;
  bool is_from = false;
  std::string key = {};
};

std::string KeyOf(const Profile& profile, const Sample& sample, const EventPairs& events) {
  if (events.key.empty()) {
    const convert::SampleThread thread = ThreadOf(profile, sample);
    return fmt::format("{}/{}", thread.pid.value_or(0), thread.tid.value_or(0));
  }
  const Label* const label = FindLabel(profile, sample.labels, events.key);
  if (label == nullptr) return {};
  const std::string_view text = profile.text(label->text);
  return text.empty() ? fmt::format("#{}", label->number) : std::string(text);
}

std::vector<Mark> FindMarks(const Timeline& timeline, const EventPairs& events) {
  const Profile& profile = timeline.profile();
  std::vector<Mark> marks;
  for (const Sample& sample : profile.samples()) {
    const std::string_view name = profile.text(profile[sample.event].name);
    const bool is_from = events.from.Match(name), is_to = events.to.Match(name);
    if (!is_from && !is_to) continue;
    const Label* const time = FindLabel(profile, sample.labels, convert::kTimestampLabel);
    const convert::SampleThread thread = ThreadOf(profile, sample);
    if (time == nullptr || !thread.pid || !thread.tid) continue;
    Mark mark = {.time_ns = time->number,
                 .thread = timeline.Find(*thread.pid, *thread.tid),
                 .key = KeyOf(profile, sample, events)};
    if (mark.key.empty()) continue;
    // An event that is both ends one window and begins the next.
    if (is_to) marks.push_back(mark);
    mark.is_from = true;
    if (is_from) marks.push_back(std::move(mark));
  }
  std::ranges::stable_sort(marks, {}, &Mark::time_ns);
  return marks;
}

std::string NoPair(const Timeline& timeline) {
  std::vector<std::string> names;
  const Profile& profile = timeline.profile();
  for (const convert::Event& event : profile.events()) {
    names.emplace_back(profile.text(event.name));
  }
  return fmt::format("the recording has no pair of these two events; its events are {}",
                     Joined(names, ", "));
}

std::optional<double> ParsePercentile(std::string_view text, double if_empty) {
  if (text.empty()) return if_empty;
  if (!text.starts_with('p')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), value);
  const bool is_valid = error == std::errc() && end == text.data() + text.size();
  return is_valid && value >= 0 && value <= 100 ? std::optional(value) : std::nullopt;
}

// The longest first; those of equal length in order of time.
void SortBySize(std::vector<Window>& windows) {
  std::ranges::stable_sort(windows, [](const Window& a, const Window& b) {
    return std::tuple(b.time.length(), a.time.start, a.thread) <
           std::tuple(a.time.length(), b.time.start, b.thread);
  });
}

}  // namespace

Result<std::vector<Window>> LivesOf(const Timeline& timeline, const ThreadChoice& choice) {
  if (timeline.threads().empty()) {
    return Fail(ErrorCode::kNotFound, "no thread has samples with times");
  }
  ThreadChoice chosen = choice;
  if (choice.is_empty()) chosen.pids = FirstProcesses(timeline);
  if (choice.is_empty() && chosen.pids.size() != 1) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format(
            "no thread selected: use --pid, --tid, --comm or --from-event; the processes are {}",
            ProcessesOf(timeline)));
  }
  const bool by_process = choice.tids.empty() && choice.comms.empty();
  std::vector<Window> windows;
  for (std::uint32_t i = 0; i < timeline.threads().size(); ++i) {
    const ThreadLine& line = timeline.threads()[i];
    if (by_process && line.tid != line.pid) continue;
    if (Matches(timeline, line, chosen)) windows.push_back({.thread = i, .time = line.life()});
  }
  if (windows.empty()) return Fail(ErrorCode::kNotFound, "no thread matches the selection");
  return windows;
}

std::vector<ThreadWindow> WithIds(const Timeline& timeline, const std::vector<Window>& windows) {
  std::vector<ThreadWindow> with_ids;
  for (const Window& window : windows) {
    const ThreadLine& line = timeline.threads()[window.thread];
    with_ids.push_back({.pid = line.pid, .tid = line.tid, .time = window.time});
  }
  return with_ids;
}

Result<std::vector<Window>> WindowsBetween(const Timeline& timeline, const EventPairs& events,
                                           const ThreadChoice& choice) {
  std::map<std::string, std::int64_t> started;
  std::vector<Window> windows;
  for (const Mark& mark : FindMarks(timeline, events)) {
    if (mark.is_from) {
      started[mark.key] = mark.time_ns;
      continue;
    }
    const auto start = started.find(mark.key);
    if (start == started.end()) continue;
    const Span time = {.start = start->second, .end = mark.time_ns};
    started.erase(start);
    if (mark.thread != kNone && !time.is_empty()) {
      windows.push_back({.thread = mark.thread, .time = time});
    }
  }
  if (windows.empty()) return Fail(ErrorCode::kNotFound, NoPair(timeline));
  std::erase_if(windows, [&](const Window& window) {
    return !Matches(timeline, timeline.threads()[window.thread], choice);
  });
  if (windows.empty()) {
    return Fail(ErrorCode::kNotFound, "no selected thread has a pair of these two events");
  }
  return windows;
}

Result<Percentiles> ParsePercentiles(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots != std::string_view::npos) {
    const auto from = ParsePercentile(text.substr(0, dots), 0);
    const auto to = ParsePercentile(text.substr(dots + 2), 100);
    if (from && to && *from <= *to) return Percentiles{.from = *from, .to = *to};
  }
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("'{}' is not a range of percentiles, such as p95.., ..p50 or p40..p60", text));
}

std::vector<Window> Choose(std::vector<Window> windows, const WindowChoice& choice) {
  SortBySize(windows);
  if (choice.percentiles) {
    // The rank of a window counts from the shortest.
    const auto size = static_cast<double>(windows.size());
    const auto first = static_cast<std::size_t>(std::floor(size * choice.percentiles->from / 100));
    const auto end = static_cast<std::size_t>(std::ceil(size * choice.percentiles->to / 100));
    const std::size_t last = std::max(std::min(first, windows.size() - 1) + 1, end);
    windows = {windows.end() - static_cast<std::ptrdiff_t>(last),
               windows.end() - static_cast<std::ptrdiff_t>(std::min(first, windows.size() - 1))};
  }
  if (choice.slowest && *choice.slowest < windows.size()) windows.resize(*choice.slowest);
  return windows;
}

WindowLengths LengthsOf(const std::vector<Window>& windows) {
  WindowLengths lengths = {.count = windows.size()};
  if (windows.empty()) return lengths;
  std::vector<std::int64_t> sorted;
  for (const Window& window : windows) {
    const std::int64_t length = std::max<std::int64_t>(window.time.length(), 1);
    sorted.push_back(length);
    lengths.sum += length;
    ++lengths.by_power[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(length)) -
                                                1)];
  }
  std::ranges::sort(sorted);
  // The nearest rank.
  const auto at = [&](double share) {
    const double rank = std::ceil(share * static_cast<double>(sorted.size()));
    return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
  };
  lengths.median = at(0.5);
  lengths.p90 = at(0.9);
  lengths.p99 = at(0.99);
  lengths.max = sorted.back();
  return lengths;
}

}  // namespace perftape::timeline

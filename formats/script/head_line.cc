// SPDX-License-Identifier: Apache-2.0
#include "formats/script/head_line.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "formats/base/duration.h"
#include "formats/base/text.h"
#include "formats/base/unsafe_text.h"
#include "formats/script/words.h"

namespace perftape::script {
namespace {

// Removes the last word and the blanks before it from `text`, and returns the word.
std::string_view RemoveLastWord(std::string_view& text) {
  const std::size_t begin = text.find_last_of(" \t") + 1;
  const std::string_view word = text.substr(begin);
  text = TrimRight(text.substr(0, begin));
  return word;
}

// Parses "12345.678901".
std::optional<std::uint64_t> ParseTime(std::string_view text) {
  constexpr std::size_t kMost = 9;
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return {};
  const std::string_view fraction = text.substr(point + 1);
  if (fraction.size() > kMost) return {};
  const auto seconds = ParseNumber(text.substr(0, point));
  auto nanoseconds = ParseNumber(fraction);
  if (!seconds || !nanoseconds) return {};
  if (*seconds >= std::numeric_limits<std::uint64_t>::max() / kNsPerSecond) return {};
  for (std::size_t digits = fraction.size(); digits < kMost; ++digits) *nanoseconds *= 10;
  return *seconds * kNsPerSecond + *nanoseconds;
}

// Parses "12", or "-1", its unsigned form, and that of a CPU, "-01".
std::optional<std::uint32_t> ParseId(std::string_view text) {
  if (text == "-1" || text == "-01") return kNoId;
  const auto number = ParseNumber(text);
  if (!number || *number > kNoId) return {};
  return static_cast<std::uint32_t>(*number);
}

// Parses "12/34" or "34".
bool ParseThread(std::string_view word, Head& head) {
  const std::size_t slash = word.find('/');
  head.pid.reset();
  if (slash != std::string_view::npos) {
    head.pid = ParseId(word.substr(0, slash));
    if (!head.pid) return false;
    word.remove_prefix(slash + 1);
  }
  const auto tid = ParseId(word);
  head.tid = tid.value_or(0);
  return tid.has_value();
}

// Parses "[003]".
bool ParseCpu(std::string_view word, Head& head) {
  if (word.size() < 3 || !word.starts_with('[') || !word.ends_with(']')) return false;
  head.cpu = ParseId(word.substr(1, word.size() - 2));
  if (!head.cpu) return false;
  if (head.cpu == kNoId) head.cpu.reset();  // "[-01]": the recording does not say
  return true;
}

// Removes what -F +misc and -F +tod print before the time. A comm cannot look so: blanks, a thread
// and a CPU precede it.
void RemoveOptionalFields(std::string_view& text) {
  constexpr std::size_t kClock = std::string_view("09:06:45").size();
  constexpr std::string_view kMisc = "KUHGgMESp";
  std::string_view rest = text;
  std::string_view word = RemoveLastWord(rest);
  const bool is_clock = word.size() > kClock && word[2] == ':' && word[5] == ':' &&
                        word[kClock] == '.' && IsDigit(word.front());
  if (is_clock) {
    RemoveLastWord(rest);  // the date
    text = rest;
    word = RemoveLastWord(rest);
  }
  if (!word.empty() && word.find_first_not_of(kMisc) == std::string_view::npos) text = rest;
}

// Parses "my prog    12   3", what --Latency prints before the time.
bool ParseLatencyStart(std::string_view text, Head& head) {
  constexpr std::size_t kComm = 8, kPid = 5, kCpu = 3;
  constexpr std::size_t kEnd = kComm + 1 + kPid + 1 + kCpu;
  if (text.size() != kEnd || text[kComm] != ' ' || text[kComm + 1 + kPid] != ' ') return false;
  const auto tid = ParseId(TrimLeft(text.substr(kComm + 1, kPid)));
  const auto cpu = ParseId(TrimLeft(text.substr(kEnd - kCpu)));
  if (!tid || !cpu) return false;
  head.pid.reset();
  head.tid = *tid;
  head.cpu = cpu;
  head.comm = TrimLeft(text.substr(0, kComm));
  return true;
}

// Parses what precedes the time, or the event of a line without a time.
bool ParseStart(std::string_view text, Head& head) {
  text = TrimRight(text);
  head.cpu.reset();
  if (ParseLatencyStart(text, head)) return true;
  RemoveOptionalFields(text);
  std::string_view before = text;
  std::string_view word = RemoveLastWord(before);
  const bool has_cpu = ParseCpu(word, head);
  if (has_cpu) {
    text = before;
    word = RemoveLastWord(before);
  }
  if (ParseThread(word, head)) {
    head.comm = TrimLeft(before);
    return true;
  }
  // -F without pid and tid: only the CPU shows where the comm ends.
  head.pid.reset();
  head.tid = kNoId;
  head.comm = TrimLeft(text);
  return has_cpu;
}

// Removes "cycles:u:" from the start of `text`.
std::string_view RemoveEvent(std::string_view& text) {
  std::string_view name = FirstWord(text);
  std::size_t end = name.size();
  if (!name.ends_with(':')) {
    // The name of an event can have blanks. An address is that of a frame.
    if (IsAddress(name)) return {};
    const std::size_t colon = text.find(": ");
    end = colon != std::string_view::npos ? colon + 1 : text.ends_with(':') ? text.size() : 0;
    if (end == 0) return {};
  }
  name = text.substr(0, end - 1);
  if (name.empty()) return {};
  text = text.substr(end);
  return name;
}

// Parses what follows the time.
void ParseEnd(std::string_view text, Head& head) {
  constexpr std::string_view kMetric = " \tmetric:";
  head.is_metric = text.starts_with(kMetric);
  constexpr std::size_t kMostColumns = 12;
  const std::size_t columns =
      text.size() - TrimLeft(text).size() + FirstWord(TrimLeft(text)).size();
  text = TrimRight(TrimLeft(text));
  head.rest = text;
  head.is_record = text.starts_with(kRecordMark);
  if (head.is_record || head.is_metric) return;
  std::string_view after_period = text;
  const std::string_view word = FirstWord(text);
  std::optional<std::uint64_t> period;
  if (IsNumber(word)) {
    period = ParseNumber(word);
    after_period = TrimLeft(text.substr(word.size()));
  }
  head.event = RemoveEvent(after_period);
  if (head.event.empty()) {
    // -F without event: perf aligns a period in 10 columns, and an address in 16.
    const bool is_before_frame = IsAddress(FirstWord(after_period)) && after_period.find(' ') != 0;
    const bool is_period =
        period && columns <= kMostColumns && (after_period.empty() || is_before_frame);
    if (!is_period) return;
    head.period = period;
    head.rest = text.substr(word.size());
    return;
  }
  head.period = period;
  head.rest = after_period;  // with its blanks: they are part of the columns
}

// Whether a blank or the end follows the ':' at `colon`.
bool EndsWord(std::string_view line, std::size_t colon) {
  return colon + 1 == line.size() || IsBlank(line[colon + 1]);
}

// Returns the last ':' before `end`, but not at the start; npos if there is none.
std::size_t ColonBefore(std::string_view line, std::size_t end) {
  const std::size_t colon = line.substr(0, end).rfind(':');
  return colon == 0 ? std::string_view::npos : colon;
}

// The readings of a line, from the longest comm to the shortest.
struct Reading {
  Head head;
  std::size_t end = 0;  // of the time or the event, in the line

  bool is_final() const { return head.comm.size() <= kLongestComm; }
};

std::optional<Head> ParseWithTime(std::string_view line) {
  std::optional<Reading> best;
  for (std::size_t colon = ColonBefore(line, line.size()); colon != std::string_view::npos;
       colon = ColonBefore(line, colon)) {
    if (!EndsWord(line, colon) || !IsDigit(line[colon - 1])) continue;
    std::string_view start = line.substr(0, colon);
    Reading reading = {.head = {}, .end = colon + 1};
    reading.head.time_ns = ParseTime(RemoveLastWord(start));
    if (!reading.head.time_ns || !ParseStart(start, reading.head)) continue;
    best = reading;
    if (best->is_final()) break;
  }
  if (!best) return {};
  ParseEnd(line.substr(best->end), best->head);
  return best->head;
}

// Removes the period from the end of `start`. perf aligns it in ten columns; a shorter number is
// the thread.
std::optional<std::uint64_t> RemovePeriod(std::string_view& start) {
  constexpr std::size_t kColumns = 11;
  std::string_view rest = start;
  const std::string_view word = RemoveLastWord(rest);
  if (!IsNumber(word) || start.size() - rest.size() < kColumns) return {};
  start = rest;
  return ParseNumber(word);
}

// "prog 7 cycles:", "prog 7 [001]     250000 cycles: text". Only the start of the line is examined.
std::optional<Head> ParseWithoutTime(std::string_view line) {
  constexpr std::size_t kLongestStart = 256;
  if (line.empty() || IsBlank(line.front())) return {};
  std::optional<Reading> best;
  for (std::size_t colon = ColonBefore(line, kLongestStart); colon != std::string_view::npos;
       colon = ColonBefore(line, colon)) {
    if (!EndsWord(line, colon)) continue;
    std::string_view start = line.substr(0, colon);
    Reading reading = {.head = {}, .end = colon + 1};
    reading.head.event = RemoveLastWord(start);
    if (reading.head.event.empty() || IsDigit(reading.head.event.front())) continue;
    reading.head.period = RemovePeriod(start);
    if (!ParseStart(start, reading.head)) continue;
    best = reading;
    if (best->is_final()) break;
  }
  if (!best) return {};
  best->head.rest = line.substr(best->end);
  return best->head;
}

}  // namespace

std::optional<Head> ParseThreadLine(std::string_view line) {
  Head head;
  if (line.empty() || IsBlank(line.front()) || TrimRight(line).size() == line.size()) return {};
  const bool is_one = ParseStart(line, head) && head.tid != kNoId && !head.comm.empty();
  return is_one ? std::optional(head) : std::nullopt;
}

std::optional<Head> ParseShortHead(std::string_view line) {
  Head head = {.tid = kNoId};
  std::string_view text = TrimRight(line);
  const auto remove_field = [&] {
    if (!text.ends_with(':')) return std::string_view();
    const std::string_view word = RemoveLastWord(text);
    return word.substr(0, word.size() - 1);
  };
  std::string_view last = remove_field();
  head.time_ns = ParseTime(last);
  if (!head.time_ns) {
    head.event = last;
    head.period = RemovePeriod(text);
    text = TrimRight(text);
    head.time_ns = ParseTime(remove_field());
  }
  constexpr std::size_t kPeriodColumns = 10;
  text = TrimRight(text);
  if (!head.period && text.size() >= kPeriodColumns && IsNumber(TrimLeft(text))) {
    head.period = ParseNumber(TrimLeft(text));
    return head;
  }
  if (ParseStart(text, head)) return head;
  head.comm = TrimLeft(text);
  return head.comm.size() <= kLongestComm ? std::optional(head) : std::nullopt;
}

std::optional<Head> ParseHead(std::string_view line) {
  line = TrimRight(line);
  if (const auto head = ParseWithTime(line)) return head;
  return ParseWithoutTime(line);
}

void AppendHead(std::string& out, const Head& head, TimeDigits digits) {
  AppendFormat(out, "{} ", head.comm);
  if (head.pid) AppendFormat(out, "{}/", *head.pid);
  AppendFormat(out, "{} ", static_cast<std::int32_t>(head.tid));
  if (head.cpu) AppendFormat(out, "[{:03}] ", *head.cpu);
  const std::uint64_t time_ns = head.time_ns.value_or(0);
  const std::uint64_t nanoseconds = time_ns % kNsPerSecond;
  AppendFormat(out, "{}.", time_ns / kNsPerSecond);
  if (digits == TimeDigits::kNanoseconds) {
    AppendFormat(out, "{:09}: ", nanoseconds);
  } else {
    AppendFormat(out, "{:06}: ", nanoseconds / 1000);
  }
  AppendFormat(out, "{:>10} {}: \n", head.period.value_or(1), head.event);
}

std::string WritableComm(std::string_view comm) {
  std::string text;
  for (std::size_t at = 0; at < comm.size();) {
    const auto unsafe = FindUnsafe(comm, at);
    const std::size_t end = unsafe ? unsafe->at : comm.size();
    text += comm.substr(at, end - at);
    if (unsafe) text.push_back('_');
    at = unsafe ? end + unsafe->size : end;
  }
  std::ranges::replace(text, ' ', '_');
  if (text.starts_with('#')) text.front() = '_';
  const bool is_like_thread = text.find_first_not_of("0123456789/") == std::string::npos;
  if (text.size() < 2 || is_like_thread) text.push_back('_');
  if (text.size() < 2) text.push_back('_');
  return text;
}

}  // namespace perftape::script

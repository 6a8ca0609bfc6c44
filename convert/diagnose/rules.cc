// SPDX-License-Identifier: Apache-2.0
#include "convert/diagnose/rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "formats/base/duration.h"
#include "formats/base/percent.h"
#include "formats/base/text.h"

namespace perftape::diagnose {
namespace {

constexpr double kMs = 1e6;

// The limits of cgroups are those of podtrace: 80, 90 and 95 percent.
constexpr Rule kRules[] = {
    // CPU
    {.name = "cpu-throttled-most",
     .severity = Severity::kCritical,
     .figure = Figure::kThrottledShare,
     .threshold = 50,
     .least = 10,
     .text = "the CPU limit stopped its tasks in {} of the periods"},
    {.name = "cpu-throttled",
     .severity = Severity::kWarning,
     .figure = Figure::kThrottledShare,
     .threshold = 10,
     .least = 10,
     .text = "the CPU limit stopped its tasks in {} of the periods"},
    {.name = "cpu-limit-95",
     .severity = Severity::kCritical,
     .figure = Figure::kCpuShare,
     .threshold = 95,
     .text = "it used {} of its CPU limit",
     .causes = {"cpu-throttled-most", "cpu-throttled"}},
    {.name = "cpu-limit-90",
     .severity = Severity::kWarning,
     .figure = Figure::kCpuShare,
     .threshold = 90,
     .text = "it used {} of its CPU limit",
     .causes = {"cpu-throttled-most", "cpu-throttled"}},
    {.name = "cpu-limit-80",
     .severity = Severity::kInfo,
     .figure = Figure::kCpuShare,
     .threshold = 80,
     .text = "it used {} of its CPU limit",
     .causes = {"cpu-throttled-most", "cpu-throttled"}},
    // Memory
    {.name = "memory-growth",
     .severity = Severity::kWarning,
     .figure = Figure::kMemoryGrowth,
     .threshold = 75,
     .text = "its memory has grown to {} of its limit: a leak, or a limit that is too small"},
    {.name = "memory-limit-95",
     .severity = Severity::kCritical,
     .figure = Figure::kMemoryShare,
     .threshold = 95,
     .text = "it used {} of its memory limit",
     .causes = {"memory-growth"}},
    {.name = "memory-limit-90",
     .severity = Severity::kWarning,
     .figure = Figure::kMemoryShare,
     .threshold = 90,
     .text = "it used {} of its memory limit",
     .causes = {"memory-growth"}},
    {.name = "memory-limit-80",
     .severity = Severity::kInfo,
     .figure = Figure::kMemoryShare,
     .threshold = 80,
     .text = "it used {} of its memory limit",
     .causes = {"memory-growth"}},
    {.name = "oom-kill",
     .severity = Severity::kCritical,
     .figure = Figure::kOomKills,
     .threshold = 1,
     .text = "the kernel killed processes for lack of memory: {}",
     .causes = {"memory-growth", "memory-limit-95", "memory-limit-90", "memory-limit-80"}},
    {.name = "memory-full",
     .severity = Severity::kInfo,
     .figure = Figure::kMemoryFull,
     .threshold = 1000,
     .text = "memory reached its limit {} times, and the kernel then freed some",
     .causes = {"memory-growth", "memory-limit-95", "memory-limit-90", "memory-limit-80"}},
    {.name = "reclaim-slow",
     .severity = Severity::kWarning,
     .figure = Figure::kP99,
     .probe = "reclaim",
     .threshold = 10 * kMs,
     .least = 5,
     .text = "allocations had to free memory first: p99 {}",
     .causes = {"memory-growth", "memory-limit-95", "memory-limit-90", "memory-limit-80",
                "memory-full"}},
    {.name = "page-faults",
     .severity = Severity::kInfo,
     .figure = Figure::kRate,
     .probe = "page-fault",
     .threshold = 100'000,
     .text = "{} page faults",
     .causes = {"memory-growth", "memory-limit-95", "memory-full"}},
    // Tasks
    {.name = "tasks-refused",
     .severity = Severity::kCritical,
     .figure = Figure::kTasksRefused,
     .threshold = 1,
     .text = "forks that failed at the task limit: {}"},
    {.name = "task-limit",
     .severity = Severity::kWarning,
     .figure = Figure::kTaskShare,
     .threshold = 90,
     .text = "it used {} of its task limit",
     .causes = {"tasks-refused"}},
    // Files and disks
    {.name = "disk-full",
     .severity = Severity::kCritical,
     .figure = Figure::kErrorCount,
     .errors = "ENOSPC EDQUOT",
     .threshold = 1,
     .text = "calls that failed because a disk is full: {}"},
    {.name = "io-error",
     .severity = Severity::kCritical,
     .figure = Figure::kErrorCount,
     .errors = "EIO EUCLEAN",
     .threshold = 1,
     .text = "calls that failed because a device failed: {}"},
    {.name = "read-only",
     .severity = Severity::kWarning,
     .figure = Figure::kErrorCount,
     .errors = "EROFS",
     .threshold = 1,
     .text = "calls that failed because a file system is read-only: {}",
     .causes = {"io-error"}},
    {.name = "no-descriptors",
     .severity = Severity::kCritical,
     .figure = Figure::kErrorCount,
     .errors = "EMFILE ENFILE",
     .threshold = 1,
     .text = "calls that failed because too many files are open: {}"},
    {.name = "permission-denied",
     .severity = Severity::kInfo,
     .figure = Figure::kErrorCount,
     .errors = "EACCES EPERM",
     .threshold = 10,
     .text = "calls that failed for lack of permission: {}"},
    {.name = "io-limit-95",
     .severity = Severity::kCritical,
     .figure = Figure::kIoShare,
     .threshold = 95,
     .text = "it used {} of its I/O limit"},
    {.name = "io-limit-90",
     .severity = Severity::kWarning,
     .figure = Figure::kIoShare,
     .threshold = 90,
     .text = "it used {} of its I/O limit"},
    {.name = "io-limit-80",
     .severity = Severity::kInfo,
     .figure = Figure::kIoShare,
     .threshold = 80,
     .text = "it used {} of its I/O limit"},
    {.name = "block-slow",
     .severity = Severity::kWarning,
     .figure = Figure::kP99,
     .probe = "block-io",
     .threshold = 100 * kMs,
     .least = 5,
     .text = "requests to a disk were slow: p99 {}"},
    {.name = "fsync-slow",
     .severity = Severity::kWarning,
     .figure = Figure::kP99,
     .probe = "fsync",
     .threshold = 100 * kMs,
     .least = 5,
     .text = "fsync was slow: p99 {}",
     .causes = {"io-limit-95", "io-limit-90", "io-limit-80", "block-slow", "cpu-throttled-most"}},
    {.name = "fsync-time",
     .severity = Severity::kWarning,
     .figure = Figure::kTimeShare,
     .probe = "fsync",
     .threshold = 25,
     .least = 5,
     .text = "it waited for fsync for {} of the time",
     .causes = {"fsync-slow", "io-limit-95", "io-limit-90", "io-limit-80", "block-slow",
                "cpu-throttled-most"}},
    {.name = "read-time",
     .severity = Severity::kWarning,
     .figure = Figure::kFileTimeShare,
     .probe = "read",
     .threshold = 25,
     .text = "slow reads of files took {} of the time",
     .causes = {"io-limit-95", "io-limit-90", "io-limit-80", "block-slow", "memory-full",
                "cpu-throttled-most"}},
    {.name = "write-time",
     .severity = Severity::kWarning,
     .figure = Figure::kFileTimeShare,
     .probe = "write",
     .threshold = 25,
     .text = "slow writes of files took {} of the time",
     .causes = {"io-limit-95", "io-limit-90", "io-limit-80", "block-slow", "memory-full",
                "cpu-throttled-most"}},
    {.name = "open-slow",
     .severity = Severity::kWarning,
     .figure = Figure::kP99,
     .probe = "open",
     .threshold = 100 * kMs,
     .least = 5,
     .text = "opening files was slow: p99 {}",
     .causes = {"block-slow", "cpu-throttled-most"}},
    // Network
    {.name = "dns-timeout",
     .severity = Severity::kCritical,
     .figure = Figure::kErrorShare,
     .probe = "dns",
     .errors = "ETIMEDOUT",
     .comparison = Comparison::kMoreThan,
     .threshold = 1,
     .least = 2,
     .text = "{} of the DNS queries got no answer"},
    {.name = "dns-failure",
     .severity = Severity::kWarning,
     .figure = Figure::kErrorShare,
     .probe = "dns",
     .errors = "!NXDOMAIN ETIMEDOUT",
     .comparison = Comparison::kMoreThan,
     .threshold = 10,
     .least = 2,
     .text = "{} of the DNS queries failed"},
    {.name = "dns-unknown-name",
     .severity = Severity::kInfo,
     .figure = Figure::kErrorShare,
     .probe = "dns",
     .errors = "NXDOMAIN",
     .comparison = Comparison::kMoreThan,
     .threshold = 50,
     .least = 10,
     .text = "{} of the DNS queries were for names that do not exist"},
    {.name = "dns-slow",
     .severity = Severity::kWarning,
     .figure = Figure::kP99,
     .probe = "dns",
     .threshold = 500 * kMs,
     .least = 2,
     .text = "DNS queries were slow: p99 {}",
     .causes = {"dns-timeout", "cpu-throttled-most"}},
    {.name = "retransmissions",
     .severity = Severity::kWarning,
     .figure = Figure::kRetransmissions,
     .threshold = 10,
     .text = "TCP segments were sent again: {}"},
    {.name = "peer-resets",
     .severity = Severity::kWarning,
     .figure = Figure::kResetsReceived,
     .threshold = 3,
     .text = "the peer reset connections: {}"},
    {.name = "connection-reset",
     .severity = Severity::kWarning,
     .figure = Figure::kErrorCount,
     .errors = "ECONNRESET EPIPE ECONNABORTED",
     .threshold = 3,
     .text = "calls that failed because the peer ended the connection: {}",
     .causes = {"peer-resets"}},
    {.name = "own-resets",
     .severity = Severity::kInfo,
     .figure = Figure::kResetsSent,
     .threshold = 10,
     .text = "this machine reset connections: {}"},
    {.name = "connect-failure",
     .severity = Severity::kWarning,
     .figure = Figure::kErrorShare,
     .probe = "tcp-connect",
     .errors = "!",
     .comparison = Comparison::kMoreThan,
     .threshold = 10,
     .least = 2,
     .text = "{} of the connections failed",
     .causes = {"no-descriptors", "retransmissions"}},
    {.name = "connect-slow",
     .severity = Severity::kWarning,
     .figure = Figure::kP99,
     .probe = "tcp-connect",
     .threshold = 500 * kMs,
     .least = 2,
     .text = "connecting was slow: p99 {}",
     .causes = {"connect-failure", "retransmissions", "cpu-throttled-most"}},
    {.name = "accept-slow",
     .severity = Severity::kWarning,
     .figure = Figure::kP99,
     .probe = "tcp-accept",
     .threshold = 500 * kMs,
     .least = 5,
     .text = "connections waited to be accepted: p99 {}",
     .causes = {"no-descriptors", "cpu-throttled-most", "cpu-throttled"}},
    {.name = "round-trip-slow",
     .severity = Severity::kWarning,
     .figure = Figure::kSlowShare,
     .probe = "tcp-rtt",
     .comparison = Comparison::kMoreThan,
     .threshold = 5,
     .least = 10,
     .text = "{} of the round trips took more than 100 ms",
     .causes = {"retransmissions"}},
    // Threads
    {.name = "runnable-threads",
     .severity = Severity::kWarning,
     .figure = Figure::kWaitingShare,
     .probe = "runq",
     .threshold = 100,
     .least = 20,
     .text =
         "more threads than CPUs: the threads that waited for a CPU were {} of the number of CPUs",
     .causes = {"cpu-throttled-most", "cpu-throttled", "cpu-limit-95", "cpu-limit-90"}},
    {.name = "run-queue-slow",
     .severity = Severity::kWarning,
     .figure = Figure::kP99,
     .probe = "runq",
     .threshold = 50 * kMs,
     .least = 20,
     .text = "threads waited for a CPU: p99 {}",
     .causes = {"cpu-throttled-most", "cpu-throttled", "cpu-limit-95", "cpu-limit-90",
                "runnable-threads"}},
    {.name = "run-queue-time",
     .severity = Severity::kInfo,
     .figure = Figure::kTimeShare,
     .probe = "runq",
     .threshold = 50,
     .least = 20,
     .text = "its threads waited for a CPU for {} of the time",
     .causes = {"cpu-throttled-most", "cpu-throttled", "cpu-limit-95", "cpu-limit-90",
                "runnable-threads"}},
    {.name = "lock-time",
     .severity = Severity::kWarning,
     .figure = Figure::kLockTimeShare,
     .probe = "futex",
     .threshold = 25,
     .text = "its threads waited for locks for {} of the time",
     .causes = {"cpu-throttled-most", "cpu-throttled", "io-limit-95", "fsync-slow"}},
};

std::unexpected<Error> BadRule(std::string_view text, std::string_view reason) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("rule '{}': {}", text, reason));
}

std::string_view ExampleOf(Unit unit) {
  switch (unit) {
    case Unit::kPercent:
      return "a percentage, such as 10%";
    case Unit::kNanoseconds:
      return "a time, such as 100ms";
    case Unit::kCount:
      return "a number, such as 3";
    case Unit::kPerSecond:
      break;
  }
  return "a number per second, such as 1000";
}

std::optional<double> ParseThreshold(Unit unit, std::string_view text) {
  if (unit == Unit::kNanoseconds) {
    const auto duration = DurationOf(text, std::chrono::nanoseconds(0));
    if (!duration) return std::nullopt;
    return static_cast<double>(duration->count());
  }
  if (unit == Unit::kPercent && text.ends_with('%')) text.remove_suffix(1);
  return DecimalOf(text);
}

std::string TimeText(double ns) {
  if (ns >= 1e9) return fmt::format("{:.2f} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.1f} ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.1f} us", ns / 1e3);
  return fmt::format("{:.0f} ns", ns);
}

}  // namespace

std::string_view NameOf(Severity severity) {
  return kSeverityNames[static_cast<std::size_t>(severity)];
}

Unit UnitOf(Figure figure) {
  switch (figure) {
    case Figure::kP99:
      return Unit::kNanoseconds;
    case Figure::kRate:
      return Unit::kPerSecond;
    case Figure::kErrorCount:
    case Figure::kMemoryFull:
    case Figure::kOomKills:
    case Figure::kTasksRefused:
    case Figure::kResetsReceived:
    case Figure::kResetsSent:
    case Figure::kRetransmissions:
      return Unit::kCount;
    default:
      return Unit::kPercent;
  }
}

bool Rule::IsOfCgroups() const {
  return figure >= Figure::kThrottledShare && figure <= Figure::kTasksRefused;
}

bool Rule::IsOfPeers() const {
  return figure >= Figure::kResetsReceived;
}

std::span<const Rule> Rules() {
  return kRules;
}

const Rule* FindRule(std::string_view name) {
  const auto* const found = std::ranges::find(kRules, name, &Rule::name);
  return found == std::end(kRules) ? nullptr : found;
}

RuleSet::RuleSet() {
  for (const Rule& rule : kRules) active_.push_back({.rule = &rule, .threshold = rule.threshold});
}

Status RuleSet::Change(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return BadRule(text, "is not NAME=THRESHOLD or NAME=off");
  const std::string_view name = Trimmed(text.substr(0, equals));
  const std::string_view value = Trimmed(text.substr(equals + 1));
  const Rule* const rule = FindRule(name);
  if (rule == nullptr)
    return BadRule(text, "no rule has this name; perftape-report --list-rules lists all");
  std::erase_if(active_, [&](const ActiveRule& active) { return active.rule == rule; });
  if (value == "off") return {};
  const Unit unit = UnitOf(rule->figure);
  const std::optional<double> threshold = ParseThreshold(unit, value);
  if (!threshold) {
    return BadRule(text, fmt::format("the threshold is {}, or off", ExampleOf(unit)));
  }
  const auto next =
      std::ranges::find_if(active_, [&](const ActiveRule& active) { return active.rule > rule; });
  active_.insert(next, {.rule = rule, .threshold = *threshold});
  return {};
}

Status RuleSet::ChangeAll(std::string_view lines) {
  std::size_t number = 0;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = Trimmed(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (Status changed = Change(line); !changed) {
      return Fail(InContext(fmt::format("line {}", number), std::move(changed).error()));
    }
  }
  return {};
}

std::string TextOf(const Rule& rule, std::string_view figure) {
  constexpr std::string_view kPlace = "{}";
  std::string text(rule.text);
  return text.replace(text.find(kPlace), kPlace.size(), figure);
}

std::string FigureText(Unit unit, double value) {
  switch (unit) {
    case Unit::kPercent:
      return fmt::format("{:.1f} %", value);
    case Unit::kNanoseconds:
      return TimeText(value);
    case Unit::kCount:
      return fmt::format("{:.0f}", value);
    case Unit::kPerSecond:
      break;
  }
  return fmt::format("{:.0f}/s", value);
}

std::string ThresholdText(const Rule& rule, double threshold) {
  const std::string_view comparison =
      rule.comparison == Comparison::kMoreThan ? "more than" : "at least";
  return fmt::format("{} {}", comparison, FigureText(UnitOf(rule.figure), threshold));
}

}  // namespace perftape::diagnose

// SPDX-License-Identifier: Apache-2.0
// The rules of a diagnosis: one row for each, with what it looks at, the threshold, and the rules
// whose findings explain it. A cause comes before its symptoms. The report, the lists of rules and
// the options that change thresholds use these rows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::diagnose {

// In ascending order.
enum class Severity : std::uint8_t { kInfo, kWarning, kCritical };
inline constexpr std::string_view kSeverityNames[] = {"info", "warning", "critical"};
std::string_view NameOf(Severity severity);

// What a rule looks at.
enum class Figure : std::uint8_t {
  // Of the calls of a probe by a process:
  kP99,            // the time that 99 percent of the calls stay below
  kSlowShare,      // the share of calls above kSlowCallNs
  kErrorShare,     // the share of calls that fail with one of the rule's errors
  kErrorCount,     // the number of such calls, of any probe
  kRate,           // calls per second
  kTimeShare,      // the time in all calls, as a share of the recording
  kFileTimeShare,  // the time in slow calls on ordinary files, as a share of the recording
  kLockTimeShare,  // the time in slow waits for locks
  // Of the calls of a probe by all processes:
  kWaitingShare,  // the calls that were in progress on average, as a share of the CPUs
  // Of a cgroup:
  kThrottledShare,  // the periods in which the CPU limit stopped tasks, of all
  kCpuShare,        // CPU time, of what the limit allows
  kMemoryShare,     // memory, of the limit, at its peak
  kMemoryGrowth,    // the same at the end, if it has grown all the time
  kMemoryFull,      // how often the limit was reached
  kOomKills,
  kIoShare,    // bytes or requests, of what the limit of a device allows
  kTaskShare,  // processes and threads, of the limit
  kTasksRefused,
  // Of a peer:
  kResetsReceived,
  kResetsSent,
  kRetransmissions,
};

// A call that takes longer is slow: podtrace's limit of a send or receive.
inline constexpr std::uint64_t kSlowCallNs = 100'000'000;

enum class Unit : std::uint8_t { kPercent, kNanoseconds, kCount, kPerSecond };
Unit UnitOf(Figure figure);

enum class Comparison : std::uint8_t { kAtLeast, kMoreThan };

struct Rule {
  std::string_view name;  // "cpu-throttled"
  Severity severity = Severity::kWarning;
  Figure figure = {};
  std::string_view probe = {};   // whose calls; empty: not of calls, or of any
  std::string_view errors = {};  // names with blanks between them; "!" first: any but these
  Comparison comparison = Comparison::kAtLeast;
  double threshold = 0;     // in the figure's unit
  std::uint64_t least = 0;  // calls, or periods: with fewer, the rule is not applied
  std::string_view text;    // what was found, with {} for the figure
  std::array<std::string_view, 8> causes = {};  // rules

  // Whether it is about cgroups, or about peers.
  bool IsOfCgroups() const;
  bool IsOfPeers() const;
};

// In the order of the report: causes first.
std::span<const Rule> Rules();
const Rule* FindRule(std::string_view name);

// A rule, and the threshold that a user chose.
struct ActiveRule {
  const Rule* rule = nullptr;
  double threshold = 0;
};

// Rules with the thresholds that apply.
class RuleSet {
 public:
  RuleSet();  // all rules, with their own thresholds

  // Applies "NAME=THRESHOLD", such as "fsync-slow=50ms" or "cpu-throttled=25%", or "NAME=off".
  // Fails with kInvalidArgument.
  Status Change(std::string_view text);
  // Applies each line of the text of a file. Empty lines and lines that begin with # are skipped.
  // A message has the number of the line.
  Status ChangeAll(std::string_view lines);

  const std::vector<ActiveRule>& active() const { return active_; }

 private:
  std::vector<ActiveRule> active_;  // in the order of Rules()
};

// Returns the text of a rule with `figure` in it.
std::string TextOf(const Rule& rule, std::string_view figure);
// Returns "12.50 %", "100 ms", "3" or "20000/s".
std::string FigureText(Unit unit, double value);
// Returns "at least 10.00 %".
std::string ThresholdText(const Rule& rule, double threshold);

}  // namespace perftape::diagnose

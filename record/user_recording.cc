// SPDX-License-Identifier: Apache-2.0
#include "record/user_recording.h"

#include <fmt/core.h>

#include <optional>
#include <string_view>
#include <variant>

#include "record/events/user_events.h"
#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

// An option that needs privileges.
struct PrivilegedOption {
  std::string_view option;
  std::string_view reason;
  bool is_given;
};

std::optional<PrivilegedOption> FirstPrivileged(const RecordOptions& options) {
  const bool is_of_cgroups = options.input.scope.has_cgroups();
  const bool asks_for_tables =
      options.input.callchains == Callchains::kUnwindTables && !options.input.prefers_unwind_tables;
  const PrivilegedOption all[] = {
      {"-u", "selecting the tasks of one user needs eBPF", options.input.user.has_value()},
      {"--cgroup", "selecting cgroups, containers or pods needs eBPF", is_of_cgroups},
      {"-a", "the whole system, the default, needs privileges; a COMMAND, -p and -t do not",
       std::holds_alternative<WholeSystem>(options.input.target)},
      {"--comm", "selecting threads by name needs eBPF", !options.input.scope.comms.empty()},
      {"--all-cgroups", "recording cgroups needs eBPF", options.input.scope.all_cgroups},
      {"--namespaces", "namespaces cannot be recorded without privileges",
       options.input.scope.namespaces},
      {"--call-graph eh", "unwind tables need eBPF; fp and dwarf work without privileges",
       asks_for_tables},
      {"--max-cpu", "lowering the rate needs eBPF", options.max_cpu.has_value()},
  };
  for (const PrivilegedOption& option : all) {
    if (option.is_given) return option;
  }
  return std::nullopt;
}

}  // namespace

bool IsUserRecording(const SystemFacts& facts) {
  return facts.perf_paranoid.has_value() && WhyNoPrograms(facts).has_value();
}

Status CheckUserOptions(const RecordOptions& options, const SystemFacts& facts) {
  const std::string remedy = WhyNoPrograms(facts)->text();
  if (const std::optional<PrivilegedOption> refused = FirstPrivileged(options)) {
    return Fail(ErrorCode::kPermission,
                fmt::format("{}: {}: {}", refused->option, refused->reason, remedy));
  }
  if (options.input.missing_events == MissingEvents::kSkip) return {};
  for (const EventSpec& event : options.input.events) TRY(CheckUserEvent(event, remedy));
  return {};
}

std::string UserRecordingText(const RecordOptions& options, const SystemFacts& facts) {
  return fmt::format(
      "only user code of your own processes is recorded: {}: run as root to record the rest, or "
      "see 'perftape-doctor'{}",
      WhyNoPrograms(facts)->problem,
      options.input.prefers_unwind_tables ? "; call chains are found by frame pointers" : "");
}

}  // namespace perftape::record

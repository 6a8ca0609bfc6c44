// SPDX-License-Identifier: Apache-2.0
#include "record/kernel_sampler.h"

#include <fmt/core.h>
#include <linux/capability.h>

#include <optional>
#include <string_view>
#include <variant>

#include "record/events/kernel_samples.h"
#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

// An option that the kernel cannot carry out.
struct RefusedOption {
  std::string_view option;
  std::string_view reason;
  bool is_given;
  bool only_for_users = false;  // it needs privileges, but no program
};

std::optional<RefusedOption> FirstRefused(const RecordOptions& options, Sampler sampler) {
  const bool is_of_cgroups = options.input.scope.has_cgroups();
  const bool asks_for_tables =
      options.input.callchains == Callchains::kUnwindTables && !options.input.prefers_unwind_tables;
  const RefusedOption all[] = {
      {"-u", "selecting the tasks of one user needs eBPF", options.input.user.has_value()},
      {"--cgroup", "selecting cgroups, containers or pods needs eBPF", is_of_cgroups},
      {"-a", "the whole system, the default, needs privileges; a COMMAND, -p and -t do not",
       std::holds_alternative<WholeSystem>(options.input.target), true},
      {"--comm", "selecting threads by name needs eBPF", !options.input.scope.comms.empty()},
      {"--all-cgroups", "recording cgroups needs eBPF", options.input.scope.all_cgroups, true},
      {"--namespaces", "namespaces cannot be recorded without privileges",
       options.input.scope.namespaces, true},
      {"--call-graph eh", "unwind tables need eBPF; fp and dwarf do not", asks_for_tables},
      {"--max-cpu", "lowering the rate needs eBPF", options.max_cpu.has_value()},
  };
  for (const RefusedOption& option : all) {
    if (option.is_given && (sampler == Sampler::kKernelForUser || !option.only_for_users)) {
      return option;
    }
  }
  return std::nullopt;
}

// perf_allow_cpu and perf_allow_kernel (include/linux/perf_event.h). The capabilities of a user
// namespace do not count.
bool MayRecordAll(const SystemFacts& facts) {
  const bool is_capable =
      !facts.in_user_namespace && (facts.Has(CAP_PERFMON) || facts.Has(CAP_SYS_ADMIN));
  return is_capable || facts.perf_paranoid.value_or(1) <= 0;
}

std::string_view ChainsText(const RecordOptions& options) {
  return options.input.prefers_unwind_tables
             ? "; call chains of user code are found by frame pointers"
             : "";
}

}  // namespace

Sampler SamplerFor(SamplerRequest request, const SystemFacts& facts) {
  const bool is_auto = request == SamplerRequest::kAuto;
  const bool has_programs = MissingForPrograms(facts).empty() || !facts.perf_paranoid;
  if (request == SamplerRequest::kPrograms || (is_auto && has_programs)) return Sampler::kPrograms;
  return MayRecordAll(facts) ? Sampler::kKernel : Sampler::kKernelForUser;
}

Status CheckKernelOptions(const RecordOptions& options, Sampler sampler, const SystemFacts& facts) {
  const std::string remedy = ProgramsRemedy(facts);
  if (const std::optional<RefusedOption> refused = FirstRefused(options, sampler)) {
    return Fail(ErrorCode::kPermission,
                fmt::format("{}: {}: {}", refused->option, refused->reason, remedy));
  }
  if (options.input.missing_events == MissingEvents::kSkip) return {};
  for (const EventSpec& event : options.input.events) {
    TRY(CheckKernelEvent(event, sampler, remedy));
  }
  return {};
}

std::string KernelSamplerText(const RecordOptions& options, Sampler sampler,
                              const SystemFacts& facts) {
  const std::vector<Finding> missing = MissingForPrograms(facts);
  const std::string reason = missing.empty() ? "--sampler kernel" : missing.front().problem;
  if (sampler == Sampler::kKernelForUser) {
    return fmt::format(
        "only user code of your own processes is recorded: {}: run as root to record the rest, or "
        "see 'perftape-doctor'{}",
        reason, ChainsText(options));
  }
  return fmt::format(
      "no BPF programs are used: {}: off-CPU time, probes and latency cannot be "
      "recorded{}",
      reason, ChainsText(options));
}

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
// perftape-record: records where programs spend their time into a perf.data.
#include <fmt/core.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/output_file.h"
#include "record/events/kernel_samples.h"
#include "record/kernel_sampler.h"
#include "record/machine/requirements.h"
#include "record/recorder.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/output.h"
#include "tools/common/cli/progress.h"
#include "tools/common/recording/own_command_line.h"
#include "tools/common/recording/stop_signals.h"
#include "tools/common/sandbox/sandbox.h"
#include "tools/doctor/report.h"
#include "tools/mains.h"
#include "tools/record/command_line.h"
#include "tools/record/latency_table.h"
#include "tools/record/list_events.h"
#include "tools/record/summary.h"

namespace perftape::record_tool {
namespace {

// Returns "perftape-record: 1:05 min, 1.2M samples, 45 MiB, 0.1% lost", cut to `columns`.
std::string RecordingText(const record::RecordProgress& made, std::chrono::seconds elapsed,
                          std::size_t columns) {
  std::vector<std::string> parts = {cli::ShortTime(elapsed),
                                    cli::ShortCount(made.samples) + " samples",
                                    cli::ShortBytes(made.file_bytes)};
  if (made.lost_samples != 0) {
    const auto lost = static_cast<double>(made.lost_samples);
    const double percent = 100 * lost / (lost + static_cast<double>(made.samples));
    parts.push_back(percent < 0.1 ? "less than 0.1% lost" : fmt::format("{:.1f}% lost", percent));
  }
  return cli::FitParts(RecordCommand().name, parts, columns);
}

// Shows what is recorded, at most a few times a second, and not in the first seconds.
class RecordingProgress {
 public:
  void Show(const record::RecordProgress& made);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_;
};

void RecordingProgress::Show(const record::RecordProgress& made) {
  constexpr std::chrono::milliseconds kPause{250};
  const Clock::time_point now = Clock::now();
  if (now < next_ || now - begin_ < cli::kWorkWithoutProgress) return;
  next_ = now + kPause;
  const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(now - begin_);
  cli::ShowProgress(RecordingText(made, elapsed, cli::ProgressColumns()));
}

// Returns the first reason why the kernel itself cannot record `options`.
Status CheckKernelSampler(const record::RecordOptions& options, record::Sampler sampler,
                          const record::SystemFacts& facts) {
  TRY(record::CheckKernelOptions(options, sampler, facts));
  if (sampler == record::Sampler::kKernel) return {};
  return record::CheckUserEvents(record::EventMachine::This(), facts);
}

// Returns what can take the samples. Reports what this machine or user lacks; returns nothing if
// that keeps `options` from being recorded.
std::optional<record::Sampler> ChooseSampler(const record::RecordOptions& options,
                                             record::SamplerRequest request,
                                             cli::Console& console) {
  const record::SystemFacts facts = record::ReadSystemFacts();
  const record::Sampler sampler = record::SamplerFor(request, facts);
  std::vector<std::string> errors;
  if (record::IsKernel(sampler)) {
    const Status allowed = CheckKernelSampler(options, sampler, facts);
    if (allowed) {
      console.Warning(record::KernelSamplerText(options, sampler, facts));
      return sampler;
    }
    errors.push_back(allowed.error().message);
  } else {
    const record::Findings findings = record::CheckFacts(facts);
    for (const record::Finding& finding : findings.missing) errors.push_back(finding.text());
    if (errors.empty()) {
      for (const record::Finding& finding : findings.limits) console.Warning(finding.text());
      return record::Sampler::kPrograms;
    }
  }
  for (const std::string& error : errors) console.Error(error);
  console.Note("'perftape-doctor' checks what can be recorded here");
  return std::nullopt;
}

// Returns whether `fd` is writable now, without waiting for its reader.
bool IsWritable(int fd) {
  pollfd entry = {.fd = fd, .events = POLLOUT, .revents = 0};
  return poll(&entry, 1, 0) == 1;
}

// Checks the outputs. Returns whether the recording is written to a stream.
Result<bool> CheckOutputs(const RecordRun& plan) {
  TRY_ASSIGN(const OutputTarget target, cli::CheckOutput(plan.output.file, IfExists::kReplace));
  if ((plan.rotation || plan.flight) && target.is_stream()) {
    return Fail(ErrorCode::kInvalidArgument, target.name + ": is not a regular file: " +
                                                 (plan.flight ? "--flight" : "--switch-output") +
                                                 " needs names of files");
  }
  TRY(cli::RefuseTerminal(target, "recording"));
  if (plan.output.bundle.destination == record::BundleRequest::Destination::kSeparateFile) {
    TRY_ASSIGN(const OutputTarget aside,
               cli::CheckOutput(plan.output.bundle.file, IfExists::kReplace));
    TRY(cli::RefuseTerminal(aside, "bundle"));
  }
  if (!plan.json_file.empty()) {
    TRY(cli::CheckOutput(plan.json_file, IfExists::kReplace));
  }
  return target.is_stream();
}

// Writes nothing if `path` is empty.
Status WriteJson(std::string_view json, const std::filesystem::path& path) {
  if (path.empty()) return {};
  TRY_ASSIGN(OutputFile out, OutputFile::Create(path, IfExists::kReplace));
  TRY(out.Write(json));
  return std::move(out).Commit();
}

// Prints the events that match, a table on a terminal in a pager.
Result<int> List(const ListRequest& request) {
  TRY_ASSIGN(const std::vector<record::ListedEvent> events,
             record::ListEvents(request.glob, record::EventMachine::This()));
  if (events.empty()) {
    return Fail(ErrorCode::kNotFound,
                "list: no event matches '" + cli::EscapeForTerminal(request.glob) + "'");
  }
  const bool is_table = request.form == ListForm::kTable;
  const std::string text = is_table ? ListText(events) : NamesText(events, request.glob);
  std::optional<cli::Pager> pager;
  if (is_table && cli::IsTerminal()) pager.emplace();
  TRY(WriteAll(STDOUT_FILENO, AsBytes(text)));
  return cli::kDone;
}

// Gives the thread that records, but no other thread or process that it starts, this priority.
Status SetRealtime(int priority) {
  const sched_param wanted = {.sched_priority = priority};
  if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &wanted) == 0) return {};
  return FailErrno(fmt::format("-r {}: SCHED_FIFO", priority), errno);
}

// Prints what was recorded, and what is missing.
void PrintSummary(const record::RecordSummary& summary, cli::Console& console) {
  for (const std::string& warning : summary.warnings) console.Warning(warning);
  if (!summary.output.failure.empty()) console.Error(FailureText(summary));
  if (!summary.output.bundle_failure.empty()) {
    console.Warning((summary.output.failure.empty()
                         ? "the recording is complete but has no symbols: "
                         : "no symbols written: ") +
                    summary.output.bundle_failure);
  }
  for (const std::string& line : SummaryLines(summary)) console.Note(line);
}

Result<int> Run(const RecordRun& plan, cli::Console& console) {
  if (!plan.verb_help.empty()) {
    TRY(cli::PrintToStdout(plan.verb_help));
    return cli::kDone;
  }
  if (plan.listed_events) return List(*plan.listed_events);
  if (plan.diagnosis) return doctor_tool::PrintDiagnosis(*plan.diagnosis, console.verbosity());
  if (plan.dry_run) return cli::kDone;
  TRY_ASSIGN(const bool is_stream, CheckOutputs(plan));
  if (plan.realtime) TRY(SetRealtime(*plan.realtime));
  record::RecordOptions options = plan;
  const std::optional<record::Sampler> sampler = ChooseSampler(options, plan.sampler, console);
  if (!sampler) return cli::kFailed;
  options.input.sampler = *sampler;
  options.output.command_line = recording::OwnCommandLine();
  if (console.verbosity() == cli::Verbosity::kVerbose) {
    options.input.libbpf_log = [&](std::string_view message) { console.Detail(message); };
  }
  if (!plan.no_sandbox) {
    options.drop_privileges = [&] {
      const std::filesystem::path outputs[] = {options.output.file, options.output.bundle.file,
                                               plan.json_file};
      return sandbox::DropRecorderPrivileges(outputs);
    };
  }
  RecordingProgress progress;
  // A command has the terminal for itself.
  if (plan.shows_progress && options.command.empty()) {
    options.on_progress = [&](const record::RecordProgress& made) { progress.Show(made); };
  }
  if (options.latency_interval) {
    options.flush_interval =
        std::min(options.flush_interval,
                 std::chrono::ceil<std::chrono::milliseconds>(*options.latency_interval));
    options.on_latency = [&](std::span<const record::LatencyInterval> probes) {
      const std::string text =
          plan.json_file.empty() ? LatencyTable(probes) : LatencyJsonLine(probes);
      (void)WriteAll(STDERR_FILENO, AsBytes(text));  // the recording goes on without a reader
    };
  }
  record::SwitchRequest switch_request;
  std::function<void()> on_usr2;
  if (options.rotation) options.rotation->files.request = &switch_request;
  if (options.flight) options.flight->files.request = &switch_request;
  if (options.rotation || options.flight) {
    on_usr2 = [&] { switch_request.Request(); };
  }
  std::atomic<bool> has_file = false;
  options.on_published = [&] { has_file = true; };
  const auto before_end = [&](int signal) {
    if (!IsWritable(STDERR_FILENO)) return;
    console.Error(has_file ? SecondSignalText(signal, options) : EarlySignalText(signal));
  };
  using recording::StopSignals;
  TRY_ASSIGN(const std::unique_ptr<StopSignals> signals,
             StopSignals::Catch(before_end, &StopSignals::Clock::now, std::move(on_usr2)));
  const Result<record::RecordSummary> recorded = record::Record(options, signals->token());
  cli::EndProgress();
  TRY_ASSIGN(const record::RecordSummary summary, recorded);
  const int exit_status = ExitStatus(summary, plan.max_loss);
  TRY(WriteJson(SummaryJson(summary, exit_status), plan.json_file));
  if (!summary.command_failure.empty()) {
    console.Error(summary.command_failure);
    return exit_status;
  }

  PrintSummary(summary, console);
  const bool has_bundle =
      options.output.bundle.destination == record::BundleRequest::Destination::kRecording;
  if (is_stream && has_bundle) {
    console.Detail("no symbols written: a pipe cannot contain a bundle: use --bundle FILE");
  }
  return exit_status;
}

}  // namespace

int Main(int argc, char** argv) noexcept {
  return cli::Main<Plan, RecordRun>({RecordCommand(), &PlanOf, &Run}, argc, argv);
}

}  // namespace perftape::record_tool

// SPDX-License-Identifier: Apache-2.0
#include "record/flight/flight_recorder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "record/machine/monotonic_clock.h"

namespace perftape::record {
namespace {

constexpr std::size_t kMostFilesInSummary = 64;

}  // namespace

Result<std::unique_ptr<FlightRecorder>> FlightRecorder::Prepare(const RecordOptions& options) {
  const FlightOptions& flight = *options.flight;
  TRY_ASSIGN(TriggerSet triggers, TriggerSet::Open(flight.triggers, options.input.cpus));
  TRY_ASSIGN(std::unique_ptr<FileSeries> files,
             FileSeries::Prepare({.pattern = options.output.file,
                                  .keep = flight.keep,
                                  .command = flight.exec_on_switch,
                                  .signals = options.command_signals,
                                  .reserved_space = options.output.reserved_space}));
  return std::unique_ptr<FlightRecorder>(
      new FlightRecorder(options, std::move(triggers), std::move(files)));
}

FlightRecorder::FlightRecorder(const RecordOptions& options, TriggerSet triggers,
                               std::unique_ptr<FileSeries> files)
    : options_(options),
      flight_(*options.flight),
      cooldown_(static_cast<std::uint64_t>(flight_.cooldown.value_or(flight_.span).count())),
      triggers_(std::move(triggers)),
      files_(std::move(files)) {
  sums_.span_ns = static_cast<std::uint64_t>(flight_.span.count());
}

void FlightRecorder::Start(RecordingOutput& output) {
  if (!triggers_.WatchesSamples()) return;
  output.SetObserver([this](const perfdata::RecordView& sample) { triggers_.Observe(sample); });
}

int FlightRecorder::poll_fd() const {
  return flight_.request == nullptr ? -1 : flight_.request->poll_fd();
}

void FlightRecorder::AfterRound(RecordingOutput& output) {
  const std::uint64_t now_ns = MonotonicNs();
  if (files_->Collect()) {
    files_->DeleteOldFiles(now_ns);
  } else {
    files_->DeleteIfDue(now_ns);
  }
  CheckTriggers(output, now_ns);
}

// While a file is written, its records need their memory still. So there is one such file at a
// time: a trigger is ignored meanwhile, and a request waits.
void FlightRecorder::CheckTriggers(RecordingOutput& output, std::uint64_t now_ns) {
  if (flight_.request != nullptr && flight_.request->Consume()) is_requested_ = true;
  std::optional<TriggerSet::Fired> fired = triggers_.Check(now_ns);
  const bool is_busy = files_->unfinished() > 0;
  std::string cause;
  if (fired && cooldown_.Admits(fired->times, now_ns, is_busy)) {
    cause = std::move(fired->text);
  } else if (is_requested_ && !is_busy) {
    cause = "SIGUSR2";
  }
  if (cause.empty()) return;
  is_requested_ = false;
  if (const Status written = Write(output, cause, now_ns); !written) {
    files_->Warn(written.error().message + ": no file was written for " + cause);
  }
}

Status FlightRecorder::Write(RecordingOutput& output, const std::string& cause,
                             std::uint64_t now_ns) {
  files_->MakeRoom(output.flight_bytes());
  const bool leaves_space = options_.output.reserved_space > 0;
  if (leaves_space && !files_->HasRoom(output.flight_bytes())) {
    return Fail(
        ErrorCode::kIo,
        options_.output.file.native() + ": the disk has no room for the records beside --reserve-space");
  }
  const std::filesystem::path path = files_->NextPath();
  TRY_ASSIGN(FlightDump dump, output.DumpFlight(path, cause));
  cooldown_.Begin(now_ns);
  sums_.kept_ns = dump.kept_ns;
  if (dump.is_short_of_memory) {
    sums_.least_kept_ns = std::min(sums_.least_kept_ns.value_or(dump.kept_ns), dump.kept_ns);
  }
  if (sums_.files.size() == kMostFilesInSummary) sums_.files.erase(sums_.files.begin());
  sums_.files.push_back({.trigger = cause, .file = path, .kept_ns = dump.kept_ns});
  files_->Add(std::move(dump.ended));
  return {};
}

void FlightRecorder::End(RecordingOutput& output, const std::string& cause,
                         RecordSummary& summary) {
  const std::uint64_t now_ns = MonotonicNs();
  sums_.dropped_samples = output.dropped_samples();
  sums_.ignored_triggers = cooldown_.ignored();
  const std::uint64_t samples = summary.samples, lost = summary.lost_samples;
  const Status written = Write(output, cause, now_ns);
  files_->End(now_ns, summary);
  summary.failure = written ? files_->last_failure() : written.error().message;
  std::erase(summary.warnings, summary.failure);
  // Files before may have been deleted; their samples do not count.
  summary.samples = written ? std::min(samples, files_->last_samples()) : 0;
  summary.unwritten_samples = samples - summary.samples;
  summary.lost_samples = lost + summary.unwritten_samples;
  summary.flight = sums_;
}

}  // namespace perftape::record

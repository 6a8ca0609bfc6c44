// SPDX-License-Identifier: Apache-2.0
#include "tests/record/made_recording.h"

#include <limits>
#include <set>
#include <stdexcept>

#include "formats/base/input.h"
#include "formats/perfdata/reader.h"

namespace perftape::record {
namespace {

FileEvents MakeEvents(const std::vector<std::string>& names, std::uint64_t period_ns) {
  std::vector<PlannedEvent> planned;
  for (const std::string& name : names) {
    planned.push_back({.name = name,
                       .attr = CounterAttr(perfdata::kTypeSoftware, 0, Frequency{99}),
                       .cause = SampleCause::kCounter});
    planned.back().settings.period_ns = period_ns;
  }
  FileEvents events(std::move(planned), {});
  for (std::uint32_t event = 0; event <= names.size(); ++event) {
    for (std::uint32_t cpu = 0; cpu < MadeInput::kCpus; ++cpu) {
      events.ids().Add(event, cpu, MadeInput::IdOf(event, cpu));
    }
  }
  return events;
}

void AddTo(FileContent& content, const perfdata::RecordView& record,
           const perfdata::SampleFormat& format) {
  if (record.type == perfdata::RecordType::kSample) {
    const std::optional<perfdata::Sample> sample = perfdata::RecoverSample(record, format);
    if (!sample) throw std::runtime_error("a damaged sample");
    content.sample_times.push_back(sample->time);
    content.periods.push_back(sample->period);
  } else if (record.type == perfdata::RecordType::kLostSamples) {
    content.lost_samples += perfdata::Decode<perfdata::LostSamples>(record, format)->count;
  } else if (record.type == perfdata::RecordType::kLost) {
    content.lost_process_events += perfdata::Decode<perfdata::Lost>(record, format)->count;
  } else if (record.type == perfdata::RecordType::kComm) {
    content.comms.emplace_back(perfdata::Decode<perfdata::Comm>(record, format)->comm);
  } else if (record.type == perfdata::RecordType::kFinishedRound) {
    ++content.rounds;
  }
}

}  // namespace

Result<int> MadeClock::Poll(std::span<pollfd>, std::chrono::milliseconds timeout) {
  const std::uint64_t end_ns =
      now_ns_ + static_cast<std::uint64_t>(std::chrono::nanoseconds(timeout).count());
  while (!actions_.empty() && actions_.begin()->first <= end_ns) {
    const auto [time_ns, action] = *actions_.begin();
    actions_.erase(actions_.begin());
    now_ns_ = std::max(now_ns_, time_ns);
    action();
  }
  now_ns_ = end_ns;
  return 0;
}

MadeInput::MadeInput(MadeClock& clock, const std::vector<std::string>& names,
                     std::uint64_t period_ns)
    : clock_(clock),
      events_(MakeEvents(names, period_ns)),
      records_(events_.ids(), events_.format(), events_.FormatsByEvent(),
               std::numeric_limits<std::uint64_t>::max()),
      counters_(names.size(), std::vector<wire_cpu>(kCpus)) {}

void MadeInput::AddSample(std::uint64_t time_ns, std::uint32_t pid, std::uint32_t event,
                          std::uint64_t arrival_ns) {
  std::vector<std::byte> bytes = SampleOf(
      {.id = IdOf(event, 0), .ip = 0x1000, .pid = pid, .tid = pid, .time = time_ns, .period = 10},
      perfdata::CpuMode::kUser);
  arrivals_.emplace(arrival_ns != 0 ? arrival_ns : time_ns, std::move(bytes));
}

Status MadeInput::Drain() {
  while (!arrivals_.empty() && arrivals_.begin()->first <= clock_.MonotonicNs()) {
    records_.AddKernelRecord(arrivals_.begin()->second);
    arrivals_.erase(arrivals_.begin());
  }
  return {};
}

FileContent ReadBack(const std::filesystem::path& file) {
  Result<Input> input = Input::Open(file);
  if (!input) throw std::runtime_error(input.error().message);
  const Result<perfdata::Reader> reader = perfdata::Reader::Open(*input);
  if (!reader) throw std::runtime_error(reader.error().message);
  FileContent content;
  perfdata::RecordCursor cursor = reader->records();
  while (true) {
    const Result<std::optional<perfdata::RecordView>> record = cursor.Next();
    if (!record) throw std::runtime_error(record.error().message);
    if (!*record) break;
    AddTo(content, **record, kTestFormat);
  }
  content.has_build_ids = reader->feature(perfdata::FeatureBit::kBuildId).has_value();
  content.notes = bundle::FindNotes(reader->file()).value();
  return content;
}

std::vector<FileContent> ReadAllIn(const std::filesystem::path& directory) {
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    paths.insert(entry.path());
  }
  std::vector<FileContent> files;
  for (const std::filesystem::path& path : paths) files.push_back(ReadBack(path));
  return files;
}

MadeRecording::MadeRecording(std::filesystem::path file, const std::vector<std::string>& events)
    : owned_(std::make_unique<MadeInput>(clock, events)), input_(owned_.get()) {
  options.output.file = std::move(file);
  options.output.bundle.destination = BundleRequest::Destination::kNone;
}

void MadeRecording::AddSamples(double from, double to) {
  constexpr std::uint64_t kIntervalNs = kNsPerSecond / 100;
  for (std::uint64_t at = At(from); at < At(to); at += kIntervalNs) input_->AddSample(at, 7);
}

RecordSummary MadeRecording::Run(std::uint64_t seconds) {
  options.duration = std::chrono::seconds(seconds);
  RecordingWorld world{.open_input = [this](std::optional<pid_t>, std::vector<std::string>&)
                           -> Result<std::unique_ptr<RecordInput>> { return std::move(owned_); },
                       .loaded_programs = [] { return std::vector<BpfProgram>(); },
                       .clock = clock};
  recording_.emplace(options, std::move(world), std::stop_token());
  if (const Status begun = recording_->Begin(); !begun) {
    throw std::runtime_error(begun.error().message);
  }
  if (const Status run = recording_->RunToTheEnd(); !run) {
    return std::move(*recording_).EndEarly(run.error());
  }
  return std::move(*recording_).Finish().value();
}

}  // namespace perftape::record

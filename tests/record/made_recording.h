// SPDX-License-Identifier: Apache-2.0
// A recording of made records at made times: the course, the plans and the files are real, the
// kernel and the clock are not. So a test of many seconds runs in milliseconds, the same way each
// time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/duration.h"
#include "formats/bundle/recording_notes.h"
#include "record/machine/clock.h"
#include "record/recording.h"
#include "tests/record/records.h"

namespace perftape::record {

// The first time of a made recording.
inline constexpr std::uint64_t kStartNs = 1000 * kNsPerSecond;

// Time passes only in Poll.
class MadeClock : public Clock {
 public:
  std::uint64_t MonotonicNs() override { return now_ns_; }
  std::uint64_t RealtimeNs() override { return 1'700'000'000 * kNsPerSecond + now_ns_; }
  std::uint64_t CpuNs() override { return cpu_ns; }
  Result<int> Poll(std::span<pollfd> files, std::chrono::milliseconds timeout) override;

  // Calls `action` when this time has come, from within Poll.
  void At(std::uint64_t time_ns, std::function<void()> action) {
    actions_.emplace(time_ns, std::move(action));
  }

  std::uint64_t cpu_ns = 0;  // that the recorder has used

 private:
  std::uint64_t now_ns_ = kStartNs;
  std::multimap<std::uint64_t, std::function<void()>> actions_;
};

class MadeInput : public RecordInput {
 public:
  static constexpr std::uint32_t kCpus = 2;

  // Events with these names, which sample as cpu-clock does; with a period of 0, without a timer.
  explicit MadeInput(MadeClock& clock, const std::vector<std::string>& names = {"cpu-clock"},
                     std::uint64_t period_ns = 0);

  // The id of an event on a CPU.
  static std::uint64_t IdOf(std::uint32_t event, std::uint32_t cpu) {
    return 100 * event + cpu + 1;
  }

  // Adds a sample of process `pid` that is in a ring from `arrival_ns` on, or from its time on.
  void AddSample(std::uint64_t time_ns, std::uint32_t pid, std::uint32_t event = 0,
                 std::uint64_t arrival_ns = 0);
  // Adds a process event.
  template <class Record>
  void Add(std::uint64_t time_ns, const Record& record) {
    std::vector<std::byte> bytes;
    const perfdata::SampleId trailer = events_.TrailerOf(events_.sideband_event(), 0, time_ns);
    if (!perfdata::Encode(record, trailer, events_.format(), 0, bytes)) std::abort();
    arrivals_.emplace(time_ns, std::move(bytes));
  }
  // From `time_ns` on, the ring of the CPU has lost so many samples.
  void LoseInRing(std::uint64_t time_ns, std::uint32_t cpu, std::uint64_t samples) {
    clock_.At(time_ns, [this, cpu, samples] { counters_[0][cpu].ring_full = samples; });
  }

  // The counters of an event on a CPU.
  wire_cpu& counters(std::uint32_t event, std::uint32_t cpu) { return counters_[event][cpu]; }

  std::vector<AbsentCpu> absences;
  std::optional<std::vector<std::uint32_t>> targets;  // before the recording; nothing: all
  std::vector<std::byte> initial_state;               // likewise
  bool have_targets_ended = false;
  std::vector<std::uint64_t> divisors;  // of SampleOneIn
  std::set<std::uint32_t> is_off;       // the events that are switched off

  const FileEvents& events() const override { return events_; }
  const std::optional<std::vector<std::uint32_t>>& processes() const override { return targets; }
  Result<std::vector<std::byte>> InitialState(std::span<const BpfProgram>,
                                              std::vector<std::string>&) const override {
    return initial_state;
  }
  Status Start() override { return {}; }
  Status Stop() override { return {}; }
  Status SwitchOff(std::uint32_t event) override {
    is_off.insert(event);
    return {};
  }
  Status SwitchOn(std::uint32_t event) override {
    is_off.erase(event);
    return {};
  }
  bool IsOn(std::uint32_t event) const override { return !is_off.contains(event); }
  Status Drain() override;
  IncomingRecords& records() override { return records_; }
  const IncomingRecords& records() const override { return records_; }
  Status DrainLatency() override { return {}; }
  void SumUpFastCalls(std::uint64_t) override {}
  std::vector<LatencyInterval> NextLatencyInterval() override { return {}; }
  LatencySummary Latency() const override { return {}; }
  std::vector<bundle::NotedContainer> Containers() const override { return {}; }
  std::vector<bundle::NotedProcess> ProcessContexts() const override { return {}; }
  Status ReopenOnReturnedCpus(std::uint64_t) override { return {}; }
  void SampleOneIn(std::uint64_t divisor) override { divisors.push_back(divisor); }
  bool HaveTargetsEnded() const override { return have_targets_ended; }
  SampledTasks tasks() const override { return SampledTasks::kEvery; }
  std::vector<wire_cpu> Counters(std::uint32_t event) const override { return counters_[event]; }
  ChainCounts ChainsOf(std::uint32_t) const override { return {}; }
  std::vector<std::uint32_t> SampledCpus() const override { return {0, 1}; }
  std::vector<AbsentCpu> Absences() const override { return absences; }
  std::vector<std::string> CgroupGaps(std::uint64_t) const override { return {}; }
  std::uint64_t SkippedHits() const override { return 0; }
  int sample_poll_fd() const override { return -1; }
  int sideband_poll_fd() const override { return -1; }

 private:
  MadeClock& clock_;
  FileEvents events_;
  IncomingRecords records_;
  std::multimap<std::uint64_t, std::vector<std::byte>> arrivals_;
  std::vector<std::vector<wire_cpu>> counters_;
};

// What a file has.
struct FileContent {
  std::vector<std::uint64_t> sample_times;
  std::vector<std::uint64_t> periods;
  std::uint64_t lost_samples = 0, lost_process_events = 0;  // of LOST_SAMPLES and LOST
  std::vector<std::string> comms;
  std::size_t rounds = 0;
  bool has_build_ids = false;  // the features are complete
  std::optional<bundle::RecordingNotes> notes;
};

// Throws if the file cannot be read to its end.
FileContent ReadBack(const std::filesystem::path& file);
// Returns those of a directory, by name.
std::vector<FileContent> ReadAllIn(const std::filesystem::path& directory);

// One recording. Set the options and the input, then call Run once.
class MadeRecording {
 public:
  explicit MadeRecording(std::filesystem::path file,
                         const std::vector<std::string>& events = {"cpu-clock"});

  // Records for `seconds`. Throws if the recording cannot begin.
  RecordSummary Run(std::uint64_t seconds);

  RecordOptions options;
  MadeClock clock;

  MadeInput& input() { return *input_; }
  // Adds a sample of process 7 every 10 ms, from one second of the recording to before another.
  void AddSamples(double from, double to);
  // A time of the recording.
  static std::uint64_t At(double seconds) {
    return kStartNs + static_cast<std::uint64_t>(seconds * 1e9);
  }

 private:
  std::unique_ptr<MadeInput> owned_;  // until Run; then the recording owns it
  MadeInput* input_;
  std::optional<Recording> recording_;
};

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
// A recording that runs: what Record() (recorder.h) has while it does, step by step. How it begins
// and goes on is in recorder.cc, how it ends in recording_end.cc.
#pragma once

#include <sys/eventfd.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/output_target.h"
#include "formats/base/result.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/writer.h"
#include "record/events/cpu_events.h"
#include "record/events/event_ids.h"
#include "record/machine/loaded_bpf_programs.h"
#include "record/processes/target_filter.h"
#include "record/recorder.h"
#include "record/rings/background_drain.h"
#include "record/rings/sideband.h"
#include "record/rings/time_merge.h"
#include "record/rings/wire_decoder.h"
#include "record/symbols/build_ids.h"

namespace perftape::record {

// The events of a recording, by which ids are found.
inline constexpr std::uint32_t kSamplingEvent = 0;
inline constexpr std::uint32_t kSidebandEvent = 1;

inline std::uint64_t MonotonicNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Wakes a poll when a stop is requested.
class StopSignal {
 public:
  explicit StopSignal(std::stop_token stop)
      : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), callback_(std::move(stop), Wake{fd_.get()}) {}
  int fd() const { return fd_.get(); }

 private:
  struct Wake {
    int fd;
    void operator()() const { (void)eventfd_write(fd, 1); }
  };
  UniqueFd fd_;
  std::stop_callback<Wake> callback_;
};

class Recording {
 public:
  Recording(const RecordOptions& options, std::stop_token stop)
      : options_(options),
        stop_requested_(stop),
        stop_(std::move(stop)),
        ledger_(TimerPeriodNs(options.rate)) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  // After an error the command has nothing to run for any more, as with perf.
  ~Recording() {
    if (child_) (void)child_->Send(SIGTERM);
  }

  // Leaves the file that has the recording's name alone where anything fails.
  Status Begin();
  Status RunToTheEnd();
  Result<RecordSummary> Finish() &&;
  // After an error of Begin: a command that could not be run is no failure of the recorder's.
  Result<RecordSummary> GiveUp(Error error) &&;
  // After an error of RunToTheEnd (disk full): counts what is not in the file.
  RecordSummary EndEarly(const Error& error) &&;

 private:
  // Opens all that can fail for want of privileges or memory, before anything is written.
  Status Open();
  Status StartCommand();
  std::unexpected<Error> CommandFailed(Error error);
  // Writes what already runs.
  Status WriteSnapshot();
  // Lets the samples and the command go, and gives the file its name.
  Status Start();
  Status OpenEvents();
  Status OpenWriter();
  void DropWhatNoPipeCarries();
  std::vector<perfdata::Event> Events() const;

  bool IsOver();
  int PollTimeoutMs() const;
  Status WaitForWork();
  Status Flush(std::uint64_t limit_ns);
  Status DrainRings();
  Status DrainSideband();
  void WatchCpus();
  Status ReopenOn(int cpu);
  Status WriteDue(Bytes record);
  void CloseTimers(std::uint64_t end_ns);
  Status AddLosses(std::uint64_t time_ns);
  Status AddLost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns);
  template <class Record>
  Status AppendLoss(std::uint32_t event, std::uint32_t cpu, const Record& loss,
                    std::uint64_t time_ns);
  void WarnOfUntrackedForks();
  void SummarizeLosses();
  Result<std::uint64_t> WriteFeatures();
  void CountTheUnwritten();
  Status WriteLastRecords();
  void CheckName();
  bool WantsBundle() const;
  void WriteBundleOfSymbols();

  // Where the merge hands on what is due.
  struct InOrder {
    Recording& recording;
    Status Append(Bytes record) { return recording.WriteDue(record); }
  };

  const RecordOptions& options_;
  OutputTarget output_;
  std::stop_token stop_requested_;
  StopSignal stop_;
  std::optional<std::uint64_t> deadline_ns_;
  RecordSummary summary_;

  std::vector<CpuEvent> sampling_, sideband_events_;
  EventIds ids_;
  perfdata::SampleFormat format_;  // of both events: their records are laid out alike
  std::optional<Child> child_;
  std::optional<Targets> targets_;
  std::optional<BpfSession> bpf_;
  std::optional<Sideband> sideband_;
  std::optional<perfdata::Writer> writer_;
  UniqueFd file_;  // the recording's, by which its bundle finds it; none of a pipe or a device
  std::optional<std::filesystem::path> file_name_;  // as it was published
  std::vector<perfdata::Feature> features_;
  std::vector<BpfProgram> programs_;
  std::optional<TargetFilter> members_;
  std::optional<RecordingBundle> bundle_;
  std::optional<BuildIdCollector> build_ids_;
  std::optional<WireDecoder> decoder_;
  TimeMerge merge_;
  LossLedger ledger_;
  std::optional<CpuHotplug> hotplug_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t damaged_written_ = 0;
  std::uint64_t process_events_ = 0;
  struct {
    std::uint64_t samples = 0, lost_samples = 0, process_events = 0;
  } committed_;
  std::uint64_t first_sample_ns_ = 0, last_sample_ns_ = 0;
  std::vector<std::byte> records_, hit_build_ids_;  // scratch
  // Uses sideband_ and merge_, so it goes first.
  std::optional<BackgroundDrain> startup_drain_;
};

template <class Record>
Status Recording::AppendLoss(std::uint32_t event, std::uint32_t cpu, const Record& loss,
                             std::uint64_t time_ns) {
  const perfdata::SampleId trailer{
      .time = time_ns, .id = ids_.Find(event, cpu).value_or(0), .cpu = cpu};
  return perfdata::Encode(loss, trailer, format_, 0, records_);
}

}  // namespace perftape::record

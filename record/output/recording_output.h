// SPDX-License-Identifier: Apache-2.0
// The output of a recording. It gets records in time order and writes those that concern the
// targets. It writes each build id before the first sample in its binary, and the bundle at the
// end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/base/output_target.h"
#include "formats/base/result.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/record.h"
#include "record/events/event_input.h"
#include "record/flight/flight_buffer.h"
#include "record/losses/notes_of.h"
#include "record/machine/loaded_bpf_programs.h"
#include "record/options.h"
#include "record/output/file_finisher.h"
#include "record/output/recording_file.h"
#include "record/output/sample_aggregator.h"
#include "record/output/seam_state.h"
#include "record/processes/target_filter.h"
#include "record/summary.h"
#include "record/symbols/build_ids.h"
#include "record/symbols/recording_bundle.h"

namespace perftape::record {

// Numbers of records that were appended.
struct RecordCounts {
  std::uint64_t samples = 0;
  std::uint64_t process_events = 0;  // all other records except LOST_SAMPLES
};

// A file of a flight recording, and how much it has.
struct FlightDump {
  EndedFile ended;
  std::uint64_t kept_ns = 0;
  bool is_short_of_memory = false;
};

// Not thread-safe.
class RecordingOutput {
 public:
  enum class Successor : std::uint8_t { kNone, kFollows };

  // Prepares the bundle and creates the file `path` under a temporary name. `target` is the
  // resolved path. Keeps no reference to `input`, and one to `options`. Adds to `warnings`. Returns
  // the errors of RecordingBundle::Prepare and RecordingFile::Create.
  static Result<std::unique_ptr<RecordingOutput>> Open(
      const RecordOptions& options, const std::filesystem::path& path, const OutputTarget& target,
      const EventInput& input, std::span<const BpfProgram> programs, const std::stop_token& stop,
      std::vector<std::string>& warnings);

  // `notes_so_far` returns the notes of the recording until now. It is called at the end of a file.
  void SetNotes(std::function<bundle::RecordingNotes()> notes_so_far) {
    notes_so_far_ = std::move(notes_so_far);
  }

  // Writes and commits the initial state (initial_state.h).
  Status WriteInitialState(Bytes records);
  // Gives the file its name. A flight recording has none yet.
  Status Publish() { return file_ ? file_->Publish() : Status(); }

  // These are for a rotating recording, between two rounds. The next file starts with the state at
  // the end of the last round; records that are appended later go there. Returns the old file,
  // which lacks its features and bundle. After an error, the old file continues.
  Result<EndedFile> NextFile(const std::filesystem::path& path);
  // Ends the file without a next one. With Successor::kFollows the recording is suspended, perhaps
  // after a failed CommitRound: samples that are appended are counted as lost until Resume.
  // Processes and mappings are still followed.
  EndedFile EndFile(Successor successor);
  // Begins a file, with a LOST_SAMPLES of `time_ns` for the samples that no file has.
  Status Resume(const std::filesystem::path& path, std::uint64_t time_ns);
  bool is_suspended() const { return !file_; }

  // Creates a file for the records that a flight recording keeps. Its rounds are in the result;
  // the recording continues. The notes get `trigger`. For a recording with
  // RecordOptions::flight only, between two rounds.
  Result<FlightDump> DumpFlight(const std::filesystem::path& path, const std::string& trigger);
  // The memory of these records, in bytes.
  std::uint64_t flight_bytes() const { return flight_ ? flight_->bytes() : 0; }
  // The samples that are no longer in memory.
  std::uint64_t dropped_samples() const { return flight_ ? flight_->dropped_samples() : 0; }
  // Calls `observe` with each sample that concerns a target.
  void SetObserver(std::function<void(const perfdata::RecordView&)> observe) {
    observe_ = std::move(observe);
  }

  // Writes one record, in time order, if it concerns a target.
  Status Append(Bytes record);
  // Whether the round must be committed now. With RecordOptions::aggregate, records wait for the
  // end of an interval, and with RecordOptions::flight for the end of a round.
  bool IsCommitDue(std::uint64_t now_ns) const {
    if (flight_) return flight_->IsRoundDue(now_ns);
    return !aggregator_ || aggregator_->IsOver(now_ns);
  }
  // Ends the interval. Call it before CommitRound.
  Status EndInterval();
  // Appends a FINISHED_ROUND and commits all records.
  Status CommitRound();
  // With RecordOptions::sync, waits until the committed records are on the disk.
  Status Sync() const { return file_ ? file_->Sync() : Status(); }
  // After a failed Append or Commit: replaces all uncommitted records by these.
  Status CommitInstead(Bytes records);
  // The numbers of records appended since the last commit.
  RecordCounts uncommitted() const;

  // Writes the features. Nothing may be appended later.
  Result<FinishedRecording> WriteFeatures();
  // Writes the counts of the appended records into `summary`, whose events are listed already.
  void Summarize(RecordSummary& summary) const;
  // Writes the path of the file into `summary`, and reports if the file was renamed or deleted.
  void CheckName(RecordSummary& summary) const;
  // Writes the notes of `summary` and the bundle, if it was requested, and its result into
  // `summary`. Call it last.
  void WriteBundle(RecordSummary& summary);

  std::uint64_t size() const { return file_ ? file_->size() : 0; }
  std::uint64_t uncommitted_bytes() const { return file_ ? file_->uncommitted_bytes() : 0; }
  std::uint64_t committed_samples() const { return committed_.samples; }
  std::uint64_t samples_in_file() const { return committed_.samples - before_file_.samples; }
  std::optional<perfdata::Compression> compression() const;

 private:
  // What all files have in common.
  struct Contents {
    std::vector<perfdata::Event> events;
    std::vector<perfdata::Feature> features;
    std::stop_token stop;
  };

  RecordingOutput(const RecordOptions& options, Contents contents,
                  std::optional<RecordingBundle> bundle, const EventInput& input);
  Result<RecordingFile> CreateFile(const std::filesystem::path& path, const OutputTarget& target,
                                   std::vector<std::string>& warnings) const;
  // Creates and publishes a file with `state`, the initial state of the seam.
  Result<RecordingFile> CreateAtSeam(const std::filesystem::path& path, Bytes state) const;
  // Replaces the file and what is counted of it.
  Status StartFile(RecordingFile file, Bytes state);
  Status CheckReservedSpace() const;
  // The owners of what the next samples hit.
  HitKeepers Keepers();
  Status EndFlightRound();
  void SubtractDropped(RecordSummary& summary) const;
  // Returns a LOST_SAMPLES and a FINISHED_ROUND, or nothing for 0 samples.
  static Result<std::vector<std::byte>> EncodeLost(std::uint64_t samples,
                                                   const perfdata::SampleId& trailer,
                                                   const perfdata::SampleFormat& format);
  // The same for what no file reports yet.
  Result<std::vector<std::byte>> EncodeUnwritten(std::uint64_t time_ns) const;
  void Count(const perfdata::RecordView& record);
  void CommitPart();
  void WriteSymbols(const bundle::RecordingNotes& notes, RecordSummary& summary);
  Status CountLost(const perfdata::RecordView& record);

  const RecordOptions& options_;
  Contents contents_;
  std::optional<RecordingFile> file_;  // nothing while suspended, and in a flight recording
  perfdata::SampleFormat format_;
  std::unordered_map<std::uint64_t, std::size_t> events_by_id_;  // of sampling events
  std::vector<std::uint64_t> samples_by_event_;
  std::optional<TargetFilter> target_filter_;  // nothing: the whole system
  std::optional<RecordingBundle> bundle_;
  BuildIdCollector build_ids_;
  std::optional<SeamState> seam_;                                     // of a rotating recording
  static constexpr std::size_t kPartOfRound = std::size_t{64} << 10;  // bytes
  std::optional<Error> part_failure_;  // the next CommitRound returns it
  RecordCounts appended_, committed_;
  RecordCounts before_file_;         // appended before the file began
  std::uint64_t discarded_ = 0;      // samples appended that are in no file
  std::uint64_t unwritten_ = 0;      // samples, and those of LOST_SAMPLES, that no file reports yet
  std::uint64_t appended_lost_ = 0;  // by LOST_SAMPLES records since the last commit
  perfdata::SampleId loss_trailer_;  // of a LOST_SAMPLES, without its time
  std::map<int, std::uint64_t> lost_process_events_;  // by LOST records, by CPU
  std::optional<SampleAggregator> aggregator_;
  std::optional<FlightBuffer> flight_;                        // then there is no file_
  std::function<void(const perfdata::RecordView&)> observe_;  // may be empty
  std::function<bundle::RecordingNotes()> notes_so_far_;
  NotesByFile notes_by_file_;
  bool has_features_ = false;              // the file is finished
  perfdata::SampleTime sample_time_ = {};  // of the first and the last sample
};

}  // namespace perftape::record

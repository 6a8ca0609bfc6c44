// SPDX-License-Identifier: Apache-2.0
// Where the records of a recording go: into one file (one_file.h), into one file after the other
// (rotation.h), or into memory for the last seconds (flight_recorder.h). Otherwise, a recording
// (recorder.h) runs in the same way for all of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/output_target.h"
#include "formats/base/result.h"
#include "formats/bundle/recording_notes.h"
#include "formats/perfdata/record.h"
#include "record/events/file_events.h"
#include "record/machine/clock.h"
#include "record/output/file_template.h"
#include "record/output/output_summary.h"
#include "record/output/record_counter.h"
#include "record/scope/cgroup_usage.h"
#include "record/symbols/build_ids.h"

namespace perftape::record {

// What all plans use. It belongs to the recording.
struct OutputParts {
  Clock& clock;
  FileTemplate files;
  SampleFormats sample_formats;
  RecordCounter counter;
  BuildIdCollector build_ids;
  // Returns what a file says about the recording. `counts` are the records written so far.
  std::function<bundle::RecordingNotes(const OutputCounts& counts)> notes_of;
  std::optional<CgroupUsage> cgroups = {};  // of the processes that have samples
};

// A record that concerns a target.
struct PassedRecord {
  perfdata::RecordView view;
  Bytes bytes;      // all of it
  Bytes build_ids;  // HEADER_BUILD_ID records of the binaries that it is the first to hit
};

// How the recording ended.
struct RecordingEnd {
  std::string cause;                  // why a flight recorder writes its last file
  std::optional<Error> failure = {};  // of a round, whose records are not in the file
};

// Not thread-safe. Functions are called in the order of their declaration.
class OutputPlan {
 public:
  virtual ~OutputPlan() = default;

  // Returns where the first file goes.
  virtual Result<OutputTarget> FirstTarget() = 0;
  // Creates the first file under a temporary name and writes the initial state, `records`. `parts`
  // must outlive this object. Adds to `warnings`, which are one sentence each. Fails with kNotFound
  // if a trigger names an event that is not recorded; otherwise as RecordingFile::Create.
  virtual Status Open(OutputParts& parts, const FileEvents& events, Bytes records,
                      std::vector<std::string>& warnings) = 0;
  // Gives the file its name; sampling has started. After an error of this or an earlier function,
  // an older file with this name is unchanged.
  virtual Status Start() = 0;

  // Gets one record, in time order.
  virtual Status Append(const PassedRecord& record) = 0;
  // Ends a round: all following records are later than `limit_ns`. With `is_last`, none follow.
  // After an error, the recording ends early.
  virtual Status EndRound(std::uint64_t limit_ns, bool is_last) = 0;
  // Whether the next round ends a file.
  virtual bool IsSeamDue() { return false; }
  // Whether a round waits for the samples of threads that have just ended (TimeMerge).
  virtual bool WaitsForExits() const { return true; }
  // What is written so far. Makes no system call.
  virtual OutputCounts Counts() const = 0;
  virtual std::uint64_t file_bytes() const = 0;
  // The time until the output needs the end of a round, at most `longest`.
  virtual std::chrono::milliseconds UntilRound(std::chrono::milliseconds longest) const {
    return longest;
  }
  // Becomes readable when a file is requested; -1 if none can be.
  virtual int poll_fd() const { return -1; }

  // Requests a file of the last seconds for `cause`. Returns whether this plan has such files.
  virtual bool RequestFile(std::string_view /*cause*/) { return false; }

  // Completes the last file, and waits for all. Adds to `warnings`.
  virtual OutputSummary End(const RecordingEnd& end, std::vector<std::string>& warnings) = 0;

 protected:
  OutputPlan() = default;
};

}  // namespace perftape::record

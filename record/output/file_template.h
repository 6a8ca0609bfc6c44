// SPDX-License-Identifier: Apache-2.0
// What all files of a recording have in common: options, events and features.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "formats/base/output_target.h"
#include "formats/base/result.h"
#include "formats/perfdata/features.h"
#include "record/events/file_events.h"
#include "record/machine/loaded_bpf_programs.h"
#include "record/output/output_options.h"
#include "record/output/recording_file.h"
#include "record/symbols/recording_bundle.h"

namespace perftape::record {

class FileTemplate {
 public:
  // `options` must outlive this object. `programs` are the BPF programs of the machine. `stop` ends
  // the wait for the reader of a named pipe. Fails if tracefs cannot be read and a tracepoint is
  // recorded.
  static Result<FileTemplate> Make(const OutputOptions& options, const FileEvents& events,
                                   std::span<const BpfProgram> programs, std::stop_token stop);

  const OutputOptions& options() const { return options_; }
  // The layout of all records but samples.
  const perfdata::SampleFormat& format() const { return format_; }

  // Creates the file `path` under a temporary name; `target` is the resolved path. OldFile::kRefuse
  // is for one of several files. Adds to `warnings`. Returns the errors of RecordingFile::Create.
  Result<RecordingFile> CreateFile(const std::filesystem::path& path, const OutputTarget& target,
                                   OldFile old, std::vector<std::string>& warnings) const;
  // Prepares the bundle of a file; nothing if none was requested. Returns the errors of
  // RecordingBundle::Prepare.
  Result<std::optional<RecordingBundle>> PrepareBundle(const OutputTarget& target) const;

  // Returns a LOST_SAMPLES for `samples`, a LOST for `process_events`, and a FINISHED_ROUND;
  // nothing if both are 0.
  Result<std::vector<std::byte>> EncodeLost(std::uint64_t samples, std::uint64_t process_events,
                                            std::uint64_t time_ns) const;

 private:
  FileTemplate(const OutputOptions& options, const FileEvents& events, std::stop_token stop);

  const OutputOptions& options_;
  std::vector<perfdata::Event> events_;
  std::vector<perfdata::Feature> features_;
  perfdata::SampleFormat format_;
  perfdata::SampleId first_event_, sideband_event_;  // trailers without a time
  std::stop_token stop_;
};

}  // namespace perftape::record

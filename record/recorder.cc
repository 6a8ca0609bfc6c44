// SPDX-License-Identifier: Apache-2.0
#include "record/recorder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "record/input/event_input.h"
#include "record/recording.h"
#include "record/symbols/others_files.h"

namespace perftape::record {

Result<RecordSummary> Record(const RecordOptions& requested, std::stop_token stop) {
  RecordOptions options = requested;
  // Before all threads and descriptors.
  TRY_ASSIGN(const std::shared_ptr<OthersFiles> files, OthersFiles::Start(options.drop_privileges));
  options.output.bundle.others = files;
  const auto open_input =
      [&](std::optional<pid_t> command,
          std::vector<std::string>& warnings) -> Result<std::unique_ptr<RecordInput>> {
    return EventInput::Open(options.input, command, *files, warnings);
  };
  Recording recording(options, {.open_input = open_input}, std::move(stop));
  if (Status begun = recording.Begin(); !begun) {
    return std::move(recording).GiveUp(std::move(begun).error());
  }
  if (const Status run = recording.RunToTheEnd(); !run) {
    return std::move(recording).EndEarly(run.error());
  }
  Result<RecordSummary> summary = std::move(recording).Finish();
  if (summary) std::ranges::move(files->told(), std::back_inserter(summary->warnings));
  return summary;
}

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
// The second pass over a recording: its samples as they lie in the file, each in the state of its
// turn, into a table. No sample waits for another, and none is sorted.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/import/process_history.h"
#include "convert/import/sample_table.h"
#include "convert/import/survey.h"
#include "convert/import/time_window.h"
#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/reader.h"

namespace perftape {

class SampleReader {
 public:
  // All must outlive it. What is left out is counted in `report`.
  SampleReader(const perfdata::Reader& reader, const ImportOptions& options, Survey& survey,
               ImportReport& report);

  // Reads all samples.
  void Run();
  // The same, and tells of each SAMPLE record, in the file's order, which row its sample is in: of
  // several, that of the event that took it. kNoRow where it is in none. Counters that are read
  // with the samples are taken as they lie in the file, so that periods may differ from Run's.
  static constexpr std::uint32_t kNoRow = 0xffffffff;
  void Run(std::vector<std::uint32_t>& rows_of_records);

  // What was read, complete and closed.
  SampleTable& table() { return table_; }
  const TimeSpan& times() const { return times_; }  // of the samples that are in the table

 private:
  // The state of a thread that had a sample lately.
  struct Recent {
    std::uint32_t pid = 0, tid = 0;
    ThreadState state;
    std::uint32_t thread = 0;  // in the table
  };
  static constexpr std::size_t kRecent = 256;

  bool NeedsTimeOrder() const;
  void RunInFileOrder();
  void RunInTimeOrder();
  void Take(const perfdata::RecordView& record, const perfdata::Event* event, Moment moment);
  const Recent& StateOf(std::uint32_t pid, std::uint32_t tid, Moment moment);
  std::uint32_t KindOf(const perfdata::Sample& sample, const perfdata::SampleFormat& format,
                       const perfdata::Event& event);
  void Skip(const perfdata::RecordView& sample);

  const perfdata::Reader& reader_;
  const ImportOptions& options_;
  Survey& survey_;
  ImportReport& report_;
  perfdata::Deliveries deliveries_;
  std::optional<TimeWindow> window_;
  SampleTable table_;
  TimeSpan times_;
  std::vector<std::uint32_t>* rows_of_records_ = nullptr;  // where they are asked for
  std::vector<std::uint32_t> plain_kinds_;                 // of each event, without labels
  std::array<Recent, kRecent> recent_ = {};
};

}  // namespace perftape

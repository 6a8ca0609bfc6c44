// SPDX-License-Identifier: Apache-2.0
// Counts the records that a recording gets, and those that are in its files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/record.h"
#include "record/events/file_events.h"

namespace perftape::record {

struct RecordCounts {
  std::uint64_t samples = 0;
  std::uint64_t lost_samples = 0;    // that LOST_SAMPLES records report
  std::uint64_t process_events = 0;  // all other records

  RecordCounts& operator+=(const RecordCounts& other);
  RecordCounts operator-(const RecordCounts& other) const;
  bool any() const { return samples + lost_samples + process_events > 0; }
};

// Not thread-safe.
class RecordCounter {
 public:
  explicit RecordCounter(const FileEvents& events);

  // Counts a record, in time order. Fails if a LOST is damaged.
  Status Count(const perfdata::RecordView& record);
  // All records so far are in a file, or given up.
  void Commit() { committed_ = counted_; }
  // The next records are those of another file.
  void StartFile();

  const RecordCounts& committed() const { return committed_; }
  RecordCounts uncommitted() const { return counted_ - committed_; }
  std::uint64_t samples() const { return counted_.samples; }
  // The committed samples of the file.
  std::uint64_t samples_in_file() const { return committed_.samples - before_file_; }
  // The times of the first and the last sample of the file.
  const perfdata::SampleTime& sample_time() const { return sample_time_; }

  // The number of the sampling event with this id.
  std::optional<std::size_t> EventOf(std::uint64_t id) const;
  const std::vector<std::uint64_t>& samples_by_event() const { return samples_by_event_; }
  // What LOST records report, by CPU.
  const std::map<int, std::uint64_t>& sideband_losses() const { return sideband_losses_; }

 private:
  Status CountLost(const perfdata::RecordView& record);

  perfdata::SampleFormat format_;
  std::unordered_map<std::uint64_t, std::size_t> events_by_id_;  // of sampling events
  std::vector<std::uint64_t> samples_by_event_;
  std::map<int, std::uint64_t> sideband_losses_;
  RecordCounts counted_, committed_;
  std::uint64_t before_file_ = 0;  // samples
  perfdata::SampleTime sample_time_ = {};
};

}  // namespace perftape::record

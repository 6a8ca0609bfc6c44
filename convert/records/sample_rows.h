// SPDX-License-Identifier: Apache-2.0
// The samples of a perf.data as rows, in time order: with the names that were valid at their time,
// and without symbols. Other programs and tests compare them with what perf prints.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/records/sample_names.h"
#include "formats/base/result.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/rounds.h"
#include "formats/perfdata/sample_completion.h"
#include "formats/perfdata/tracepoints.h"

namespace perftape::records {

struct SampleRow {
  std::string_view event;  // valid as long as the Reader
  std::string comm;        // the thread's name at that time; ":TID" if unknown
  std::uint32_t pid = 0, tid = 0;
  std::optional<std::uint32_t> cpu;      // if recorded
  std::optional<std::uint64_t> time_ns;  // if recorded
  std::uint64_t period = 0;
  std::uint64_t ip = 0;
  std::string dso;  // of ip: base name, "[kernel.kallsyms]", "perf-7.map", "[unknown]"
  // Of a wakeup, the thread that was woken: its name at that time, and its tid.
  struct Woken {
    std::string comm;
    std::uint32_t tid = 0;
  };
  std::optional<Woken> woken = {};
  // Path of the cgroup, if recorded; not in the table.
  std::optional<std::string> cgroup = {};
  std::vector<std::uint64_t> frames;  // of the callchain: leaf first, without context markers
  // A tracepoint's RAW and the format of its fields, if the file has both.
  std::shared_ptr<const perfdata::TracepointFormat> tracepoint = {};
  std::vector<std::byte> raw = {};
};

// A cursor over the rows.
class SampleRows {
 public:
  // perf script prints at most this many frames per sample (PERF_MAX_STACK_DEPTH). The same limit
  // keeps a row comparable with perf's output.
  static constexpr std::size_t kMostFrames = 127;

  // `reader` must outlive this object. If SampleCompletion::IsNeeded, it must not be a stream.
  explicit SampleRows(const perfdata::Reader& reader);

  // Returns the next row; nothing at the end. For a damaged file it returns all rows before the
  // damage, then the error.
  Result<std::optional<SampleRow>> Next();

  // The number of samples in no row: of an unknown event, or too short to decode.
  std::uint64_t skipped() const { return skipped_; }
  // The number of samples that end inside their fields. Their rows have no frames.
  std::uint64_t cut_off() const { return cut_off_; }
  // The number of samples without user frames, because their CALLCHAIN_DEFERRED is missing.
  std::uint64_t without_user_frames() const { return without_user_frames_; }
  // The offset of the first skipped or cut sample: "0x1f40"; empty if there is none.
  const std::string& first_unread() const { return first_unread_; }

 private:
  // Adds a row for each event that the sample counts for.
  void AddRows(perfdata::RecordView record, const perfdata::Event& event);
  void Complete(perfdata::RecordView& record, const perfdata::Event& event,
                perfdata::Sample& sample);
  void Miss(const perfdata::RecordView& sample, std::uint64_t& counter);
  std::vector<std::uint64_t> FramesOf(const perfdata::Sample& sample,
                                      const perfdata::SampleFormat& format, perfdata::CpuMode mode);

  perfdata::InTimeOrder records_;
  perfdata::Processes processes_;
  perfdata::Deliveries deliveries_;
  perfdata::CallchainReader callchains_;
  DsoNames dso_names_;
  std::deque<SampleRow> ready_;
  std::optional<perfdata::SampleCompletion> completion_;  // if samples have to be completed
  std::vector<std::byte> completed_chain_;
  std::uint64_t skipped_ = 0, cut_off_ = 0, without_user_frames_ = 0;
  std::string first_unread_;
};

}  // namespace perftape::records

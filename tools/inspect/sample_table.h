// SPDX-License-Identifier: Apache-2.0
// The samples of a perf.data as a table, one row each, in time order: what other tools and tests
// read.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/rounds.h"
#include "tools/inspect/dso_names.h"

namespace perftape::inspect {

struct SampleRow {
  std::string_view event;  // lives as long as the Reader
  std::string comm;        // the thread's name at that time; ":TID" where none is known
  std::uint32_t pid = 0, tid = 0;
  std::optional<std::uint32_t> cpu;      // where it was recorded
  std::optional<std::uint64_t> time_ns;  // where it was recorded
  std::uint64_t period = 0;
  std::uint64_t ip = 0;
  std::string dso;  // of ip: base name, "[kernel.kallsyms]", "perf-7.map", "[unknown]"
  // Its path, where the sample has one; not in the table.
  std::optional<std::string> cgroup = {};
  std::vector<std::uint64_t> frames;  // of the call chain: leaf first, without context markers
};

// A cursor over the rows.
class SampleRows {
 public:
  // perf script prints no more frames of one sample (PERF_MAX_STACK_DEPTH), nor do we: a row stays
  // comparable with perf's.
  static constexpr std::size_t kMostFrames = 127;

  // `reader` must outlive it.
  explicit SampleRows(const perfdata::Reader& reader);

  // The next row; nothing at the end. Where the file is damaged: all rows before the damage, then
  // the error.
  Result<std::optional<SampleRow>> Next();

  // Samples that are in the file but in no row: of an unknown event, or too short for any.
  std::uint64_t skipped() const { return skipped_; }
  // Samples that are shorter than they say: their rows are without frames.
  std::uint64_t cut_off() const { return cut_off_; }
  // Where the first of these two kinds is: "0x1f40"; empty where there is none.
  const std::string& first_unread() const { return first_unread_; }

 private:
  // Adds a row for each event that the sample counts for.
  void AddRows(const perfdata::RecordView& record, const perfdata::Event& event);
  void Miss(const perfdata::RecordView& sample, std::uint64_t& counter);
  std::vector<std::uint64_t> FramesOf(const perfdata::Sample& sample,
                                      const perfdata::SampleFormat& format, perfdata::CpuMode mode);

  perfdata::InTimeOrder records_;
  perfdata::Processes processes_;
  perfdata::Deliveries deliveries_;
  perfdata::CallchainReader callchains_;
  DsoNames dso_names_;
  std::deque<SampleRow> ready_;
  std::uint64_t skipped_ = 0, cut_off_ = 0;
  std::string first_unread_;
};

// "event\tcomm\tpid\ttid\tcpu\ttime_ns\tperiod\tip\tdso\tnframes\tframes\n"
std::string_view SampleTableHead();

// One line. Addresses are hexadecimal without 0x, frames have commas between them; control
// characters in names are escaped, so that a name is never two columns.
std::string RowText(const SampleRow& row);

}  // namespace perftape::inspect

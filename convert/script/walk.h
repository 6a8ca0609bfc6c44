// SPDX-License-Identifier: Apache-2.0
// The records of a perf.data in time order, each with the state of all processes at its time, and
// samples decoded and completed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "convert/import/first_pass.h"
#include "convert/import/process_history.h"
#include "formats/perfdata/plain_sample.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/rounds.h"

namespace perftape::listing {

class Walk {
 public:
  // Both must outlive this object. The reader must not be a stream.
  Walk(const perfdata::Reader& reader, const convert::FirstPass& first_pass);

  // Moves to the next record; false at the end. At a damaged record it returns the error, after
  // all records before it.
  Result<bool> Next();

  const perfdata::RecordView& record() const { return record_; }
  // Null for a sample of an unknown event.
  const perfdata::Event* event() const { return records_.event(); }
  // The sample; null for other records, and for one that cannot be decoded.
  perfdata::Sample* sample() { return has_sample_ ? &sample_ : nullptr; }
  // After the record, except for an EXIT: before it, because a printed EXIT has the thread's name.
  const perfdata::Processes& processes() { return replay_.At(epoch_); }
  convert::Epoch epoch() const { return epoch_; }
  // The name of a thread now, as perf shows it: ":7" if unknown. Valid until the next call.
  const std::string& CommOf(std::uint32_t tid);

  // Samples that could not be decoded, and the position of the first: "0x1f40".
  std::uint64_t unread() const { return unread_; }
  const std::string& first_unread() const { return first_unread_; }

 private:
  void ReadSample();

  const convert::FirstPass& first_pass_;
  const perfdata::EventTable& events_;
  perfdata::InTimeOrder records_;
  convert::ProcessHistory::Replay replay_;
  convert::Epoch epoch_ = 0;
  bool ends_thread_ = false;  // the last record was an EXIT, which is applied with the next one
  std::vector<perfdata::PlainSampleReader> plain_;  // by event
  perfdata::RecordView record_;
  perfdata::Sample sample_;
  bool has_sample_ = false;
  std::vector<std::byte> completed_chain_;
  std::string comm_;
  std::uint64_t unread_ = 0;
  std::string first_unread_;
};

}  // namespace perftape::listing

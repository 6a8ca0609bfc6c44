// SPDX-License-Identifier: Apache-2.0
// All input from the kernel, as records in time order: samples from the BPF programs, and process
// events from the sideband. Without programs, the samples are in the sideband, too. The recorder
// adds its own LOST_SAMPLES.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "record/rings/event_ids.h"
#include "record/rings/throttled_time.h"
#include "record/rings/time_merge.h"
#include "record/rings/wire_decoder.h"
#include "record/unwind/late_unwinder.h"

namespace perftape::record {

// Owns copies of all records that were added and not released. Not thread-safe.
class IncomingRecords {
 public:
  // `ids` must outlive this object. `format` is the layout of the kernel's records, `samples` that
  // of each event's samples. `user_limit` is the result of UserAddressLimit.
  IncomingRecords(const EventIds& ids, const perfdata::SampleFormat& format,
                  std::vector<perfdata::SampleFormat> samples, std::uint64_t user_limit)
      : ids_(ids), format_(format), decoder_(ids, std::move(samples), user_limit) {}

  // Completes unfinished messages with `unwinder`, and checks the frames of others. It must outlive
  // this object.
  void FinishWith(LateUnwinder& unwinder) { unwinder_ = &unwinder; }

  // Adds a message of the BPF programs (bpf/wire.h) as a SAMPLE. Counts a damaged one.
  void AddMessage(Bytes message);
  // Adds a record as the kernel wrote it, with the id that the file has. Counts a damaged one.
  void AddKernelRecord(Bytes record);
  // Adds a whole record of the recorder itself.
  void AddOwn(std::uint64_t time_ns, Bytes record) { merge_.Add(time_ns, record); }

  // Returns a limit for Release (TimeMerge::BeforeLastExits).
  std::uint64_t BeforeLastExits(std::uint64_t limit_ns) const {
    return merge_.BeforeLastExits(limit_ns);
  }

  // Passes all records up to and including `limit_ns` to `sink` (TimeMerge::Release).
  template <perfdata::RecordSink Sink>
  Status Release(std::uint64_t limit_ns, Sink& sink) {
    if (unwinder_ == nullptr) return merge_.Release(limit_ns, sink);
    FinishingSink<Sink> finishing{*this, sink};
    return merge_.Release(limit_ns, finishing);
  }

  // How long each event was throttled, by the id that the file has. AbandonThrottled: the event
  // with this id was closed.
  const ThrottledTime& throttled() const { return throttled_; }
  void AbandonThrottled(std::uint64_t id) { throttled_.Abandon(id); }

  // The number of messages and records that were damaged and left out.
  std::uint64_t damaged() const { return damaged_; }

 private:
  // The unwinder sees all records in order of time.
  template <class Sink>
  struct FinishingSink {
    IncomingRecords& records;
    Sink& sink;

    Status Append(Bytes record) {
      const Bytes finished = records.Finished(record);
      return finished.empty() ? Status() : sink.Append(finished);
    }
  };
  // Returns the record, or the SAMPLE of a message that has waited, which is valid until the next
  // call. Empty if the message is damaged.
  Bytes Finished(Bytes record);
  void AddWaiting(Bytes message);

  const EventIds& ids_;
  perfdata::SampleFormat format_;
  WireDecoder decoder_;
  TimeMerge merge_;
  LateUnwinder* unwinder_ = nullptr;
  ThrottledTime throttled_;
  std::uint64_t damaged_ = 0;
  std::vector<std::byte> record_;  // scratch
};

}  // namespace perftape::record

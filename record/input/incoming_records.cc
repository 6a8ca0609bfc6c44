// SPDX-License-Identifier: Apache-2.0
#include "record/input/incoming_records.h"

#include <cstring>
#include <optional>
#include <span>

#include "formats/perfdata/record.h"

namespace perftape::record {

namespace {

// The header of a message while it waits. No record has this type.
constexpr perfdata::RecordHeader kWaiting = {
    .type = static_cast<perfdata::RecordType>(0xffffffff), .misc = 0, .size = 0};

// Whether a message waits for the records before it: what the process had mapped decides about its
// frames.
bool HasFramesToCheck(Bytes message) {
  wire_sample sample;
  if (message.size() < sizeof sample) return false;
  std::memcpy(&sample, message.data(), sizeof sample);
  return sample.header.type == WIRE_SAMPLE && sample.user_frames > 1;
}

}  // namespace

void IncomingRecords::AddWaiting(Bytes message) {
  wire_sample sample;
  std::memcpy(&sample, message.data(), sizeof sample);
  const Bytes mark = std::as_bytes(std::span(&kWaiting, 1));
  record_.assign(mark.begin(), mark.end());
  record_.insert(record_.end(), message.begin(), message.end());
  merge_.Add(sample.header.time_ns, record_, SampleOfThread(sample.tid));
}

Bytes IncomingRecords::Finished(Bytes record) {
  perfdata::RecordHeader header;
  std::memcpy(&header, record.data(), sizeof header);
  if (header.type != kWaiting.type) {
    unwinder_->Apply(record);
    return record;
  }
  record_.clear();
  const Bytes waiting = record.subspan(sizeof header);
  const Result<Bytes> message =
      IsUnfinished(waiting) ? unwinder_->Finish(waiting) : unwinder_->WithSureFrames(waiting);
  if (message && decoder_.Append(*message, record_)) return record_;
  ++damaged_;
  return {};
}

void IncomingRecords::AddMessage(Bytes message) {
  if (unwinder_ != nullptr && (IsUnfinished(message) || HasFramesToCheck(message))) {
    return AddWaiting(message);
  }
  const Status added = merge_.AddSample(TaskOf(message).tid, [&](std::vector<std::byte>& out) {
    return decoder_.Append(message, out);
  });
  if (!added) ++damaged_;
}

void IncomingRecords::AddKernelRecord(Bytes record) {
  if (ids_.has_aliases()) {
    record_.assign(record.begin(), record.end());
    ids_.ReplaceAliases(record_);
    record = record_;
  }
  if (!merge_.AddKernelRecord(record, format_)) {
    ++damaged_;
    return;
  }
  if (const auto view = perfdata::AsRecord(record)) throttled_.Add(*view, format_);
}

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "convert/import/task_events.h"

#include <limits>
#include <optional>
#include <utility>

#include "formats/perfdata/abi.h"
#include "formats/perfdata/record.h"

namespace perftape::convert {

namespace {

using perfdata::RecordType;

// Decodes a record that names a thread. Returns nothing if it is damaged.
template <class Record>
std::optional<Record> DecodeThread(const perfdata::RecordView& record,
                                   const perfdata::SampleFormat& format, TaskEvent& event) {
  const Result<Record> decoded = perfdata::Decode<Record>(record, format);
  if (!decoded) return std::nullopt;
  event.pid = decoded->pid;
  event.tid = decoded->tid;
  return *decoded;
}

// Sets all of `event` but its time. Returns false if the record says nothing of threads.
bool Describe(const perfdata::RecordView& record, const perfdata::SampleFormat& format,
              TaskEvent& event) {
  switch (record.type) {
    case RecordType::kComm: {
      const bool is_exec = (record.misc & perfdata::kMiscCommExec) != 0;
      event.type = is_exec ? TaskEvent::Type::kExec : TaskEvent::Type::kComm;
      const auto comm = DecodeThread<perfdata::Comm>(record, format, event);
      if (comm) event.comm = comm->comm;
      return comm.has_value();
    }
    case RecordType::kFork:
      event.type = TaskEvent::Type::kFork;
      return DecodeThread<perfdata::Fork>(record, format, event).has_value();
    case RecordType::kExit:
      event.type = TaskEvent::Type::kExit;
      return DecodeThread<perfdata::Exit>(record, format, event).has_value();
    case RecordType::kLost:
    case RecordType::kLostSamples: {
      event.type = TaskEvent::Type::kLoss;
      // With this bit, a filter of perf dropped the samples intentionally.
      if ((record.misc & perfdata::kMiscLostSamplesBpf) != 0) return false;
      if (record.type == RecordType::kLost) {
        if (const auto lost = perfdata::Decode<perfdata::Lost>(record, format)) {
          event.lost = lost->count;
        }
      } else if (const auto lost = perfdata::Decode<perfdata::LostSamples>(record, format)) {
        event.lost = lost->count;
      }
      return event.lost != 0;
    }
    default:
      return false;
  }
}

}  // namespace

void NoteTaskEvent(const perfdata::RecordView& record, const perfdata::SampleFormat& format,
                   std::uint64_t time, TaskEvents& events) {
  if (time == 0 || time > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return;
  TaskEvent event{.time_ns = static_cast<std::int64_t>(time)};
  if (Describe(record, format, event)) events.push_back(std::move(event));
}

}  // namespace perftape::convert

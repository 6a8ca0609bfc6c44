// SPDX-License-Identifier: Apache-2.0
#include "convert/records/losses.h"

#include <algorithm>
#include <map>
#include <utility>

#include "formats/perfdata/record.h"
#include "formats/perfdata/rounds.h"

namespace perftape::records {
namespace {

using bundle::NotedLoss;
using bundle::NotedThrottling;
using perfdata::RecordType;

// Collects the records of losses, and what they add up to.
class LossCounter {
 public:
  void Add(const perfdata::RecordView& record, const perfdata::Event* event) {
    if (record.type == RecordType::kSample) ++samples_;
    if (event == nullptr) return;
    if (record.type == RecordType::kLost) {
      if (const auto lost = Decode<perfdata::Lost>(record, event->format)) {
        AddRecord(record, *event, lost->count);
      }
    } else if (record.type == RecordType::kLostSamples) {
      if (const auto lost = Decode<perfdata::LostSamples>(record, event->format)) {
        AddRecord(record, *event, lost->count);
      }
    } else if (record.type == RecordType::kThrottle) {
      if (const auto throttle = Decode<perfdata::Throttle>(record, event->format)) {
        AddRecord(record, *event, 0);
        auto& [sum, since_ns] = throttled_[throttle->id];
        sum.event = event->name;
        sum.cpu = records_.back().cpu;
        ++sum.times;
        since_ns = throttle->time;
      }
    } else if (record.type == RecordType::kUnthrottle) {
      if (const auto end = Decode<perfdata::Unthrottle>(record, event->format)) {
        AddRecord(record, *event, 0);
        auto& [sum, since_ns] = throttled_[end->id];
        if (since_ns) sum.ns += end->time - std::min(end->time, *since_ns);
        since_ns.reset();
      }
    }
  }

  Losses Finish(std::optional<bundle::RecordingNotes> notes) && {
    Losses losses{.has_notes = notes.has_value(), .notes = {}, .records = std::move(records_)};
    if (notes) {
      losses.notes = *std::move(notes);
      return losses;
    }
    losses.notes.samples = samples_;
    for (const LossRecord& record : losses.records) {
      // perf 6.1 and older kernels count lost samples in LOST, too.
      if (record.type == RecordType::kLostSamples) Sum(record, "lost_samples", losses.notes.lost);
      if (record.type == RecordType::kLost) Sum(record, "lost", losses.notes.lost_processes);
    }
    for (const auto& [id, throttling] : throttled_) {
      if (throttling.first.times > 0) losses.notes.throttled.push_back(throttling.first);
    }
    return losses;
  }

 private:
  void AddRecord(const perfdata::RecordView& record, const perfdata::Event& event,
                 std::uint64_t count) {
    const bool has_cpu = event.format.Has(perfdata::kCpu);
    const perfdata::SampleId trailer = perfdata::DecodeSampleId(record, event.format);
    records_.push_back({record.type, trailer.time, has_cpu ? static_cast<int>(trailer.cpu) : -1,
                        event.name, count});
  }

  static void Sum(const LossRecord& record, const char* cause, std::vector<NotedLoss>& sums) {
    const auto found = std::ranges::find_if(sums, [&](const NotedLoss& sum) {
      return sum.event == record.event && sum.cpu == record.cpu;
    });
    if (found != sums.end()) {
      found->count += record.count;
    } else if (record.count > 0) {
      sums.push_back({record.event, record.cpu, cause, record.count});
    }
  }

  std::uint64_t samples_ = 0;
  std::vector<LossRecord> records_;
  // By id: the sum, and since when it is throttled now.
  std::map<std::uint64_t, std::pair<NotedThrottling, std::optional<std::uint64_t>>> throttled_;
};

std::uint64_t SumOf(const std::vector<NotedLoss>& losses) {
  std::uint64_t sum = 0;
  for (const NotedLoss& loss : losses) sum += loss.count;
  return sum;
}

}  // namespace

std::uint64_t Losses::noted_samples() const {
  return SumOf(notes.lost);
}

std::uint64_t Losses::recorded_samples() const {
  std::uint64_t sum = 0;
  for (const LossRecord& record : records) {
    if (record.type == RecordType::kLostSamples) sum += record.count;
  }
  return sum;
}

Result<Losses> FindLosses(const perfdata::Reader& reader) {
  LossCounter counter;
  perfdata::InTimeOrder records(reader.records(), reader.events());
  while (records.Step()) counter.Add(records.record(), records.event());
  std::optional<Error> damage = records.ReleaseFailure();
  TRY_ASSIGN(std::optional<bundle::RecordingNotes> notes, bundle::FindNotes(reader.file()));
  Losses losses = std::move(counter).Finish(std::move(notes));
  losses.damage = std::move(damage);
  return losses;
}

}  // namespace perftape::records

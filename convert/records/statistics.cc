// SPDX-License-Identifier: Apache-2.0
#include "convert/records/statistics.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convert/import/first_pass.h"
#include "convert/model/id_table.h"
#include "formats/base/parallel.h"
#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/event_lookup.h"
#include "formats/perfdata/plain_sample.h"
#include "formats/perfdata/record_ranges.h"
#include "formats/perfdata/rounds.h"
#include "formats/perfdata/sample_completion.h"

namespace perftape::records {
namespace {

using perfdata::CpuMode;
using perfdata::Event;
using perfdata::RecordType;
using perfdata::RecordView;

// Adds a LOST or LOST_SAMPLES of the event. Returns false for any other record.
bool AddLoss(const RecordView& record, const Event& event, const perfdata::EventTable& events,
             Statistics& statistics) {
  if (record.type == RecordType::kLost) {
    if (const auto lost = Decode<perfdata::Lost>(record, event.format)) {
      statistics.lost_records += lost->count;
    }
    return true;
  }
  if (record.type != RecordType::kLostSamples) return false;
  if (const auto lost = Decode<perfdata::LostSamples>(record, event.format)) {
    statistics.lost_samples += lost->count;
    statistics.events[events.IndexOf(event)].lost_samples += lost->count;
  }
  return true;
}

// Counts in time order.
class Counter {
 public:
  explicit Counter(const perfdata::Reader& reader)
      : events_(reader.events()), deliveries_(events_), shares_(reader) {
    statistics_.events.resize(events_.size());
    if (perfdata::SampleCompletion::IsNeeded(events_)) completion_.emplace(reader);
  }

  // `event` is the event of the record.
  void Count(const RecordView& record, const Event* event) {
    if (last_count_ == nullptr || last_count_->first != record.type) {
      last_count_ = &*statistics_.records.try_emplace(record.type).first;
    }
    ++last_count_->second;
    if (record.type == RecordType::kSample) {
      CountSample(record, event);
    } else if (event == nullptr) {
      return;
    } else if (!AddLoss(record, *event, events_, statistics_)) {
      shares_.Apply(record, event->format);
    }
  }

  Statistics Finish(std::optional<Error> damage) && {
    statistics_.comms = shares_.by_comm();
    statistics_.dsos = shares_.by_dso();
    statistics_.damage = std::move(damage);
    return std::move(statistics_);
  }

 private:
  void CountSample(const RecordView& record, const Event* event) {
    if (event == nullptr) {
      Miss(record, statistics_.skipped_samples);
      return;
    }
    if (auto sample = DecodeSample(record, event->format)) {
      RecordView completed = record;
      if (completion_) completion_->Complete(completed, *event, *sample, completed_chain_);
      CountDeliveries(*sample, completed, *event);
      return;
    }
    const auto salvaged = RecoverSample(record, event->format);
    const bool counts = salvaged && CountDeliveries(*salvaged, record, *event);
    Miss(record, counts ? statistics_.cut_off_samples : statistics_.skipped_samples);
  }

  void Miss(const RecordView& sample, std::uint64_t& counter) {
    if (statistics_.first_unread.empty()) statistics_.first_unread = PositionOf(sample);
    ++counter;
  }

  // Returns whether the sample counts for any event.
  bool CountDeliveries(const perfdata::Sample& sample, const RecordView& record,
                       const Event& event) {
    const std::span<const perfdata::Delivery> deliveries = deliveries_.Of(sample, event);
    if (deliveries.empty()) return false;
    for (const perfdata::Delivery& delivery : deliveries) {
      EventStatistics& of_event = statistics_.events[events_.IndexOf(*delivery.event)];
      ++of_event.samples;
      of_event.period += delivery.period;
    }
    shares_.Add(sample, record.cpumode(), deliveries);
    return true;
  }

  const perfdata::EventTable& events_;
  perfdata::Deliveries deliveries_;
  SampleShares shares_;
  std::optional<perfdata::SampleCompletion> completion_;  // if samples have to be completed
  std::vector<std::byte> completed_chain_;
  Statistics statistics_;
  // Points into statistics_.records: most records have the type of the previous one.
  std::pair<const RecordType, std::uint64_t>* last_count_ = nullptr;
};

constexpr std::uint64_t kPage = 4096;

// The samples at one address of the kernel, or in one page of a process, with the same mappings.
struct Hit {
  std::uint64_t mapped = 0;  // fingerprint
  std::uint64_t address = 0;
  std::uint32_t pid = 0;  // 0 for the kernel, which is the same for all processes
  CpuMode mode = CpuMode::kUnknown;
  convert::Epoch epoch = 0;  // an epoch with these mappings
  Share share;

  bool IsAt(const Hit& other) const {
    return mapped == other.mapped && address == other.address && pid == other.pid &&
           mode == other.mode;
  }
};

// The counts of one thread.
class RangeCounter {
 public:
  RangeCounter(const perfdata::Reader& reader, const convert::FirstPass& first_pass)
      : events_(reader.events()), first_pass_(first_pass), lookup_(events_) {
    statistics_.events.resize(events_.size());
    for (const Event& event : events_.all()) plain_.emplace_back(event.format);
  }

  // Counts the records from the cursor up to the file offset `end`. `clock` must have the state
  // after all records before the cursor. Returns false if a sample cannot be read.
  bool Count(perfdata::RecordCursor cursor, convert::RoundClock clock, std::uint64_t end) {
    convert::Epoch epoch = 0;
    while (cursor.Step()) {
      const RecordView& record = cursor.record();
      if (record.file_offset >= end) break;
      const perfdata::EventLookup::Answer found = lookup_.Of(record);
      const convert::SortKey key = clock.KeyOf(record, found.time);
      CountType(record.type);
      if (record.type == RecordType::kSample) {
        epoch = first_pass_.history.EpochOf(key, epoch);
        if (!CountSample(record, found.event, epoch)) return false;
      } else if (record.type == RecordType::kHeaderBuildId) {
        build_ids_.push_back(record);
      } else if (found.event != nullptr) {
        AddLoss(record, *found.event, events_, statistics_);
      }
    }
    return true;
  }

  // Returns the counts, except those by dso, which are in hits().
  Statistics& statistics() {
    for (std::size_t type = 0; type < by_type_.size(); ++type) {
      if (by_type_[type] != 0) {
        statistics_.records[static_cast<RecordType>(type)] += std::exchange(by_type_[type], 0);
      }
    }
    return statistics_;
  }
  const std::vector<Hit>& hits() const { return hits_; }
  const std::vector<RecordView>& build_ids() const { return build_ids_; }

 private:
  // The state of the thread that was sampled last at this index of the cache.
  struct ThreadCacheEntry {
    std::uint32_t pid = 0, tid = 0;
    convert::ThreadState state;
    Share* of_comm = nullptr;
  };

  void CountType(RecordType type) {
    const auto number = std::to_underlying(type);
    if (number < by_type_.size()) {
      ++by_type_[number];
    } else {
      ++statistics_.records[type];
    }
  }

  bool CountSample(const RecordView& record, const Event* event, convert::Epoch epoch) {
    if (event == nullptr) return false;
    const perfdata::PlainSampleReader& plain = plain_[events_.IndexOf(*event)];
    if (!plain.is_plain()) {
      const auto sample = DecodeSample(record, event->format);
      if (sample) Add(*sample, *event, record.cpumode(), epoch);
      return sample.has_value();
    }
    const bool is_read = plain.Read(record, plain_sample_);
    if (is_read) Add(plain_sample_, *event, record.cpumode(), epoch);
    return is_read;
  }

  void Add(const perfdata::Sample& sample, const Event& event, CpuMode mode, convert::Epoch epoch) {
    const Share share{
        .samples = 1,
        .period = event.format.Has(perfdata::kPeriod) ? sample.period : event.attr.sample_period};
    EventStatistics& of_event = statistics_.events[events_.IndexOf(event)];
    ++of_event.samples;
    of_event.period += share.period;
    const ThreadCacheEntry& entry = StateOf(sample.pid, sample.tid, epoch);
    entry.of_comm->Add(share);
    const bool is_kernel = mode == CpuMode::kKernel;
    AddHit({.mapped = is_kernel ? entry.state.spaces.kernel : entry.state.spaces.user,
            .address = is_kernel ? sample.ip : sample.ip / kPage * kPage,
            .pid = is_kernel ? 0 : sample.pid,
            .mode = mode,
            .epoch = epoch,
            .share = share});
  }

  const ThreadCacheEntry& StateOf(std::uint32_t pid, std::uint32_t tid, convert::Epoch epoch) {
    ThreadCacheEntry& entry = thread_cache_[tid % thread_cache_.size()];
    const bool is_known = entry.of_comm != nullptr && entry.pid == pid && entry.tid == tid &&
                          entry.state.from <= epoch && epoch < entry.state.to;
    if (is_known) return entry;
    const convert::ThreadState state = first_pass_.history.StateOf(pid, tid, epoch);
    entry = {.pid = pid,
             .tid = tid,
             .state = state,
             .of_comm = &statistics_.comms[CommName(tid, state.comm)]};
    return entry;
  }

  void AddHit(const Hit& hit) {
    std::uint64_t hash = (hit.address ^ hit.mapped) * 0x9e3779b97f4a7c15 + hit.pid;
    hash = (hash ^ (hash >> 32)) * 0xc2b2ae3d27d4eb4f;
    const std::uint32_t known =
        hit_index_.Find(hash, [&](std::uint32_t index) { return hits_[index].IsAt(hit); });
    if (known != convert::IdTable::kNone) return hits_[known].share.Add(hit.share);
    hit_index_.Add(hash, static_cast<std::uint32_t>(hits_.size()));
    hits_.push_back(hit);
  }

  const perfdata::EventTable& events_;
  const convert::FirstPass& first_pass_;
  perfdata::EventLookup lookup_;
  std::vector<perfdata::PlainSampleReader> plain_;  // by event
  perfdata::Sample plain_sample_;                   // the sample that they decode
  Statistics statistics_;
  std::array<std::uint64_t, 128> by_type_ = {};  // of types below 128
  std::array<ThreadCacheEntry, 256> thread_cache_ = {};
  convert::IdTable hit_index_;
  std::vector<Hit> hits_;
  std::vector<RecordView> build_ids_;
};

void AddUp(const Statistics& part, Statistics& sum) {
  for (const auto& [type, count] : part.records) sum.records[type] += count;
  for (std::size_t i = 0; i < part.events.size(); ++i) {
    sum.events[i].samples += part.events[i].samples;
    sum.events[i].period += part.events[i].period;
    sum.events[i].lost_samples += part.events[i].lost_samples;
  }
  for (const auto& [comm, share] : part.comms) sum.comms[comm].Add(share);
  sum.lost_records += part.lost_records;
  sum.lost_samples += part.lost_samples;
}

// Returns the dso of all samples of a hit; null if nothing was mapped. Returns nothing if a mapping
// covers only part of the page, which no kernel does.
std::optional<const perfdata::Dso*> DsoOf(const Hit& hit, const perfdata::Processes& processes) {
  const auto find = [&](std::uint64_t address) {
    return processes.Find(hit.pid, hit.mode, address);
  };
  const perfdata::Region* region = find(hit.address);
  const perfdata::Dso* dso = region == nullptr ? nullptr : region->dso;
  if (hit.mode == CpuMode::kKernel) return dso;
  const perfdata::Region* below = processes.UserSpace(hit.pid).FindBelow(hit.address + (kPage - 1));
  const bool is_whole = region == nullptr ? below == nullptr || below->end <= hit.address
                                          : region == find(hit.address + (kPage - 1));
  return is_whole ? std::optional(dso) : std::nullopt;
}

// In epoch order, because a Replay only moves forward. Returns nothing if DsoOf returns nothing for
// a hit.
std::optional<SharesByName> SharesOfDsos(std::vector<Hit> hits,
                                         const convert::ProcessHistory& history,
                                         const DsoNames& names) {
  std::ranges::sort(hits, {}, &Hit::epoch);
  convert::ProcessHistory::Replay replay(history);
  std::map<std::pair<const perfdata::Dso*, std::uint32_t>, Share> dsos;
  for (const Hit& hit : hits) {
    const std::optional<const perfdata::Dso*> dso = DsoOf(hit, replay.At(hit.epoch));
    if (!dso) return {};
    const bool is_generated = *dso != nullptr && HoldsGeneratedCode(**dso);
    dsos[{*dso, is_generated ? hit.pid : 0}].Add(hit.share);
  }
  SharesByName shares;
  for (const auto& [key, share] : dsos) {
    shares[names.NameOf(key.first, key.second)].Add(share);
  }
  return shares;
}

}  // namespace

Statistics CountRecords(const perfdata::Reader& reader, unsigned threads) {
  if (std::optional<Statistics> counted = CountInRanges(reader, threads))
    return *std::move(counted);
  Counter counter(reader);
  // In time order, for comms, mappings, and periods that are computed from counters
  // (PERF_SAMPLE_READ).
  perfdata::InTimeOrder records(reader.records(), reader.events());
  while (records.Step()) counter.Count(records.record(), records.event());
  return std::move(counter).Finish(records.ReleaseFailure());
}

std::optional<Statistics> CountInRanges(const perfdata::Reader& reader, unsigned threads) {
  if (convert::NeedTimeOrder(reader.events())) return {};
  convert::ImportReport unused;
  const std::optional<convert::FirstPass> found =
      convert::RunFirstPassInRanges(reader, {.threads = threads}, unused);
  if (!found) return {};
  const convert::FirstPass& first_pass = *found;

  std::vector<std::unique_ptr<RangeCounter>> counters;
  for (unsigned i = 0; i < std::min<std::size_t>(threads, first_pass.range_starts.size()); ++i) {
    counters.push_back(std::make_unique<RangeCounter>(reader, first_pass));
  }
  std::atomic<bool> is_whole = true;
  const auto count = [&](std::size_t range, unsigned worker) {
    const bool is_last = range + 1 == first_pass.range_starts.size();
    const std::uint64_t end =
        is_last ? reader.file().size() : first_pass.range_starts[range + 1].file_offset;
    const convert::RangeStart& from = first_pass.range_starts[range];
    perfdata::RecordCursor cursor = reader.records_from(from.file_offset);
    if (is_whole && !counters[worker]->Count(std::move(cursor), from.clock, end)) is_whole = false;
  };
  ParallelFor(first_pass.range_starts.size(), static_cast<unsigned>(counters.size()), count);
  if (!is_whole) return {};

  Statistics sum;
  sum.events.resize(reader.events().size());
  DsoNames names(reader);
  std::vector<Hit> hits;
  for (const auto& counter : counters) {
    AddUp(counter->statistics(), sum);
    for (const RecordView& record : counter->build_ids()) names.Apply(record);
    hits.insert(hits.end(), counter->hits().begin(), counter->hits().end());
  }
  std::optional<SharesByName> dsos = SharesOfDsos(std::move(hits), first_pass.history, names);
  if (!dsos) return {};
  sum.dsos = *std::move(dsos);
  return sum;
}

}  // namespace perftape::records

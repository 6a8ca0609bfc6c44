// SPDX-License-Identifier: Apache-2.0
#include "record/output/flight_buffer.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "formats/perfdata/record.h"

namespace perftape::record {
namespace {

constexpr std::size_t kMostRoundBytes = std::size_t{1} << 20;
// What an element of a set or a shared binary needs, about.
constexpr std::uint64_t kNodeBytes = 48;

}  // namespace

FlightBuffer::FlightBuffer(const perfdata::SampleFormat& format, const FlightLimits& limits,
                           std::size_t most_open, std::shared_ptr<OthersFiles> others)
    : format_(format),
      limits_(limits),
      most_open_(most_open),
      jit_("/proc", "/", WallClockNs(), std::move(others)),
      state_(format) {
  StartRound();
}

void FlightBuffer::StartRound() {
  current_ = std::make_shared<FlightRound>(HitFiles(most_open_, pool_));
  current_->notes_before = last_notes_;
}

Status FlightBuffer::ApplyInitialState(Bytes records) {
  return state_.Apply(records);
}

void FlightBuffer::Add(const perfdata::RecordView& record, Bytes bytes) {
  FlightRound& round = *current_;
  round.records.insert(round.records.end(), bytes.begin(), bytes.end());
  if (record.type != perfdata::RecordType::kSample) return;
  ++round.samples;
  round.last_sample_ns = perfdata::TimeOf(record, format_);
  if (round.first_sample_ns == 0) round.first_sample_ns = round.last_sample_ns;
}

bool FlightBuffer::IsRoundFull() const {
  return current_->records.size() >= std::min<std::uint64_t>(kMostRoundBytes, limits_.bytes / 8);
}

std::uint64_t FlightBuffer::SizeOf(const FlightRound& round) {
  const bundle::RecordingNotes& notes = round.notes_before;
  const std::size_t noted = notes.lost.size() + notes.lost_processes.size() + notes.chains.size() +
                            notes.throttled.size() + notes.absences.size() + notes.rates.size();
  std::size_t cgroup_bytes = 0;
  for (const bundle::NotedCgroup& cgroup : notes.cgroups) {
    cgroup_bytes += sizeof cgroup + cgroup.path.size() +
                    cgroup.io_limits.size() * sizeof(bundle::NotedIoLimit) +
                    cgroup.pids.size() * sizeof cgroup.pids.front();
  }
  std::size_t pause_bytes = 0;
  for (const bundle::NotedPauses& of : notes.pauses) {
    pause_bytes += sizeof of + of.event.size() + of.pauses.size() * sizeof(bundle::NotedPause);
  }
  return sizeof round + round.records.size() + round.hit.size() * 2 * sizeof(void*) +
         round.files.binaries().size() * sizeof(std::shared_ptr<HitBinary>) +
         (round.jit_processes.size() + noted) * kNodeBytes + cgroup_bytes + pause_bytes;
}

Status FlightBuffer::EndRound(std::span<const perfdata::Dso* const> hit,
                              bundle::RecordingNotes notes, std::uint64_t end_ns) {
  if (start_ns_ == 0) start_ns_ = end_ns;
  end_ns_ = end_ns;
  last_notes_ = std::move(notes);
  if (!current_->records.empty()) {
    FlightRound& round = *current_;
    TRY(perfdata::Encode(perfdata::FinishedRound{}, 0, round.records));
    round.records.shrink_to_fit();
    round.hit.assign(hit.begin(), hit.end());
    round.jit_processes = jit_.ReleaseHits();
    round.end_ns = end_ns;
    bytes_ += SizeOf(round);
    rounds_.push_back(std::move(current_));
  }
  StartRound();
  const auto is_old = [&](const FlightRound& round) {
    return round.end_ns + limits_.span_ns < end_ns;
  };
  while (!rounds_.empty() && is_old(*rounds_.front())) TRY(DropOldest());
  while (!rounds_.empty() && bytes_ > limits_.bytes) {
    is_short_of_memory_ = true;
    TRY(DropOldest());
  }
  return {};
}

Status FlightBuffer::DropOldest() {
  const std::shared_ptr<const FlightRound> oldest = std::move(rounds_.front());
  rounds_.pop_front();
  bytes_ -= SizeOf(*oldest);
  start_ns_ = oldest->end_ns;
  dropped_samples_ += oldest->samples;
  perfdata::RecordCursor cursor(oldest->records, 0, std::endian::native);
  while (true) {
    TRY_ASSIGN(const std::optional<perfdata::RecordView> record, cursor.Next());
    if (!record) return {};
    Forget(*record);
  }
}

void FlightBuffer::Forget(const perfdata::RecordView& record) {
  if (record.type == perfdata::RecordType::kSample) {
    // IDENTIFIER is the first field.
    ++dropped_by_id_[LoadFixed<std::uint64_t>(record.payload.data(), record.order)];
    return;
  }
  state_.Apply(record);
  if (record.type != perfdata::RecordType::kExit) return;
  const auto exit = perfdata::Decode<perfdata::Exit>(record, format_);
  if (exit && exit->pid == exit->tid) jit_.Forget(exit->pid);
}

std::vector<const perfdata::Dso*> FlightBuffer::HitDsos() const {
  std::vector<const perfdata::Dso*> hit;
  std::unordered_set<const perfdata::Dso*> known;
  for (const std::shared_ptr<const FlightRound>& round : rounds_) {
    for (const perfdata::Dso* dso : round->hit) {
      if (known.insert(dso).second) hit.push_back(dso);
    }
  }
  return hit;
}

Result<FlightContents> FlightBuffer::Contents() const {
  TRY_ASSIGN(std::vector<std::byte> state, state_.Encode());
  FlightContents contents{
      .state = std::move(state),
      .rounds = {rounds_.begin(), rounds_.end()},
      .hit = HitDsos(),
      .files = HitFiles(most_open_),
      .jit = jit_.CopyOf({}),
      .notes_before = rounds_.empty() ? last_notes_ : rounds_.front()->notes_before,
      .kept_ns = std::min(limits_.span_ns, end_ns_ - start_ns_),
      .is_short_of_memory = is_short_of_memory_};
  std::set<std::uint32_t> jit_processes;
  for (const std::shared_ptr<const FlightRound>& round : rounds_) {
    contents.files.AddAllOf(round->files);
    jit_processes.insert(round->jit_processes.begin(), round->jit_processes.end());
    contents.samples += round->samples;
    if (round->samples == 0) continue;
    perfdata::SampleTime& time = contents.sample_time;
    if (time.first_ns == 0) time.first_ns = round->first_sample_ns;
    time.last_ns = round->last_sample_ns;
  }
  contents.jit = jit_.CopyOf(jit_processes);
  return contents;
}

}  // namespace perftape::record

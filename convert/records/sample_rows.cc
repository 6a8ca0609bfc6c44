// SPDX-License-Identifier: Apache-2.0
#include "convert/records/sample_rows.h"

#include <algorithm>
#include <utility>

#include "formats/perfdata/event_meanings.h"

namespace perftape::records {

using perfdata::RecordView;

SampleRows::SampleRows(const perfdata::Reader& reader)
    : records_(reader.records(), reader.events()),
      deliveries_(reader.events()),
      dso_names_(reader) {
  if (perfdata::SampleCompletion::IsNeeded(reader.events())) completion_.emplace(reader);
}

Result<std::optional<SampleRow>> SampleRows::Next() {
  while (ready_.empty()) {
    TRY_ASSIGN(const std::optional<RecordView> record, records_.Next());
    if (!record) return std::nullopt;
    const perfdata::Event* event = records_.event();
    if (record->type != perfdata::RecordType::kSample) {
      if (event != nullptr) processes_.Apply(*record, event->format);
      dso_names_.Apply(*record);
    } else if (event != nullptr) {
      AddRows(*record, *event);
    } else {
      Miss(*record, skipped_);
    }
  }
  SampleRow row = std::move(ready_.front());
  ready_.pop_front();
  return row;
}

void SampleRows::Complete(RecordView& record, const perfdata::Event& event,
                          perfdata::Sample& sample) {
  if (!completion_ || !completion_->Changes(event)) return;
  using enum perfdata::SampleCompletion::Outcome;
  const auto outcome = completion_->Complete(record, event, sample, completed_chain_);
  if (outcome == kWithoutUserFrames) ++without_user_frames_;
}

void SampleRows::AddRows(RecordView record, const perfdata::Event& event) {
  const Result<perfdata::Sample> whole = DecodeSample(record, event.format);
  std::optional<perfdata::Sample> sample =
      whole ? std::optional(*whole) : RecoverSample(record, event.format);
  if (whole) Complete(record, event, *sample);
  const auto deliveries =
      sample ? deliveries_.Of(*sample, event) : std::span<const perfdata::Delivery>();
  if (!whole) Miss(record, deliveries.empty() ? skipped_ : cut_off_);
  if (deliveries.empty()) return;
  const perfdata::Region* region = processes_.Find(sample->pid, record.cpumode(), sample->ip);
  SampleRow row{.event = event.name,
                .comm = std::string(processes_.CommOf(sample->tid)),
                .pid = sample->pid,
                .tid = sample->tid,
                .cpu = std::nullopt,
                .time_ns = std::nullopt,
                .ip = sample->ip,
                .dso = dso_names_.NameOf(region == nullptr ? nullptr : region->dso, sample->pid),
                .cgroup = std::nullopt,
                .frames = FramesOf(*sample, event.format, record.cpumode())};
  if (event.format.Has(perfdata::kCpu)) row.cpu = sample->cpu;
  if (event.format.Has(perfdata::kTime)) row.time_ns = sample->time;
  if (event.format.Has(perfdata::kSampleCgroup)) row.cgroup = processes_.CgroupOf(sample->cgroup);
  if (event.tracepoint && !sample->raw.empty()) {
    row.tracepoint = event.tracepoint;
    row.raw.assign(sample->raw.begin(), sample->raw.end());
  }
  if (perfdata::HasWokenThread(event.attr, event.name)) {
    const auto tid = static_cast<std::uint32_t>(sample->addr);
    row.woken = {.comm = std::string(processes_.CommOf(tid)), .tid = tid};
  }
  for (const perfdata::Delivery& delivery : deliveries) {
    row.event = delivery.event->name;
    row.period = delivery.period;
    if (&delivery != &deliveries.back()) ready_.push_back(row);
  }
  ready_.push_back(std::move(row));
}

void SampleRows::Miss(const RecordView& sample, std::uint64_t& counter) {
  if (first_unread_.empty()) first_unread_ = PositionOf(sample);
  ++counter;
}

// Returns no frames for a callchain that perf discards.
std::vector<std::uint64_t> SampleRows::FramesOf(const perfdata::Sample& sample,
                                                const perfdata::SampleFormat& format,
                                                perfdata::CpuMode mode) {
  std::vector<std::uint64_t> addresses;
  const auto frames = callchains_.FramesOf(sample, format, mode);
  if (callchains_.met_unknown_marker()) return addresses;
  addresses.reserve(std::min(frames.size(), kMostFrames));
  for (const perfdata::ChainFrame& frame : frames) {
    if (addresses.size() == kMostFrames) break;
    addresses.push_back(frame.address);
  }
  return addresses;
}

}  // namespace perftape::records

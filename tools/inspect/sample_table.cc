// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/sample_table.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "convert/model/label_keys.h"
#include "formats/perfdata/event_meanings.h"
#include "tools/common/cli/escape.h"

namespace perftape::inspect {
namespace {

using perfdata::RecordView;
using perfdata::TracepointField;

// Appends "prev_comm="ls" prev_pid=7".
void AppendFields(const perfdata::TracepointFormat& format, Bytes raw, std::string& out) {
  std::string_view separator;
  for (const TracepointField& field : format.fields) {
    if (field.is_common()) continue;
    const auto value = perfdata::ValueOf(field, raw, format.order);
    if (!value) continue;
    const std::string_view quote = field.content == TracepointField::Content::kText ? "\"" : "";
    fmt::format_to(std::back_inserter(out), "{}{}={}{}{}", std::exchange(separator, " "),
                   cli::EscapeForTerminal(field.name), quote,
                   cli::EscapeForTerminal(TextOf(*value)), quote);
  }
}

}  // namespace

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

std::string SampleTableHead(FieldColumn column) {
  return fmt::format("event\tcomm\tpid\ttid\tcpu\ttime_ns\tperiod\tip\tdso\tnframes\tframes{}\n",
                     column == FieldColumn::kLast ? "\tfields" : "");
}

std::string RowText(const SampleRow& row, FieldColumn column) {
  // pid, tid and time are unsigned, as in perf: 4294967295 in a sample of an exited task, 2^64-1 if
  // no time was recorded (tools/perf/util/evsel.c, evsel__parse_sample).
  std::string text = fmt::format(
      "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:x}\t{}\t{}\t", cli::EscapeForTerminal(row.event),
      cli::EscapeForTerminal(row.comm), row.pid, row.tid,
      row.cpu ? static_cast<std::int64_t>(*row.cpu) : -1, row.time_ns.value_or(UINT64_MAX),
      row.period, row.ip, cli::EscapeForTerminal(row.dso), row.frames.size());
  for (const std::uint64_t& frame : row.frames) {
    if (&frame != &row.frames.front()) text += ',';
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("{:x}"), frame);
  }
  if (column == FieldColumn::kLast) text += '\t';
  if (column == FieldColumn::kLast && row.tracepoint) AppendFields(*row.tracepoint, row.raw, text);
  if (column == FieldColumn::kLast && row.woken) {
    fmt::format_to(std::back_inserter(text), "{}=\"{}\" {}={}", convert::kWokenLabel,
                   cli::EscapeForTerminal(row.woken->comm), convert::kWokenTidLabel,
                   row.woken->tid);
  }
  text += '\n';
  return text;
}

}  // namespace perftape::inspect

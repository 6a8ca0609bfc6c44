// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/sample_table.h"

#include <fmt/format.h>

#include <iterator>

#include "tools/common/cli/escape.h"

namespace perftape::inspect {
namespace {

using perfdata::RecordView;

// Memory without a file, in which just-in-time compiled code may be: perf looks for its symbols in
// a file of that process, and shows that file's name (tools/perf/util/map.c, is_anon_memory and
// is_no_dso_memory).
bool HoldsGeneratedCode(std::string_view path) {
  return path == "//anon" || path == "[heap]" || path.starts_with("/dev/zero") ||
         path.starts_with("/anon_hugepage") || path.starts_with("[stack") ||
         path.starts_with("/SYSV");
}

}  // namespace

SampleRows::SampleRows(const perfdata::Reader& reader)
    : events_(reader.events()), records_(reader.records(), events_), deliveries_(events_) {
  const auto value = reader.DecodedFeature(perfdata::FeatureBit::kBuildId);
  const auto* table = value ? std::get_if<perfdata::BuildIds>(&*value) : nullptr;
  if (table == nullptr) return;
  for (const perfdata::BuildIdEntry& entry : table->entries) with_build_id_.insert(entry.filename);
}

std::string SampleRows::DsoName(const perfdata::Region* region, std::uint32_t pid) const {
  if (region == nullptr) return "[unknown]";
  const perfdata::Dso& dso = *region->dso;
  if (HoldsGeneratedCode(dso.path)) return fmt::format("perf-{}.map", pid);
  // perf knows a module by the path that a build id came with, else by its name.
  std::string module = with_build_id_.contains(dso.path) ? "" : dso.module_name();
  return module.empty() ? std::string(dso.base_name()) : module;
}

Result<std::optional<SampleRow>> SampleRows::Next() {
  while (ready_.empty()) {
    TRY_ASSIGN(const std::optional<RecordView> record, records_.Next());
    if (!record) return std::nullopt;
    const perfdata::Event* event = events_.EventOf(*record);
    if (record->type != perfdata::RecordType::kSample) {
      if (event != nullptr) processes_.Apply(*record, event->format);
    } else if (event != nullptr) {
      AddRows(*record, *event);
    } else {
      ++skipped_;
    }
  }
  SampleRow row = std::move(ready_.front());
  ready_.pop_front();
  return row;
}

void SampleRows::AddRows(const RecordView& record, const perfdata::Event& event) {
  const Result<perfdata::Sample> sample = DecodeSample(record, event.format);
  if (!sample) {
    ++skipped_;
    return;
  }
  const perfdata::Region* region = processes_.Find(sample->pid, record.cpumode(), sample->ip);
  SampleRow row{.event = event.name,
                .comm = std::string(processes_.CommOf(sample->tid)),
                .pid = sample->pid,
                .tid = sample->tid,
                .cpu = std::nullopt,
                .time_ns = sample->time,
                .ip = sample->ip,
                .dso = DsoName(region, sample->pid),
                .frames = FramesOf(*sample, event.format, record.cpumode())};
  if (event.format.Has(perfdata::kCpu)) row.cpu = sample->cpu;
  for (const perfdata::Delivery& delivery : deliveries_.Of(*sample, event)) {
    row.event = delivery.event->name;
    row.period = delivery.period;
    ready_.push_back(row);
  }
}

// None of a chain that perf throws away.
std::vector<std::uint64_t> SampleRows::FramesOf(const perfdata::Sample& sample,
                                                const perfdata::SampleFormat& format,
                                                perfdata::CpuMode mode) {
  std::vector<std::uint64_t> addresses;
  const auto frames = callchains_.FramesOf(sample, format, mode);
  if (callchains_.met_unknown_marker()) return addresses;
  for (const perfdata::ChainFrame& frame : frames) {
    if (addresses.size() == kMostFrames) break;
    addresses.push_back(frame.address);
  }
  return addresses;
}

std::string_view SampleTableHead() {
  return "event\tcomm\tpid\ttid\tcpu\ttime_ns\tperiod\tip\tdso\tnframes\tframes\n";
}

std::string RowText(const SampleRow& row) {
  // pid and tid are unsigned, as perf prints them: 4294967295 in a sample of a task that is gone.
  std::string text =
      fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:x}\t{}\t{}\t", cli::EscapeForTerminal(row.event),
                  cli::EscapeForTerminal(row.comm), row.pid, row.tid,
                  row.cpu ? static_cast<std::int64_t>(*row.cpu) : -1, row.time_ns, row.period,
                  row.ip, cli::EscapeForTerminal(row.dso), row.frames.size());
  for (std::size_t i = 0; i < row.frames.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{}{:x}", i == 0 ? "" : ",", row.frames[i]);
  }
  text += '\n';
  return text;
}

}  // namespace perftape::inspect

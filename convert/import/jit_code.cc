// SPDX-License-Identifier: Apache-2.0
#include "convert/import/jit_code.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "convert/import/process_history.h"
#include "convert/model/profile.h"
#include "formats/base/symbol_limits.h"
#include "formats/perfdata/mapping_name.h"
#include "formats/unwind/generated_code.h"

namespace perftape::convert {
namespace {

constexpr std::int32_t kClockMonotonic = 1;
constexpr std::string_view kNameStart = "/jit-";

// Builds the table of the functions of a jitdump that have call frame information.
unwind::Table TableOf(const jitdump::JitDump& code, unwind::Machine machine) {
  if (!code.has_frames()) return {};
  std::vector<unwind::GeneratedFunction> functions;
  for (const jitdump::Function& function : code.functions()) {
    if (function.eh_frame.empty()) continue;
    functions.push_back({.start = function.code.value,
                         .size = function.size,
                         .eh_frame = function.eh_frame,
                         .eh_frame_address = function.AddressOfFrames(function.code.value)});
  }
  return unwind::BuildTable(machine, code.order(), functions);
}

bool HasMonotonicClock(const perfdata::EventTable& events) {
  return std::ranges::all_of(events.all(), [](const perfdata::Event& event) {
    return event.attr.Has(perfdata::kUseClockid) && event.attr.clockid == kClockMonotonic;
  });
}

}  // namespace

void JitCode::Note(const perfdata::RecordView& record, const perfdata::SampleFormat& format) {
  const bool is_mmap = record.type == perfdata::RecordType::kMmap;
  if (!is_mmap && record.type != perfdata::RecordType::kMmap2) return;
  if (AsText(record.payload).find(kNameStart) == std::string_view::npos) return;
  if (is_mmap) {
    if (const auto mmap = perfdata::Decode<perfdata::Mmap>(record, format)) {
      Note(mmap->pid, mmap->start, mmap->filename);
    }
  } else if (const auto mmap = perfdata::Decode<perfdata::Mmap2>(record, format)) {
    Note(mmap->pid, mmap->start, mmap->filename);
  }
}

void JitCode::Note(std::uint32_t pid, std::uint64_t start, std::string_view path) {
  if (!perfdata::IsJitDumpPath(path)) return;
  const bool is_known = std::ranges::any_of(
      mapped_, [&](const MappedDump& mapped) { return mapped.pid == pid && mapped.path == path; });
  // Limits the start, so that start + size of the dump does not overflow.
  constexpr std::uint64_t kHighest = std::uint64_t{1} << 63;
  if (!is_known)
    mapped_.push_back({.pid = pid, .start = std::min(start, kHighest), .path = std::string(path)});
}

void JitCode::AddTo(const perfdata::EventTable& events, const JitDumpFinder& find,
                    ProcessHistory& history, ImportReport& report) {
  if (mapped_.empty()) return;
  if (!HasMonotonicClock(events)) {
    report.notes.push_back(fmt::format(
        "{}: not used, because the recording's clock is not CLOCK_MONOTONIC (perf record -k mono)",
        mapped_.front().path));
    return;
  }
  for (const MappedDump& mapped : mapped_) {
    const Status added = AddDump(mapped, find, history, report);
    if (!added) report.notes.push_back(added.error().message);
  }
}

Status JitCode::AddDump(const MappedDump& mapped, const JitDumpFinder& find,
                        ProcessHistory& history, ImportReport& report) {
  TRY_ASSIGN(JitDumpBytes found, find(mapped.path, mapped.pid));
  if (found.bytes.size() > symbol_limits::kAllJitFiles - bytes_read_) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{}: left out: jitdumps have more than {} bytes in all", mapped.path,
                            symbol_limits::kAllJitFiles));
  }
  bytes_read_ += found.bytes.size();
  auto code = jitdump::JitDump::Read(found.bytes);
  if (!code) return Fail(InContext(mapped.path, std::move(code).error()));
  if (found.own_pid != 0 && code->pid() != found.own_pid) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("{}: not used, because process {} wrote it, but the recorded process is {}",
                    mapped.path, code->pid(), found.own_pid));
  }
  if (code->has_cpu_times()) {
    return Fail(ErrorCode::kUnsupported,
                mapped.path + ": not used, because its times come from the CPU's counter");
  }
  if (code->damaged() > 0 || code->cut_bytes() > 0) {
    report.notes.push_back(fmt::format("{}: {} damaged records, {} bytes after the last whole one",
                                       mapped.path, code->damaged(), code->cut_bytes()));
  }
  const auto number = static_cast<std::uint32_t>(dumps_.size());
  const bool has_lines = std::ranges::any_of(
      code->functions(), [](const jitdump::Function& function) { return function.line_count > 0; });
  Dump& dump = dumps_.emplace_back(
      Dump{.pid = mapped.pid,
           .start = mapped.start,
           .dso = {.path = mapped.path, .build_id = {}, .symbol = {}, .dump = number},
           .keeper = std::move(found.keeper),
           .size = found.bytes.size(),
           .code = *std::move(code),
           .has_lines = has_lines});
  for (const jitdump::Placement& placement : dump.code.placements()) {
    const jitdump::Function& function = dump.code.functions()[placement.function];
    history.AddCode({.pid = mapped.pid,
                     .range = {.start = placement.start.value,
                               .end = placement.start.value + function.size,
                               .page_offset = function.code.value},
                     .dso = &dump.dso},
                    placement.time);
  }
  ++report.jit_dumps;
  report.jit_functions += dump.code.functions().size();
  return {};
}

// The record of a placement has its time and the lowest sequence number.
void JitCode::ReadRules(const ProcessHistory& history, unwind::Machine machine) {
  for (Dump& dump : dumps_) {
    dump.table = TableOf(dump.code, machine);
    if (dump.table.empty()) continue;
    for (const jitdump::Placement& placement : dump.code.placements()) {
      const jitdump::Function& function = dump.code.functions()[placement.function];
      if (function.eh_frame.empty()) continue;
      rules_.Add({.pid = dump.pid,
                  .start = placement.start.value,
                  .end = placement.start.value + function.size,
                  .from_epoch = history.EpochOf({.time = placement.time, .sequence_number = 0}) + 1,
                  .table = &dump.table,
                  .image = {function.code.value}});
    }
  }
  rules_.Finish();
}

}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/input_report.h"

#include <fmt/core.h>

#include <cstdint>
#include <utility>

#include "formats/base/counted.h"

namespace perftape::cli {

std::string ReadLine(const convert::ImportReport& report, std::string_view format) {
  std::string line = Counted(report.samples, format == "folded" ? "line" : "sample");
  if (report.lost_samples != 0) {
    line += fmt::format(", {} lost while recording", report.lost_samples);
  }
  if (report.lost_records != 0) {
    line += fmt::format(", {} lost while recording", Counted(report.lost_records, "record"));
  }
  if (report.without_user_frames != 0) {
    line += fmt::format(", {} of them without user frames", report.without_user_frames);
  }
  if (report.outside_time != 0) line += fmt::format(", {} outside --time", report.outside_time);
  if (report.skipped_lines != 0) {
    line += fmt::format(", {} skipped", Counted(report.skipped_lines, "line"));
  }
  line += fmt::format("; {}", Counted(report.frames, "frame"));
  if (report.unmapped_frames != 0) {
    line += fmt::format(", {} of them in no mapping", report.unmapped_frames);
  }
  if (report.jit_dumps != 0) {
    line += fmt::format("; {} of compiled code in {}", Counted(report.jit_functions, "function"),
                        Counted(report.jit_dumps, "jitdump"));
  }
  return line;
}

std::vector<std::string> DamageLines(const convert::ImportReport& report) {
  std::vector<std::string> lines = report.problems;
  if (report.skipped_samples != 0) {
    lines.push_back(fmt::format(
        "{} could not be read, the first at {}; {} of them have an unknown event",
        Counted(report.skipped_samples, "sample"), report.first_skipped, report.unknown_events));
  }
  if (report.damaged_records != 0) {
    lines.push_back(fmt::format("{} shorter than the size in the header",
                                Counted(report.damaged_records, "record")));
  }
  return lines;
}

std::vector<std::string> RemarkLines(const convert::ImportReport& report) {
  std::vector<std::string> lines;
  if (report.late_records != 0) {
    lines.push_back(fmt::format("found after newer records, and sorted by time: {}",
                                Counted(report.late_records, "record")));
  }
  if (report.without_user_frames != 0) {
    lines.push_back(fmt::format(
        "{} without user frames: the record with them (CALLCHAIN_DEFERRED) is not in the file",
        Counted(report.without_user_frames, "sample")));
  }
  if (report.unknown_records != 0) {
    lines.push_back(
        fmt::format("of unknown types, skipped: {}", Counted(report.unknown_records, "record")));
  }
  return lines;
}

std::string UnwoundLine(const offline_unwind::UnwindReport& unwound) {
  using unwind::WalkEnd;
  constexpr std::pair<WalkEnd, std::string_view> kCauses[] = {
      {WalkEnd::kUnreadable, "at the end of the copy"},
      {WalkEnd::kNoTable, "in code without an unwind table"},
      {WalkEnd::kNoRule, "in code that the unwind table leaves out"},
      {WalkEnd::kTooDeep, "after --max-stack frames"},
      {WalkEnd::kNoProgress, "at a frame below its callee's"},
  };
  std::string line = fmt::format("{} of {} unwound to the outermost frame", unwound.whole(),
                                 Counted(unwound.samples(), "copied stack"));
  const auto add = [&](std::uint64_t count, std::string_view cause) {
    if (count != 0) line += fmt::format("; {} {}", count, cause);
  };
  for (const auto& [end, cause] : kCauses) {
    if (unwound.EndedAs(end) != 0) add(unwound.EndedAs(end), fmt::format("ended {}", cause));
  }
  add(unwound.of_32_bit, "of 32-bit processes, which cannot be unwound");
  add(unwound.unsupported, "of processors that cannot be unwound");
  return line;
}

bool IsMostlyCut(const offline_unwind::UnwindReport& unwound) {
  return 2 * unwound.whole() < unwound.samples();
}

std::vector<std::string> MissingTableLines(const offline_unwind::UnwindReport& unwound) {
  std::vector<std::string> lines;
  for (const std::string& binary : unwound.missing) lines.push_back("not unwound: " + binary);
  return lines;
}

bool PrintInputProblems(const convert::InputReport& input, Console& console) {
  const std::vector<std::string> damage = DamageLines(input.read);
  for (const std::string& line : damage) {
    console.Warning(fmt::format("{}: {}", input.name, line));
  }
  for (const std::string& line : RemarkLines(input.read)) {
    console.Detail(fmt::format("{}: {}", input.name, line));
  }
  PrintUnwound(input.name, input.read.unwound, console);
  for (const std::string& note : input.read.notes) {
    console.Warning(fmt::format("{}: {}", input.name, note));
  }
  return damage.empty();
}

void PrintUnwound(const std::string& name, const offline_unwind::UnwindReport& unwound,
                  Console& console) {
  if (unwound.samples() == 0) return;
  const auto print = [&](const std::string& line) {
    const std::string named = fmt::format("{}: {}", name, line);
    IsMostlyCut(unwound) ? console.Warning(named) : console.Detail(named);
  };
  print(UnwoundLine(unwound));
  for (const std::string& line : MissingTableLines(unwound)) print(line);
}

std::vector<std::string> RecordedEvents(const std::vector<convert::InputReport>& inputs) {
  std::vector<std::string> names;
  for (const convert::InputReport& input : inputs) {
    names.insert(names.end(), input.read.events.begin(), input.read.events.end());
  }
  return names;
}

}  // namespace perftape::cli

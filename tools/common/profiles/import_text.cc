// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/import_text.h"

#include <fmt/format.h>

#include "tools/common/cli/count.h"

namespace perftape::cli {

std::string ReadLine(const convert::ImportReport& report, std::string_view format) {
  std::string line = Counted(report.samples, format == "folded" ? "line" : "sample");
  if (report.lost_samples != 0) {
    line += fmt::format(", {} lost while recording", report.lost_samples);
  }
  if (report.lost_records != 0) {
    line += fmt::format(", {} lost while recording", Counted(report.lost_records, "record"));
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
    lines.push_back(fmt::format("after newer records, and sorted by their time: {}",
                                Counted(report.late_records, "record")));
  }
  if (report.unknown_records != 0) {
    lines.push_back(fmt::format("of unknown types, and skipped: {}",
                                Counted(report.unknown_records, "record")));
  }
  return lines;
}

}  // namespace perftape::cli

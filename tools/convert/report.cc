// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/report.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace perftape::convert_tool {
namespace {

// "12 no file, 3 of another build": what `count` gives for each Miss but kNone; empty for none.
template <class Count>
std::string MissesText(Count count) {
  constexpr std::pair<Miss, std::string_view> kMisses[] = {
      {Miss::kNoFile, "no file"},
      {Miss::kWrongBuildId, "of another build"},
      {Miss::kNoSymbol, "no symbol"}};
  std::string text;
  for (const auto& [miss, words] : kMisses) {
    if (const std::uint64_t places = count(miss); places != 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", places, words);
    }
  }
  return text;
}

}  // namespace

std::string ReadLine(const ImportReport& report) {
  std::string line = fmt::format("{} samples", report.samples);
  if (report.lost_samples != 0) {
    line += fmt::format(", {} lost while recording", report.lost_samples);
  }
  if (report.lost_records != 0) {
    line += fmt::format(", {} records lost while recording", report.lost_records);
  }
  line += fmt::format("; {} frames", report.frames);
  if (report.unmapped_frames != 0) {
    line += fmt::format(", {} of them in no mapping", report.unmapped_frames);
  }
  return line;
}

std::vector<std::string> DamageLines(const ImportReport& report) {
  std::vector<std::string> lines = report.problems;
  if (report.skipped_samples != 0) {
    lines.push_back(fmt::format("{} samples could not be read, {} of them of an unknown event",
                                report.skipped_samples, report.unknown_events));
  }
  if (report.damaged_records != 0) {
    lines.push_back(fmt::format("{} records are shorter than they say", report.damaged_records));
  }
  return lines;
}

std::string SymbolLine(const SymbolizeReport& report) {
  const auto count = [&](Miss miss) { return report.count(miss); };
  std::string line =
      fmt::format("symbols: {} places named", report.count(Miss::kNone) + report.kept);
  const std::string misses = MissesText(count);
  if (!misses.empty()) line += fmt::format("; without a name: {}", misses);
  if (report.unmapped != 0) {
    line += fmt::format("{}{} in no mapping", misses.empty() ? "; without a name: " : ", ",
                        report.unmapped);
  }
  return line;
}

std::vector<std::string> MappingLines(const SymbolizeReport& report) {
  std::vector<std::string> lines;
  for (const MappingSymbols& mapping : report.mappings) {
    const auto count = [&](Miss miss) { return mapping.count(miss); };
    const std::string misses = MissesText(count);
    lines.push_back(fmt::format("{}{}: {} places named{}{}{}{}", mapping.filename,
                                mapping.build_id.empty() ? "" : " " + mapping.build_id,
                                mapping.count(Miss::kNone), misses.empty() ? "" : ", ", misses,
                                mapping.problem.empty() ? "" : ": ", mapping.problem));
  }
  return lines;
}

std::vector<std::string> EventsBeside(const Profile& profile, EventId taken) {
  std::vector<std::uint64_t> samples(profile.events().size());
  for (const Sample& sample : profile.samples()) samples[sample.event.index] += sample.count;
  std::vector<std::string> others;
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    if (i == taken.index || samples[i] == 0) continue;
    others.push_back(
        fmt::format("{} ({} samples)", profile.text(profile[EventId{i}].name), samples[i]));
  }
  return others;
}

}  // namespace perftape::convert_tool

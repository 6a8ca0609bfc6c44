// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/progress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace perftape::cli {
namespace {

// Returns a number below `base` with one of the units: two digits or more, like "1.5 MiB".
std::string Scaled(std::uint64_t number, double base, std::span<const std::string_view> units) {
  auto scaled = static_cast<double>(number);
  std::size_t unit = 0;
  while (scaled >= base && unit + 1 < units.size()) {
    scaled /= base;
    ++unit;
  }
  const bool has_decimal = unit != 0 && scaled < 10;
  return fmt::format("{:.{}f}{}", scaled, has_decimal ? 1 : 0, units[unit]);
}

double Seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

// Bytes of files are counted once for each pass; those of a stream once.
double DonePart(const ProgressCounts& counts) {
  if (counts.work_bytes == 0) return 0;
  return std::min(1.0,
                  static_cast<double>(counts.done_bytes) / static_cast<double>(counts.work_bytes));
}

}  // namespace

std::string ShortBytes(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 5> kUnits = {" B", " KiB", " MiB", " GiB", " TiB"};
  return Scaled(bytes, 1024, kUnits);
}

std::string ShortCount(std::uint64_t count) {
  static constexpr std::array<std::string_view, 4> kUnits = {"", "k", "M", "G"};
  return Scaled(count, 1000, kUnits);
}

std::string ShortTime(std::chrono::seconds time) {
  const auto seconds = time.count();
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{}:{:02} min", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02} h", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string FitParts(std::string_view tool, std::span<const std::string> parts,
                     std::size_t columns) {
  const std::size_t most = columns == 0 ? 0 : columns - 1;
  std::string line = fmt::format("{}:", tool);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string longer = fmt::format("{}{} {}", line, i == 0 ? "" : ",", parts[i]);
    if (i != 0 && longer.size() > most) break;
    line = longer;
  }
  return line.substr(0, most);
}

std::string ReadingText(std::string_view tool, const ProgressCounts& counts,
                        std::chrono::milliseconds elapsed, std::size_t columns) {
  std::vector<std::string> parts;
  if (counts.expected_inputs > 1) {
    parts.push_back(fmt::format("input {} of {}", counts.inputs, counts.expected_inputs));
  }
  const double done = DonePart(counts);
  const bool has_size = counts.work_bytes != 0;
  const std::uint64_t bytes = counts.input_bytes + counts.streamed_bytes;
  if (has_size) {
    parts.push_back(fmt::format("{}% of {}", static_cast<int>(done * 100), ShortBytes(bytes)));
  } else {
    parts.push_back(fmt::format("{} read", ShortBytes(bytes)));
  }
  if (counts.samples != 0) parts.push_back(ShortCount(counts.samples) + " samples");
  const bool is_finishing = has_size && done >= 1;
  const double seconds = Seconds(elapsed);
  if (!is_finishing && seconds > 0) {
    const double read = static_cast<double>(bytes) * (has_size ? done : 1);
    parts.push_back(ShortBytes(static_cast<std::uint64_t>(read / seconds)) + "/s");
  }
  if (is_finishing) {
    parts.emplace_back("finishing");
  } else if (has_size && done > 0 && counts.inputs >= counts.expected_inputs) {
    const double left = seconds / done * (1 - done);
    parts.push_back(ShortTime(std::chrono::seconds(static_cast<std::int64_t>(left + 0.5))) +
                    " left");
  }
  return FitParts(tool, parts, columns);
}

}  // namespace perftape::cli

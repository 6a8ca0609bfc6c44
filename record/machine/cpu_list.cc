// SPDX-License-Identifier: Apache-2.0
#include "record/machine/cpu_list.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "formats/base/file.h"
#include "record/machine/proc_files.h"

namespace perftape::record {
namespace {

// The limit of the u16 in wire_header; Linux has at most 8192 (NR_CPUS).
constexpr std::uint64_t kLastCpu = 65535;

struct Range {
  int first, last;
};

// Parses "7" or "0-3".
std::optional<Range> ParseRange(std::string_view text) {
  const bool has_two = text.contains('-');
  const std::optional<std::uint64_t> first = ParseNumber(NextField(text, '-'));
  const std::optional<std::uint64_t> last = has_two ? ParseNumber(text) : first;
  if (!first || !last || *first > *last || *last > kLastCpu) return std::nullopt;
  return Range{static_cast<int>(*first), static_cast<int>(*last)};
}

Result<std::vector<int>> ReadCpuList(const std::filesystem::path& path) {
  TRY_ASSIGN(const std::string text, ReadWholeFile(path));
  Result<std::vector<int>> cpus = ParseCpuList(text);
  if (!cpus) return Fail(InContext(path.string(), std::move(cpus).error()));
  return cpus;
}

}  // namespace

Result<std::vector<int>> ParseCpuList(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<int> cpus;
  if (text.empty()) return cpus;
  if (text.ends_with(',')) return Fail(ErrorCode::kInvalidArgument, "CPU list ends in a comma");
  while (!text.empty()) {
    const std::string_view part = NextField(text, ',');
    const std::optional<Range> range = ParseRange(part);
    if (!range) {
      return Fail(ErrorCode::kInvalidArgument,
                  "CPU list: \"" + std::string(part) + "\" is neither a CPU nor a range of CPUs");
    }
    for (int cpu = range->first; cpu <= range->last; ++cpu) cpus.push_back(cpu);
  }
  std::ranges::sort(cpus);
  const auto repeated = std::ranges::unique(cpus);
  cpus.erase(repeated.begin(), repeated.end());
  return cpus;
}

std::string FormatCpuList(std::span<const int> cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (end > i + 1) text += '-' + std::to_string(cpus[end - 1]);
    i = end;
  }
  return text;
}

Result<std::vector<int>> OnlineCpus(const std::filesystem::path& sys_root) {
  return ReadCpuList(sys_root / "devices/system/cpu/online");
}

Result<std::vector<int>> PresentCpus(const std::filesystem::path& sys_root) {
  return ReadCpuList(sys_root / "devices/system/cpu/present");
}

}  // namespace perftape::record

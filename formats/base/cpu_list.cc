// SPDX-License-Identifier: Apache-2.0
#include "formats/base/cpu_list.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <system_error>

namespace perftape {
inline namespace base {
namespace {

// The limit of the u16 in wire_header; Linux has at most 8192 (NR_CPUS). Also prevents
// "0-4000000000" from using up memory.
constexpr int kLastCpu = UINT16_MAX;

std::optional<int> CpuOf(std::string_view text) {
  int cpu = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, cpu);
  if (error != std::errc{} || parsed != end || cpu < 0 || cpu > kLastCpu) return std::nullopt;
  return cpu;
}

}  // namespace

Result<std::vector<int>> CpuListOf(std::string_view text) {
  std::set<int> cpus;
  for (std::size_t comma = 0; comma != std::string_view::npos;) {
    comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t dash = part.find('-');
    const std::optional<int> first = CpuOf(part.substr(0, dash));
    const std::optional<int> last =
        dash == std::string_view::npos ? first : CpuOf(part.substr(dash + 1));
    if (!first || !last || *first > *last) {
      return Fail(ErrorCode::kInvalidArgument,
                  "'" + std::string(part) + "' is not a CPU or a range of CPUs");
    }
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
  }
  return std::vector<int>(cpus.begin(), cpus.end());
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

}  // namespace base
}  // namespace perftape

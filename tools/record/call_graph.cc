// SPDX-License-Identifier: Apache-2.0
#include "tools/record/call_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>
#include <system_error>

#include "tools/common/cli/escape.h"

namespace perftape::record_tool {
namespace {

struct Method {
  std::string_view name;
  record::Callchains callchains;
};

// Without copies of stacks.
constexpr Method kMethods[] = {
    {"fp", record::Callchains::kFramePointers},
    {"eh", record::Callchains::kUnwindTables},
    {"none", record::Callchains::kNone},
};
constexpr std::string_view kStackCopy = "dwarf", kWithStackCopy = "+dwarf";

std::unexpected<Error> CallGraphUsage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

// perf's default, limit, rounding and words (tools/perf/util/callchain.c, get_stack_size).
Result<std::uint32_t> ParseStackSize(std::string_view option, std::string_view text) {
  constexpr std::uint32_t kDefault = 8192;
  if (text.empty()) return kDefault;
  std::uint32_t size = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, size);
  if (error == std::errc{} && parsed == end && size > 0 && size <= record::kMaxStackBytes) {
    return static_cast<std::uint32_t>(RoundUpToWord(size));
  }
  return CallGraphUsage(fmt::format("{}: Incorrect stack dump size (max {}): {}", option,
                                    record::kMaxStackBytes, cli::EscapeForTerminal(text)));
}

}  // namespace

std::vector<cli::Offer> CallGraphs() {
  std::vector<cli::Offer> offers;
  for (const Method& method : kMethods) offers.push_back({.word = std::string(method.name)});
  offers.push_back({.word = std::string(kStackCopy)});
  return offers;
}

Result<CallGraph> ParseCallGraph(std::string_view option, std::string_view text) {
  const std::size_t comma = text.find(',');
  const std::string_view size = comma < text.size() ? text.substr(comma + 1) : std::string_view();
  std::string_view name = text.substr(0, comma);
  if (name == kStackCopy) {
    TRY_ASSIGN(const std::uint32_t stack_bytes, ParseStackSize(option, size));
    return CallGraph{record::Callchains::kOnlyKernel, stack_bytes};
  }
  CallGraph graph;
  const bool has_stacks = name.ends_with(kWithStackCopy);
  if (has_stacks) {
    name.remove_suffix(kWithStackCopy.size());
    TRY_ASSIGN(graph.stack_bytes, ParseStackSize(option, size));
  }
  const auto* const method = std::ranges::find(kMethods, name, &Method::name);
  if (method != std::end(kMethods) && (has_stacks || comma == std::string_view::npos)) {
    graph.callchains = method->callchains;
    return graph;
  }
  return CallGraphUsage(fmt::format(
      "{}: method '{}' is not supported: call chains are found by frame pointers (fp), by the "
      "unwind tables of the binaries (eh), from copies of the stack (dwarf), or not (none)",
      option, cli::EscapeForTerminal(text)));
}

Result<std::size_t> ParseUnwindMemory(std::string_view option, std::string_view text) {
  constexpr std::string_view kUnits = "BKMG";
  constexpr std::uint64_t kSmallest = 4096, kLargest = std::uint64_t{1} << 30;
  std::uint64_t unit = 1;
  std::string_view digits = text;
  if (!text.empty() && kUnits.contains(text.back())) {
    unit = std::uint64_t{1} << (10 * kUnits.find(text.back()));
    digits.remove_suffix(1);
  }
  std::uint64_t count = 0;
  const char* const end = digits.data() + digits.size();
  const auto [parsed, error] = std::from_chars(digits.data(), end, count);
  if (error != std::errc{} || parsed != end || count > kLargest / unit ||
      count * unit < kSmallest) {
    return CallGraphUsage(
        fmt::format("{}: '{}' is not a size from 4K to 1G", option, cli::EscapeForTerminal(text)));
  }
  return count * unit;
}

}  // namespace perftape::record_tool

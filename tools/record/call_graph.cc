// SPDX-License-Identifier: Apache-2.0
#include "tools/record/call_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>
#include <system_error>

#include "bpf/wire.h"
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
};
constexpr std::string_view kStackCopy = "dwarf", kWithStackCopy = "+dwarf";

std::unexpected<Error> Usage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

// perf's default, limit, rounding and words (tools/perf/util/callchain.c, get_stack_size).
Result<std::uint32_t> ParseStackSize(std::string_view option, std::string_view text) {
  constexpr std::uint32_t kDefault = 8192, kWord = 8;
  if (text.empty()) return kDefault;
  std::uint32_t size = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, size);
  if (error == std::errc{} && parsed == end && size > 0 && size <= WIRE_MAX_STACK) {
    return (size + kWord - 1) / kWord * kWord;
  }
  return Usage(fmt::format("{}: Incorrect stack dump size (max {}): {}", option, WIRE_MAX_STACK,
                           cli::EscapeForTerminal(text)));
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
  return Usage(fmt::format(
      "{}: method '{}' is not supported: call chains are found by frame pointers (fp) or from "
      "copies of the stack (dwarf)",
      option, cli::EscapeForTerminal(text)));
}

}  // namespace perftape::record_tool

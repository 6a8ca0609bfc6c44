// SPDX-License-Identifier: Apache-2.0
#include "record/events/breakpoint.h"

#include <fmt/core.h>
#include <linux/hw_breakpoint.h>

#include <algorithm>
#include <optional>

#include "record/events/event_number.h"

namespace perftape::record {
namespace {

constexpr std::string_view kPrefix = "mem:";

std::unexpected<Error> NoBreakpoint(std::string_view what) {
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("{}: write mem:ADDRESS[/LENGTH][:ACCESS], for example mem:0x1000/8:rw", what));
}

std::optional<std::uint32_t> AccessOf(std::string_view letters) {
  constexpr struct {
    char letter;
    std::uint32_t access;
  } kAccesses[] = {
      {'r', HW_BREAKPOINT_R},
      {'w', HW_BREAKPOINT_W},
      {'x', HW_BREAKPOINT_X},
  };
  std::uint32_t access = 0;
  for (const char letter : letters) {
    const auto* const row =
        std::ranges::find(kAccesses, letter, [](const auto& each) { return each.letter; });
    if (row == std::end(kAccesses) || (access & row->access) != 0) return {};
    access |= row->access;
  }
  if (access == 0) return {};
  return access;
}

}  // namespace

bool IsBreakpoint(std::string_view event) {
  return event.starts_with(kPrefix);
}

Result<Breakpoint> ParseBreakpoint(std::string_view event) {
  std::string_view rest = event.substr(kPrefix.size());
  std::string_view access = "rw";
  const std::size_t colon = rest.find(':');
  if (colon != std::string_view::npos) {
    access = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  const std::size_t slash = rest.find('/');
  const std::optional<std::uint64_t> address = ParseEventNumber(rest.substr(0, slash));
  if (!address) return NoBreakpoint(fmt::format("'{}' is not an address", rest.substr(0, slash)));
  const std::optional<std::uint32_t> type = AccessOf(access);
  if (!type)
    return NoBreakpoint(fmt::format("'{}' is not an access of r, w and x, each once", access));
  constexpr std::uint64_t kUsualLength = HW_BREAKPOINT_LEN_4;
  Breakpoint breakpoint{
      .address = *address,
      .length = *type == HW_BREAKPOINT_X ? sizeof(long) : kUsualLength,
      .access = *type,
  };
  if (slash == std::string_view::npos) return breakpoint;
  const std::optional<std::uint64_t> length = ParseEventNumber(rest.substr(slash + 1));
  if (!length) return NoBreakpoint(fmt::format("'{}' is not a length", rest.substr(slash + 1)));
  breakpoint.length = *length;
  return breakpoint;
}

void SetBreakpoint(const Breakpoint& breakpoint, perfdata::EventAttr& attr) {
  attr.type = perfdata::kTypeBreakpoint;
  attr.config = 0;
  attr.config1 = breakpoint.address;  // the union with bp_addr
  attr.config2 = breakpoint.length;   // the union with bp_len
  attr.bp_type = breakpoint.access;
}

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "record/control/control_spec.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdint>
#include <utility>

namespace perftape::record {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kFifo = "fifo:", kDescriptor = "fd:";

std::unexpected<Error> Wrong(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

// Removes the number, at most INT_MAX, that `text` begins with.
std::optional<int> NextNumber(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<int> NumberOf(std::string_view text) {
  const std::optional<int> number = NextNumber(text);
  return text.empty() ? number : std::nullopt;
}

Result<ControlSpec> ParseFifos(std::string_view text) {
  const std::size_t comma = text.find(',');
  ControlFifos fifos = {.commands = std::string(text.substr(0, comma))};
  if (fifos.commands.empty()) return Wrong("the FIFO for commands has no name");
  if (comma != std::string_view::npos) fifos.acknowledgements = text.substr(comma + 1);
  return fifos;
}

Result<ControlSpec> ParseDescriptors(std::string_view text) {
  const std::size_t comma = text.find(',');
  const std::optional<int> commands = NumberOf(text.substr(0, comma));
  const std::optional<int> acknowledgements =
      comma == std::string_view::npos ? -1 : NumberOf(text.substr(comma + 1));
  if (!commands || !acknowledgements) return Wrong("a descriptor is a number: fd:3 or fd:3,4");
  return ControlDescriptors{.commands = *commands, .acknowledgements = *acknowledgements};
}

void SkipBlanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

// Removes `mark` and the blanks around it.
bool Skip(char mark, std::string_view& text) {
  SkipBlanks(text);
  if (!text.starts_with(mark)) return false;
  text.remove_prefix(1);
  SkipBlanks(text);
  return true;
}

std::optional<EnabledRange> NextRange(std::string_view& text) {
  SkipBlanks(text);
  const std::optional<int> from = NextNumber(text);
  if (!from || !Skip('-', text)) return std::nullopt;
  const std::optional<int> until = NextNumber(text);
  SkipBlanks(text);
  if (!until || *until <= *from) return std::nullopt;
  return EnabledRange{.from = milliseconds(*from), .until = milliseconds(*until)};
}

}  // namespace

Result<ControlSpec> ParseControl(std::string_view text) {
  if (text.starts_with(kFifo)) return ParseFifos(text.substr(kFifo.size()));
  if (text.starts_with(kDescriptor)) return ParseDescriptors(text.substr(kDescriptor.size()));
  return Wrong("use fifo:CTL, fifo:CTL,ACK, fd:CTL or fd:CTL,ACK");
}

Result<EnabledRanges> ParseDelay(std::string_view text) {
  if (text == "-1") return EnabledRanges();
  if (const std::optional<int> delay = NumberOf(text)) {
    if (*delay == 0) return Wrong("0 is no delay");
    return EnabledRanges{{.from = milliseconds(*delay)}};
  }
  EnabledRanges ranges;
  do {
    const std::optional<EnabledRange> range = NextRange(text);
    if (!range) return Wrong("use milliseconds, -1, or ranges of milliseconds such as 10-20,30-40");
    if (!ranges.empty() && range->from <= *ranges.back().until) {
      return Wrong("the ranges must be in ascending order and apart from each other");
    }
    ranges.push_back(*range);
  } while (Skip(',', text));
  if (!text.empty()) return Wrong("a comma is missing between two ranges");
  return ranges;
}

}  // namespace perftape::record

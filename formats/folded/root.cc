// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/root.h"

#include <charconv>
#include <cstddef>

#include "formats/base/unknown_name.h"

namespace perftape::folded {
namespace {

constexpr std::string_view kUnknownNumber = "?";

std::string NumberText(std::optional<std::uint32_t> number) {
  return number ? std::to_string(*number) : std::string(kUnknownNumber);
}

// Removes `separator` and the number or "?" after it from the end of `name`. Returns false if there
// is none.
bool ReadNumber(std::string_view& name, char separator, std::optional<std::uint32_t>& number) {
  const std::size_t at = name.rfind(separator);
  if (at == std::string_view::npos) return false;
  const std::string_view text = name.substr(at + 1);
  if (text != kUnknownNumber) {
    const char* end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number.emplace());
    if (error != std::errc{} || after != end) return false;
  }
  name = name.substr(0, at);
  return true;
}

}  // namespace

std::string RootName(Root root, const RootFrame& frame) {
  if (root == Root::kNone) return "";
  std::string name = frame.comm.empty() ? std::string(kUnknownName) : frame.comm;
  if (root == Root::kComm) return name;
  name += "-" + NumberText(frame.pid);
  if (root == Root::kCommPidTid) name += "/" + NumberText(frame.tid);
  return name;
}

std::optional<RootFrame> ParseRoot(Root root, std::string_view name) {
  if (root == Root::kNone) return {};
  RootFrame frame;
  if (root == Root::kCommPidTid && !ReadNumber(name, '/', frame.tid)) return {};
  if (root != Root::kComm && !ReadNumber(name, '-', frame.pid)) return {};
  if (name != kUnknownName) frame.comm = name;
  return frame;
}

}  // namespace perftape::folded

// SPDX-License-Identifier: Apache-2.0
#include "formats/script/deferred.h"

#include <string_view>

#include "formats/script/words.h"

namespace perftape::script {

std::optional<std::uint64_t> CookieOfUserFrames(const Head& head) {
  // Of "DEFERRED CALLCHAIN [cookie: b00000006]", ParseHead takes what precedes ": " for an event.
  if (head.event != "DEFERRED CALLCHAIN [cookie") return {};
  std::string_view rest = TrimRight(TrimLeft(head.rest));
  if (!rest.ends_with(']')) return {};
  rest.remove_suffix(1);
  return ParseAddress(rest);
}

std::optional<std::uint64_t> RemoveCookie(std::vector<Frame>& frames) {
  if (frames.empty() || frames.back().symbol != "(cookie)") return {};
  const std::uint64_t cookie = frames.back().address;
  frames.pop_back();
  return cookie;
}

}  // namespace perftape::script

// SPDX-License-Identifier: Apache-2.0
// Lines of folded stacks of any bytes. What was written reads back as it was written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/folded/folded.h"

namespace perftape::folded {
namespace {

void ReadLine(std::string_view line) {
  const Result<StackLine> parsed = ParseFoldedLine(line);
  if (!parsed) return;
  if (parsed->frames.empty()) std::abort();

  std::string written;
  AppendLine(written, parsed->frames, parsed->count);
  const Result<StackLine> again = ParseFoldedLine(written);
  if (!again || again->count != parsed->count) std::abort();
  if (again->frames.size() != parsed->frames.size()) std::abort();
  std::string same;
  AppendLine(same, again->frames, again->count);
  if (same != written) std::abort();
}

}  // namespace
}  // namespace perftape::folded

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = perftape::AsText(std::as_bytes(std::span(data, size)));
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    perftape::folded::ReadLine(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Parses the target of a request to perftape-serve, of any bytes, as each of its paths. What is
// accepted is within the limits, and has no control characters.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/serve/channels/record_command.h"
#include "tools/serve/event_names.h"
#include "tools/serve/parameters.h"

namespace perftape::serve {
namespace {

void Require(bool is_so) {
  if (!is_so) std::abort();
}

void CheckText(std::string_view text) {
  Require(std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }));
}

void CheckProfile(const Result<ProfileRequest>& request) {
  if (!request) return;
  CheckText(request->event);
  for (const auto& [label, text] : request->conditions) {
    Require(!text.empty());
    CheckText(text);
  }
  Require(!request->seconds ||
          (request->seconds->count() > 0 && *request->seconds <= kMostSeconds));
  (void)EventChoice(request->event).MayHave("packetloss");
}

void CheckRecording(const Result<RecordRequest>& request) {
  if (!request) return;
  Require(request->seconds.count() > 0 && request->seconds <= kLongestRecording);
  Require(request->frequency.value_or(1) <= kHighestFrequencyHz);
}

void CheckTarget(std::string_view text) {
  const Result<Target> target = Target::Parse(text);
  if (!target) return;
  CheckText(target->path());
  Require(target->path().starts_with('/'));
  Target zero = *target, one = *target, two = *target, three = *target, four = *target;
  CheckProfile(ParseCollapsedRequest(zero));
  CheckProfile(ParseFlameGraphRequest(one));
  CheckProfile(ParsePprofRequest(two, target->path()));
  CheckRecording(ParseRecordRequest(three, RecordParameters::kService));
  CheckRecording(ParseRecordRequest(four, RecordParameters::kProcess));
}

}  // namespace
}  // namespace perftape::serve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perftape::serve::CheckTarget({reinterpret_cast<const char*>(data), size});
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Facts that recorded processes publish about themselves, as the recorder notes them
// (recording_notes.h): the service attributes of their process contexts
// (formats/otlp/process_context.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perftape::bundle {

struct NotedAttribute {
  std::string key = {};  // "service.name"
  std::string text = {};

  bool operator==(const NotedAttribute&) const = default;
};

// A process while it executed one program and published one context. The times are of
// CLOCK_MONOTONIC, as those of the records.
struct NotedProcess {
  std::uint32_t pid = 0;
  std::uint64_t from_ns = 0;                   // 0: before the recording
  std::optional<std::uint64_t> until_ns = {};  // nothing: until the end
  std::vector<NotedAttribute> attributes = {};

  bool operator==(const NotedProcess&) const = default;
};

}  // namespace perftape::bundle

// SPDX-License-Identifier: Apache-2.0
// The target of a request: its path and its parameters. Parsing is strict: an unknown parameter, or
// one that is given twice, is an error, so that a typing error does not give a wrong answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::serve {

class Target {
 public:
  // Decodes "/path?a=1&b=x%20y". Fails with kInvalidArgument.
  static Result<Target> Parse(std::string_view text);

  const std::string& path() const { return path_; }
  // Returns a parameter, which is known then.
  std::optional<std::string> Consume(std::string_view name);
  // Fails if a parameter is left.
  Status CheckAllKnown() const;

 private:
  std::string path_;
  std::map<std::string, std::string, std::less<>> parameters_;
};

// The texts that labels of samples must have, by their keys.
using LabelConditions = std::map<std::string, std::string, std::less<>>;

// The longest time that a request can wait for.
inline constexpr std::chrono::hours kMostSeconds{1};

// What a request for a profile names. The values are as in the request.
struct ProfileRequest {
  LabelConditions conditions = {};  // empty: all samples of the node
  std::string event = {};           // empty: all
  bool reset = false;
  bool offsets = false;
  // Nanoseconds since 1970, or a time ago.
  std::optional<std::int64_t> since_ns = {};
  std::optional<std::chrono::nanoseconds> ago = {};
  std::optional<std::chrono::nanoseconds> seconds = {};
  std::optional<std::vector<std::string>> labels = {};  // that are kept

  bool has_since() const { return since_ns || ago; }
};

// The parameters of /flamegraph. Fails with kInvalidArgument.
Result<ProfileRequest> ParseFlameGraphRequest(Target& target);
// Those of /flamegraph/collapsed: the same, and offsets.
Result<ProfileRequest> ParseCollapsedRequest(Target& target);
// Those of /debug/pprof/EVENT: also those that scrapers of pprof send. `event` is in the path.
Result<ProfileRequest> ParsePprofRequest(Target& target, std::string_view event);

// A recording of its own: of /perf.data and of POST /record.
struct RecordRequest {
  std::chrono::nanoseconds seconds = {};
  std::optional<std::uint32_t> frequency = {};
  std::optional<std::uint32_t> pid = {};
  std::string event = {};
};

// Which of its parameters a path has.
enum class RecordParameters : std::uint8_t { kService, kProcess };
Result<RecordRequest> ParseRecordRequest(Target& target, RecordParameters which);

}  // namespace perftape::serve

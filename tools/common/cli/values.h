// SPDX-License-Identifier: Apache-2.0
// Parses the arguments of options. Each function gets the option as the user typed it ("-p") for
// its message, and fails with kInvalidArgument: "-p: '12x' is not a process or thread id".
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::cli {

// A whole decimal number of at least `smallest` and at most `largest`.
struct Range {
  std::uint64_t smallest = 0;
  std::uint64_t largest = UINT64_MAX;
};
Result<std::uint64_t> ParseNumber(std::string_view option, std::string_view text, Range range = {});

// The same for another type, for a row of a table.
template <class Number, Number kSmallest, Number kLargest>
Result<Number> ParseNumberIn(std::string_view option, std::string_view text) {
  auto number = ParseNumber(option, text,
                            {.smallest = static_cast<std::uint64_t>(kSmallest),
                             .largest = static_cast<std::uint64_t>(kLargest)});
  if (!number) return std::unexpected(std::move(number).error());
  return static_cast<Number>(*number);
}

// Returns the text unchanged.
Result<std::string> ParseText(std::string_view option, std::string_view text);

// The name of an output file, "-" for stdout (OutputNamed in output.h). Must not be empty.
Result<std::filesystem::path> ParseOutput(std::string_view option, std::string_view text);

// The same without a name for stdout.
Result<std::filesystem::path> ParseFileName(std::string_view option, std::string_view text);

// The name of a directory. Must not be empty.
Result<std::filesystem::path> ParseDirectory(std::string_view option, std::string_view text);

// A compression level of zstd that perf accepts, 1 to 22. An empty text is level 1.
Result<int> ParseCompressionLevel(std::string_view option, std::string_view text);

// What differs between options that take a time: the shortest one, and what a number without a unit
// counts.
struct TimeRule {
  std::chrono::nanoseconds shortest{1};
  std::chrono::nanoseconds bare_unit = std::chrono::seconds(1);
  std::string_view bare_units = "seconds";  // for the message
};
// A time with a unit (formats/base/duration.h), "500ms" or "1h30m", or a bare number.
Result<std::chrono::nanoseconds> ParseTimeWith(std::string_view option, std::string_view text,
                                               const TimeRule& rule);

// The same above 0; a bare number counts seconds.
Result<std::chrono::nanoseconds> ParseDuration(std::string_view option, std::string_view text);

// 8 EiB: the limit of an offset in a file.
inline constexpr std::uint64_t kLargestSize = INT64_MAX;
// What differs between options that take a size.
struct SizeRule {
  std::uint64_t smallest = 1;
  std::uint64_t largest = kLargestSize;
  std::uint64_t bare_unit = 1;
  std::string_view bare_units = "bytes";  // for the message
};
// A size with a unit (formats/base/byte_size.h), "100M", or a bare number.
Result<std::uint64_t> ParseSizeWith(std::string_view option, std::string_view text,
                                    const SizeRule& rule);

// The same above 0; a bare number counts bytes.
Result<std::uint64_t> ParseSize(std::string_view option, std::string_view text);

// The same with limits, for a row of a table.
template <std::uint64_t kSmallest, std::uint64_t kLargest>
Result<std::uint64_t> ParseSizeIn(std::string_view option, std::string_view text) {
  return ParseSizeWith(option, text, {.smallest = kSmallest, .largest = kLargest});
}

// A number from 0 to 100, with or without "%" (formats/base/percent.h).
Result<double> ParsePercent(std::string_view option, std::string_view text);

// "12,13": process or thread ids, each above 0.
Result<std::vector<pid_t>> ParseIdList(std::string_view option, std::string_view text);

// "0-3,8" (formats/base/cpu_list.h); ascending, without repetitions.
Result<std::vector<int>> ParseCpuList(std::string_view option, std::string_view text);

// Returns the number of CPUs.
unsigned DefaultThreads();
// A number of threads, 1 to 1024.
inline constexpr auto ParseThreads = &ParseNumberIn<unsigned, 1, 1024>;

// A user's number, or a name in /etc/passwd. Other sources of names (nsswitch.conf) are libraries
// that a static program cannot load.
Result<uid_t> ParseUser(std::string_view option, std::string_view text);
// Returns the number of a user in the text of a file as /etc/passwd (passwd(5)).
std::optional<uid_t> UserIn(std::string_view users, std::string_view name);

// Returns the parts between commas; one empty part for an empty text.
std::vector<std::string_view> SplitAtCommas(std::string_view text);

// Returns "choose comm, pid or one of 12 more": the names that contain `wanted`, or else similar
// ones, or else all.
std::string ChooseText(std::string_view wanted, const std::set<std::string>& names);

}  // namespace perftape::cli

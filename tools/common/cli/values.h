// SPDX-License-Identifier: Apache-2.0
// The arguments of options as values. Each takes the option as the user knows it ("-p") for its
// message, and fails with kInvalidArgument: "-p: '12x' is no process id".
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
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

// A level of zstd as perf takes it, 1 to 22; 1 for none.
Result<int> ParseCompressionLevel(std::string_view option, std::string_view text);

// Seconds above 0, fractions allowed: "2.5".
Result<std::chrono::nanoseconds> ParseSeconds(std::string_view option, std::string_view text);

// "12,13": process or thread ids, each above 0.
Result<std::vector<pid_t>> ParseIdList(std::string_view option, std::string_view text);

// "0-3,8": as the kernel and perf write CPU lists; ascending, each once.
Result<std::vector<int>> ParseCpuList(std::string_view option, std::string_view text);

// How many threads may work at once; as many as there are CPUs where nothing is told.
Result<unsigned> ParseThreads(std::string_view option, std::optional<std::string_view> text);

// A user's name or number.
Result<uid_t> ParseUser(std::string_view option, std::string_view text);

}  // namespace perftape::cli

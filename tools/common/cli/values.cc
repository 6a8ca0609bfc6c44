// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/values.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "formats/base/byte_size.h"
#include "formats/base/cpu_list.h"
#include "formats/base/duration.h"
#include "formats/base/file.h"
#include "formats/base/percent.h"
#include "formats/base/similar.h"
#include "formats/base/text.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/output.h"

namespace perftape::cli {
namespace {

// The limit of pid_max on 64-bit kernels (PID_MAX_LIMIT).
constexpr std::uint64_t kLargestPid = 1 << 22;

// "No user" for the kernel.
constexpr std::uint64_t kNoUser = UINT32_MAX;

constexpr std::string_view kUsersFile = "/etc/passwd";

std::unexpected<Error> Refuse(std::string_view option, std::string_view text,
                              std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: '{}' is not {}", option, EscapeForTerminal(text), what));
}

bool IsAllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<std::uint64_t> WholeNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

Result<std::uint64_t> ParseNumber(std::string_view option, std::string_view text, Range range) {
  const std::optional<std::uint64_t> number = WholeNumber(text);
  if (!number && !IsAllDigits(text)) return Refuse(option, text, "a whole number");
  if (!number || *number < range.smallest || *number > range.largest) {
    const std::string limits = range.largest == UINT64_MAX && number
                                   ? fmt::format("at least {}", range.smallest)
                                   : fmt::format("{} to {}", range.smallest, range.largest);
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} is out of range: use {}", option, text, limits));
  }
  return *number;
}

Result<std::string> ParseText(std::string_view /*option*/, std::string_view text) {
  return std::string(text);
}

Result<std::filesystem::path> ParseOutput(std::string_view option, std::string_view text) {
  TRY_ASSIGN(const std::filesystem::path name, ParseFileName(option, text));
  return OutputNamed(name.native());
}

Result<std::filesystem::path> ParseFileName(std::string_view option, std::string_view text) {
  if (text.empty()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: the file name is empty", option));
  }
  return std::filesystem::path(text);
}

Result<std::filesystem::path> ParseDirectory(std::string_view option, std::string_view text) {
  if (text.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: the directory name is empty", option));
  }
  return std::filesystem::path(text);
}

Result<int> ParseCompressionLevel(std::string_view option, std::string_view text) {
  if (text.empty()) return 1;
  TRY_ASSIGN(const std::uint64_t level, ParseNumber(option, text, {.smallest = 1, .largest = 22}));
  return static_cast<int>(level);
}

Result<std::chrono::nanoseconds> ParseTimeWith(std::string_view option, std::string_view text,
                                               const TimeRule& rule) {
  const auto time = DurationOf(text, rule.bare_unit);
  if (time && *time >= rule.shortest) return *time;
  return Refuse(
      option, text,
      fmt::format("a time{}: use a number of {}, or one with {}, such as 500ms",
                  rule.shortest.count() > 0 ? " above 0" : "", rule.bare_units, kDurationUnits));
}

Result<std::chrono::nanoseconds> ParseDuration(std::string_view option, std::string_view text) {
  return ParseTimeWith(option, text, {});
}

Result<std::uint64_t> ParseSizeWith(std::string_view option, std::string_view text,
                                    const SizeRule& rule) {
  const std::optional<std::uint64_t> size = SizeOf(text, rule.bare_unit);
  if (!size) {
    return Refuse(
        option, text,
        fmt::format("a size: use a number of {}, or one with {}", rule.bare_units, kSizeUnits));
  }
  if (*size >= rule.smallest && *size <= rule.largest) return *size;
  const std::string limits =
      rule.largest == kLargestSize
          ? "at least " + SizeText(rule.smallest)
          : fmt::format("{} to {}", SizeText(rule.smallest), SizeText(rule.largest));
  const std::string hint =
      IsAllDigits(text) ? fmt::format("; a number without a unit counts {}", rule.bare_units) : "";
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: {} is out of range: use {}{}", option, text, limits, hint));
}

Result<std::uint64_t> ParseSize(std::string_view option, std::string_view text) {
  return ParseSizeWith(option, text, {});
}

Result<double> ParsePercent(std::string_view option, std::string_view text) {
  const std::optional<double> percent = PercentOf(text, PercentSign::kOptional);
  if (percent) return *percent;
  return Refuse(option, text, "a percentage: use a number from 0 to 100, such as 5 or 5%");
}

Result<std::vector<pid_t>> ParseIdList(std::string_view option, std::string_view text) {
  std::vector<pid_t> ids;
  for (const std::string_view part : SplitAtCommas(text)) {
    const std::optional<std::uint64_t> id = WholeNumber(part);
    if (!id || *id == 0 || *id > kLargestPid) return Refuse(option, part, "a process or thread id");
    ids.push_back(static_cast<pid_t>(*id));
  }
  return ids;
}

Result<std::vector<int>> ParseCpuList(std::string_view option, std::string_view text) {
  Result<std::vector<int>> cpus = CpuListOf(text);
  if (cpus) return cpus;
  return Fail(cpus.error().code,
              fmt::format("{}: {}", option, EscapeForTerminal(cpus.error().message)));
}

unsigned DefaultThreads() {
  return std::max(std::thread::hardware_concurrency(), 1U);
}

Result<uid_t> ParseUser(std::string_view option, std::string_view text) {
  if (const auto number = WholeNumber(text); number && *number < kNoUser) {
    return static_cast<uid_t>(*number);
  }
  const Result<std::string> users = ReadWholeFile(kUsersFile);
  if (users) {
    if (const std::optional<uid_t> user = UserIn(*users, text)) return *user;
  }
  const std::string where = users ? std::string(kUsersFile) : users.error().message;
  return Refuse(option, text,
                fmt::format("a user in {}: use the number that 'id -u USER' prints", where));
}

std::optional<uid_t> UserIn(std::string_view users, std::string_view name) {
  while (!users.empty()) {
    std::string_view line = users.substr(0, users.find('\n'));
    users.remove_prefix(std::min(users.size(), line.size() + 1));
    const auto next_field = [&line] {
      const std::string_view field = line.substr(0, line.find(':'));
      line.remove_prefix(std::min(line.size(), field.size() + 1));
      return field;
    };
    if (next_field() != name) continue;
    next_field();  // the password
    const std::optional<std::uint64_t> number = WholeNumber(next_field());
    if (number && *number < kNoUser) return static_cast<uid_t>(*number);
  }
  return std::nullopt;
}

std::vector<std::string_view> SplitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::string ChooseText(std::string_view wanted, const std::set<std::string>& choices) {
  constexpr std::size_t kMostNames = 20;
  const std::vector<std::string_view> names(choices.begin(), choices.end());
  std::vector<std::string_view> near;
  std::ranges::copy_if(names, std::back_inserter(near), [&](std::string_view name) {
    return name.find(wanted) != std::string_view::npos;
  });
  if (near.empty()) near = MostSimilar(wanted, names);
  if (near.empty()) near = names;
  const std::size_t left_out = near.size() - std::min(near.size(), kMostNames);
  near.resize(near.size() - left_out);
  return fmt::format("choose {}{}", EscapeForTerminal(Joined(near, ", ")),
                     left_out == 0 ? "" : fmt::format(" or one of {} more", left_out));
}

}  // namespace perftape::cli

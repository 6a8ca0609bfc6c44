// SPDX-License-Identifier: Apache-2.0
#include "record/scope/comm_globs.h"

#include <fmt/core.h>

#include <bitset>
#include <cstdint>
#include <string_view>

namespace perftape::record {
namespace {

constexpr std::size_t kLongestComm = 15;  // TASK_COMM_LEN without its NUL

using Characters = std::bitset<256>;

// A glob as the characters that match one after the other, and where any may be between them.
struct ParsedGlob {
  std::vector<Characters> accepted;
  std::bitset<kLongestComm + 1> stars;  // before the character with this index
};

std::size_t CodeOf(char character) {
  return static_cast<std::uint8_t>(character);
}

Characters Only(char character) {
  Characters set;
  set.set(CodeOf(character));
  return set;
}

// Removes and returns a character of a set, without a backslash before it.
char ReadMember(std::string_view& text) {
  if (text.front() == '\\' && text.size() > 1) text.remove_prefix(1);
  const char member = text.front();
  text.remove_prefix(1);
  return member;
}

// Parses "[a-z]" at the start of `text` and removes it. A '[' that no ']' closes is a character.
Characters ReadSet(std::string_view& text) {
  std::string_view left = text.substr(1);
  const bool is_negated = left.starts_with('!') || left.starts_with('^');
  if (is_negated) left.remove_prefix(1);
  Characters set;
  for (bool is_first = true; !left.empty() && (is_first || left.front() != ']'); is_first = false) {
    const std::size_t from = CodeOf(ReadMember(left));
    std::size_t to = from;
    if (left.size() > 1 && left[0] == '-' && left[1] != ']') {
      left.remove_prefix(1);
      to = CodeOf(ReadMember(left));
    }
    for (std::size_t code = from; code <= to; ++code) set.set(code);
  }
  if (left.empty()) {
    text.remove_prefix(1);
    return Only('[');
  }
  text = left.substr(1);
  return is_negated ? ~set : set;
}

Characters ReadCharacter(std::string_view& text) {
  if (text.front() == '[') return ReadSet(text);
  if (text.front() == '?') {
    text.remove_prefix(1);
    return ~Characters();
  }
  return Only(ReadMember(text));
}

Result<ParsedGlob> ParseGlob(std::string_view glob) {
  ParsedGlob parsed;
  std::string_view left = glob;
  while (!left.empty()) {
    if (left.front() == '*') {
      parsed.stars.set(parsed.accepted.size());
      left.remove_prefix(1);
      continue;
    }
    if (parsed.accepted.size() == kLongestComm) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("--comm '{}': matches no thread, because the kernel keeps only {} "
                              "bytes of a name: end it with '*' after at most {}",
                              glob, kLongestComm, kLongestComm));
    }
    parsed.accepted.push_back(ReadCharacter(left));
  }
  return parsed;
}

// Adds the glob from position `first` on.
void AddGlob(const ParsedGlob& glob, std::size_t first, wire_globs& set) {
  set.start |= std::uint64_t{1} << first;
  set.end |= std::uint64_t{1} << (first + glob.accepted.size());
  set.stars |= std::uint64_t{glob.stars.to_ullong()} << first;
  for (std::size_t i = 0; i < glob.accepted.size(); ++i) {
    for (std::size_t code = 0; code < glob.accepted[i].size(); ++code) {
      if (glob.accepted[i][code]) set.accept[code] |= std::uint64_t{1} << (first + i);
    }
  }
}

}  // namespace

Result<std::vector<wire_globs>> CompileCommGlobs(std::span<const std::string> globs) {
  constexpr std::size_t kPositions = 64;
  std::vector<wire_globs> sets;
  std::size_t used = kPositions;  // of the last set
  for (const std::string& glob : globs) {
    TRY_ASSIGN(const ParsedGlob parsed, ParseGlob(glob));
    const std::size_t needed = parsed.accepted.size() + 1;
    if (used + needed > kPositions) {
      if (sets.size() == WIRE_GLOB_SETS) {
        return Fail(
            ErrorCode::kInvalidArgument,
            fmt::format(
                "--comm '{}': too many names: at most {} names of the full length are possible",
                glob, WIRE_GLOB_SETS * kPositions / (kLongestComm + 1)));
      }
      sets.emplace_back();
      used = 0;
    }
    AddGlob(parsed, used, sets.back());
    used += needed;
  }
  return sets;
}

}  // namespace perftape::record

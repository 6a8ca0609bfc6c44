// SPDX-License-Identifier: Apache-2.0
#include "formats/script/header.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "formats/script/escape.h"
#include "formats/script/words.h"

namespace perftape::script {
namespace {

constexpr std::string_view kFrameLine = "# ========";
constexpr std::string_view kSeparator = " : ";
constexpr std::string_view kTextKey = "perftape text";
constexpr std::string_view kEventKey = "perftape event";
constexpr std::string_view kNoteKey = "perftape note";
constexpr std::string_view kPlain = "plain";
constexpr std::string_view kSampled = "sampled";

// The facts of a header that a profile keeps: perf's key, and that of the profile's comment.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kFacts = {{
    {"hostname", "hostname"},
    {"os release", "os release"},
    {"arch", "arch"},
    {"perf version", "perf version"},
    {"cmdline", "command line"},
}};

// Parses "plain bytes alloc_space".
void ReadEvent(std::string_view text, Header& header) {
  const std::string_view values = FirstWord(text);
  text = TrimLeft(text.substr(values.size()));
  const std::string_view unit = FirstWord(text);
  const std::string_view name = TrimLeft(text.substr(unit.size()));
  if ((values != kPlain && values != kSampled) || name.empty()) return;
  header.events.push_back(
      {.name = Unescaped(name), .unit = Unescaped(unit), .is_plain = values == kPlain});
}

void AppendLine(std::string& out, std::string_view key, std::string_view value) {
  out += "# ";
  out += key;
  out += kSeparator;
  AppendEscaped(out, value, "");
  out += '\n';
}

// "hostname: build7" becomes "# hostname : build7".
void AppendComment(std::string& out, std::string_view comment) {
  for (const auto& [key, of_profile] : kFacts) {
    if (!comment.starts_with(of_profile) || !comment.substr(of_profile.size()).starts_with(": "))
      continue;
    return AppendLine(out, key, comment.substr(of_profile.size() + 2));
  }
  AppendLine(out, kNoteKey, comment);
}

}  // namespace

bool BeginsWithHeader(std::string_view text) {
  return text.starts_with(kFrameLine) && (text.substr(kFrameLine.size()).starts_with('\n') ||
                                          text.substr(kFrameLine.size()).starts_with("\r\n"));
}

bool IsComment(std::string_view line) {
  return line == "#" || line.starts_with("# ");
}

void ReadComment(std::string_view line, Header& header) {
  line.remove_prefix(std::min<std::size_t>(line.size(), 2));
  const std::size_t separator = line.find(kSeparator);
  if (separator == std::string_view::npos) return;
  const std::string_view key = TrimRight(line.substr(0, separator));
  const std::string_view value = line.substr(separator + kSeparator.size());
  const bool is_ours = header.writer == Writer::kPerftape;
  if (key == kTextKey && value == "1") header.writer = Writer::kPerftape;
  if (key == kEventKey && is_ours) return ReadEvent(value, header);
  std::string comment;
  const auto* fact = std::ranges::find(kFacts, key, &decltype(kFacts)::value_type::first);
  if (fact != kFacts.end()) comment = std::string(fact->second) + ": ";
  if (fact == kFacts.end() && (key != kNoteKey || !is_ours)) return;
  comment += is_ours ? Unescaped(value) : std::string(TrimRight(value));
  if (std::ranges::find(header.comments, comment) == header.comments.end()) {
    header.comments.push_back(std::move(comment));
  }
}

void AppendHeader(std::string& out, const Header& header) {
  out += kFrameLine;
  out += '\n';
  AppendLine(out, kTextKey, "1");
  for (const std::string& comment : header.comments) AppendComment(out, comment);
  for (const HeaderEvent& event : header.events) {
    std::string value(event.is_plain ? kPlain : kSampled);
    value += ' ';
    AppendEscaped(value, event.unit, " ");
    value += ' ';
    AppendEscaped(value, event.name, " ");
    out += "# ";
    out += kEventKey;
    out += kSeparator;
    out += value + '\n';
  }
  out += kFrameLine;
  out += "\n#\n";
}

}  // namespace perftape::script

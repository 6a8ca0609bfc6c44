// SPDX-License-Identifier: Apache-2.0
#include "record/output/name_pattern.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <ctime>
#include <utility>

namespace perftape::record {
namespace {

constexpr std::size_t kTimeDigits = 16;
constexpr std::uint64_t kCentisecondsPerSecond = 100;

std::string TimeText(std::uint64_t centiseconds) {
  const auto seconds = static_cast<std::time_t>(centiseconds / kCentisecondsPerSecond);
  std::tm local = {};
  localtime_r(&seconds, &local);
  std::array<char, 32> text = {};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y%m%d%H%M%S", &local);
  return fmt::format("{}{:02}", std::string_view(text.data(), size),
                     centiseconds % kCentisecondsPerSecond);
}

std::size_t DigitsAtStart(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

bool Exists(const std::filesystem::path& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0;
}

}  // namespace

Result<NamePattern> NamePattern::Parse(const std::filesystem::path& output, std::string_view host) {
  NamePattern pattern;
  pattern.prefix_ = output.parent_path();
  pattern.directory_ = pattern.prefix_.empty() ? std::filesystem::path(".") : pattern.prefix_;
  const std::string name = output.filename();
  if (name.empty()) return Fail(ErrorCode::kInvalidArgument, "names no file");
  if (pattern.prefix_.native().contains('%')) {
    return Fail(ErrorCode::kInvalidArgument,
                "%t, %n and %h are replaced only in the file name, not in directories");
  }
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      pattern.AddText(std::string_view(name).substr(i, 1));
      continue;
    }
    const char letter = ++i < name.size() ? name[i] : '\0';
    if (letter == 't') {
      pattern.pieces_.push_back({.part = Part::kTime});
    } else if (letter == 'n') {
      pattern.pieces_.push_back({.part = Part::kNumber});
    } else if (letter == 'h') {
      pattern.AddText(host);
    } else if (letter == '%') {
      pattern.AddText("%");
    } else {
      return Fail(ErrorCode::kInvalidArgument,
                  "% must be followed by t (time), n (number), h (host) or %");
    }
  }
  if (!pattern.Has(Part::kTime) && !pattern.Has(Part::kNumber)) {
    pattern.AddText(".");
    pattern.pieces_.push_back({.part = Part::kTime});
  }
  return pattern;
}

void NamePattern::AddText(std::string_view text) {
  if (pieces_.empty() || pieces_.back().part != Part::kText) pieces_.emplace_back();
  pieces_.back().text += text;
}

bool NamePattern::Has(Part part) const {
  return std::ranges::find(pieces_, part, &Piece::part) != pieces_.end();
}

std::string NamePattern::NameOf(const FileStamp& stamp) const {
  std::string name;
  for (const Piece& piece : pieces_) {
    if (piece.part == Part::kText) name += piece.text;
    if (piece.part == Part::kTime) name += TimeText(stamp.centiseconds);
    if (piece.part == Part::kNumber) name += std::to_string(stamp.number);
  }
  return name;
}

bool NamePattern::Matches(std::string_view name, std::uint64_t& number) const {
  for (const Piece& piece : pieces_) {
    std::size_t size = piece.text.size();
    if (piece.part == Part::kText && !name.starts_with(piece.text)) return false;
    if (piece.part == Part::kTime) {
      size = kTimeDigits;
      if (DigitsAtStart(name) < size) return false;
    }
    if (piece.part == Part::kNumber) {
      size = DigitsAtStart(name);
      if (size == 0 || name.front() == '0') return false;
      const auto [end, error] = std::from_chars(name.data(), name.data() + size, number);
      if (error != std::errc{}) return false;
    }
    name.remove_prefix(size);
  }
  return name.empty();
}

Result<std::vector<NumberedName>> NamePattern::NamesInDirectory() const {
  std::vector<NumberedName> names;
  std::error_code error;
  std::filesystem::directory_iterator at(directory_, error);
  while (!error && at != std::filesystem::directory_iterator()) {
    NumberedName found{.name = at->path().filename()};
    if (Matches(found.name, found.number)) names.push_back(std::move(found));
    at.increment(error);
  }
  if (error) return FailErrno(directory_.native(), error.value());
  return names;
}

FileNames::FileNames(NamePattern pattern) : pattern_(std::move(pattern)) {
  if (pattern_.has_time()) return;
  const Result<std::vector<NumberedName>> names = pattern_.NamesInDirectory();
  if (!names) return;  // creating a file will fail, too
  for (const NumberedName& file : *names) last_.number = std::max(last_.number, file.number);
}

std::filesystem::path FileNames::Next(std::uint64_t realtime_ns) {
  constexpr std::uint64_t kNsPerCentisecond = 10'000'000;
  last_.centiseconds = std::max(last_.centiseconds + 1, realtime_ns / kNsPerCentisecond);
  ++last_.number;
  while (Exists(pattern_.PathOf(last_))) {
    ++last_.centiseconds;
    if (!pattern_.has_time()) ++last_.number;
  }
  return pattern_.PathOf(last_);
}

}  // namespace perftape::record

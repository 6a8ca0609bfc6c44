// SPDX-License-Identifier: Apache-2.0
#include "convert/foreign_input.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/folded/folded.h"
#include "formats/perfdata/reader.h"

namespace perftape::convert {
namespace {

constexpr std::size_t kEnough = 4096;

bool IsDigit(char c) {
  return '0' <= c && c <= '9';
}

bool IsNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsDigit);
}

// Recognizes the first lines of the formats in google/pprof's profile/legacy_profile.go.
bool IsLegacyPprofText(std::string_view text) {
  std::string_view line;
  folded::ReadLine(text, line);
  constexpr auto kBeginnings = std::to_array<std::string_view>(
      {"heap profile:", "heapz profile:", "heap_v2/", "--- heap", "--- growth", "--- contention",
       "--- mutex", "--- thread", "--- symbol", "--- profile"});
  const auto begins = [&](std::string_view beginning) { return line.starts_with(beginning); };
  if (std::ranges::any_of(kBeginnings, begins)) return true;
  // "goroutine profile: total 7", "threadcreate profile: total 3"
  constexpr std::string_view kTotal = " profile: total ";
  const std::size_t total = line.find(kTotal);
  return total != std::string_view::npos && line.find(' ') == total &&
         IsNumber(line.substr(total + kTotal.size()));
}

// Recognizes profilez: words 0, 3, 0, the period, 0, of 4 or 8 bytes in either order; then samples.
template <class Word>
bool IsLegacyPprofBinary(Bytes bytes, std::endian order) {
  constexpr std::size_t kWords = 5;
  if (bytes.size() < kWords * sizeof(Word)) return false;
  const auto word = [&](std::size_t i) {
    return LoadFixed<Word>(bytes.data() + i * sizeof(Word), order);
  };
  return word(0) == 0 && word(1) == 3 && word(2) == 0 && word(3) != 0 && word(4) == 0;
}

bool IsLegacyPprof(Bytes bytes) {
  return IsLegacyPprofText(AsText(bytes)) ||
         IsLegacyPprofBinary<std::uint64_t>(bytes, std::endian::little) ||
         IsLegacyPprofBinary<std::uint64_t>(bytes, std::endian::big) ||
         IsLegacyPprofBinary<std::uint32_t>(bytes, std::endian::little) ||
         IsLegacyPprofBinary<std::uint32_t>(bytes, std::endian::big);
}

}  // namespace

std::optional<std::string> DescribeForeign(const Input& input) {
  if (perfdata::IsPerfData(input)) return {};
  if (input.is_directory()) {
    return "is a directory, and no perf.data of several files, which has a file 'data'";
  }
  const Bytes beginning = input.beginning().first(std::min(input.beginning().size(), kEnough));
  if (IsLegacyPprof(beginning)) {
    return "is a profile in one of pprof's old formats; `go tool pprof -proto FILE > out.pb.gz` "
           "makes one of it that is read here";
  }
  return {};
}

}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
#include "formats/jemalloc/heap_v2.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

#include "formats/base/text.h"

namespace perftape::jemalloc {
namespace {

constexpr std::string_view kMark = "heap_v2/";
constexpr std::string_view kSums = "t*:";
constexpr std::string_view kMappings = "MAPPED_LIBRARIES:";
constexpr std::size_t kMostFrames = 65'536;

// Removes the first word from `text`, and returns it.
std::string_view NextWord(std::string_view& text) {
  text = Trimmed(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

template <class Number>
std::optional<Number> Parse(std::string_view text, int base = 10) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number, base);
  if (text.empty() || error != std::errc() || parsed != end) return {};
  return number;
}

// Parses the next word without `ending`, such as "3:" or "[0:".
bool ReadNumber(std::string_view& text, std::string_view before, std::string_view after,
                std::int64_t& number) {
  std::string_view word = NextWord(text);
  if (!word.starts_with(before)) return false;
  word.remove_prefix(before.size());
  if (!word.ends_with(after)) return false;
  word.remove_suffix(after.size());
  const auto parsed = Parse<std::int64_t>(word);
  if (!parsed || *parsed < 0) return false;
  number = *parsed;
  return true;
}

// Parses "t*: 2: 4194304 [0: 0]".
bool ReadNumbers(std::string_view text, HeapNumbers& numbers) {
  return NextWord(text) == kSums && ReadNumber(text, "", ":", numbers.objects) &&
         ReadNumber(text, "", "", numbers.bytes) &&
         ReadNumber(text, "[", ":", numbers.all_objects) &&
         ReadNumber(text, "", "]", numbers.all_bytes);
}

// Parses "@ 0x55d0c1a2b3c4 0x7f2ab1b7209b".
bool ReadAddresses(std::string_view text, std::vector<std::uint64_t>& addresses) {
  constexpr std::string_view kHex = "0x";
  NextWord(text);
  for (std::string_view word = NextWord(text); !word.empty(); word = NextWord(text)) {
    if (word.starts_with(kHex)) word.remove_prefix(kHex.size());
    const auto address = Parse<std::uint64_t>(word, 16);
    if (!address || addresses.size() >= kMostFrames) return false;
    addresses.push_back(*address);
  }
  return true;
}

// Parses a line of /proc/PID/maps.
bool ReadMapping(std::string_view text, HeapMapping& mapping) {
  const std::string_view range = NextWord(text);
  const std::string_view access = NextWord(text);
  const auto offset = Parse<std::uint64_t>(NextWord(text), 16);
  NextWord(text);  // device
  NextWord(text);  // inode
  mapping.path = Trimmed(text);
  const std::size_t dash = std::min(range.find('-'), range.size());
  const auto start = Parse<std::uint64_t>(range.substr(0, dash), 16);
  const auto limit = Parse<std::uint64_t>(range.substr(std::min(dash + 1, range.size())), 16);
  if (!start || !limit || !offset || *start >= *limit) return false;
  mapping.start = *start;
  mapping.limit = *limit;
  mapping.offset = *offset;
  mapping.is_code = access.find('x') != std::string_view::npos;
  return true;
}

class HeapReader {
 public:
  explicit HeapReader(HeapFile& file) : file_(file) {}

  // A line after the first one.
  void Add(std::string_view line) {
    ++number_;
    const std::string_view text = Trimmed(line);
    if (text.empty()) return;
    if (text == kMappings) {
      has_mappings_ = true;
    } else if (has_mappings_) {
      HeapMapping mapping;
      ReadMapping(text, mapping) ? file_.mappings.push_back(mapping) : CountBadLine();
    } else if (text.starts_with('@')) {
      HeapStack stack;
      if (!ReadAddresses(text, stack.addresses)) return CountBadLine();
      file_.stacks.push_back(std::move(stack));
    } else if (text.starts_with(kSums)) {
      HeapNumbers numbers;
      if (!ReadNumbers(text, numbers)) return CountBadLine();
      if (!file_.stacks.empty()) file_.stacks.back().numbers = numbers;  // else of the whole heap
    } else if (!text.starts_with('t')) {
      CountBadLine();
    }
  }

 private:
  void CountBadLine() {
    if (file_.bad_lines++ == 0) file_.first_bad = number_;
  }

  HeapFile& file_;
  std::uint64_t number_ = 1;
  bool has_mappings_ = false;
};

std::int64_t Rounded(double value) {
  constexpr double kMost = 9.2e18;
  return std::llround(std::min(value, kMost));
}

void Scale(std::int64_t& objects, std::int64_t& bytes, std::uint64_t rate) {
  if (objects <= 0 || bytes <= 0 || rate <= 1) return;
  const double average = static_cast<double>(bytes) / static_cast<double>(objects);
  const double factor = 1 / -std::expm1(-average / static_cast<double>(rate));
  objects = Rounded(static_cast<double>(objects) * factor);
  bytes = Rounded(static_cast<double>(bytes) * factor);
}

}  // namespace

bool IsHeapV2(std::string_view beginning) {
  return beginning.starts_with(kMark);
}

Result<HeapFile> ReadHeapV2(std::string_view text) {
  HeapFile file;
  const auto next_line = [&] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
  };
  const std::string_view first = Trimmed(next_line());
  const auto rate = IsHeapV2(first) ? Parse<std::uint64_t>(first.substr(kMark.size()))
                                    : std::optional<std::uint64_t>();
  if (!rate) return Fail(ErrorCode::kCorrupt, "line 1: not \"heap_v2/\" and a number");
  file.rate = *rate;
  HeapReader reader(file);
  while (!text.empty()) reader.Add(next_line());
  return file;
}

HeapNumbers Unsampled(const HeapNumbers& sampled, std::uint64_t rate) {
  HeapNumbers numbers = sampled;
  Scale(numbers.objects, numbers.bytes, rate);
  Scale(numbers.all_objects, numbers.all_bytes, rate);
  return numbers;
}

}  // namespace perftape::jemalloc

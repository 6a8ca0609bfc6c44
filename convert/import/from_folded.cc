// SPDX-License-Identifier: Apache-2.0
#include "convert/import/from_folded.h"

#include <fmt/core.h>
#include <tsl/robin_map.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/model/mappings_without_files.h"
#include "convert/model/profile_builder.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "formats/base/progress.h"
#include "formats/base/utf8_text.h"
#include "formats/folded/escape.h"
#include "formats/folded/folded.h"
#include "formats/folded/kernel_address.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::convert {
namespace {

struct TextHash {
  std::size_t operator()(std::string_view text) const {
    return XXH3_64bits(text.data(), text.size());
  }
};
template <class T>
using MapOfTexts = tsl::robin_map<std::string_view, T, TextHash>;

// Returns the number of leading bytes that both have in common.
std::size_t CommonPrefix(std::string_view a, std::string_view b) {
  const std::size_t size = std::min(a.size(), b.size());
  std::size_t at = 0;
  for (; size - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
    std::uint64_t word_a = 0;
    std::uint64_t word_b = 0;
    std::memcpy(&word_a, a.data() + at, sizeof word_a);
    std::memcpy(&word_b, b.data() + at, sizeof word_b);
    if (word_a == word_b) continue;
    if constexpr (std::endian::native == std::endian::little) {
      return at + static_cast<std::size_t>(std::countr_zero(word_a ^ word_b)) / 8;
    }
    break;
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

// What must be known of all counts before the first one becomes a sample.
struct CountBounds {
  std::size_t decimals = 0;  // largest number of decimals of a count
  std::uint64_t total = 0;   // upper bound of the sum of the counts' absolute values

  void Add(const folded::Count& count) {
    decimals = std::max(decimals, count.fraction.size());
    total = AddUpToLimit(total, count.whole);
    if (HasFraction(count)) total = AddUpToLimit(total, std::uint64_t{1});
  }

  static bool HasFraction(const folded::Count& count) {
    return !count.fraction.empty() && count.fraction != "0";
  }
};

// Returns the largest number of decimals, at most that of the counts, with which the total fits a
// signed 64-bit number.
unsigned DecimalsThatFit(const CountBounds& bounds) {
  std::uint64_t limit = std::numeric_limits<std::int64_t>::max();
  unsigned decimals = 0;
  while (decimals < bounds.decimals && decimals < folded::kMostDecimals &&
         bounds.total <= limit / 10) {
    limit /= 10;
    ++decimals;
  }
  return decimals;
}

class FoldedImporter {
 public:
  FoldedImporter(const ImportOptions& options, ImportReport& report)
      : options_(options),
        report_(report),
        columns_(options.differential ? folded::Columns::kTwo : folded::Columns::kOne) {}

  Result<Profile> Import(std::string_view text) {
    const std::size_t size = text.size();
    AddWorkToProgress(size, 2);
    TRY(CheckLines(text));
    AddEvents();
    ProgressMeter progress(0, report_.samples);
    for (std::string_view line; folded::ReadLine(text, line);) {
      progress.MoveTo(size - text.size(), report_.samples);
      if (line.empty()) continue;
      const Result<folded::Line> parsed = folded::ParseLine(line, columns_);
      if (parsed) AddLine(*parsed);
    }
    if (rootless_ != 0) {
      report_.problems.push_back(fmt::format("{} lines do not begin with a thread", rootless_));
    }
    return std::move(builder_).Finish();
  }

 private:
  // Finds lines without a count, and the bounds of all counts.
  Status CheckLines(std::string_view text) {
    CountBounds bounds;
    std::uint64_t number = 0, lines = 0, lines_of_two = 0;
    const std::size_t size = text.size();
    ProgressMeter progress(0);
    for (std::string_view line; folded::ReadLine(text, line);) {
      progress.MoveTo(size - text.size(), 0);
      ++number;
      if (line.empty()) continue;
      Result<folded::Line> parsed = folded::ParseLine(line, columns_);
      if (parsed) {
        bounds.Add(parsed->before);
        bounds.Add(parsed->count);
        ++lines;
        if (folded::EndsLikeACount(parsed->stack)) ++lines_of_two;
      } else if (const std::uint64_t lost = folded::LostStacksIn(line)) {
        report_.lost_samples = AddUpToLimit(report_.lost_samples, lost);
      } else if (!options_.lenient) {
        return Fail(InContext(
            fmt::format("line {}", number),
            Error{parsed.error().code, parsed.error().message + " (--lenient skips such lines)"}));
      } else if (report_.skipped_lines++ == 0) {
        report_.first_skipped = fmt::format("line {}", number);
      }
    }
    if (lines != 0 && lines == lines_of_two && columns_ == folded::Columns::kOne) {
      report_.notes.emplace_back(
          "all lines end in two numbers, and the first was read as part of the last frame: read "
          "them as differential lines to get both counts");
    }
    decimals_ = DecimalsThatFit(bounds);
    if (decimals_ < bounds.decimals) {
      report_.notes.push_back(
          fmt::format("counts of {} decimals were rounded to {} so that they fit in 64 bits",
                      bounds.decimals, decimals_));
    }
    if (bounds.total > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
      report_.problems.emplace_back(
          "the sum of the counts does not fit in 64 bits; sums stop at the largest number that "
          "does");
    }
    return {};
  }

  void AddEvents() {
    if (options_.differential) before_ = AddEvent("before");
    event_ = AddEvent(options_.differential ? "after" : "samples");
    frames_mapping_ = AddFoldedMapping(builder_, MappingType::kUser, {.functions = true});
  }

  EventId AddEvent(std::string_view name) {
    return builder_.Add(Event{.name = builder_.Add(name),
                              .unit = builder_.Add("count"),
                              .values = EventValues::kPlain,
                              .decimals = static_cast<std::uint8_t>(decimals_)});
  }

  void AddLine(const folded::Line& line) {
    Sample sample = {.stack = StackOf(line.stack), .thread = thread_};
    if (options_.differential) {
      sample.event = before_;
      sample.period = folded::ToFixed(line.before, decimals_);
      builder_.Add(sample);
    }
    sample.event = event_;
    sample.period = folded::ToFixed(line.count, decimals_);
    builder_.Add(sample);
    ++report_.samples;
    report_.frames += shared_.size();
    if (options_.root != folded::Root::kNone && thread_ == ThreadId{}) ++rootless_;
  }

  // Returns the stack of a line, and sets thread_. Frames that the line shares with the previous
  // one, up to the last common ';', are reused.
  StackId StackOf(std::string_view text) {
    const std::size_t common = CommonPrefix(text, previous_);
    while (!shared_.empty() && shared_.back().end > common) shared_.pop_back();
    previous_ = text;
    if (shared_.empty()) thread_ = {};

    StackId stack = shared_.empty() ? StackId{} : shared_.back().stack;
    std::size_t at = shared_.empty() ? 0 : shared_.back().end;
    while (at <= text.size()) {
      const std::size_t end = std::min(text.find(';', at), text.size());
      const bool is_leaf = end == text.size();
      const std::string_view frame = text.substr(at, end - at);
      if (at != 0 || !BecomesThread(frame, is_leaf)) {
        stack = builder_.Push(stack, is_leaf ? Leaf(frame) : Frame(frame));
      }
      at = end + 1;
      shared_.push_back({at, stack});
    }
    return stack;
  }

  // Sets thread_ and returns true if the first frame names the thread.
  bool BecomesThread(std::string_view text, bool is_leaf) {
    if (options_.root == folded::Root::kNone) return false;
    const std::string name = is_leaf ? folded::LeafName(text) : folded::FrameName(text);
    const auto root = folded::ParseRoot(options_.root, name);
    if (!root) return false;
    thread_ = builder_.Add(Thread{.pid = root->pid.value_or(kUnknownId),
                                  .tid = root->tid.value_or(kUnknownId),
                                  .comm = builder_.Add(root->comm)});
    return true;
  }

  LocationId Frame(std::string_view text) {
    const auto [known, is_new] = locations_.try_emplace(text);
    if (is_new) {
      known.value() =
          folded::MayBeEscaped(text) ? LocationOf(folded::FrameName(text)) : LocationOf(text);
    }
    return known->second;
  }

  LocationId Leaf(std::string_view text) {
    return folded::MayBeEscaped(text) ? LocationOf(folded::LeafName(text)) : Frame(text);
  }

  LocationId LocationOf(std::string_view name) {
    const Line line = {.function = builder_.Add(Function{.name = builder_.Add(name)})};
    if (options_.map_kernel_addresses) {
      if (const auto address = folded::KernelAddressOf(name)) return InKernel(*address, line);
    }
    MappingId mapping = frames_mapping_;
    if (name.ends_with(folded::kKernelMark)) {
      if (!kernel_) {
        kernel_ = AddFoldedMapping(builder_, MappingType::kKernel, {.functions = true});
      }
      mapping = *kernel_;
    }
    return builder_.Add(Location{.mapping = mapping, .lines = {&line, 1}});
  }

  // The file offsets of this mapping are the runtime addresses.
  LocationId InKernel(RuntimeAddress address, const Line& line) {
    const MappingId kernel =
        builder_.Add(Mapping{.filename = builder_.Add(perfdata::kKernelMappingName),
                             .limit = std::numeric_limits<std::uint64_t>::max(),
                             .type = MappingType::kKernel});
    return builder_.Add(
        Location{.mapping = kernel, .offset = FileOffset{address.value}, .lines = {&line, 1}});
  }

  // A frame of the previous line that the next line shares.
  struct SharedFrame {
    std::size_t end;  // after its ';'
    StackId stack;
  };

  const ImportOptions& options_;
  ImportReport& report_;
  const folded::Columns columns_;
  unsigned decimals_ = 0;
  std::uint64_t rootless_ = 0;
  ProfileBuilder builder_;
  EventId event_ = {}, before_ = {};
  MappingId frames_mapping_ = {};
  std::optional<MappingId> kernel_;
  MapOfTexts<LocationId> locations_;  // by the text in the file
  std::string_view previous_;         // the stack of the previous line
  std::vector<SharedFrame> shared_;
  ThreadId thread_ = {};
};

// IsFolded examines this many bytes, or the first line if that is longer.
constexpr std::size_t kBeginning = 4096;
constexpr std::size_t kLongestFirstLine = std::size_t{1} << 20;

bool IsControl(char c) {
  return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r';
}

// Returns whether a line ends in a count and is not a line of bpftrace's maps.
bool IsStackLine(std::string_view line) {
  const auto parsed = folded::ParseLine(line, folded::Columns::kOne);
  return parsed && !parsed->stack.empty() && !parsed->stack.ends_with("]:");
}

}  // namespace

bool IsFolded(const Input& input) {
  const Bytes bytes = input.beginning();
  const std::size_t first_line = AsText(bytes).substr(0, kLongestFirstLine).find('\n');
  const std::size_t size = std::max(kBeginning, std::min(first_line, kLongestFirstLine) + 1);
  const Bytes beginning = bytes.first(std::min(bytes.size(), size));
  const Utf8Text text(beginning);
  std::string_view rest = text.view();
  if (std::ranges::any_of(rest, IsControl)) return false;

  const bool is_cut =
      beginning.size() < bytes.size() || (input.is_stream() && bytes.size() >= kBeginning);
  if (is_cut) {
    const std::size_t last_end = rest.rfind('\n');
    if (last_end == std::string_view::npos) return rest.find(';') != std::string_view::npos;
    rest = rest.substr(0, last_end + 1);
  }
  std::size_t stacks = 0;
  std::size_t others = 0;
  bool has_frames = false;
  for (std::string_view line; folded::ReadLine(rest, line);) {
    if (line.empty()) continue;
    const bool is_stack = IsStackLine(line);
    if (is_stack && others == 0) return true;
    ++(is_stack ? stacks : others);
    has_frames |= is_stack && line.find(';') != std::string_view::npos;
  }
  return has_frames && stacks > others;
}

Result<Profile> ReadFolded(Input& input, const ImportOptions& options, ImportReport& report) {
  TRY_ASSIGN(const Bytes bytes, input.All());
  const Utf8Text text(bytes);
  if (text.broken() != 0) {
    report.problems.push_back(BrokenTextLine(text.broken()));
  }
  return FoldedImporter(options, report).Import(text.view());
}

}  // namespace perftape::convert

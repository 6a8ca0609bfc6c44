// SPDX-License-Identifier: Apache-2.0
#include "convert/export/frame_texts.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <ranges>
#include <string>

#include "convert/frames/frame_table.h"
#include "convert/model/mappings_without_files.h"
#include "convert/model/sample_thread.h"
#include "formats/folded/folded.h"

namespace perftape::convert {
namespace {

constexpr TextId kUnset = std::numeric_limits<TextId>::max();

class RootTexts {
 public:
  RootTexts(const Profile& profile, folded::Root root, FrameTexts& texts)
      : profile_(profile), root_(root), texts_(texts), of_threads_(profile.threads().size()) {}

  TextId Of(const Sample& sample) {
    if (root_ == folded::Root::kNone) return kNoText;
    if (sample.thread == ThreadId{}) return Render(sample);
    std::optional<TextId>& known = of_threads_[sample.thread.index];
    if (!known) known = Render(sample);
    return *known;
  }

 private:
  TextId Render(const Sample& sample) {
    const SampleThread thread = ThreadOf(profile_, sample);
    const bool is_known = sample.thread != ThreadId{} || !thread.comm.empty() ||
                          (thread.pid && root_ != folded::Root::kComm);
    if (!is_known) return kNoText;
    return texts_.Intern(folded::RootName(
        root_, {.comm = std::string(thread.comm), .pid = thread.pid, .tid = thread.tid}));
  }

  const Profile& profile_;
  const folded::Root root_;
  FrameTexts& texts_;
  std::vector<std::optional<TextId>> of_threads_;
};

}  // namespace

FrameTexts::FrameTexts(const Profile& profile, const FoldedOptions& options)
    : profile_(profile),
      options_(options),
      of_names_(profile.texts().size(), kUnset),
      of_marked_names_(options.mark_kernel ? profile.texts().size() : 0, kUnset),
      of_mappings_(profile.mappings().size(), kUnset),
      of_locations_(profile.locations().size(), kUnset) {}

std::span<const TextId> FrameTexts::Of(LocationId id) {
  found_.clear();
  if (of_locations_[id.index] != kUnset) {
    found_.push_back(of_locations_[id.index]);
    return found_;
  }
  const Location& location = profile_[id];
  if (location.lines.empty()) found_.push_back(OfUnresolved(location.mapping));
  for (const Line& line : location.lines | std::views::reverse) {
    found_.push_back(OfLine(line, location));
  }
  if (found_.size() == 1) of_locations_[id.index] = found_.front();
  return found_;
}

std::span<const TextId> FrameTexts::WithOffset(LocationId id, AddressKind kind) {
  (void)Of(id);
  const Location& location = profile_[id];
  const bool is_known = location.symbol_offset && !location.lines.empty() &&
                        HasName(profile_, location, location.lines.back());
  if (!is_known) return found_;
  const std::uint64_t offset = *location.symbol_offset + (kind == AddressKind::kReturn ? 1 : 0);
  const StringId name = profile_[location.lines.back().function].name;
  const std::string text = fmt::format("{}+0x{:x}", profile_.text(name), offset);
  found_.front() = IsMarked(location.mapping) ? OfKernel(text) : Intern(text);
  return found_;
}

TextId FrameTexts::Intern(std::string_view name) {
  const auto known = ids_.find(name);
  if (known != ids_.end()) return known->second;
  const auto id = static_cast<TextId>(texts_.size());
  texts_.push_back(arena_.Copy(name));
  ids_.emplace(texts_.back(), id);
  return id;
}

TextId FrameTexts::OfLine(const Line& line, const Location& location) {
  if (!HasName(profile_, location, line)) return OfUnresolved(location.mapping);
  const StringId name = profile_[line.function].name;
  const bool is_marked = IsMarked(location.mapping);
  TextId& id = (is_marked ? of_marked_names_ : of_names_)[name.index];
  if (id == kUnset) {
    const std::string_view text = profile_.text(name);
    id = is_marked ? OfKernel(text) : Intern(text);
  }
  return id;
}

TextId FrameTexts::OfUnresolved(MappingId mapping) {
  TextId& id = of_mappings_[mapping.index];
  if (id == kUnset) {
    const std::string name = NameOfUnresolved(profile_.text(profile_[mapping].filename));
    id = IsMarked(mapping) ? OfKernel(name) : Intern(name);
  }
  return id;
}

// Does not append a second mark: frames of a folded file may already have one.
TextId FrameTexts::OfKernel(std::string_view name) {
  if (name.ends_with(folded::kKernelMark)) return Intern(name);
  return Intern(std::string(name) + std::string(folded::kKernelMark));
}

bool FrameTexts::IsMarked(MappingId mapping) const {
  return options_.mark_kernel && profile_[mapping].type == MappingType::kKernel;
}

FrameKeys::FrameKeys(const FrameTexts& texts, folded::CountLike count_like) {
  const auto count = static_cast<std::uint32_t>(texts.size());
  std::vector<std::string_view> keys;  // of callers, then of leaves
  std::string text;
  for (TextId id = 0; id < count; ++id) {
    text.clear();
    folded::AppendFrame(text, texts[id]);
    text.push_back(';');
    keys.push_back(arena_.Copy(text));
  }
  for (TextId id = 0; id < count; ++id) {
    text.clear();
    folded::AppendLeaf(text, texts[id], count_like);
    keys.push_back(arena_.Copy(text));
  }
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return keys[i]; });

  of_callers_.resize(count);
  of_leaves_.resize(count);
  for (const std::uint32_t i : order) {
    const auto key = static_cast<std::uint32_t>(sorted_.size());
    (i < count ? of_callers_[i] : of_leaves_[i - count]) = key;
    sorted_.push_back(keys[i]);
  }
}

std::vector<RootedSample> SamplesByRoot(const Profile& profile, std::span<const EventId> events,
                                        folded::Root root, FrameTexts& texts) {
  RootTexts roots(profile, root, texts);
  const std::span<const Sample> samples = profile.samples();
  std::vector<std::uint32_t> first;  // of each root; samples without a root come first
  const auto number_of = [](const RootedSample& rooted) {
    return rooted.root == kNoText ? 0 : std::size_t{rooted.root} + 1;
  };
  std::vector<RootedSample> selected;
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    if (std::ranges::count(events, samples[i].event) == 0) continue;
    const RootedSample& rooted =
        selected.emplace_back(RootedSample{.sample = i, .root = roots.Of(samples[i])});
    if (first.size() < number_of(rooted) + 2) first.resize(number_of(rooted) + 2);
    ++first[number_of(rooted) + 1];
  }
  std::inclusive_scan(first.begin(), first.end(), first.begin());
  std::vector<RootedSample> sorted(selected.size());
  for (const RootedSample& rooted : selected) sorted[first[number_of(rooted)]++] = rooted;
  return sorted;
}

}  // namespace perftape::convert

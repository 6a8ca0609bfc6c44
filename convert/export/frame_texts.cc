// SPDX-License-Identifier: Apache-2.0
#include "convert/export/frame_texts.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>

#include "convert/frames/frame_table.h"
#include "convert/model/mappings_without_files.h"
#include "formats/folded/folded.h"

namespace perftape::convert {
namespace {

constexpr TextId kUnset = std::numeric_limits<TextId>::max();

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

}  // namespace perftape::convert

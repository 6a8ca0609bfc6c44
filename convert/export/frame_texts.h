// SPDX-License-Identifier: Apache-2.0
// The texts of a profile's frames in folded lines, each stored once, and an order of these texts.
// Lines can be sorted by it without comparing their bytes.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/to_folded.h"
#include "convert/model/arena.h"
#include "convert/model/profile.h"
#include "formats/folded/escape.h"
#include "formats/folded/root.h"

namespace perftape::convert {

using TextId = std::uint32_t;
constexpr auto kNoText = std::numeric_limits<TextId>::max();

// Maps frames to their names, as to_folded.h describes them, not yet escaped. Equal texts have
// equal ids.
class FrameTexts {
 public:
  // `profile` and `options` must outlive this object.
  FrameTexts(const Profile& profile, const FoldedOptions& options);

  // Returns the frames of a location, root first; several if calls were inlined. Valid until the
  // next call of a member function other than operator[].
  std::span<const TextId> Of(LocationId location);
  // The same, with the offset in the symbol if it is known.
  std::span<const TextId> WithOffset(LocationId location, AddressKind kind);
  TextId Intern(std::string_view name);

  std::size_t size() const { return texts_.size(); }
  // Valid as long as this object.
  std::string_view operator[](TextId id) const { return texts_[id]; }

 private:
  TextId OfLine(const Line& line, const Location& location);
  TextId OfUnresolved(MappingId mapping);
  TextId OfKernel(std::string_view name);
  bool IsMarked(MappingId mapping) const;

  const Profile& profile_;
  const FoldedOptions& options_;
  Arena arena_;
  std::vector<std::string_view> texts_;
  tsl::robin_map<std::string_view, TextId> ids_;
  // By StringId. The second vector has the names with a kernel mark. kUnset if not looked up yet.
  std::vector<TextId> of_names_, of_marked_names_;
  std::vector<TextId> of_mappings_;   // texts of frames without a name
  std::vector<TextId> of_locations_;  // of those that are one frame, after the first Of
  std::vector<TextId> found_;         // the result of Of
};

// All texts as they are written in lines, sorted. Each text has two keys: one as a caller ("main;")
// and one as the last frame ("main"). Lines sorted by the keys of their frames are in byte order.
class FrameKeys {
 public:
  FrameKeys(const FrameTexts& texts, folded::CountLike count_like);

  std::uint32_t OfCaller(TextId text) const { return of_callers_[text]; }
  std::uint32_t OfLeaf(TextId text) const { return of_leaves_[text]; }
  std::string_view operator[](std::uint32_t key) const { return sorted_[key]; }
  bool IsCaller(std::uint32_t key) const { return sorted_[key].ends_with(';'); }

 private:
  Arena arena_;
  std::vector<std::string_view> sorted_;
  std::vector<std::uint32_t> of_callers_, of_leaves_;
};

// The root frames of samples: the frame below the outermost function, which names the thread.
struct RootedSample {
  std::uint32_t sample = 0;  // its index in Profile::samples
  TextId root = kNoText;     // kNoText if its thread is unknown, or if `root` is kNone
};

// Returns the samples of `events`, grouped by their root frame; within a group in their old order.
// Samples without a root frame come first. Adds the texts of the root frames to `texts`.
std::vector<RootedSample> SamplesByRoot(const Profile& profile, std::span<const EventId> events,
                                        folded::Root root, FrameTexts& texts);

}  // namespace perftape::convert

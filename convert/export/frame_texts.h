// SPDX-License-Identifier: Apache-2.0
// What the frames of a profile are written as in folded lines, each text once, and an order of the
// texts by which lines are sorted without being looked at.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/to_folded.h"
#include "convert/model/arena.h"
#include "convert/model/profile.h"
#include "formats/folded/escape.h"

namespace perftape::convert {

using TextId = std::uint32_t;

// The names of frames, as to_folded.h tells, not yet escaped. Equal texts have equal ids.
class FrameTexts {
 public:
  // Both must live as long as this.
  FrameTexts(const Profile& profile, const FoldedOptions& options);

  // Root first: several where calls were inlined. Valid until the next call of any but operator[].
  std::span<const TextId> Of(LocationId location);
  TextId Intern(std::string_view name);

  std::size_t size() const { return texts_.size(); }
  // As long as this lives.
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
  // By StringId; the second of those that are marked. kUnset where not asked for yet.
  std::vector<TextId> of_names_, of_marked_names_;
  std::vector<TextId> of_mappings_;  // of frames without a name
  std::vector<TextId> found_;        // what Of returned
};

// All texts as they stand in lines, sorted: each twice, as a caller ("main;") and as the last frame
// ("main"). What is written in the order of the keys of its frames is in the order of its bytes.
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

}  // namespace perftape::convert

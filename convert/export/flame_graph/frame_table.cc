// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/frame_table.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "formats/folded/folded.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::flame_graph {
namespace {

using convert::Location;
using convert::LocationId;
using convert::Mapping;
using convert::MappingType;
using convert::Profile;
using convert::StringId;
using convert::TextId;

// The marks that stackcollapse-perf.pl --all appends to names, besides folded::kKernelMark.
constexpr std::string_view kInlinedMark = "_[i]";
constexpr std::string_view kJitMark = "_[j]";

FrameType TypeOfMapping(const Mapping& mapping, std::string_view filename) {
  if (mapping.type == MappingType::kKernel) return FrameType::kKernel;
  if (filename.empty()) return FrameType::kUser;
  const bool is_jit = filename == "[jit]" || perfdata::MayHoldJitCode(filename) ||
                      perfdata::PidOfPerfMap(filename) || perfdata::IsJitDumpPath(filename);
  return is_jit ? FrameType::kJit : FrameType::kUser;
}

bool IsOfFolded(std::string_view dso) {
  return dso == folded::kMappingName || dso == folded::kKernelMappingName;
}

// Returns the type of a frame of a folded file, which only its name can tell.
FrameType TypeByMark(std::string_view name, FrameType otherwise) {
  if (name.ends_with(folded::kKernelMark)) return FrameType::kKernel;
  if (name.ends_with(kInlinedMark)) return FrameType::kInlined;
  if (name.ends_with(kJitMark)) return FrameType::kJit;
  return otherwise;
}

convert::FoldedOptions WithoutMarks(convert::FoldedOptions options) {
  options.mark_kernel = false;  // the type tells it
  return options;
}

std::vector<FrameType> TypesOfMappings(const Profile& profile) {
  std::vector<FrameType> types;
  for (const Mapping& mapping : profile.mappings()) {
    types.push_back(TypeOfMapping(mapping, profile.text(mapping.filename)));
  }
  return types;
}

}  // namespace

FrameTable::FrameTable(const Profile& profile, const convert::FoldedOptions& options)
    : profile_(profile),
      options_(WithoutMarks(options)),
      texts_(profile, options_),
      ranges_(profile.locations().size()),
      of_mappings_(TypesOfMappings(profile)) {}

std::span<const FrameId> FrameTable::Of(LocationId id) {
  Range& range = ranges_[id.index];
  if (range.first == range.second) {
    range.first = static_cast<std::uint32_t>(of_locations_.size());
    AddFramesOf(profile_[id], texts_.Of(id));
    range.second = static_cast<std::uint32_t>(of_locations_.size());
  }
  return std::span(of_locations_).subspan(range.first, range.second - range.first);
}

FrameId FrameTable::OfRoot(TextId text) {
  return Intern({.name = text, .type = FrameType::kThread});
}

FrameId FrameTable::OfNoFrames() {
  return Intern({.name = texts_.Intern("[unknown]"), .type = FrameType::kUser});
}

std::vector<std::uint32_t> FrameTable::Ranks() const {
  const auto key = [this](FrameId id) {
    return std::tuple(NameOf(id), frames_[id].type, profile_.text(frames_[id].dso));
  };
  std::vector<FrameId> order(frames_.size());
  std::iota(order.begin(), order.end(), FrameId{0});
  std::ranges::sort(order, {}, key);
  std::vector<std::uint32_t> ranks(order.size());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

// `names` are root first, the location's lines innermost first. The last line is the function that
// the linker knows; all others were inlined.
void FrameTable::AddFramesOf(const Location& location, std::span<const TextId> names) {
  const FrameType type = of_mappings_[location.mapping.index];
  const StringId dso = profile_[location.mapping].filename;
  const bool is_of_folded = IsOfFolded(profile_.text(dso));
  for (std::size_t i = 0; i < names.size(); ++i) {
    Frame frame = {.name = names[i], .type = type, .dso = is_of_folded ? StringId{} : dso};
    if (is_of_folded) frame.type = TypeByMark(texts_[names[i]], type);
    if (i > 0) frame.type = FrameType::kInlined;
    if (!location.lines.empty()) {
      const convert::Line& line = location.lines[location.lines.size() - 1 - i];
      const convert::Function& function = profile_[line.function];
      frame.source = function.filename;
      frame.first_line = frame.last_line = line.number != 0 ? line.number : function.start_line;
    }
    of_locations_.push_back(Intern(frame));
  }
}

FrameId FrameTable::Intern(const Frame& frame) {
  const std::uint64_t key = std::uint64_t{frame.name} << 8 | static_cast<std::uint8_t>(frame.type);
  std::vector<FrameId>& same = ids_[key];
  const auto known =
      std::ranges::find(same, frame.dso, [this](FrameId id) { return frames_[id].dso; });
  if (known != same.end()) {
    JoinSource(frames_[*known], frame);
    return *known;
  }
  same.push_back(static_cast<FrameId>(frames_.size()));
  frames_.push_back(frame);
  return same.back();
}

// Of several source files, keeps the first in byte order, so that the order of samples does not
// matter.
void FrameTable::JoinSource(Frame& known, const Frame& frame) const {
  if (frame.source == StringId{}) return;
  if (frame.source != known.source) {
    const bool is_first =
        known.source == StringId{} || profile_.text(frame.source) < profile_.text(known.source);
    if (!is_first) return;
    known.source = frame.source;
    known.first_line = frame.first_line;
    known.last_line = frame.last_line;
    return;
  }
  if (frame.first_line == 0) return;
  known.first_line =
      known.first_line == 0 ? frame.first_line : std::min(known.first_line, frame.first_line);
  known.last_line = std::max(known.last_line, frame.last_line);
}

}  // namespace perftape::flame_graph

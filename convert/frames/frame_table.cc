// SPDX-License-Identifier: Apache-2.0
#include "convert/frames/frame_table.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "convert/model/mappings_without_files.h"
#include "formats/folded/folded.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::convert {
namespace {

constexpr std::uint32_t kUnset = std::numeric_limits<std::uint32_t>::max();

// The marks that stackcollapse-perf.pl --all appends to names, besides folded::kKernelMark.
constexpr std::string_view kInlinedMark = "_[i]";
constexpr std::string_view kJitMark = "_[j]";

FrameType TypeOfMapping(const Mapping& mapping, std::string_view filename) {
  if (mapping.type == MappingType::kKernel) return FrameType::kKernel;
  if (filename.empty()) return FrameType::kUser;
  const bool is_file = perfdata::MayHoldElfFile(filename) && mapping.build_id != StringId{};
  const bool is_memory = perfdata::MayHoldJitCode(filename) && !is_file;
  const bool is_jit = filename == "[jit]" || is_memory || perfdata::PidOfPerfMap(filename) ||
                      perfdata::IsJitDumpPath(filename);
  return is_jit ? FrameType::kJit : FrameType::kUser;
}

// Returns the type of a frame of a folded file, which only its name can tell.
FrameType TypeByMark(std::string_view name, FrameType otherwise) {
  if (name.ends_with(folded::kKernelMark)) return FrameType::kKernel;
  if (name.ends_with(kInlinedMark)) return FrameType::kInlined;
  if (name.ends_with(kJitMark)) return FrameType::kJit;
  return otherwise;
}

std::vector<FrameType> TypesOfMappings(const Profile& profile) {
  std::vector<FrameType> types;
  for (const Mapping& mapping : profile.mappings()) {
    types.push_back(TypeOfMapping(mapping, profile.text(mapping.filename)));
  }
  return types;
}

}  // namespace

FrameTable::FrameTable(const Profile& profile, FrameIdentity identity)
    : profile_(&profile),
      identity_(identity),
      of_texts_(profile.texts().size(), kUnset),
      of_mappings_(TypesOfMappings(profile)) {
  begins_.reserve(profile.locations().size() + 1);
  for (const Location& location : profile.locations()) {
    begins_.push_back(static_cast<std::uint32_t>(of_locations_.size()));
    AddFramesOf(location);
  }
  begins_.push_back(static_cast<std::uint32_t>(of_locations_.size()));
}

FrameId FrameTable::Add(std::string_view name, FrameType type) {
  return Intern(InternName(arena_.Copy(name)), {.name = {}, .has_name = true, .type = type});
}

FrameId FrameTable::AddRenamed(FrameId frame, std::string_view name) {
  return Intern(InternName(arena_.Copy(name)), Frame(frames_[frame]));
}

std::string_view FrameTable::BinaryOf(FrameId frame) const {
  return BaseName(profile_->text(frames_[frame].dso));
}

std::vector<std::uint32_t> FrameTable::Ranks() const {
  const auto key = [this](FrameId id) {
    return std::tuple(NameOf(id), frames_[id].type, profile_->text(frames_[id].dso));
  };
  std::vector<FrameId> order(frames_.size());
  std::iota(order.begin(), order.end(), FrameId{0});
  std::ranges::sort(order, {}, key);
  std::vector<std::uint32_t> ranks(order.size());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

// Lines are innermost first. The last one is the function that the linker knows; all others were
// inlined.
void FrameTable::AddFramesOf(const Location& location) {
  const Mapping& mapping = (*profile_)[location.mapping];
  const StringId dso = mapping.filename;
  const bool is_of_folded = IsOfFolded(*profile_, mapping);
  Frame frame = {.name = {},
                 .type = of_mappings_[location.mapping.index],
                 .dso = is_of_folded ? StringId{} : dso};
  if (location.lines.empty()) {
    of_locations_.push_back(Intern(NameOfDso(dso), frame));
    return;
  }
  const FrameType type = frame.type;
  for (const Line& line : location.lines) {
    const NameId name = NameIdOf(location, line);
    const Function& function = (*profile_)[line.function];
    frame.has_name = HasName(*profile_, location, line);
    frame.type = is_of_folded ? TypeByMark(names_[name], type) : type;
    const bool is_inlined = &line != &location.lines.back();
    if (is_inlined && identity_ != FrameIdentity::kFunction) frame.type = FrameType::kInlined;
    frame.source = function.filename;
    frame.first_line = frame.last_line = line.number != 0 ? line.number : function.start_line;
    of_locations_.push_back(Intern(name, frame));
  }
}

FrameTable::NameId FrameTable::NameIdOf(const Location& location, const Line& line) {
  if (!HasName(*profile_, location, line)) {
    return NameOfDso((*profile_)[location.mapping].filename);
  }
  const StringId text = (*profile_)[line.function].name;
  NameId& id = of_texts_[text.index];
  if (id == kUnset) id = InternName(profile_->text(text));
  return id;
}

FrameTable::NameId FrameTable::NameOfDso(StringId dso) {
  const std::string name = NameOfUnresolved(profile_->text(dso));
  const auto known = name_ids_.find(std::string_view(name));
  return known != name_ids_.end() ? known->second : InternName(arena_.Copy(name));
}

// The name must live as long as this object.
FrameTable::NameId FrameTable::InternName(std::string_view name) {
  const auto [known, is_new] = name_ids_.emplace(name, static_cast<NameId>(names_.size()));
  if (is_new) names_.push_back(name);
  return known->second;
}

FrameId FrameTable::Intern(NameId name, Frame frame) {
  frame.name = names_[name];
  const bool is_by_name = identity_ == FrameIdentity::kName && frame.type != FrameType::kThread;
  const FrameType type = is_by_name ? FrameType::kUser : frame.type;
  const std::uint64_t key = std::uint64_t{name} << 8 | static_cast<std::uint8_t>(type);
  std::vector<FrameId>& same = ids_[key];
  const auto known = std::ranges::find_if(same, [&](FrameId id) {
    return is_by_name || (frames_[id].dso == frame.dso && frames_[id].has_name == frame.has_name);
  });
  if (known != same.end()) {
    JoinBuilds(frames_[*known], frame);
    JoinSource(frames_[*known], frame);
    return *known;
  }
  same.push_back(static_cast<FrameId>(frames_.size()));
  frames_.push_back(frame);
  return same.back();
}

// Keeps the first type, and the first path in byte order. Does nothing for frames of one build,
// which are equal in both.
void FrameTable::JoinBuilds(Frame& known, const Frame& frame) const {
  known.type = std::min(known.type, frame.type);
  if (frame.dso == known.dso || frame.dso == StringId{}) return;
  if (known.dso == StringId{} || profile_->text(frame.dso) < profile_->text(known.dso)) {
    known.dso = frame.dso;
  }
}

// Of several source files, keeps the first in byte order, so that the order of samples does not
// matter.
void FrameTable::JoinSource(Frame& known, const Frame& frame) const {
  if (frame.source == StringId{}) return;
  if (frame.source != known.source) {
    const bool is_first =
        known.source == StringId{} || profile_->text(frame.source) < profile_->text(known.source);
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

void AppendFrames(const Profile& profile, const FrameTable& table, StackId stack,
                  std::vector<FrameId>& frames) {
  for (; stack != StackId{}; stack = profile[stack].caller) {
    const auto of_location = table.Of(profile[stack].leaf);
    frames.insert(frames.end(), of_location.begin(), of_location.end());
  }
}

}  // namespace perftape::convert

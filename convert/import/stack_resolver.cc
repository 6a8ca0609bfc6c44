// SPDX-License-Identifier: Apache-2.0
#include "convert/import/stack_resolver.h"

#include <xxhash.h>

#include <algorithm>
#include <type_traits>

#include "convert/import/converted.h"
#include "convert/model/mappings_without_files.h"
#include "formats/base/addresses.h"
#include "formats/base/file_number.h"
#include "formats/perfdata/converted.h"

namespace perftape::convert {

std::string ListedBuildIds::Of(const perfdata::Dso& dso, const std::string& filename) const {
  if (!dso.build_id.empty()) return dso.build_id.hex();
  const auto found = by_path.find(filename);
  return found == by_path.end() ? std::string() : found->second;
}

void StackResolver::AddUnwound(const UnwoundStacks& stacks,
                               const offline_unwind::PackedLocations& locations) {
  const std::span<const UnwoundStacks::Node> nodes = stacks.nodes();
  if (nodes.size() == UnwoundStacks::kFirstFrame) return;
  unwound_.resize(nodes.size());
  IdTable frame_index;
  std::vector<std::pair<std::uint64_t, KnownFrame>> frames;  // by packed location
  const auto frame_at = [&](std::uint64_t location) -> const KnownFrame& {
    const std::uint64_t hash = location * 0x9e3779b97f4a7c15;
    const std::uint32_t known =
        frame_index.Find(hash, [&](std::uint32_t id) { return frames[id].first == location; });
    if (known != IdTable::kNone) return frames[known].second;
    frame_index.Add(hash, static_cast<std::uint32_t>(frames.size()));
    const auto unpacked = locations.Unpack(location);
    const perfdata::Region* region = unpacked.region.dso == nullptr ? nullptr : &unpacked.region;
    const auto found_by = unpacked.is_outer_instruction ? perfdata::FoundBy::kOuterInstruction
                                                        : perfdata::FoundBy::kReturnAddress;
    return frames.emplace_back(location, FrameAt(region, {unpacked.address, found_by})).second;
  };
  for (std::size_t id = UnwoundStacks::kFirstFrame; id < nodes.size(); ++id) {
    const KnownFrame& frame = frame_at(nodes[id].location);
    Answer& caller = unwound_[nodes[id].caller];
    const bool is_first_cut = nodes[id].caller == UnwoundStacks::kCut && caller.stack == StackId{};
    if (is_first_cut) caller.stack = CutStack();
    unwound_[id] = {.stack = builder_.Push(caller.stack, frame.location),
                    .frames = nodes[id].frames,
                    .unmapped_frames = caller.unmapped_frames + (frame.is_unmapped ? 1 : 0)};
  }
}

std::vector<StackResolver::Answer> StackResolver::Resolve(const HashedStacks& batch,
                                                          ProcessHistory::Replay& replay) {
  constexpr std::size_t kAhead = 4;
  std::vector<Answer> answers;
  answers.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (i + kAhead < batch.size()) Prefetch(batch[i + kAhead]);
    const HashedStack stack = batch[i];
    answers.push_back(Resolve(stack, replay.At(stack.epoch)));
  }
  return answers;
}

StackResolver::Answer StackResolver::Resolve(const HashedStack& stack,
                                             const perfdata::Processes& processes) {
  Prefix prefix;
  std::uint32_t unwound_frames = 0;
  if (stack.unwound != UnwoundStacks::kNone) {
    const Answer& unwound = unwound_[stack.unwound];
    prefix.stack = unwound.stack;
    prefix.unmapped_frames = unwound.unmapped_frames;
    unwound_frames = unwound.frames;
  } else if (stack.is_cut) {
    prefix.stack = CutStack();
  }
  for (std::size_t known = FindLongestPrefix(stack.prefix_hashes, prefix);
       known < stack.frames.size(); ++known) {
    const std::size_t next = stack.frames.size() - 1 - known;
    const KnownFrame& frame =
        Find(stack.frames[next], stack.frame_hashes[next], stack.pid, processes);
    prefix.hash = stack.prefix_hashes[known];
    prefix.stack = builder_.Push(prefix.stack, frame.location);
    prefix.unmapped_frames += frame.is_unmapped ? 1 : 0;
    prefix_index_.Add(prefix.hash.low, static_cast<std::uint32_t>(prefixes_.size()));
    prefixes_.push_back(prefix);
  }
  return {.stack = prefix.stack,
          .frames = unwound_frames + static_cast<std::uint32_t>(stack.frames.size()),
          .unmapped_frames = prefix.unmapped_frames};
}

StackId StackResolver::CutStack() {
  const FunctionId function = builder_.Add(
      Function{.name = builder_.Add(kCutStackName), .system_name = {}, .filename = {}});
  const Line line{.function = function};
  return builder_.Push({}, builder_.Add(Location{.lines = {&line, 1}}));
}

void StackResolver::Prefetch(const HashedStack& stack) const {
  constexpr std::size_t kMost = 4;
  for (const Hash128& hash : stack.prefix_hashes.last(std::min(kMost, stack.frames.size()))) {
    prefix_index_.Prefetch(hash.low);
  }
}

std::size_t StackResolver::FindLongestPrefix(std::span<const Hash128> prefix_hashes,
                                             Prefix& prefix) const {
  for (std::size_t size = prefix_hashes.size(); size > 0; --size) {
    const Hash128& hash = prefix_hashes[size - 1];
    const std::uint32_t found = prefix_index_.Find(
        hash.low, [&](std::uint32_t index) { return prefixes_[index].hash == hash; });
    if (found == IdTable::kNone) continue;
    prefix = prefixes_[found];
    return size;
  }
  return 0;
}

const StackResolver::KnownFrame& StackResolver::Find(const perfdata::ChainFrame& frame,
                                                     const Hash128& hash, std::uint32_t pid,
                                                     const perfdata::Processes& processes) {
  const std::uint32_t known = frame_index_.Find(
      hash.low, [&](std::uint32_t index) { return known_frames_[index].hash == hash; });
  if (known != IdTable::kNone) return known_frames_[known];
  frame_index_.Add(hash.low, static_cast<std::uint32_t>(known_frames_.size()));
  KnownFrame& added = known_frames_.emplace_back(Look(frame, pid, processes));
  added.hash = hash;
  return added;
}

StackResolver::KnownFrame StackResolver::Look(const perfdata::ChainFrame& frame, std::uint32_t pid,
                                              const perfdata::Processes& processes) {
  const std::uint64_t lookup = IsReturnAddress(frame) ? frame.address - 1 : frame.address;
  const perfdata::Region* region = processes.Find(pid, frame.mode, lookup);
  const bool is_hidden = region == nullptr && origin_ == Origin::kRecorded &&
                         frame.mode == perfdata::CpuMode::kKernel && IsInKernelHalf(lookup);
  if (!is_hidden) return FrameAt(region, {lookup, frame.found_by});
  return {.hash = {},
          .location = builder_.Add(
              Location{.mapping = AddHiddenKernel(builder_), .offset = FileOffset{lookup}})};
}

StackResolver::KnownFrame StackResolver::FrameAt(const perfdata::Region* region,
                                                 const LookUp& lookup) {
  if (region != nullptr) return {.hash = {}, .location = LocationOf(*region, lookup)};
  const Location location{.is_outer_instruction = lookup.is_outer_instruction(),
                          .offset = {lookup.address}};
  return {.hash = {}, .location = builder_.Add(location), .is_unmapped = true};
}

LocationId StackResolver::LocationOf(const perfdata::Region& region, const LookUp& lookup) {
  if (origin_ == Origin::kConverted && perfdata::IsFunction(region)) {
    return AddConvertedFrame(region, builder_);
  }
  if (region.dso->dump != perfdata::Dso::kNoDump) return CompiledLocationOf(region, lookup);
  Location location{.mapping = MappingOf(region),
                    .is_outer_instruction = lookup.is_outer_instruction(),
                    .offset = {lookup.address - region.start + region.page_offset}};
  if (region.dso->symbol.empty()) return builder_.Add(location);
  const FunctionId function = builder_.Add(
      Function{.name = builder_.Add(region.dso->symbol), .system_name = {}, .filename = {}});
  const Line line{.function = function};
  location.lines = {&line, 1};
  location.symbol_offset = location.offset.value;  // the region is the function
  return builder_.Add(location);
}

// All the code of a dump is one mapping, and an offset in it is the offset of a byte in the dump.
// So code that was at the same address at different times has different offsets.
LocationId StackResolver::CompiledLocationOf(const perfdata::Region& region, const LookUp& lookup) {
  const JitCode::Dump& dump = jit_.dumps()[region.dso->dump];
  const FileOffset offset{lookup.address - region.start + region.page_offset};
  Location location{.mapping = MappingOf(dump.WholeOf(region)),
                    .is_outer_instruction = lookup.is_outer_instruction(),
                    .offset = offset};
  const jitdump::Function* function = dump.code.Find(offset);
  if (function == nullptr) return builder_.Add(location);
  const std::string_view file = dump.code.FileOf(*function);
  Line line{.function = builder_.Add(Function{.name = builder_.Add(function->name),
                                              .system_name = {},
                                              .filename = builder_.Add(file)})};
  // For code that was inlined from another file, only the enclosing function is known.
  const jitdump::CodeLine* source = dump.code.LineOf(*function, offset);
  if (source != nullptr && source->file == file) {
    line.number = source->line;
    line.column = source->column;
  }
  location.lines = {&line, 1};
  location.symbol_offset = offset.value - function->code.value;
  return builder_.Add(location);
}

// Most lookups are of a known range of a dso, in another process or at another time.
MappingId StackResolver::MappingOf(const perfdata::Region& region) {
  const std::uint64_t hash = XXH3_64bits(&region, sizeof region);
  static_assert(std::has_unique_object_representations_v<perfdata::Region>);
  const std::uint32_t known = region_index_.Find(
      hash, [&](std::uint32_t index) { return regions_[index].region == region; });
  if (known != IdTable::kNone) return regions_[known].mapping;
  region_index_.Add(hash, static_cast<std::uint32_t>(regions_.size()));
  return regions_.emplace_back(KnownRegion{region, AddMapping(region)}).mapping;
}

MappingId StackResolver::AddMapping(const perfdata::Region& region) {
  const perfdata::Dso& dso = *region.dso;
  const bool is_kernel = dso.is_kernel && dso.path == perfdata::kKernelMappingName;
  const std::string& filename = is_kernel ? build_ids_.kernel_names.kernel() : dso.path;
  const bool has_lines = dso.dump != perfdata::Dso::kNoDump && jit_.dumps()[dso.dump].has_lines;
  const bool has_functions = !dso.symbol.empty() || dso.dump != perfdata::Dso::kNoDump;
  const std::string build_id = build_ids_.Of(dso, filename);
  const bool is_of_several = build_id.empty() && several_files_.contains(dso.path);
  return builder_.Add(Mapping{
      .filename = builder_.Add(filename),
      .build_id = builder_.Add(build_id),
      .start = region.start,
      .limit = region.end,
      .file_offset = region.page_offset,
      .type = dso.is_kernel ? MappingType::kKernel : MappingType::kUser,
      .instance = is_of_several ? InstanceOf({.device = dso.device, .inode = dso.inode}) : 0,
      .names = {.functions = has_functions, .filenames = has_lines, .line_numbers = has_lines}});
}

}  // namespace perftape::convert

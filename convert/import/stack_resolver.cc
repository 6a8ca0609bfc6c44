// SPDX-License-Identifier: Apache-2.0
#include "convert/import/stack_resolver.h"

#include <xxhash.h>

#include <bit>
#include <type_traits>

#include "convert/import/converted.h"
#include "formats/perfdata/converted.h"

namespace perftape {

namespace {

std::uint64_t Mix(std::uint64_t word, std::uint64_t factor) {
  word *= factor;
  return word ^ (word >> 32);
}

}  // namespace

StackResolver::Answer StackResolver::Resolve(const RawStack& stack,
                                             const perfdata::Processes& processes) {
  const std::span<const perfdata::ChainFrame> frames = FramesOf(stack);
  const Space space{.processes = processes,
                    .pid = stack.pid,
                    .user = processes.UserSpace(stack.pid).fingerprint() +
                            processes.UserCode(stack.pid).fingerprint(),
                    .kernel = processes.kernel().fingerprint()};
  HashPrefixes(frames, space);
  Prefix prefix;
  for (std::size_t known = FindLongestPrefix(prefix); known < frames.size(); ++known) {
    const KnownFrame& frame = Find(frames[frames.size() - 1 - known], space);
    prefix.hash = hashes_[known];
    prefix.stack = builder_.Push(prefix.stack, frame.location);
    prefix.unmapped_frames += frame.is_unmapped ? 1 : 0;
    prefix_index_.Add(prefix.hash.low, static_cast<std::uint32_t>(prefixes_.size()));
    prefixes_.push_back(prefix);
  }
  return {.stack = prefix.stack,
          .frames = static_cast<std::uint32_t>(frames.size()),
          .unmapped_frames = prefix.unmapped_frames};
}

// Leaf first; valid until the next call.
std::span<const perfdata::ChainFrame> StackResolver::FramesOf(const RawStack& stack) {
  const perfdata::Sample sample{.ip = stack.ip,
                                .pid = stack.pid,
                                .callchain = WordArray(stack.chain, order_),
                                .branches = WordArray(stack.branches, order_)};
  perfdata::SampleFormat format;
  if (!stack.branches.empty()) {
    format.sample_type = perfdata::kBranchStack;
    format.branch_sample_type = perfdata::kBranchCallStack;
  }
  const auto frames = callchains_.FramesOf(sample, format, stack.mode);
  // A profile may have a stack without frames.
  if (!frames.empty() || origin_ == Origin::kConverted) return frames;
  ip_alone_ = {.address = stack.ip, .mode = stack.mode};
  return {&ip_alone_, 1};
}

StackResolver::Hash StackResolver::HashOf(const perfdata::ChainFrame& frame, const Space& space) {
  const std::uint64_t kind =
      static_cast<std::uint64_t>(frame.mode) << 1 | static_cast<std::uint64_t>(frame.found_by);
  const std::uint64_t mapped =
      (frame.mode == perfdata::CpuMode::kKernel ? space.kernel : space.user) + kind;
  return {Mix(Mix(frame.address, 0x9e3779b97f4a7c15) + mapped, 0xc2b2ae3d27d4eb4f),
          Mix(Mix(mapped, 0x9e3779b97f4a7c15) + frame.address, 0x165667b19e3779f9)};
}

// Root first, each of the one before and the next frame.
void StackResolver::HashPrefixes(std::span<const perfdata::ChainFrame> frames, const Space& space) {
  hashes_.resize(frames.size());
  Hash hash;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Hash frame = HashOf(frames[frames.size() - 1 - i], space);
    hash.low = Mix(std::rotl(hash.low, 27) + frame.low, 0x9e3779b97f4a7c15);
    hash.high = Mix(std::rotl(hash.high, 31) ^ frame.high, 0xc2b2ae3d27d4eb4f);
    hashes_[i] = hash;
  }
}

// Sets `prefix` where one is known, and returns how many frames it has.
std::size_t StackResolver::FindLongestPrefix(Prefix& prefix) const {
  for (std::size_t size = hashes_.size(); size > 0; --size) {
    const Hash& hash = hashes_[size - 1];
    const std::uint32_t found = prefix_index_.Find(
        hash.low, [&](std::uint32_t index) { return prefixes_[index].hash == hash; });
    if (found == IdTable::kNone) continue;
    prefix = prefixes_[found];
    return size;
  }
  return 0;
}

const StackResolver::KnownFrame& StackResolver::Find(const perfdata::ChainFrame& frame,
                                                     const Space& space) {
  const Hash hash = HashOf(frame, space);
  const std::uint32_t known = frame_index_.Find(
      hash.low, [&](std::uint32_t index) { return known_frames_[index].hash == hash; });
  if (known != IdTable::kNone) return known_frames_[known];
  frame_index_.Add(hash.low, static_cast<std::uint32_t>(known_frames_.size()));
  KnownFrame& added = known_frames_.emplace_back(Look(frame, space));
  added.hash = hash;
  return added;
}

StackResolver::KnownFrame StackResolver::Look(const perfdata::ChainFrame& frame,
                                              const Space& space) {
  const bool is_return = frame.found_by == perfdata::FoundBy::kReturnAddress && frame.address > 0;
  const std::uint64_t lookup = is_return ? frame.address - 1 : frame.address;
  const perfdata::Region* region = space.processes.Find(space.pid, frame.mode, lookup);
  if (region != nullptr) return {.hash = {}, .location = LocationOf(*region, lookup)};
  return {.hash = {}, .location = builder_.Add(Location{.offset = {lookup}}), .is_unmapped = true};
}

LocationId StackResolver::LocationOf(const perfdata::Region& region, std::uint64_t address) {
  if (origin_ == Origin::kConverted && perfdata::IsFunction(region)) {
    return AddConvertedFrame(region, builder_);
  }
  if (region.dso->dump != perfdata::Dso::kNoDump) return CompiledLocationOf(region, address);
  Location location{.mapping = MappingOf(region),
                    .offset = {address - region.start + region.page_offset}};
  if (region.dso->symbol.empty()) return builder_.Add(location);
  const FunctionId function = builder_.Add(
      Function{.name = builder_.Add(region.dso->symbol), .system_name = {}, .filename = {}});
  const Line line{.function = function};
  location.lines = {&line, 1};
  return builder_.Add(location);
}

// One mapping stands for all the code of a dump, and a place in it is where the dump has its byte:
// so code that was at one address at different times is told apart for good.
LocationId StackResolver::CompiledLocationOf(const perfdata::Region& region,
                                             std::uint64_t address) {
  const JitCode::Dump& dump = jit_.dumps()[region.dso->dump];
  const FileOffset offset{address - region.start + region.page_offset};
  Location location{.mapping = MappingOf(dump.WholeOf(region)), .offset = offset};
  const jitdump::Function* function = dump.code.Find(offset);
  if (function == nullptr) return builder_.Add(location);
  const std::string_view file = dump.code.FileOf(*function);
  Line line{.function = builder_.Add(Function{.name = builder_.Add(function->name),
                                              .system_name = {},
                                              .filename = builder_.Add(file)})};
  // Of code that was inlined from another file only the function it is in is told.
  const jitdump::CodeLine* told = dump.code.LineOf(*function, offset);
  if (told != nullptr && told->file == file) {
    line.number = told->line;
    line.column = told->column;
  }
  location.lines = {&line, 1};
  return builder_.Add(location);
}

// The same range of a dso is most often met again, in another process or at another moment.
MappingId StackResolver::MappingOf(const perfdata::Region& region) {
  const std::uint64_t hash = XXH3_64bits(&region, sizeof region);
  static_assert(std::has_unique_object_representations_v<perfdata::Region>);
  const std::uint32_t known = region_index_.Find(
      hash, [&](std::uint32_t place) { return regions_[place].region == region; });
  if (known != IdTable::kNone) return regions_[known].mapping;
  region_index_.Add(hash, static_cast<std::uint32_t>(regions_.size()));
  return regions_.emplace_back(KnownRegion{region, AddMapping(region)}).mapping;
}

MappingId StackResolver::AddMapping(const perfdata::Region& region) {
  const perfdata::Dso& dso = *region.dso;
  const bool is_kernel = dso.is_kernel && dso.path == perfdata::kKernelMapName;
  const std::string& filename = is_kernel ? build_ids_.kernel_names.kernel() : dso.path;
  std::string build_id = dso.build_id.hex();
  if (build_id.empty()) {
    const auto told = build_ids_.by_path.find(filename);
    if (told != build_ids_.by_path.end()) build_id = told->second;
  }
  const bool has_lines = dso.dump != perfdata::Dso::kNoDump && jit_.dumps()[dso.dump].has_lines;
  const bool has_functions = !dso.symbol.empty() || dso.dump != perfdata::Dso::kNoDump;
  return builder_.Add(Mapping{
      .filename = builder_.Add(filename),
      .build_id = builder_.Add(build_id),
      .start = region.start,
      .limit = region.end,
      .file_offset = region.page_offset,
      .kind = dso.is_kernel ? MappingKind::kKernel : MappingKind::kUser,
      .names = {.functions = has_functions, .filenames = has_lines, .line_numbers = has_lines}});
}

}  // namespace perftape

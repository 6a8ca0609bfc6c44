// SPDX-License-Identifier: Apache-2.0
#include "convert/import/stack_resolver.h"

#include <xxhash.h>

#include <ranges>
#include <type_traits>

#include "convert/import/converted.h"
#include "formats/perfdata/converted.h"

namespace perftape {

StackResolver::Answer StackResolver::Resolve(const RawStack& stack,
                                             const perfdata::Processes& processes) {
  const perfdata::Sample sample{.ip = stack.ip,
                                .pid = stack.pid,
                                .callchain = WordArray(stack.chain, order_),
                                .branches = WordArray(stack.branches, order_)};
  perfdata::SampleFormat format;
  if (!stack.branches.empty()) {
    format.sample_type = perfdata::kBranchStack;
    format.branch_sample_type = perfdata::kBranchCallStack;
  }
  const perfdata::ChainFrame ip_alone{.address = stack.ip, .mode = stack.mode};
  std::span<const perfdata::ChainFrame> frames = callchains_.FramesOf(sample, format, stack.mode);
  // A profile may have a stack without frames.
  if (frames.empty() && origin_ == Origin::kRecorded) frames = {&ip_alone, 1};

  Answer answer{.frames = static_cast<std::uint32_t>(frames.size())};
  leaf_to_root_.clear();
  for (const perfdata::ChainFrame& frame : frames) {
    const bool is_return = frame.found_by == perfdata::FoundBy::kReturnAddress && frame.address > 0;
    const std::uint64_t lookup = is_return ? frame.address - 1 : frame.address;
    const perfdata::Region* region = processes.Find(stack.pid, frame.mode, lookup);
    if (region == nullptr) ++answer.unmapped_frames;
    leaf_to_root_.push_back(
        region == nullptr ? builder_.Add(Location{.mapping = {}, .offset = {lookup}, .lines = {}})
                          : LocationOf(*region, lookup));
  }
  answer.stack = PushAll();
  return answer;
}

// Stacks that follow each other are most often of one thread, and have the frames near the root in
// common.
StackId StackResolver::PushAll() {
  std::size_t depth = 0;
  StackId stack;
  bool is_common = true;
  for (const LocationId frame : leaf_to_root_ | std::views::reverse) {
    is_common = is_common && depth < path_.size() && path_[depth].location == frame;
    if (!is_common) {
      path_.resize(depth);
      path_.push_back({frame, builder_.Push(stack, frame)});
    }
    stack = path_[depth++].stack;
  }
  path_.resize(depth);
  return stack;
}

LocationId StackResolver::LocationOf(const perfdata::Region& region, std::uint64_t address) {
  if (origin_ == Origin::kConverted && perfdata::IsFunction(region)) {
    return AddConvertedFrame(region, builder_);
  }
  const MappingId mapping = MappingOf(region);
  const FileOffset offset{address - region.start + region.page_offset};
  if (region.dso->symbol.empty()) {
    return builder_.Add(Location{.mapping = mapping, .offset = offset, .lines = {}});
  }
  const FunctionId function = builder_.Add(
      Function{.name = builder_.Add(region.dso->symbol), .system_name = {}, .filename = {}});
  const Line line{.function = function};
  return builder_.Add(Location{.mapping = mapping, .offset = offset, .lines = {&line, 1}});
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
  std::string build_id = dso.build_id.hex();
  if (build_id.empty()) {
    if (const auto told = build_ids_.find(dso.path); told != build_ids_.end()) {
      build_id = told->second;
    }
  }
  return builder_.Add(Mapping{.filename = builder_.Add(dso.path),
                              .build_id = builder_.Add(build_id),
                              .start = region.start,
                              .limit = region.end,
                              .file_offset = region.page_offset,
                              .kind = dso.is_kernel ? MappingKind::kKernel : MappingKind::kUser,
                              .names = {.functions = !dso.symbol.empty()}});
}

}  // namespace perftape

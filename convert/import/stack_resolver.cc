// SPDX-License-Identifier: Apache-2.0
#include "convert/import/stack_resolver.h"

#include <xxhash.h>

#include <type_traits>

#include "convert/import/converted.h"
#include "formats/perfdata/converted.h"

namespace perftape {

void StackResolver::Resolve(const RawStack& stack, const perfdata::Processes& processes,
                            Answer& answer) {
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

  answer = {.frames = static_cast<std::uint32_t>(frames.size())};
  const std::size_t begin = frames_.size();
  for (const perfdata::ChainFrame& frame : frames) {
    const bool is_return = frame.found_by == perfdata::FoundBy::kReturnAddress && frame.address > 0;
    const std::uint64_t lookup = is_return ? frame.address - 1 : frame.address;
    const perfdata::Region* region = processes.Find(stack.pid, frame.mode, lookup);
    if (region == nullptr) {
      ++answer.unmapped_frames;
      frames_.push_back({.location = {.offset = {lookup}}});
    } else {
      frames_.push_back(FrameOf(*region, lookup));
    }
  }
  waiting_.push_back({&answer, begin, frames_.size()});
  if (waiting_.size() == kAtOnce) Flush();
}

void StackResolver::Flush() {
  AddLocations();
  PushStacks();
  frames_.clear();
  waiting_.clear();
}

void StackResolver::AddLocations() {
  for (const auto ahead : {ProfileBuilder::Ahead::kIndex, ProfileBuilder::Ahead::kEntry}) {
    for (const Frame& frame : frames_) {
      if (!frame.is_known) builder_.Expect(frame.location, ahead);
    }
  }
  for (Frame& frame : frames_) {
    if (!frame.is_known) frame.id = builder_.Add(frame.location);
  }
}

// All stacks one level deeper, then the next level.
void StackResolver::PushStacks() {
  std::size_t depth = 0;
  const auto for_each_of_depth = [&](auto push) {
    bool is_any = false;
    for (const Waiting& stack : waiting_) {
      if (stack.end - stack.begin <= depth) continue;
      push(stack.answer->stack, frames_[stack.end - 1 - depth].id);
      is_any = true;
    }
    return is_any;
  };
  for (;; ++depth) {
    for (const auto ahead : {ProfileBuilder::Ahead::kIndex, ProfileBuilder::Ahead::kEntry}) {
      for_each_of_depth(
          [&](StackId caller, LocationId leaf) { builder_.Expect(caller, leaf, ahead); });
    }
    const bool is_any = for_each_of_depth(
        [&](StackId& stack, LocationId leaf) { stack = builder_.Push(stack, leaf); });
    if (!is_any) return;
  }
}

StackResolver::Frame StackResolver::FrameOf(const perfdata::Region& region, std::uint64_t address) {
  if (origin_ == Origin::kConverted && perfdata::IsFunction(region)) {
    return {.id = AddConvertedFrame(region, builder_), .is_known = true};
  }
  if (region.dso->dump != perfdata::Dso::kNoDump) return CompiledFrameOf(region, address);
  const Location location{.mapping = MappingOf(region),
                          .offset = {address - region.start + region.page_offset}};
  if (region.dso->symbol.empty()) return {.location = location};
  const FunctionId function = builder_.Add(
      Function{.name = builder_.Add(region.dso->symbol), .system_name = {}, .filename = {}});
  const Line line{.function = function};
  Location named = location;
  named.lines = {&line, 1};
  return {.id = builder_.Add(named), .is_known = true};
}

// One mapping stands for all the code of a dump, and a place in it is where the dump has its byte:
// so code that was at one address at different times is told apart for good.
StackResolver::Frame StackResolver::CompiledFrameOf(const perfdata::Region& region,
                                                    std::uint64_t address) {
  const JitCode::Dump& dump = jit_.dumps()[region.dso->dump];
  const FileOffset offset{address - region.start + region.page_offset};
  Location location{.mapping = MappingOf(dump.WholeOf(region)), .offset = offset};
  const jitdump::Function* function = dump.code.Find(offset);
  if (function == nullptr) return {.location = location};
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
  return {.id = builder_.Add(location), .is_known = true};
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
  const bool has_lines = dso.dump != perfdata::Dso::kNoDump && jit_.dumps()[dso.dump].has_lines;
  const bool has_functions = !dso.symbol.empty() || dso.dump != perfdata::Dso::kNoDump;
  return builder_.Add(Mapping{
      .filename = builder_.Add(dso.path),
      .build_id = builder_.Add(build_id),
      .start = region.start,
      .limit = region.end,
      .file_offset = region.page_offset,
      .kind = dso.is_kernel ? MappingKind::kKernel : MappingKind::kUser,
      .names = {.functions = has_functions, .filenames = has_lines, .line_numbers = has_lines}});
}

}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
// Resolves the frames of stacks to mappings and offsets, and adds the stacks to a profile.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convert/import/hashed_stacks.h"
#include "convert/import/jit_code.h"
#include "convert/import/process_history.h"
#include "convert/model/id_table.h"
#include "convert/model/profile_builder.h"
#include "convert/unwind/packed_locations.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/kernel_names.h"

namespace perftape::convert {

// The build ids in the feature BUILD_ID or in HEADER_BUILD_ID records. (The build id in a MMAP2
// record belongs to the mapping instead.)
struct ListedBuildIds {
  // Returns the build id of a mapped file, in hexadecimal digits: that of its mapping, else the
  // listed one for `filename`; empty if there is neither.
  std::string Of(const perfdata::Dso& dso, const std::string& filename) const;

  std::unordered_map<std::string, std::string> by_path;  // in hexadecimal digits
  perfdata::KernelNames kernel_names;
};

// Whether the frame's location is 1 below its address, inside the call before it.
constexpr bool IsReturnAddress(const perfdata::ChainFrame& frame) {
  return frame.found_by == perfdata::FoundBy::kReturnAddress && frame.address > 0;
}

// The name of the outermost frame of a stack that could not be unwound to its end. It keeps these
// stacks apart from complete ones.
inline constexpr std::string_view kCutStackName = "[truncated stack]";

class StackResolver {
 public:
  struct Answer {
    StackId stack = {};
    std::uint32_t frames = 0, unmapped_frames = 0;
  };

  // All references must outlive this object.
  StackResolver(Origin origin, const ListedBuildIds& build_ids, const JitCode& jit,
                const ProcessHistory& history, ProfileBuilder& builder)
      : origin_(origin),
        build_ids_(build_ids),
        jit_(jit),
        several_files_(history.PathsOfSeveralFiles()),
        builder_(builder) {}

  // Adds the unwound stacks of those that will be resolved.
  void AddUnwound(const UnwoundStacks& stacks, const offline_unwind::PackedLocations& locations);

  // Adds the stacks to the builder, in their order, and returns an answer for each. Their epochs
  // must not decrease, neither in a batch nor from batch to batch. All batches must use the same
  // replay.
  std::vector<Answer> Resolve(const HashedStacks& batch, ProcessHistory::Replay& replay);

  // Adds the location of one frame of a process to the builder, as Resolve does for the frames of
  // stacks. All calls must pass the same processes, whose state may change between calls.
  LocationId Locate(const perfdata::ChainFrame& frame, std::uint32_t pid,
                    const perfdata::Processes& processes) {
    return Look(frame, pid, processes).location;
  }

 private:
  // The region that a mapping was made from.
  struct KnownRegion {
    perfdata::Region region;
    MappingId mapping;
  };
  // The outermost frames of a stack. Most stacks share all but the innermost few with another one.
  struct Prefix {
    Hash128 hash;
    StackId stack;
    std::uint32_t unmapped_frames = 0;
  };
  struct KnownFrame {
    Hash128 hash;
    LocationId location;
    bool is_unmapped = false;
  };

  // An address to look up: 1 was subtracted from a return address.
  struct LookUp {
    std::uint64_t address = 0;
    perfdata::FoundBy found_by = perfdata::FoundBy::kInstruction;

    bool is_outer_instruction() const { return found_by == perfdata::FoundBy::kOuterInstruction; }
  };

  Answer Resolve(const HashedStack& stack, const perfdata::Processes& processes);
  // Returns the stack of only a frame kCutStackName.
  StackId CutStack();
  // Prefetches the memory that Resolve reads first.
  void Prefetch(const HashedStack& stack) const;
  // Sets `prefix` to the longest known one, and returns the number of its frames; 0 if none is
  // known.
  std::size_t FindLongestPrefix(std::span<const Hash128> prefix_hashes, Prefix& prefix) const;
  const KnownFrame& Find(const perfdata::ChainFrame& frame, const Hash128& hash, std::uint32_t pid,
                         const perfdata::Processes& processes);
  KnownFrame Look(const perfdata::ChainFrame& frame, std::uint32_t pid,
                  const perfdata::Processes& processes);
  // `region` is null if nothing is mapped there.
  KnownFrame FrameAt(const perfdata::Region* region, const LookUp& lookup);
  LocationId LocationOf(const perfdata::Region& region, const LookUp& lookup);
  LocationId CompiledLocationOf(const perfdata::Region& region, const LookUp& lookup);
  MappingId MappingOf(const perfdata::Region& region);
  MappingId AddMapping(const perfdata::Region& region);

  Origin origin_;
  const ListedBuildIds& build_ids_;
  const JitCode& jit_;
  const std::set<std::string, std::less<>> several_files_;  // paths
  ProfileBuilder& builder_;
  IdTable region_index_, prefix_index_, frame_index_;
  std::vector<KnownRegion> regions_;
  std::vector<Prefix> prefixes_;
  std::vector<KnownFrame> known_frames_;
  std::vector<Answer> unwound_;  // by UnwoundStacks::Id
};

}  // namespace perftape::convert

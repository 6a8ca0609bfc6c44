// SPDX-License-Identifier: Apache-2.0
// Resolves the frames of stacks to mappings and offsets, and adds the stacks to a profile.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "convert/import/hashed_stacks.h"
#include "convert/import/jit_code.h"
#include "convert/model/id_table.h"
#include "convert/model/profile_builder.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/kernel_names.h"

namespace perftape::convert {

// What the table of build ids says, or BUILD_ID records in its place. (From MMAP2 build ids come
// with the mapping.)
struct ListedBuildIds {
  std::unordered_map<std::string, std::string> by_path;  // in hexadecimal digits
  perfdata::KernelNames kernel_names;
};

class StackResolver {
 public:
  struct Answer {
    StackId stack = {};
    std::uint32_t frames = 0, unmapped_frames = 0;
  };

  // All must outlive it.
  StackResolver(Origin origin, const ListedBuildIds& build_ids, const JitCode& jit,
                ProfileBuilder& builder)
      : origin_(origin), build_ids_(build_ids), jit_(jit), builder_(builder) {}

  // `processes` are always the same object, at the stack's moment.
  Answer Resolve(const HashedStack& stack, const perfdata::Processes& processes);
  // Says that this stack will be resolved soon: fetches from memory what that looks at first.
  void Prefetch(const HashedStack& stack) const;

 private:
  // What a mapping was made of.
  struct KnownRegion {
    perfdata::Region region;
    MappingId mapping;
  };
  // The outer frames of a stack, up to one of them: most stacks have all but the innermost few in
  // common with another one.
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

  // Sets `prefix` where one is known, and returns how many frames it has.
  std::size_t FindLongestPrefix(std::span<const Hash128> prefix_hashes, Prefix& prefix) const;
  const KnownFrame& Find(const perfdata::ChainFrame& frame, const Hash128& hash, std::uint32_t pid,
                         const perfdata::Processes& processes);
  KnownFrame Look(const perfdata::ChainFrame& frame, std::uint32_t pid,
                  const perfdata::Processes& processes);
  LocationId LocationOf(const perfdata::Region& region, std::uint64_t address);
  LocationId CompiledLocationOf(const perfdata::Region& region, std::uint64_t address);
  MappingId MappingOf(const perfdata::Region& region);
  MappingId AddMapping(const perfdata::Region& region);

  Origin origin_;
  const ListedBuildIds& build_ids_;
  const JitCode& jit_;
  ProfileBuilder& builder_;
  IdTable region_index_, prefix_index_, frame_index_;
  std::vector<KnownRegion> regions_;
  std::vector<Prefix> prefixes_;
  std::vector<KnownFrame> known_frames_;
};

}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
// Stacks of words -> stacks of a profile: which frames there are, and where each of them lies in
// which mapping.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "convert/import/jit_code.h"
#include "convert/import/sample_table.h"
#include "convert/model/id_table.h"
#include "convert/model/profile_builder.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/kernel_names.h"

namespace perftape {

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

  // Of a recording, or of a file that was made of a profile of another format (converted.h).
  enum class Origin : std::uint8_t { kRecorded, kConverted };

  // Of a file of this byte order. All must outlive it.
  StackResolver(std::endian order, Origin origin, const ListedBuildIds& build_ids,
                const JitCode& jit, ProfileBuilder& builder)
      : order_(order), origin_(origin), build_ids_(build_ids), jit_(jit), builder_(builder) {}

  // `processes` are always the same, at the stack's moment.
  Answer Resolve(const RawStack& stack, const perfdata::Processes& processes);

 private:
  // What a mapping was made of.
  struct KnownRegion {
    perfdata::Region region;
    MappingId mapping;
  };
  struct Hash {
    std::uint64_t low = 0, high = 0;
    bool operator==(const Hash&) const = default;
  };
  // The outer frames of a stack, up to one of them: most stacks have all but the innermost few in
  // common with another one.
  struct Prefix {
    Hash hash;  // of the frames, and of what was mapped
    StackId stack;
    std::uint32_t unmapped_frames = 0;
  };
  struct KnownFrame {
    Hash hash;  // of the frame, and of what was mapped
    LocationId location;
    bool is_unmapped = false;
  };
  // Where the frames of a stack are looked up.
  struct Space {
    const perfdata::Processes& processes;
    std::uint32_t pid = 0;
    std::uint64_t user = 0, kernel = 0;  // fingerprints of what is mapped
  };

  std::span<const perfdata::ChainFrame> FramesOf(const RawStack& stack);
  static Hash HashOf(const perfdata::ChainFrame& frame, const Space& space);
  void HashPrefixes(std::span<const perfdata::ChainFrame> frames, const Space& space);
  std::size_t FindLongestPrefix(Prefix& prefix) const;
  const KnownFrame& Find(const perfdata::ChainFrame& frame, const Space& space);
  KnownFrame Look(const perfdata::ChainFrame& frame, const Space& space);
  LocationId LocationOf(const perfdata::Region& region, std::uint64_t address);
  LocationId CompiledLocationOf(const perfdata::Region& region, std::uint64_t address);
  MappingId MappingOf(const perfdata::Region& region);
  MappingId AddMapping(const perfdata::Region& region);

  std::endian order_;
  Origin origin_;
  const ListedBuildIds& build_ids_;
  const JitCode& jit_;
  ProfileBuilder& builder_;
  perfdata::CallchainReader callchains_;
  IdTable region_index_, prefix_index_, frame_index_;
  std::vector<KnownRegion> regions_;
  std::vector<Prefix> prefixes_;
  std::vector<KnownFrame> known_frames_;
  perfdata::ChainFrame ip_alone_;  // of the last stack without a call chain
  std::vector<Hash> hashes_;       // of the prefixes of the last stack, the shortest first
};

}  // namespace perftape

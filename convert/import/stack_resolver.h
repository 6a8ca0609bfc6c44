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

namespace perftape {

// The names under which build ids are told; from MMAP2 they come with the mapping, here are the
// others.
using BuildIdsByPath = std::unordered_map<std::string, std::string>;

class StackResolver {
 public:
  struct Answer {
    StackId stack = {};
    std::uint32_t frames = 0, unmapped_frames = 0;
  };

  // Of a recording, or of a file that was made of a profile of another format (converted.h).
  enum class Origin : std::uint8_t { kRecorded, kConverted };

  // Of a file of this byte order. All must outlive it.
  StackResolver(std::endian order, Origin origin, const BuildIdsByPath& build_ids,
                const JitCode& jit, ProfileBuilder& builder)
      : order_(order), origin_(origin), build_ids_(build_ids), jit_(jit), builder_(builder) {}

  // `processes` are always the same, at the stack's moment. The answer must live until Flush, and
  // comes by then: memory is slow, so that many stacks are looked for at once.
  void Resolve(const RawStack& stack, const perfdata::Processes& processes, Answer& answer);
  void Flush();

 private:
  // What a mapping was made of.
  struct KnownRegion {
    perfdata::Region region;
    MappingId mapping;
  };

  // A frame whose location is looked for, or known already.
  struct Frame {
    Location location = {};
    LocationId id = {};
    bool is_known = false;
  };
  // A stack whose frames are [begin, end) of frames_, leaf first.
  struct Waiting {
    Answer* answer = nullptr;
    std::size_t begin = 0, end = 0;
  };
  static constexpr std::size_t kAtOnce = 24;

  Frame FrameOf(const perfdata::Region& region, std::uint64_t address);
  Frame CompiledFrameOf(const perfdata::Region& region, std::uint64_t address);
  void AddLocations();
  void PushStacks();
  MappingId MappingOf(const perfdata::Region& region);
  MappingId AddMapping(const perfdata::Region& region);

  std::endian order_;
  Origin origin_;
  const BuildIdsByPath& build_ids_;
  const JitCode& jit_;
  ProfileBuilder& builder_;
  perfdata::CallchainReader callchains_;
  IdTable region_index_;
  std::vector<KnownRegion> regions_;
  std::vector<Frame> frames_;
  std::vector<Waiting> waiting_;
};

}  // namespace perftape

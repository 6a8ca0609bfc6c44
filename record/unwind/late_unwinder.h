// SPDX-License-Identifier: Apache-2.0
// Finds the user frames of samples for which the kernel side knew no mapping or no table yet, in
// the first milliseconds after an exec, mmap or dlopen. Such a message has registers and a copy of
// the stack (WIRE_UNFINISHED). The walk uses what the process had mapped at the time of the sample.
// Frames that the kernel side has found by an old mapping are removed (mapping_changes.h).
#pragma once

#include <linux/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/attr.h"
#include "formats/unwind/stack_walk.h"
#include "formats/unwind/table_cache.h"
#include "record/bpf/unwind_maps.h"
#include "record/machine/growth_watch.h"
#include "record/rings/wire_decoder.h"
#include "record/unwind/binary_contents.h"
#include "record/unwind/mapping_changes.h"

namespace perftape::record {

// Whether a message needs a LateUnwinder. False for damaged ones.
bool IsUnfinished(Bytes message);

// Not thread-safe.
class LateUnwinder {
 public:
  struct Settings {
    perfdata::SampleFormat format = {};         // of process events
    std::size_t events = 1;                     // the number of events
    bool keeps_user_state = false;              // samples have registers and stacks anyway
    std::size_t user_frames = WIRE_MAX_FRAMES;  // of a chain; at most WIRE_MAX_USER_FRAMES
  };
  // All but `settings` must outlive this object.
  LateUnwinder(KnownBinaries& binaries, OthersFiles& files, LoadTimes& loads,
               const Settings& settings);

  // Applies a whole record of the kernel. The caller passes process events and unfinished messages
  // in order of time. Ignores other records.
  void Apply(Bytes record);

  // Applies the records of what ran at the start. Fails if one is damaged.
  Status ApplyAll(Bytes records);

  // Returns the message with all user frames that can be found, which is no longer unfinished. It
  // is valid until the next call. Its kernel frames are unchanged. Keeps the frames of the kernel
  // side if the copy of the stack leads to fewer. Reads a binary that no thread has read, if that
  // is quick: the rings are not drained meanwhile. Fails with kCorrupt if the message is
  // inconsistent.
  Result<Bytes> Finish(Bytes message);

  // Returns the message without the frames that are not sure, valid until the next call. It is
  // not unfinished, and consistent.
  Bytes WithSureFrames(Bytes message);

  // How the chains of an event ended that Finish has completed, or WithSureFrames has shortened.
  const ChainEnds& EndsOf(std::uint32_t event) const { return ends_[event]; }
  // Of these, those with a frame whose rule was derived from instructions.
  std::uint64_t DerivedOf(std::uint32_t event) const { return derived_[event]; }
  // How the kernel side has counted the chains that were shortened.
  struct Shortened {
    std::uint64_t complete = 0, derived = 0;
  };
  const Shortened& ShortenedOf(std::uint32_t event) const { return shortened_[event]; }

 private:
  // The limit for the tables of binaries that only this object has read, in bytes.
  static constexpr std::uint64_t kMostTableBytes = std::uint64_t{32} << 20;
  // How often a binary that cannot be opened is tried again for other processes.
  static constexpr int kMostTries = 4;
  // Reading takes at most this time, and a tenth of the time since the start.
  static constexpr std::uint64_t kFirstReadNs = 1'000'000'000;
  struct Binary {
    std::weak_ptr<const BinaryContents> known;   // `binaries_` decides how long it is kept
    std::shared_ptr<const BinaryContents> read;  // by this object
    int tries = 0;
  };

  wire_unwind_end Walk(const WireMessage& message);
  unwind::Code CodeAt(std::uint32_t pid, std::uint64_t address);
  const BinaryContents* ContentsOf(std::uint32_t pid, const perfdata::Region& region);
  // Returns null if the binary is not known and cannot be read.
  std::shared_ptr<const BinaryContents> FindOrRead(std::uint32_t pid,
                                                   const perfdata::Region& region);
  std::shared_ptr<const BinaryContents> Read(std::uint32_t pid, const perfdata::Region& region);
  // Not during a walk.
  void ForgetSeen();
  // The frames of the kernel side that are sure.
  Bytes SureFrames(const WireMessage& message);
  Bytes WithFrames(const WireMessage& message, Bytes original, Bytes frames);

  KnownBinaries& binaries_;
  Settings settings_;
  unwind::TableCache cache_;
  BinaryReader reader_;
  std::uint64_t start_ns_, read_ns_ = 0;
  perfdata::Processes processes_;
  MappingChanges changes_;
  GrowthWatch growth_{1024};  // of processes_
  std::unordered_map<const perfdata::Dso*, Binary> seen_;
  std::uint64_t table_bytes_ = 0;  // of what this object has read
  // What the current walk uses. Another thread may forget it in `binaries_` meanwhile.
  std::unordered_map<const perfdata::Dso*, std::shared_ptr<const BinaryContents>> in_use_;
  std::vector<ChainEnds> ends_;  // by event
  std::vector<std::uint64_t> derived_;
  std::vector<Shortened> shortened_;   // by event
  std::vector<std::uint64_t> frames_;  // scratch
  std::vector<std::byte> message_;     // scratch
};

}  // namespace perftape::record

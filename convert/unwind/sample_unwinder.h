// SPDX-License-Identifier: Apache-2.0
// Makes a callchain from the registers and the copy of the stack in a sample (perf record
// --call-graph dwarf). The unwound frames replace the user part of the sample's own callchain, as
// in perf (tools/perf/util/machine.c, thread__resolve_callchain_unwind).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convert/unwind/binary_tables.h"
#include "convert/unwind/code_map.h"
#include "convert/unwind/packed_locations.h"
#include "convert/unwind/unwind_report.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"
#include "formats/unwind/rule.h"
#include "formats/unwind/rule_cache.h"
#include "formats/unwind/stack_walk.h"
#include "formats/unwind/step.h"

namespace perftape::offline_unwind {

// The processor of a recording: by the feature ARCH, which is the machine name of uname(2), or, if
// that is empty, by the recorded registers. Nothing for a processor that cannot be unwound.
std::optional<unwind::Machine> MachineOf(std::string_view arch, std::uint64_t regs_user_mask);

// Whether the registers are those of a 64-bit process, of a 32-bit process, or absent: kernel
// threads have none (enum perf_sample_regs_abi).
enum class RegistersAbi : std::uint8_t { kNone, k32Bit, k64Bit };
RegistersAbi AbiOf(const perfdata::Sample& sample);

// The user registers of a 64-bit process, as far as a stack walk needs them. Nothing if the
// instruction or stack pointer was not recorded.
std::optional<unwind::Registers> RegistersOf(const perfdata::Sample& sample, std::uint64_t mask,
                                             unwind::Machine machine);

// Whether the samples of an event have copies of registers and stack.
bool HasStackCopies(const perfdata::SampleFormat& format);

// The process of a sample, at the time of the sample.
struct SampledProcess {
  std::uint32_t pid = 0;
  std::uint32_t epoch = 0;
  std::uint64_t fingerprint = 0;  // equal if the same files are mapped at the same addresses
};

struct UnwoundChain {
  // With context markers, leaf first. A frame that a signal interrupted follows a separate marker,
  // because its address is not a return address. Valid until the next call of Unwind.
  std::span<const std::uint64_t> words;
  std::size_t kernel_words = 0;  // the first words, which are of the sample
  // The packed locations of the user frames, leaf first. They are the locations of the executed
  // instructions: for a caller, the location of its call. Empty if not all can be packed.
  std::span<const std::uint64_t> locations;
  bool is_cut = false;  // outer frames are missing
};

// For one thread. Each recording needs its own.
class SampleUnwinder {
 public:
  // Returns the code that a process has mapped, sorted by address. The dsos must live as long as
  // the SampleUnwinder.
  using RegionFinder = std::function<std::vector<perfdata::Region>(const SampledProcess& process)>;

  struct Settings {
    std::optional<unwind::Machine> machine;  // of the recording; nothing if it is not supported
    std::size_t most_frames = unwind::kMostFrames;
    RegionFinder regions_of;
    TableFinder table_of;
    PackedLocations* locations = nullptr;     // null: they are not packed
    const CompiledRules* compiled = nullptr;  // null: no compiler has described its code
  };
  explicit SampleUnwinder(Settings settings) : settings_(std::move(settings)) {}

  // Returns the new callchain of a sample whose event has stack copies. Nothing if it keeps its
  // own: samples of kernel threads have no user registers, and those of 32-bit processes and of
  // other processors are only counted.
  std::optional<UnwoundChain> Unwind(const perfdata::Sample& sample,
                                     const perfdata::SampleFormat& format, perfdata::CpuMode mode,
                                     const SampledProcess& process);

  const UnwindReport& report() const { return report_; }

 private:
  // More processes than this are forgotten and looked up again, which limits the memory.
  static constexpr std::size_t kMostProcesses = 4096;

  CodeMap& CodeOf(const SampledProcess& process);
  unwind::Code Find(CodeMap& code, const SampledProcess& process, RuntimeAddress address);
  void CopyKernelPart(const perfdata::Sample& sample, perfdata::CpuMode mode);
  void AppendFrames();
  void PackFrames();
  std::optional<std::uint64_t> PackedLocationOf(std::size_t frame) const;

  Settings settings_;
  UnwindReport report_;
  std::unique_ptr<unwind::RuleCache> rules_ = std::make_unique<unwind::RuleCache>();
  std::unordered_map<std::uint64_t, CodeMap> code_;  // by fingerprint
  // Of the last sample.
  std::vector<unwind::WalkedFrame> frames_;
  std::vector<FoundCode> found_;  // at all addresses that were looked up
  std::vector<std::uint64_t> words_, locations_;
};

}  // namespace perftape::offline_unwind

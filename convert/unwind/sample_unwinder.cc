// SPDX-License-Identifier: Apache-2.0
#include "convert/unwind/sample_unwinder.h"

#include <bit>
#include <utility>

#include "formats/perfdata/abi.h"

namespace perftape::offline_unwind {
namespace {

using perfdata::CpuMode;

// The bits of sample_regs_user (enum perf_event_x86_regs, enum perf_event_arm_regs in
// arch/*/include/uapi/asm/perf_regs.h).
struct RegisterBits {
  unsigned pc = 0, sp = 0, fp = 0;
  unsigned link = 0;
  std::optional<unsigned> bx = {}, cx = {};
  std::span<const std::uint8_t> general;  // by their numbers in call frame information
};
constexpr std::uint8_t kX86General[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};
constexpr std::uint8_t kArm64General[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                          11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                          22, 23, 24, 25, 26, 27, 28, 29, 30};
constexpr RegisterBits kX86Bits = {
    .pc = 8, .sp = 7, .fp = 6, .link = 5, .bx = 1, .cx = 2, .general = kX86General};
constexpr RegisterBits kArm64Bits = {
    .pc = 32, .sp = 31, .fp = 29, .link = 30, .general = kArm64General};

const RegisterBits& BitsOf(unwind::Machine machine) {
  return machine == unwind::Machine::kAArch64 ? kArm64Bits : kX86Bits;
}

constexpr bool HasBit(std::uint64_t mask, unsigned bit) {
  return (mask >> bit & 1) != 0;
}

}  // namespace

std::optional<unwind::Machine> MachineOf(std::string_view arch, std::uint64_t regs_user_mask) {
  if (arch == "x86_64" || arch == "amd64") return unwind::Machine::kX86_64;
  if (arch == "aarch64" || arch == "arm64") return unwind::Machine::kAArch64;
  if (!arch.empty()) return std::nullopt;
  if (HasBit(regs_user_mask, kArm64Bits.pc)) return unwind::Machine::kAArch64;
  if (HasBit(regs_user_mask, kX86Bits.pc)) return unwind::Machine::kX86_64;
  return std::nullopt;
}

RegistersAbi AbiOf(const perfdata::Sample& sample) {
  using namespace perfdata;
  switch (sample.regs_user_abi & (kRegsAbi32 | kRegsAbi64)) {
    case 0:
      return RegistersAbi::kNone;
    case kRegsAbi64:
      return RegistersAbi::k64Bit;
    default:
      return RegistersAbi::k32Bit;
  }
}

std::optional<unwind::Registers> RegistersOf(const perfdata::Sample& sample, std::uint64_t mask,
                                             unwind::Machine machine) {
  // The words are the registers of the set bits, in the order of the bits.
  const auto value = [&](unsigned bit) -> std::optional<std::uint64_t> {
    if (!HasBit(mask, bit)) return std::nullopt;
    const auto index =
        static_cast<std::size_t>(std::popcount(mask & ((std::uint64_t{1} << bit) - 1)));
    if (index >= sample.regs_user.size()) return std::nullopt;
    return sample.regs_user[index];
  };
  const RegisterBits& bits = BitsOf(machine);
  const std::optional<std::uint64_t> pc = value(bits.pc), sp = value(bits.sp);
  if (!pc || !sp) return std::nullopt;
  unwind::Registers registers{.pc = *pc,
                              .sp = *sp,
                              .fp = value(bits.fp).value_or(0),
                              .bx = bits.bx ? value(*bits.bx) : std::nullopt,
                              .link = value(bits.link),
                              .cx = bits.cx ? value(*bits.cx) : std::nullopt};
  for (std::size_t number = 0; number < bits.general.size(); ++number) {
    const std::optional<std::uint64_t> word = value(bits.general[number]);
    if (!word) continue;
    registers.general[number] = *word;
    registers.kept |= std::uint32_t{1} << number;
  }
  return registers;
}

bool HasStackCopies(const perfdata::SampleFormat& format) {
  return format.Has(perfdata::kRegsUser) && format.Has(perfdata::kStackUser);
}

std::optional<UnwoundChain> SampleUnwinder::Unwind(const perfdata::Sample& sample,
                                                   const perfdata::SampleFormat& format,
                                                   CpuMode mode, const SampledProcess& process) {
  const RegistersAbi abi = AbiOf(sample);
  if (abi == RegistersAbi::kNone) return std::nullopt;
  std::optional<unwind::Registers> registers;
  if (settings_.machine && abi == RegistersAbi::k64Bit) {
    registers = RegistersOf(sample, format.regs_user_mask, *settings_.machine);
  }
  if (!registers) {
    ++(abi == RegistersAbi::k32Bit ? report_.of_32_bit : report_.unsupported);
    return std::nullopt;
  }
  CopyKernelPart(sample, mode);
  const std::size_t kernel_words = words_.size();
  CodeMap& code = CodeOf(process);
  found_.clear();
  const unwind::WalkEnd end = unwind::WalkStack(
      *settings_.machine, *registers,
      [&](RuntimeAddress address) { return Find(code, process, address); },
      unwind::StackCopy(registers->sp, sample.stack_user), settings_.most_frames, frames_);
  ++report_.ends[static_cast<std::size_t>(end)];
  AppendFrames();
  PackFrames();
  return UnwoundChain{.words = words_,
                      .kernel_words = kernel_words,
                      .locations = locations_,
                      .is_cut = end != unwind::WalkEnd::kEndOfStack};
}

unwind::Code SampleUnwinder::Find(CodeMap& code, const SampledProcess& process,
                                  RuntimeAddress address) {
  FoundCode& found = found_.emplace_back();
  code.Find(address, settings_.table_of, *rules_, found);
  const bool may_be_compiled = found.code.frames_by == unwind::FramesBy::kFramePointer ||
                               found.code.frames_by == unwind::FramesBy::kNothing;
  if (settings_.compiled == nullptr || !may_be_compiled) return found.code;
  const unwind::Rule* const rule = settings_.compiled->Find(process.pid, process.epoch, address);
  if (rule != nullptr) found.code = {.frames_by = unwind::FramesBy::kTable, .rule = rule};
  return found.code;
}

CodeMap& SampleUnwinder::CodeOf(const SampledProcess& process) {
  const auto known = code_.find(process.fingerprint);
  if (known != code_.end()) return known->second;
  if (code_.size() >= kMostProcesses) code_.clear();
  return code_.try_emplace(process.fingerprint, settings_.regions_of(process), settings_.locations)
      .first->second;
}

// Copies the callchain up to its user part. A sample without a callchain has at least the address
// in the kernel that was hit.
void SampleUnwinder::CopyKernelPart(const perfdata::Sample& sample, CpuMode mode) {
  words_.clear();
  for (const std::uint64_t word : sample.callchain) {
    if (word == perfdata::kContextUser || word == perfdata::kContextUserDeferred) break;
    words_.push_back(word);
  }
  if (mode == CpuMode::kUser) {
    words_.clear();  // addresses before the first marker are of the user
  } else if (mode == CpuMode::kKernel && words_.empty()) {
    words_ = {perfdata::kContextKernel, sample.ip};
  }
}

void SampleUnwinder::AppendFrames() {
  for (const unwind::WalkedFrame& frame : frames_) {
    if (frame.pc >= perfdata::kContextMax) continue;  // damaged: it would be a marker
    if (frame.interrupted) words_.push_back(perfdata::kContextUser);
    words_.push_back(frame.pc);
  }
}

// The walk looks up each frame once, and perhaps one caller that is no frame.
void SampleUnwinder::PackFrames() {
  locations_.clear();
  if (settings_.locations == nullptr) return;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    if (frames_[i].pc >= perfdata::kContextMax) continue;
    std::optional<std::uint64_t> location = PackedLocationOf(i);
    if (!location) return locations_.clear();
    if (unwind::IsOuterInstruction(frames_, i)) {
      // The trampoline was looked up as a return address. Its mapping is known to have the next
      // one.
      const std::uint64_t subtracted = frames_[i].interrupted ? 0 : 1;
      location = PackedLocations::AsOuterInstruction(*location + subtracted);
    }
    locations_.push_back(*location);
  }
}

std::optional<std::uint64_t> SampleUnwinder::PackedLocationOf(std::size_t frame) const {
  const FoundCode& found = found_[frame];
  if (found.code.frames_by != unwind::FramesBy::kNothing) return found.packed;
  // The first frame.
  const auto unmapped = settings_.locations->AddUnmapped(frames_[frame].pc);
  return unmapped ? PackedLocations::Pack(*unmapped, 0) : std::nullopt;
}

}  // namespace perftape::offline_unwind

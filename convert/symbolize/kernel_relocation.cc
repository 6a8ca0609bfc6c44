// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/kernel_relocation.h"

#include <fmt/core.h>

#include <algorithm>

namespace perftape::symbolize {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
// x86-64 and riscv map their kernels in the last 2 GiB (Documentation/arch/x86/x86_64/mm.rst).
constexpr std::uint64_t kLastTwoGibibytes = 0xffffffff80000000;
// No kernel is relocated as far: in 64-bit address spaces, the kernel's half has at least this
// size.
constexpr std::uint64_t kFarthest = std::uint64_t{1} << 47;
// No kernel has as much code. A larger limit was invented (perf's maps__fixup_end) or is no end.
constexpr std::uint64_t kLargestKernel = std::uint64_t{1} << 30;

// Returns the alignment of the kernel's load address. x86-64: CONFIG_PHYSICAL_ALIGN, at least 2
// MiB. Others: arm64 64 KiB (MIN_KIMG_ALIGN, EFI_KIMG_ALIGN); s390 16 KiB (THREAD_SIZE,
// arch/s390/boot/kaslr.c); i386's CONFIG_PHYSICAL_ALIGN is at least 8 KiB.
std::uint64_t AlignmentAt(std::uint64_t address) {
  if (address >= kLastTwoGibibytes) return 2 * kMebibyte;
  if (address >= std::uint64_t{1} << 47) return std::uint64_t{64} << 10;
  return std::uint64_t{8} << 10;
}

std::string Moved(std::uint64_t distance) {
  if (distance == 0) return "not moved";
  // The direction from the recording's addresses to the table's.
  const bool is_up = distance < std::uint64_t{1} << 63;
  return fmt::format("moved by {}0x{:x}", is_up ? "" : "-", is_up ? distance : -distance);
}

// Returns the address in the table of the recording's reference symbol.
std::optional<std::uint64_t> FindReference(const RecordedKernel& recorded,
                                           const KernelIdentity& table) {
  if (!recorded.reference.empty()) {
    if (const auto address = table.address_of(recorded.reference)) return address;
  }
  const auto text = table.address_of("_text"), stext = table.address_of("_stext");
  // If one of the two matches exactly, it does not matter which one was recorded.
  if (stext == recorded.reference_address) return stext;
  return text ? text : stext;
}

// Returns why the kernel cannot have moved by this distance; empty if it can.
std::string Objection(const RecordedKernel& recorded, std::uint64_t distance,
                      const KernelIdentity& table) {
  const std::uint64_t was = recorded.reference_address;
  const std::uint64_t is = was + distance;
  const std::uint64_t alignment = AlignmentAt(was);
  const std::uint64_t size = std::min(distance, -distance);
  if (distance % alignment != 0 || size >= kFarthest ||
      (was >= kLastTwoGibibytes) != (is >= kLastTwoGibibytes)) {
    return fmt::format("its kernel is at 0x{:x}, but one recorded at 0x{:x} cannot move there", is,
                       was);
  }
  if (recorded.limit <= was || recorded.limit - was >= kLargestKernel) return {};
  std::string ends;
  for (const std::string_view name : {"_etext", "_edata"}) {
    const auto end = table.address_of(name);
    if (!end) continue;
    if (*end - distance == recorded.limit) return {};
    ends += fmt::format("{}{} is 0x{:x}", ends.empty() ? "" : ", ", name, *end - is);
  }
  if (ends.empty()) return {};
  return fmt::format("its {} after the kernel's start, but the recorded end is 0x{:x} after it",
                     ends, recorded.limit - was);
}

}  // namespace

KernelMove MoveOf(const RecordedKernel& recorded, const KernelIdentity& table) {
  const bool knows_both = !recorded.build_id.empty() && !table.build_id.empty();
  if (knows_both && !table.build_id.Matches(recorded.build_id)) {
    return {.reason = fmt::format("of the kernel with build id {}, but the recorded one is {}",
                                  table.build_id.hex(), recorded.build_id.hex())};
  }
  const std::string_view by = knows_both ? "by build id" : "build id unchecked";
  // Formats without the kernel's address cannot be checked.
  if (recorded.reference_address == 0) {
    return {.distance = 0, .reason = fmt::format("{}, address unchecked", by)};
  }
  const auto reference = FindReference(recorded, table);
  if (!reference) {
    return {.reason = "it has neither _text nor _stext, so it is unknown how far the kernel moved"};
  }
  const std::uint64_t distance = *reference - recorded.reference_address;
  const std::string objection = Objection(recorded, distance, table);
  if (!objection.empty()) return {.reason = "of another kernel: " + objection};
  return {.distance = distance, .reason = fmt::format("{}, {}", by, Moved(distance))};
}

}  // namespace perftape::symbolize

// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/machine_code.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>

namespace perftape::unwind {
namespace {

constexpr std::uint32_t kAArch64Nop = 0xd503201f;

std::uint8_t ByteAt(Bytes code, std::size_t index) {
  return index < code.size() ? std::to_integer<std::uint8_t>(code[index]) : std::uint8_t{0};
}

// The bytes of a file from `offset` on, which belong to `start` of `size` bytes.
Bytes PartOf(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.subspan(offset, size);
}

// How many bytes the operand of an instruction without immediate value has: the ModR/M byte, then
// perhaps a SIB byte and a displacement (Intel, volume 2, 2.1.3).
std::size_t OperandSize(std::uint8_t mod_rm, std::uint8_t sib) {
  const unsigned mod = mod_rm >> 6, rm = mod_rm & 7U;
  if (mod == 3) return 1;
  const std::size_t size = rm == 4 ? 2 : 1;
  if (mod == 1) return size + 1;
  if (mod == 2) return size + 4;
  const bool has_no_base = rm == 5 || (rm == 4 && (sib & 7U) == 5);
  return has_no_base ? size + 4 : size;
}

// The size of the padding instruction at the start of `code`; 0 if it is none.
std::size_t PaddingSize(Bytes code) {
  constexpr std::uint8_t kInt3 = 0xcc, kNop = 0x90, kOperandSize = 0x66, kSegmentCs = 0x2e;
  if (ByteAt(code, 0) == kInt3) return 1;
  std::size_t at = 0;
  while (at < code.size() && (ByteAt(code, at) == kOperandSize || ByteAt(code, at) == kSegmentCs)) {
    ++at;
  }
  if (ByteAt(code, at) == kNop) return at + 1;
  if (ByteAt(code, at) != 0x0f || ByteAt(code, at + 1) != 0x1f) return 0;
  const std::uint8_t mod_rm = ByteAt(code, at + 2);
  if ((mod_rm >> 3 & 7U) != 0) return 0;
  return at + 2 + OperandSize(mod_rm, ByteAt(code, at + 3));
}

bool EndsWithBranchAndLink(Bytes code) {
  const auto word = LoadFixed<std::uint32_t>(code.data() + code.size() - 4, std::endian::little);
  return (word & 0xfc000000) == 0x94000000 ||  // bl
         (word & 0xfffffc1f) == 0xd63f0000 ||  // blr
         (word & 0xfefff800) == 0xd63f0800;    // blraa, blrab, blraaz, blrabz
}

}  // namespace

Bytes CodeBytes(const elf::ElfFile& file, ImageAddress start, std::uint64_t size) {
  if (file.sections().size() > 1) {
    for (const elf::Section& section : file.sections()) {
      const std::uint64_t offset = start.value - section.address;
      if (!section.is_code() || start.value < section.address || offset >= section.size) continue;
      return PartOf(file.RawBytes(section), offset, size);
    }
    return {};
  }
  for (const elf::Segment& segment : file.segments()) {
    const std::uint64_t offset = start.value - segment.address.value;
    if (!segment.executable || start < segment.address || offset >= segment.size) continue;
    return PartOf(PartOf(file.image(), segment.offset.value, segment.size), offset, size);
  }
  return {};
}

bool IsPadding(Machine machine, Bytes code) {
  if (code.empty()) return false;
  while (!code.empty()) {
    std::size_t size = 0;
    if (machine == Machine::kX86_64) {
      size = PaddingSize(code);
    } else if (code.size() >= 4 &&
               LoadFixed<std::uint32_t>(code.data(), std::endian::little) == kAArch64Nop) {
      size = 4;
    }
    if (size == 0) return false;
    code = code.subspan(std::min(size, code.size()));
  }
  return true;
}

bool BeginsWithStackPointer(Bytes code) {
  constexpr std::uint8_t kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  constexpr std::size_t kEndbr64Size = std::size(kEndbr64);
  constexpr std::uint8_t kMov = 0x89, kWide = 0x48, kWideExtended = 0x4c;
  constexpr std::uint8_t kToSp = 0xc4;  // the operand of a register to rsp
  const auto is = [&](std::size_t i) { return ByteAt(code, i) == kEndbr64[i]; };
  if (is(0) && is(1) && is(2) && is(3)) code = code.subspan(kEndbr64Size);
  const std::uint8_t rex = ByteAt(code, 0), operand = ByteAt(code, 2);
  if (ByteAt(code, 1) != kMov || (operand & 0xc7) != kToSp) return false;
  const unsigned reg = operand >> 3 & 7U;
  constexpr unsigned kBx = 3, kR12 = 4;  // r12 is 4 with REX.R
  return (rex == kWide && reg == kBx) || (rex == kWideExtended && reg >= kR12);
}

bool EndsWithCall(Machine machine, Bytes code) {
  if (code.size() < kCallBytes) return false;
  if (machine == Machine::kAArch64) return EndsWithBranchAndLink(code);
  constexpr std::uint8_t kCallNear = 0xe8, kGroup5 = 0xff, kCallOfGroup5 = 2;
  constexpr std::size_t kCallNearSize = 5, kLongestIndirect = 7;
  if (ByteAt(code, code.size() - kCallNearSize) == kCallNear) return true;
  for (std::size_t size = 2; size <= kLongestIndirect; ++size) {
    const std::size_t at = code.size() - size;
    const std::uint8_t mod_rm = ByteAt(code, at + 1);
    if (ByteAt(code, at) == kGroup5 && (mod_rm >> 3 & 7U) == kCallOfGroup5 &&
        1 + OperandSize(mod_rm, ByteAt(code, at + 2)) == size) {
      return true;
    }
  }
  return false;
}

bool IsReturnEntry(Machine machine, std::uint64_t code) {
  const std::uint64_t first = code & 0xffffffff;
  if (machine == Machine::kAArch64) {
    return first == 0xf85f03b4 ||        // ldur x20,[x29,#-16]
           code == 0x8b080fb4f85f03a8U;  // ldur x8,[x29,#-16]; add x20,x29,x8,lsl #3
  }
  return first == 0xf0658b48 ||        // mov -16(%rbp),%rsp
         code == 0xcd648d48f04d8b48U;  // mov -16(%rbp),%rcx; lea 0(%rbp,%rcx,8),%rsp
}

}  // namespace perftape::unwind

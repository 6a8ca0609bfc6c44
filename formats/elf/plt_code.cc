// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/plt_code.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace perftape::elf {
namespace {

// The result of a decoder: the size of the code, and the slot.
struct Match {
  std::size_t size = 0;
  std::uint64_t slot = 0;
};

std::uint64_t Extend(std::int32_t value) {
  return static_cast<std::uint64_t>(std::int64_t{value});
}

// [endbr] [bnd] jmp *slot, or in a lazy .plt with IBT
// endbr; push $number of its relocation; jmp to the first entry.
std::optional<PltJump> DecodeX86(Bytes code, std::uint64_t address, bool is_64, std::uint64_t got) {
  ByteReader at(code, std::endian::little);
  const auto skip = [&](std::string_view bytes) {
    const bool is_next = at.Rest().starts_with(bytes);
    if (is_next) at.Padding(bytes.size());
    return is_next;
  };
  skip(is_64 ? "\xf3\x0f\x1e\xfa" : "\xf3\x0f\x1e\xfb");  // endbr64, endbr32
  skip("\xf2");                                           // bnd
  PltJump jump = {.size = code.size()};
  std::int32_t operand = 0;
  if (skip("\xff\x25")) {
    at.Fixed(operand);
    const std::uint64_t next = address + (code.size() - at.remaining());
    // 64 bits: jmp *operand(%rip). 32 bits: jmp *operand, with an absolute address.
    jump.slot = is_64 ? next + Extend(operand) : static_cast<std::uint32_t>(operand);
  } else if (!is_64 && skip("\xff\xa3")) {
    at.Fixed(operand);  // jmp *operand(%ebx)
    jump.slot = static_cast<std::uint32_t>(got + Extend(operand));
  } else if (skip("\x68")) {
    at.Fixed(operand);
    constexpr std::uint32_t kRelSize = sizeof(Elf32_Rel);  // i386 counts bytes
    jump.relocation = static_cast<std::uint32_t>(operand) / (is_64 ? 1 : kRelSize);
  } else {
    return std::nullopt;
  }
  if (!at.ok()) return std::nullopt;
  return jump;
}

std::vector<PltJump> FindX86Jumps(const PltCode& plt, bool is_64) {
  // Entries of .plt.got have 8 bytes without IBT. lld leaves sh_entsize 0.
  const std::size_t stride = plt.entry_size == 8 ? 8 : 16;
  std::vector<PltJump> jumps;
  for (std::size_t at = 0; at + stride <= plt.code.size(); at += stride) {
    auto jump = DecodeX86(plt.code.subspan(at, stride), plt.address + at, is_64, plt.got);
    if (!jump) continue;
    jump->at = at;
    jumps.push_back(*jump);
  }
  return jumps;
}

// [bti c]; adrp x16, page of slot; ldr x17, [x16, slot's offset in it]
std::optional<Match> DecodeArm64(Bytes code, std::uint64_t address) {
  ByteReader at(code, std::endian::little);  // code is little endian even if data is big endian
  std::uint32_t adrp = 0, ldr = 0;
  at.Fixed(adrp);
  std::size_t before = 0;
  if (adrp == 0xd503245f) {
    at.Fixed(adrp);
    before = 4;
  }
  at.Fixed(ldr);
  if (!at.ok() || (adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211) {
    return std::nullopt;
  }
  const std::uint32_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
  const std::int32_t signed_pages = static_cast<std::int32_t>(pages << 11) >> 11;
  const std::uint64_t page =
      ((address + before) & ~std::uint64_t{0xfff}) + (Extend(signed_pages) << 12);
  return Match{16 + before, page + std::uint64_t{ldr >> 10 & 0xfff} * 8};
}

// The operand of an ARM data-processing instruction: 8 bits, rotated right by twice the upper 4.
std::uint32_t ArmOperand(std::uint32_t instruction) {
  return std::rotr(instruction & 0xff, static_cast<int>(instruction >> 8 & 0xf) * 2);
}

// [bx pc; nop, of Thumb;] add ip, pc, #; add ip, ip, #; [add ip, ip, #;] ldr pc, [ip, #]!
// or, of lld, ldr ip, [pc, #4]; add ip, ip, pc; ldr pc, [ip]; the distance
std::optional<Match> DecodeArm(Bytes code, std::uint64_t address, std::endian order) {
  constexpr std::uint32_t kAllButOperand = 0xfffff000;
  ByteReader at(code, order);
  const std::uint64_t pipeline = 8;  // pc is 8 bytes ahead
  std::uint32_t word = 0;
  std::size_t before = 0;
  at.Fixed(word);
  if (word == 0x46c04778 || word == 0xe7fd4778) {
    at.Fixed(word);
    before = 4;
  }
  const auto match = [&](std::uint64_t slot) {
    return Match{code.size() - at.remaining(), slot & 0xffffffff};
  };
  if (word == 0xe59fc004) {
    std::uint32_t add = 0, load = 0, distance = 0;
    at.Fixed(add);
    at.Fixed(load);
    at.Fixed(distance);
    const bool is_entry = (add == 0xe08cc00f || add == 0xe08fc00c) && load == 0xe59cf000;
    if (!at.ok() || !is_entry) return std::nullopt;
    return match(address + before + 4 + pipeline + distance);
  }
  if ((word & kAllButOperand) != 0xe28fc000) return std::nullopt;
  std::uint64_t slot = address + before + pipeline + ArmOperand(word);
  for (int adds = 0; adds < 3; ++adds) {
    at.Fixed(word);
    if ((word & kAllButOperand) == 0xe5bcf000) return match(slot + (word & 0xfff));
    if (!at.ok() || (word & kAllButOperand) != 0xe28cc000) return std::nullopt;
    slot += ArmOperand(word);
  }
  return std::nullopt;
}

// auipc t3, upper; ld or lw t3, lower(t3); jalr t1, t3; nop
std::optional<Match> DecodeRiscv(Bytes code, std::uint64_t address) {
  ByteReader at(code, std::endian::little);
  std::uint32_t auipc = 0, load = 0;
  at.Fixed(auipc);
  at.Fixed(load);
  const bool is_load = (load & 0xfffff) == 0xe3e03 || (load & 0xfffff) == 0xe2e03;
  if (!at.ok() || (auipc & 0xfff) != 0xe17 || !is_load) return std::nullopt;
  const auto upper = static_cast<std::int32_t>(auipc & 0xfffff000);
  const std::int32_t lower = static_cast<std::int32_t>(load) >> 20;
  return Match{16, address + Extend(upper) + Extend(lower)};
}

// larl %r1, slot; lg %r1, 0(%r1); br %r1; and 16 bytes that resolve it at the first call
std::optional<Match> DecodeS390(Bytes code, std::uint64_t address) {
  constexpr std::string_view kLarl("\xc0\x10", 2), kLoad("\xe3\x10\x10\x00\x00\x04", 6);
  ByteReader at(code, std::endian::big);
  std::int32_t halves = 0;
  if (!at.Rest().starts_with(kLarl)) return std::nullopt;
  at.Padding(kLarl.size());
  at.Fixed(halves);
  if (!at.Rest().starts_with(kLoad)) return std::nullopt;
  return Match{32, address + Extend(halves) * 2};
}

// Finds entries at any multiple of `step`. Each extends to the next one if that is near.
template <class Decode>
std::vector<PltJump> Scan(const PltCode& plt, std::size_t step, const Decode& decode) {
  constexpr std::size_t kLargestEntry = 32;
  std::vector<PltJump> jumps;
  for (std::size_t at = 0; at < plt.code.size();) {
    const Bytes rest = plt.code.subspan(at);
    const auto match = decode(rest.first(std::min(rest.size(), kLargestEntry)), plt.address + at);
    if (!match) {
      at += step;
      continue;
    }
    jumps.push_back({.at = at, .size = std::min(match->size, rest.size()), .slot = match->slot});
    at += std::min<std::size_t>(match->size, 12);
  }
  for (std::size_t i = 0; i < jumps.size(); ++i) {
    const std::size_t end = i + 1 < jumps.size() ? jumps[i + 1].at : plt.code.size();
    if (end - jumps[i].at <= kLargestEntry) jumps[i].size = end - jumps[i].at;
  }
  return jumps;
}

}  // namespace

std::vector<PltJump> FindPltJumps(const PltCode& plt, const FileHeader& file) {
  constexpr std::uint32_t kLittleCode = 0x00800000;  // EF_ARM_BE8
  switch (file.machine) {
    case EM_X86_64:
    case EM_386:
      return FindX86Jumps(plt, file.machine == EM_X86_64);
    case EM_AARCH64:
      return Scan(plt, 4, DecodeArm64);
    case EM_ARM: {
      const bool is_little = (file.flags & kLittleCode) != 0;
      const std::endian order = is_little ? std::endian::little : file.order;
      return Scan(plt, 4, [&](Bytes code, std::uint64_t address) {
        return DecodeArm(code, address, order);
      });
    }
    case EM_RISCV:
      return Scan(plt, 4, DecodeRiscv);
    case EM_S390:
      if (!file.is_64) return {};
      return Scan(plt, 2, DecodeS390);
    default:
      return {};
  }
}

}  // namespace perftape::elf

// SPDX-License-Identifier: Apache-2.0
#include "convert/script/value_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "convert/script/number_text.h"
#include "convert/script/safe_text.h"
#include "formats/base/text.h"

namespace perftape::listing {
namespace {

// tools/arch/x86/include/uapi/asm/perf_regs.h, from bit 0.
constexpr std::string_view kX86Registers[] = {
    "AX", "BX", "CX", "DX", "SI", "DI", "BP",  "SP",  "IP",  "FLAGS", "CS",  "SS",
    "DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13",   "R14", "R15",
};
constexpr unsigned kFirstXmm = 32;  // two bits for each

std::string X86Register(unsigned bit) {
  if (bit < std::size(kX86Registers)) return std::string(kX86Registers[bit]);
  return bit < kFirstXmm ? "unknown" : fmt::format("XMM{}", (bit - kFirstXmm) / 2);
}

std::string Arm64Register(unsigned bit) {
  constexpr unsigned kLr = 30, kSp = 31, kPc = 32, kVg = 46;
  if (bit == kLr) return "lr";
  if (bit == kSp) return "sp";
  if (bit == kPc) return "pc";
  if (bit == kVg) return "vg";
  return bit < kLr ? fmt::format("x{}", bit) : "unknown";
}

std::string RegisterName(unsigned bit, std::string_view arch) {
  if (arch == "aarch64") return Arm64Register(bit);
  const bool is_x86 = arch == "x86_64" || (arch.size() == 4 && arch.ends_with("86"));
  return is_x86 ? X86Register(bit) : fmt::format("r{}", bit);
}

constexpr std::size_t kBranchWords = 3;  // from, to, flags

// struct perf_branch_entry: the types of branches, by number.
constexpr std::string_view kBranchTypes[] = {
    "",       "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",   "SYSCALL",
    "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX",
};

// How the processor speculated.
constexpr std::string_view kSpeculations[] = {"-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH",
                                              "SPEC_CORRECT_PATH"};

void AppendBranchFlags(std::string& out, std::uint64_t flags, Style style) {
  constexpr std::uint64_t kMispredicted = 1, kPredicted = 2, kInTransaction = 4, kAbort = 8;
  const std::uint64_t cycles = flags >> 4 & 0xffff, type = flags >> 20 & 0xf;
  const bool is_known = (flags & (kMispredicted | kPredicted)) != 0;
  out += '/';
  out += !is_known ? '-' : (flags & kPredicted) != 0 ? 'P' : 'M';
  out += (flags & kInTransaction) != 0 ? "/X" : "/-";
  out += (flags & kAbort) != 0 ? "/A/" : "/-/";
  AppendNumber(out, cycles);
  out += '/';
  if (type < std::size(kBranchTypes)) out += kBranchTypes[type];
  if (style == Style::kPerf73) {
    out += '/';
    out += kSpeculations[flags >> 24 & 3];
  }
  out += ' ';
}

void AppendDso(std::string& out, const ResolvedBranches& resolved, std::size_t end) {
  out += resolved.style == Style::kPerf73 ? " (" : "(";
  AppendSafe(out, resolved.frames.DsoOf(resolved.ends[end]));
  out += ')';
}

}  // namespace

void AppendRegisters(std::string& out, std::uint64_t abi, const WordArray& registers,
                     std::uint64_t mask, std::string_view arch) {
  constexpr unsigned kBits = 64;
  if (abi == 0) return;
  AppendFormat(out, " ABI:{} ", abi);
  std::size_t next = 0;
  for (unsigned bit = 0; bit < kBits && next < registers.size(); ++bit) {
    if ((mask >> bit & 1) == 0) continue;
    AppendRight(out, RegisterName(bit, arch), 5);
    out += ":0x";
    AppendHex(out, registers[next++]);
    out += ' ';
  }
}

void AppendBranches(std::string& out, const WordArray& branches, const ResolvedBranches& resolved,
                    FieldSet fields) {
  const bool has_dso = fields.Has(Field::kDso) && !resolved.ends.empty();
  for (std::size_t i = 0; i < branches.size() / kBranchWords; ++i) {
    out += " 0x";
    AppendHex(out, branches[kBranchWords * i]);
    if (has_dso) AppendDso(out, resolved, 2 * i);
    out += "/0x";
    AppendHex(out, branches[kBranchWords * i + 1]);
    if (has_dso) AppendDso(out, resolved, 2 * i + 1);
    AppendBranchFlags(out, perfdata::BranchFlagsAt(branches, i), resolved.style);
  }
}

void AppendBranchSymbols(std::string& out, const WordArray& branches,
                         const ResolvedBranches& resolved, FieldSet fields) {
  for (std::size_t i = 0; i < resolved.ends.size() / 2; ++i) {
    for (std::size_t end = 2 * i; end < 2 * i + 2; ++end) {
      if (end != 2 * i) out += '/';
      resolved.frames.AppendSymbol(out, resolved.ends[end], true);
      if (fields.Has(Field::kDso)) AppendDso(out, resolved, end);
    }
    AppendBranchFlags(out, perfdata::BranchFlagsAt(branches, i), resolved.style);
  }
}

void AppendBpfOutput(std::string& out, Bytes raw) {
  constexpr std::size_t kInLine = 16;
  const auto byte = [&](std::size_t i) { return std::to_integer<unsigned char>(raw[i]); };
  out += '\n';
  for (std::size_t begin = 0; begin < raw.size(); begin += kInLine) {
    AppendFormat(out, "{:>17} {:04x}:", begin == 0 ? "BPF output:" : "           ", begin);
    const std::size_t end = std::min(begin + kInLine, raw.size());
    for (std::size_t i = begin; i < end; ++i) AppendFormat(out, " {:02x}", byte(i));
    out.append(3 * (begin + kInLine - end), ' ');
    out += "  ";
    for (std::size_t i = begin; i < end; ++i) {
      const bool is_shown = byte(i) >= ' ' && byte(i) <= '~';
      out += is_shown ? static_cast<char>(byte(i)) : '.';
    }
    out.append(begin + kInLine - end, ' ');
    out += '\n';
  }
}

}  // namespace perftape::listing

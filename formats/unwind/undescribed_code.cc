// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/undescribed_code.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/elf/candidates.h"
#include "formats/unwind/derived_rules.h"
#include "formats/unwind/machine_code.h"
#include "formats/unwind/x86_instruction.h"

namespace perftape::unwind {
namespace {

// A shorter gap is padding.
constexpr std::uint64_t kLeastGap = 16;
// Binaries have a few sections of code; a hostile one may have thousands of the same bytes.
constexpr std::size_t kMostSections = 64;

bool IsOfGo(const elf::ElfFile& file) {
  return file.FindSection(".note.go.buildid") != nullptr ||
         file.FindSection(".gopclntab") != nullptr;
}

// Removes the padding in front. Returns false if there is nothing else.
bool SkipPadding(UndescribedCode& code) {
  using Type = X86Instruction::Type;
  while (!code.bytes.empty()) {
    const auto instruction = DecodeX86(code.bytes);
    // Linkers pad with zeros, too.
    const bool is_zero = code.bytes.front() == std::byte{0};
    const bool is_padding =
        instruction && (instruction->type == Type::kPadding || instruction->type == Type::kTrap);
    if (!is_zero && !is_padding) return true;
    const std::size_t size = is_zero ? 1 : instruction->size;
    code.bytes = code.bytes.subspan(size);
    code.start += size;
  }
  return false;
}

std::vector<UndescribedCode> UndescribedCodeOf(const elf::ElfFile& file,
                                               const FunctionRows& functions, TableBudget& budget) {
  std::vector<UndescribedCode> all;
  const std::uint64_t limit = budget.limits().undescribed_bytes;
  std::uint64_t left = limit;
  std::size_t sections = 0;
  for (const elf::Section& section : file.sections()) {
    if (!section.is_code() || !section.is_loaded() || section.name.starts_with(".plt")) continue;
    if (left == 0 || ++sections > kMostSections) break;
    const Bytes bytes = file.RawBytes(section);
    const std::uint64_t end = section.address + bytes.size();
    if (end < section.address) continue;
    functions.ForEachGap(section.address, end, [&](std::uint64_t start, std::uint64_t gap_end) {
      const std::uint64_t size = std::min(gap_end - start, left);
      if (size < gap_end - start)
        budget.Reached(limit, "bytes of code without call frame information");
      if (size < kLeastGap && gap_end - start != bytes.size()) return;
      UndescribedCode code = {.start = start,
                              .bytes = bytes.subspan(start - section.address, size)};
      left -= size;
      if (SkipPadding(code)) all.push_back(code);
    });
  }
  return all;
}

// With their strings.
std::uint64_t SymbolTableBytes(const elf::ElfFile& file) {
  std::uint64_t bytes = 0;
  for (const elf::Section& section : file.sections()) {
    if (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) continue;
    bytes += file.RawBytes(section).size();
    if (section.link < file.sections().size()) {
      bytes += file.RawBytes(file.sections()[section.link]).size();
    }
  }
  return bytes;
}

bool IsFunction(const elf::Candidate& symbol) {
  return symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC;
}

// Assemblers do not say what a symbol is, unless they are told. A local one may be the target of a
// jump.
bool IsLabel(const elf::Candidate& symbol) {
  return symbol.type == STT_NOTYPE && symbol.binding != STB_LOCAL;
}

// The functions and labels of the symbol tables, sorted. A function without a size ends where the
// next begins. Labels inside of functions are left out.
std::vector<FunctionExtent> FunctionsOf(std::vector<elf::Candidate> symbols) {
  std::erase_if(symbols, [](const elf::Candidate& symbol) {
    return !IsFunction(symbol) && !IsLabel(symbol);
  });
  std::ranges::sort(symbols, {}, [](const elf::Candidate& symbol) {
    // Of those at one address, functions first, and the longest.
    return std::tuple(symbol.start, IsLabel(symbol), ~symbol.end);
  });
  std::vector<FunctionExtent> functions;
  std::uint64_t covered = 0;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const elf::Candidate& symbol = symbols[i];
    const bool is_label = IsLabel(symbol);
    if (!functions.empty() && functions.back().start == symbol.start) continue;
    if (is_label && symbol.start < covered) continue;
    const auto next =
        std::find_if(symbols.begin() + static_cast<std::ptrdiff_t>(i), symbols.end(),
                     [&](const elf::Candidate& other) { return other.start > symbol.start; });
    std::uint64_t end = is_label ? symbol.start : symbol.end;
    if (!is_label && end == symbol.start) {
      end = next == symbols.end() ? symbol.section_end : next->start;
    }
    covered = std::max(covered, end);
    functions.push_back({.start = symbol.start, .end = end});
  }
  return functions;
}

// Boost.Context (libs/context/src/asm/make_x86_64_sysv_elf_gas.S): what is behind the return of
// make_fcontext is where a context begins, and where its function returns to. Nothing calls it.
void AddContextStarts(const elf::ElfFile& file, std::span<const elf::Candidate> symbols,
                      FunctionRows& functions) {
  for (const elf::Candidate& symbol : symbols) {
    if (symbol.name != "make_fcontext" || functions.Covers(symbol.start, symbol.end)) continue;
    Bytes code = CodeBytes(file, ImageAddress{symbol.start}, symbol.end - symbol.start);
    auto instruction = DecodeX86(code);
    while (instruction && instruction->type != X86Instruction::Type::kReturn) {
      code = code.subspan(instruction->size);
      instruction = DecodeX86(code);
    }
    if (!instruction || code.size() <= instruction->size) continue;
    const std::uint64_t start = symbol.end - code.size() + instruction->size;
    functions.StartFunction(start, symbol.end);
    functions.AddRow(start, RuleSet::kEndOfStack);
    functions.Sort();
  }
}

void AddRows(std::span<const DerivedRow> rows, FunctionRows& functions, RuleSet& rules) {
  if (rows.empty()) return;
  functions.StartFunction(rows.front().start, rows.back().start);
  for (const DerivedRow& row : rows.first(rows.size() - 1)) {
    functions.AddRow(row.start, rules.Add(row.rule));
  }
}

}  // namespace

void AddDerivedRules(const elf::ElfFile& file, TableBudget& budget, FunctionRows& functions,
                     RuleSet& rules) {
  if (file.header().machine != EM_X86_64 || IsOfGo(file)) return;
  functions.Sort();
  const std::vector<UndescribedCode> undescribed = UndescribedCodeOf(file, functions, budget);
  if (undescribed.empty()) return;
  const std::uint64_t limit = budget.limits().symbol_bytes;
  if (SymbolTableBytes(file) > limit) return budget.Reached(limit, "bytes of symbol tables");
  std::vector<elf::Candidate> symbols;
  (void)elf::AppendCandidates(file, symbols);
  AddContextStarts(file, symbols, functions);
  const std::vector<FunctionExtent> extents = FunctionsOf(std::move(symbols));
  for (const UndescribedCode& code : undescribed) {
    if (budget.IsStopped()) return;
    AddRows(DeriveRules(code, extents), functions, rules);
  }
}

}  // namespace perftape::unwind

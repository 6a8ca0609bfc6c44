// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/undescribed_code.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "formats/elf/candidates.h"
#include "formats/unwind/derived_rules.h"
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
                                               const FunctionRows& functions) {
  std::vector<UndescribedCode> all;
  std::uint64_t left = kMostUndescribedBytes;
  std::size_t sections = 0;
  for (const elf::Section& section : file.sections()) {
    if (!section.is_code() || !section.is_loaded() || section.name.starts_with(".plt")) continue;
    if (left == 0 || ++sections > kMostSections) break;
    const Bytes bytes = file.RawBytes(section);
    const std::uint64_t end = section.address + bytes.size();
    if (end < section.address) continue;
    functions.ForEachGap(section.address, end, [&](std::uint64_t start, std::uint64_t gap_end) {
      const std::uint64_t size = std::min(gap_end - start, left);
      if (size < kLeastGap && gap_end - start != bytes.size()) return;
      UndescribedCode code = {.start = start,
                              .bytes = bytes.subspan(start - section.address, size)};
      left -= size;
      if (SkipPadding(code)) all.push_back(code);
    });
  }
  return all;
}

// The functions of the symbol tables, sorted. One without a size ends where the next begins.
std::vector<FunctionExtent> FunctionsOf(const elf::ElfFile& file) {
  std::vector<elf::Candidate> symbols;
  (void)elf::AppendCandidates(file, symbols);
  std::erase_if(symbols, [](const elf::Candidate& symbol) {
    return symbol.type != STT_FUNC && symbol.type != STT_GNU_IFUNC;
  });
  std::ranges::sort(symbols, {}, [](const elf::Candidate& symbol) {
    return std::pair(symbol.start, ~symbol.end);  // of those at one address, the longest first
  });
  std::vector<FunctionExtent> functions;
  for (const elf::Candidate& symbol : symbols) {
    if (!functions.empty() && functions.back().start == symbol.start) continue;
    if (!functions.empty() && functions.back().end == functions.back().start) {
      functions.back().end = symbol.start;
    }
    functions.push_back({.start = symbol.start, .end = symbol.end});
  }
  if (!functions.empty() && functions.back().end == functions.back().start) {
    functions.back().end = symbols.back().section_end;
  }
  return functions;
}

void AddRows(std::span<const DerivedRow> rows, FunctionRows& functions, RuleSet& rules) {
  if (rows.empty()) return;
  functions.StartFunction(rows.front().start, rows.back().start);
  for (const DerivedRow& row : rows.first(rows.size() - 1)) {
    functions.AddRow(row.start, rules.Add(row.rule));
  }
}

}  // namespace

void AddDerivedRules(const elf::ElfFile& file, FunctionRows& functions, RuleSet& rules) {
  if (file.header().machine != EM_X86_64 || IsOfGo(file)) return;
  functions.Sort();
  const std::vector<UndescribedCode> undescribed = UndescribedCodeOf(file, functions);
  if (undescribed.empty()) return;
  const std::vector<FunctionExtent> symbols = FunctionsOf(file);
  for (const UndescribedCode& code : undescribed) {
    AddRows(DeriveRules(code, symbols), functions, rules);
  }
}

}  // namespace perftape::unwind

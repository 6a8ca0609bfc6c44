// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/symbols.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "formats/elf/candidates.h"
#include "formats/elf/expand.h"
#include "formats/elf/plt.h"

namespace perftape::elf {
namespace {

constexpr std::uint32_t kNoSymbol = std::numeric_limits<std::uint32_t>::max();

// An xz-compressed .symtab is small. The largest known, of browsers, expand to about 20 MB.
constexpr std::uint64_t kLargestMiniDebugInfo = std::uint64_t{256} << 20;

// The order of perf's choose_best_symbol. Among equals the first is chosen.
bool IsBetter(const Candidate& a, const Candidate& b) {
  const auto rank = [](const Candidate& c) {
    return std::tuple(c.end == c.start, c.type == STT_NOTYPE, c.binding == STB_WEAK,
                      c.binding != STB_GLOBAL, c.underscores,
                      std::numeric_limits<std::size_t>::max() - c.name.size());
  };
  return rank(a) < rank(b);
}

// Returns the indexes of `candidates`, sorted by start. The sort is stable. Linkers write tables
// unsorted, and a comparison sort of a large one takes longer than all the rest.
std::vector<std::uint32_t> OrderByStart(const std::vector<Candidate>& candidates) {
  constexpr std::size_t kTooFew = 512;
  constexpr unsigned kDigitBits = 11;
  std::vector<std::uint32_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0U);
  if (candidates.empty()) return order;
  const auto [lowest, highest] = std::ranges::minmax(candidates, {}, &Candidate::start);
  const auto start_bits = static_cast<unsigned>(std::bit_width(highest.start - lowest.start));
  const auto index_bits = static_cast<unsigned>(std::bit_width(candidates.size()));
  if (candidates.size() < kTooFew || start_bits + index_bits > 64) {
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return candidates[i].start; });
    return order;
  }
  // A radix sort of words that contain start and index, from the lowest digit of the start to the
  // highest.
  std::vector<std::uint64_t> keys(candidates.size()), sorted(candidates.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = (candidates[i].start - lowest.start) << index_bits | i;
  }
  for (unsigned shift = index_bits; shift < index_bits + start_bits; shift += kDigitBits) {
    const auto digit = [&](std::uint64_t key) { return key >> shift & ((1U << kDigitBits) - 1); };
    std::array<std::uint32_t, 1U << kDigitBits> next = {};
    for (const std::uint64_t key : keys) ++next[digit(key)];
    std::exclusive_scan(next.begin(), next.end(), next.begin(), 0U);
    for (const std::uint64_t key : keys) sorted[next[digit(key)]++] = key;
    keys.swap(sorted);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    order[i] = static_cast<std::uint32_t>(keys[i] & ((std::uint64_t{1} << index_bits) - 1));
  }
  return order;
}

// perf's symbols__fixup_end, but limited to the section. A symbol without a size extends to the
// next one. Among several at one address, only the last one gets a size, and is therefore chosen.
// Unlike perf, a symbol without a size inside one that has a size is left out: it is a label of
// assembly code, and would take the samples of the function around it.
std::vector<Symbol> ChooseAmongAliases(std::vector<Candidate>& candidates) {
  const std::vector<std::uint32_t> order = OrderByStart(candidates);
  std::vector<Symbol> symbols;
  symbols.reserve(candidates.size());
  std::uint64_t covered_to = 0;  // by symbols with a size that start earlier
  for (std::size_t i = 0; i < order.size();) {
    const std::uint64_t start = candidates[order[i]].start;
    Candidate* best = nullptr;
    std::uint64_t own_end = 0;
    for (; i < order.size() && candidates[order[i]].start == start; ++i) {
      Candidate& candidate = candidates[order[i]];
      const std::uint64_t next =
          i + 1 < order.size() ? candidates[order[i + 1]].start : candidate.section_end;
      own_end = std::max(own_end, candidate.end);
      if (candidate.end == start && start < covered_to) continue;
      if (candidate.end == start) candidate.end = std::min(next, candidate.section_end);
      if (best == nullptr || IsBetter(candidate, *best)) best = &candidate;
    }
    covered_to = std::max(covered_to, own_end);
    if (best != nullptr && best->end > start)
      symbols.push_back({best->name, {start}, best->end - start});
  }
  return symbols;
}

// IFUNC symbols by the address of their resolver.
using Resolvers = std::unordered_map<std::uint64_t, const Candidate*>;

Resolvers FindResolvers(const std::vector<Candidate>& candidates) {
  Resolvers resolvers;
  for (const Candidate& candidate : candidates) {
    if (candidate.type != STT_GNU_IFUNC) continue;
    const auto [at, added] = resolvers.try_emplace(candidate.start, &candidate);
    if (!added && IsBetter(candidate, *at->second)) at->second = &candidate;
  }
  return resolvers;
}

// Adds names such as "strlen@plt". An IFUNC of the same file gets the name of the symbol at its
// resolver, if there is one.
void AddPlt(const ElfFile& file, std::vector<Candidate>& candidates,
            std::deque<std::string>& made_names) {
  const std::vector<PltEntry> entries = ReadPlt(file);
  if (entries.empty()) return;
  const Resolvers resolvers = FindResolvers(candidates);
  std::vector<Candidate> named;
  named.reserve(entries.size());
  for (const PltEntry& entry : entries) {
    std::string_view name = entry.name;
    if (name.empty()) {
      const auto found = resolvers.find(entry.resolver.value);
      if (found == resolvers.end()) continue;
      name = found->second->name;
    }
    const std::uint64_t end = entry.start.value + entry.size;
    named.push_back({.name = made_names.emplace_back(std::string(name) + "@plt"),
                     .start = entry.start.value,
                     .end = end,
                     .section_end = end,
                     .type = STT_FUNC,
                     .binding = STB_GLOBAL});
  }
  candidates.insert(candidates.end(), named.begin(), named.end());
}

bool HasSymtab(const ElfFile& file) {
  return std::ranges::any_of(file.sections(), [](const Section& section) {
    return section.type == SHT_SYMTAB && section.size != 0;
  });
}

}  // namespace

std::optional<ElfFile> ReadMiniDebugInfo(const ElfFile& file) {
  const Section* section = file.FindSection(".gnu_debugdata");
  if (section == nullptr) return std::nullopt;
  auto expanded = ExpandXz(file.RawBytes(*section), kLargestMiniDebugInfo);
  if (!expanded) return std::nullopt;
  auto embedded = ElfFile::Owning(*std::move(expanded));
  return embedded ? std::optional(*std::move(embedded)) : std::nullopt;
}

SymbolTable SymbolTable::Read(const ElfFile& file) {
  const std::array files = {&file};
  return Build(files);
}

SymbolTable SymbolTable::Read(const ElfFile& file, const ElfFile& debug_file) {
  const std::array files = {&debug_file, &file};
  return Build(files);
}

// The last of `files` is the one that was mapped.
SymbolTable SymbolTable::Build(std::span<const ElfFile* const> files) {
  const ElfFile& mapped = *files.back();
  SymbolTable table;
  std::vector<Candidate> candidates;
  const bool has_symtab =
      std::ranges::any_of(files, [](const ElfFile* file) { return HasSymtab(*file); });
  if (!has_symtab) {
    if (auto embedded = ReadMiniDebugInfo(mapped)) {
      table.embedded_.push_back(*std::move(embedded));
      table.Append(table.embedded_.back(), candidates);
    }
  }
  for (const ElfFile* file : files) table.Append(*file, candidates);
  AddPlt(mapped, candidates, table.made_names_);
  table.symbols_ = ChooseAmongAliases(candidates);
  table.CutIntoRanges();
  table.IndexRanges();
  return table;
}

void SymbolTable::Append(const ElfFile& file, std::vector<Candidate>& candidates) {
  const CandidateCounts counts = AppendCandidates(file, candidates);
  counts_.damaged += counts.damaged;
  counts_.left_out += counts.left_out;
}

// Symbols may nest and overlap; ranges do not. Each symbol opens a range at its start. Where it
// ends, the symbol that it interrupted continues, unless that has ended too.
void SymbolTable::CutIntoRanges() {
  ranges_.reserve(2 * symbols_.size());  // at most as many ends as starts
  std::vector<std::uint32_t> open;
  const auto end_of = [&](std::uint32_t index) {
    return symbols_[index].start.value + symbols_[index].size;
  };
  const auto close_up_to = [&](std::uint64_t address) {
    while (!open.empty() && end_of(open.back()) <= address) {
      const std::uint64_t end = end_of(open.back());
      while (!open.empty() && end_of(open.back()) <= end) open.pop_back();
      ranges_.push_back({{end}, open.empty() ? kNoSymbol : open.back()});
    }
  };
  for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
    close_up_to(symbols_[i].start.value);
    ranges_.push_back({symbols_[i].start, i});
    open.push_back(i);
  }
  close_up_to(std::numeric_limits<std::uint64_t>::max());
}

void SymbolTable::IndexRanges() {
  if (ranges_.empty()) return;
  const std::uint64_t extent = ranges_.back().start.value - ranges_.front().start.value;
  while (extent >> stride_bits_ > ranges_.size()) ++stride_bits_;
  first_in_.reserve((extent >> stride_bits_) + 2);
  for (std::uint32_t i = 0; i < ranges_.size(); ++i) {
    const std::uint64_t distance = ranges_[i].start.value - ranges_.front().start.value;
    // Fills the strides up to this one that have no earlier entry.
    while (distance >> stride_bits_ >= first_in_.size()) first_in_.push_back(i);
  }
  first_in_.push_back(static_cast<std::uint32_t>(ranges_.size()));
}

const Symbol* SymbolTable::Find(ImageAddress address) const {
  if (ranges_.empty() || address < ranges_.front().start) return nullptr;
  const std::uint64_t distance = address.value - ranges_.front().start.value;
  const std::uint64_t stride =
      std::min<std::uint64_t>(distance >> stride_bits_, first_in_.size() - 2);
  // The range is at or after the first of its stride, or the last one before it.
  const auto from = ranges_.begin() + first_in_[stride];
  const auto to = ranges_.begin() + first_in_[stride + 1];
  const auto range = std::upper_bound(
      from, to, address, [](ImageAddress a, const Range& other) { return a < other.start; });
  const std::uint32_t symbol = std::prev(range)->symbol;
  return symbol == kNoSymbol ? nullptr : &symbols_[symbol];
}

}  // namespace perftape::elf

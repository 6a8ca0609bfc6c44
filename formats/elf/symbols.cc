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

// An .xz of .symtab alone is small; the largest ones seen, of browsers, expand to some 20 MB.
constexpr std::uint64_t kLargestMiniDebugInfo = std::uint64_t{256} << 20;

// perf compares demangled names, which seldom begin with an underscore where the mangled ones all
// do.
std::size_t LeadingUnderscores(std::string_view name) {
  if (name.starts_with("_Z") || name.starts_with("_R")) return 0;
  return std::min(name.find_first_not_of('_'), name.size());
}

// The order of perf's choose_best_symbol; of equals the first stays.
bool IsBetter(const Candidate& a, const Candidate& b) {
  const auto rank = [](const Candidate& c) {
    return std::tuple(c.end == c.start, c.type == STT_NOTYPE, c.binding == STB_WEAK,
                      c.binding != STB_GLOBAL);
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  const std::string_view name_a = a.name(), name_b = b.name();
  const std::size_t underscores_a = LeadingUnderscores(name_a);
  const std::size_t underscores_b = LeadingUnderscores(name_b);
  if (underscores_a != underscores_b) return underscores_a < underscores_b;
  return name_a.size() > name_b.size();
}

// By start; of one start in the order in which they came. Tables of linkers are in no order, and a
// comparing sort of large ones takes longer than all else.
std::vector<Candidate> SortByStart(std::vector<Candidate> candidates) {
  constexpr unsigned kDigitBits = 11;
  constexpr std::size_t kTooFew = 512;
  if (candidates.size() < kTooFew) {
    std::ranges::stable_sort(candidates, {}, &Candidate::start);
    return candidates;
  }
  const auto [lowest, highest] = std::ranges::minmax(candidates, {}, &Candidate::start);
  const unsigned bits = static_cast<unsigned>(std::bit_width(highest.start - lowest.start));
  struct Key {
    std::uint64_t start;
    std::uint32_t index;
  };
  std::vector<Key> keys(candidates.size()), sorted(candidates.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = {candidates[i].start - lowest.start, i};
  for (unsigned shift = 0; shift < bits; shift += kDigitBits) {
    const auto digit = [&](const Key& key) {
      return key.start >> shift & ((1U << kDigitBits) - 1);
    };
    std::array<std::uint32_t, 1U << kDigitBits> next = {};
    for (const Key& key : keys) ++next[digit(key)];
    std::exclusive_scan(next.begin(), next.end(), next.begin(), 0U);
    for (const Key& key : keys) sorted[next[digit(key)]++] = key;
    keys.swap(sorted);
  }
  std::vector<Candidate> in_order(candidates.size());
  for (std::size_t i = 0; i < keys.size(); ++i) in_order[i] = candidates[keys[i].index];
  return in_order;
}

// perf's symbols__fixup_end, but not beyond the section: a symbol without size reaches to the next;
// of several at one address only the last, which makes that the one to be chosen.
void ExtendSizeless(std::vector<Candidate>& sorted) {
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    Candidate& candidate = sorted[i];
    if (candidate.end != candidate.start) continue;
    const bool is_last = i + 1 == sorted.size();
    candidate.end =
        is_last ? candidate.section_end : std::min(sorted[i + 1].start, candidate.section_end);
  }
}

std::vector<Symbol> ChooseAmongAliases(const std::vector<Candidate>& sorted) {
  std::vector<Symbol> symbols;
  symbols.reserve(sorted.size());
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto behind = std::find_if(first, sorted.end(), [&](const Candidate& candidate) {
      return candidate.start != first->start;
    });
    const Candidate& best = *std::min_element(first, behind, IsBetter);
    if (best.end > best.start) {
      symbols.push_back({best.name(), {best.start}, best.end - best.start});
    }
    first = behind;
  }
  return symbols;
}

// "strlen@plt"; for an IFUNC of the same file by the name at its resolver, or as objdump writes it
// where that has none.
void AddPlt(const ElfFile& file, std::vector<Candidate>& candidates,
            std::deque<std::string>& made_names) {
  const std::vector<PltEntry> entries = ReadPlt(file);
  if (entries.empty()) return;
  // IFUNCs by their resolvers.
  std::unordered_map<std::uint64_t, const Candidate*> resolvers;
  for (const Candidate& candidate : candidates) {
    if (candidate.type != STT_GNU_IFUNC) continue;
    const auto [at, added] = resolvers.try_emplace(candidate.start, &candidate);
    if (!added && IsBetter(candidate, *at->second)) at->second = &candidate;
  }
  std::vector<Candidate> named;
  for (const PltEntry& entry : entries) {
    std::string name(entry.name);
    if (name.empty()) {
      const auto found = resolvers.find(entry.resolver.value);
      if (found == resolvers.end()) continue;
      name = found->second->name();
    }
    const std::uint64_t end = entry.start.value + entry.size;
    named.push_back({.text = made_names.emplace_back(std::move(name) + "@plt").c_str(),
                     .start = entry.start.value,
                     .end = end,
                     .section_end = end,
                     .type = STT_FUNC,
                     .binding = STB_GLOBAL,
                     .is_made = true});
  }
  candidates.insert(candidates.end(), named.begin(), named.end());
}

// MiniDebugInfo; nothing where there is none, or where it is damaged.
std::optional<ElfFile> ReadMiniDebugInfo(const ElfFile& file) {
  const Section* section = file.FindSection(".gnu_debugdata");
  if (section == nullptr) return std::nullopt;
  auto expanded = ExpandXz(file.RawBytes(*section), kLargestMiniDebugInfo);
  if (!expanded) return std::nullopt;
  auto embedded = ElfFile::Owning(*std::move(expanded));
  return embedded ? std::optional(*std::move(embedded)) : std::nullopt;
}

bool HasSymtab(const ElfFile& file) {
  return std::ranges::any_of(file.sections(), [](const Section& section) {
    return section.type == SHT_SYMTAB && section.size != 0;
  });
}

}  // namespace

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
      table.damaged_ += AppendCandidates(table.embedded_.back(), candidates);
    }
  }
  for (const ElfFile* file : files) table.damaged_ += AppendCandidates(*file, candidates);
  AddPlt(mapped, candidates, table.made_names_);
  candidates = SortByStart(std::move(candidates));
  ExtendSizeless(candidates);
  table.symbols_ = ChooseAmongAliases(candidates);
  table.CutIntoRanges();
  table.IndexRanges();
  return table;
}

// Symbols may nest and overlap; ranges do not. Each symbol opens a range at its start; where it
// ends, the one that it interrupted goes on, if that has not ended as well.
void SymbolTable::CutIntoRanges() {
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
    // Strides up to and with this one begin at or before it, if they begin behind the one before.
    while (distance >> stride_bits_ >= first_in_.size()) first_in_.push_back(i);
  }
  first_in_.push_back(static_cast<std::uint32_t>(ranges_.size()));
}

const Symbol* SymbolTable::Find(ImageAddress address) const {
  if (ranges_.empty() || address < ranges_.front().start) return nullptr;
  const std::uint64_t distance = address.value - ranges_.front().start.value;
  const std::uint64_t stride =
      std::min<std::uint64_t>(distance >> stride_bits_, first_in_.size() - 2);
  // The range sought is behind the first of its stride, or the last one before that.
  const auto from = ranges_.begin() + first_in_[stride];
  const auto to = ranges_.begin() + first_in_[stride + 1];
  const auto range = std::upper_bound(
      from, to, address, [](ImageAddress a, const Range& other) { return a < other.start; });
  const std::uint32_t symbol = std::prev(range)->symbol;
  return symbol == kNoSymbol ? nullptr : &symbols_[symbol];
}

}  // namespace perftape::elf

// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/symbols.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "formats/elf/libelf_handle.h"
#include "formats/elf/plt.h"

namespace perftape::elf {
namespace {

constexpr std::uint32_t kNoSymbol = std::numeric_limits<std::uint32_t>::max();

// A symbol as the tables have it, until the best of all at its address is chosen.
struct Candidate {
  std::string_view name;
  std::uint64_t start = 0, end = 0;  // equal where the size is not told
  std::uint64_t section_end = 0;
  unsigned char type = STT_NOTYPE;
  unsigned char binding = STB_LOCAL;
};

// ARM marks the kinds of code and data within functions so: "$a", "$x.12".
bool IsMappingSymbol(GElf_Half machine, std::string_view name) {
  if (machine != EM_ARM && machine != EM_AARCH64 && machine != EM_RISCV) return false;
  return name.size() >= 2 && name[0] == '$' &&
         std::string_view("adtx").find(name[1]) != std::string_view::npos &&
         (name.size() == 2 || name[2] == '.');
}

// As perf has it: functions wherever they are, labels and objects where there is code (assembly is
// often marked wrongly, and what it calls an object bounds the function before it).
bool NamesCode(const GElf_Sym& symbol, const GElf_Shdr& section) {
  if ((section.sh_flags & SHF_ALLOC) == 0) return false;
  const int type = GELF_ST_TYPE(symbol.st_info);
  if (type == STT_FUNC || type == STT_GNU_IFUNC) return true;
  if ((section.sh_flags & SHF_EXECINSTR) == 0) return false;
  const int visibility = GELF_ST_VISIBILITY(symbol.st_other);
  return type == STT_OBJECT ||
         (type == STT_NOTYPE && visibility != STV_HIDDEN && visibility != STV_INTERNAL);
}

// Reads one symbol table; which is a section of symbols, its strings, and for more than 65279
// sections a table of section numbers.
class TableReader {
 public:
  TableReader(const ElfFile::Handle& handle, std::vector<Candidate>& out, std::uint64_t& damaged)
      : handle_(handle), out_(out), damaged_(damaged) {
    ForEachSection(handle, [&](Elf_Scn* section, const GElf_Shdr& header) {
      const std::size_t index = elf_ndxscn(section);
      if (sections_.size() <= index) sections_.resize(index + 1);
      sections_[index] = header;
      if (header.sh_type == SHT_SYMTAB_SHNDX) extended_[header.sh_link] = section;
    });
  }

  // Of equally good aliases the first is chosen, so the fuller table comes first.
  void ReadAll() {
    for (const GElf_Word type : {GElf_Word{SHT_SYMTAB}, GElf_Word{SHT_DYNSYM}}) {
      ForEachSection(handle_, [&](Elf_Scn* section, const GElf_Shdr& header) {
        if (header.sh_type == type) Read(section, header);
      });
    }
  }

 private:
  void Read(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* symbols = elf_getdata(section, nullptr);
    if (symbols == nullptr) return;
    const auto extended = extended_.find(elf_ndxscn(section));
    Elf_Data* numbers =
        extended == extended_.end() ? nullptr : elf_getdata(extended->second, nullptr);
    GElf_Sym symbol;
    Elf32_Word number = 0;
    for (int i = 1; gelf_getsymshndx(symbols, numbers, i, &symbol, &number) != nullptr; ++i) {
      const std::size_t index = symbol.st_shndx == SHN_XINDEX ? number : symbol.st_shndx;
      Add(symbol, index, header.sh_link);
    }
  }

  void Add(const GElf_Sym& symbol, std::size_t section_index, std::size_t strings) {
    if (symbol.st_name == 0 || section_index == SHN_UNDEF || symbol.st_shndx == SHN_ABS) return;
    if (symbol.st_shndx == SHN_COMMON) return;
    if (section_index >= sections_.size()) {
      ++damaged_;
      return;
    }
    const GElf_Shdr& section = sections_[section_index];
    if (!NamesCode(symbol, section)) return;
    const char* text = elf_strptr(handle_.elf, strings, symbol.st_name);
    if (text == nullptr) {
      ++damaged_;
      return;
    }
    std::string_view name = text;
    if (IsMappingSymbol(handle_.header.e_machine, name)) return;
    if (const auto version = name.find('@'); version != 0) name = name.substr(0, version);
    if (!name.empty()) Place(name, symbol, section);
  }

  void Place(std::string_view name, const GElf_Sym& symbol, const GElf_Shdr& section) {
    const bool is_relocatable = handle_.header.e_type == ET_REL;
    const std::uint64_t section_start = is_relocatable ? section.sh_offset : section.sh_addr;
    const std::uint64_t start = is_relocatable ? section_start + symbol.st_value : Address(symbol);
    if (start < section_start || start - section_start >= section.sh_size) return;
    const std::uint64_t room = std::min(section.sh_size - (start - section_start),
                                        std::numeric_limits<std::uint64_t>::max() - start);
    out_.push_back({.name = name,
                    .start = start,
                    .end = start + std::min<std::uint64_t>(symbol.st_size, room),
                    .section_end = start + room,
                    .type = static_cast<unsigned char>(GELF_ST_TYPE(symbol.st_info)),
                    .binding = static_cast<unsigned char>(GELF_ST_BIND(symbol.st_info))});
  }

  // On 32-bit ARM the lowest bit of a function's address says that it is Thumb code.
  std::uint64_t Address(const GElf_Sym& symbol) const {
    const bool thumb =
        handle_.header.e_machine == EM_ARM && GELF_ST_TYPE(symbol.st_info) == STT_FUNC;
    return thumb ? symbol.st_value & ~std::uint64_t{1} : symbol.st_value;
  }

  const ElfFile::Handle& handle_;
  std::vector<Candidate>& out_;
  std::uint64_t& damaged_;
  std::vector<GElf_Shdr> sections_;
  std::unordered_map<std::size_t, Elf_Scn*> extended_;  // by the symbol table that it belongs to
};

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
                      c.binding != STB_GLOBAL, LeadingUnderscores(c.name),
                      std::numeric_limits<std::size_t>::max() - c.name.size());
  };
  return rank(a) < rank(b);
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
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto behind = std::find_if(first, sorted.end(), [&](const Candidate& candidate) {
      return candidate.start != first->start;
    });
    const Candidate& best = *std::min_element(first, behind, IsBetter);
    if (best.end > best.start) symbols.push_back({best.name, {best.start}, best.end - best.start});
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
      name = found->second->name;
    }
    const std::uint64_t end = entry.start.value + entry.size;
    named.push_back({.name = made_names.emplace_back(std::move(name) + "@plt"),
                     .start = entry.start.value,
                     .end = end,
                     .section_end = end,
                     .type = STT_FUNC,
                     .binding = STB_GLOBAL});
  }
  candidates.insert(candidates.end(), named.begin(), named.end());
}

std::vector<Symbol> Choose(std::vector<Candidate> candidates) {
  std::ranges::stable_sort(candidates, {}, &Candidate::start);
  ExtendSizeless(candidates);
  return ChooseAmongAliases(candidates);
}

}  // namespace

SymbolTable SymbolTable::Read(const ElfFile& file) {
  SymbolTable table;
  std::vector<Candidate> candidates;
  TableReader(file.handle(), candidates, table.damaged_).ReadAll();
  AddPlt(file, candidates, table.made_names_);
  table.symbols_ = Choose(std::move(candidates));
  table.CutIntoRanges();
  return table;
}

SymbolTable SymbolTable::Read(const ElfFile& file, const ElfFile& debug_file) {
  SymbolTable table;
  std::vector<Candidate> candidates;
  TableReader(debug_file.handle(), candidates, table.damaged_).ReadAll();
  TableReader(file.handle(), candidates, table.damaged_).ReadAll();
  AddPlt(file, candidates, table.made_names_);
  table.symbols_ = Choose(std::move(candidates));
  table.CutIntoRanges();
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

const Symbol* SymbolTable::Find(ImageAddress address) const {
  auto range = std::ranges::upper_bound(ranges_, address, {}, &Range::start);
  if (range == ranges_.begin()) return nullptr;
  --range;
  return range->symbol == kNoSymbol ? nullptr : &symbols_[range->symbol];
}

}  // namespace perftape::elf

// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/candidates.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include "formats/base/symbol_limits.h"
#include "formats/elf/symbol_entries.h"

namespace perftape::elf {
namespace {

bool HasMarks(std::uint16_t machine) {
  return machine == EM_ARM || machine == EM_AARCH64 || machine == EM_RISCV;
}

// Mapping symbols mark code and data within functions: "$a", "$x.12", "$xrv64i2p1". RISC-V's
// assembler also keeps the local labels (".L...") that the linker needs for relaxation.
bool IsMark(std::uint16_t machine, const char* name) {
  if (machine == EM_RISCV && name[0] == '.' && name[1] == 'L') return true;
  if (name[0] != '$' || std::string_view("adtx").find(name[1]) == std::string_view::npos) {
    return false;
  }
  return name[2] == '\0' || name[2] == '.' || (machine == EM_RISCV && name[2] == 'r');
}

// Whether the text after '@' is the name of a version, such as "GLIBC_2.14". Crystal writes
// "*Cart(UInt64)@Cart(T)#total<Int32>:Int64", Wine "_start@8".
bool IsVersion(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-';
  });
}

// Removes the version from "memcpy@@GLIBC_2.14".
std::string_view WithoutVersion(std::string_view name) {
  // Few names have one, and find is much faster than rfind.
  if (name.find('@') == std::string_view::npos) return name;
  const std::size_t at = name.rfind('@');
  if (!IsVersion(name.substr(at + 1))) return name;
  const std::string_view base = name.substr(0, at);
  const std::string_view symbol = base.ends_with('@') ? base.substr(0, at - 1) : base;
  return symbol.empty() ? name : symbol;
}

// perf compares demangled names. They seldom begin with underscores, but all mangled names do.
std::uint8_t LeadingUnderscores(std::string_view name) {
  if (name.starts_with("_Z") || name.starts_with("_R")) return 0;
  const std::size_t count = std::min(name.find_first_not_of('_'), name.size());
  return static_cast<std::uint8_t>(std::min<std::size_t>(count, 0xff));
}

// Follows perf: functions in any section, labels and objects only in code sections. Assembly code
// is often marked as an object, and such an object limits the size of the previous function.
bool NamesCode(const SymbolEntry& symbol, const Section& section) {
  if ((section.flags & SHF_ALLOC) == 0) return false;
  const std::uint8_t type = symbol.type();
  if (type == STT_FUNC || type == STT_GNU_IFUNC) return true;
  if (!section.is_code()) return false;
  const std::uint8_t visibility = symbol.visibility();
  return type == STT_OBJECT ||
         (type == STT_NOTYPE && visibility != STV_HIDDEN && visibility != STV_INTERNAL);
}

class CandidateReader {
 public:
  CandidateReader(const ElfFile& file, std::vector<Candidate>& out)
      : file_(file),
        sections_(file.sections()),
        machine_(file.header().machine),
        has_marks_(HasMarks(machine_)),
        out_(out) {
    // The first ABI of 64-bit PowerPC has { u64 entry, toc, environment; } for each function.
    if (machine_ == EM_PPC64) descriptors_ = file.FindSection(".opd");
    if (descriptors_ != nullptr && file.RawBytes(*descriptors_).empty()) descriptors_ = nullptr;
  }

  void Read(const Section& table) {
    const std::uint64_t size = file_.RawBytes(table).size();
    if (IsRepeated(table)) return;
    if (size > left_ || read_.size() == symbol_limits::kSameSections) {
      counts_.left_out += size;
      return;
    }
    left_ -= size;
    read_.push_back(&table);
    may_have_versions_ = table.type == SHT_SYMTAB;
    const SymbolEntries entries(file_, table);
    const FixedArray<std::uint32_t> large_numbers = LargeNumbersOf(table);
    out_.reserve(out_.size() + entries.size());
    for (std::size_t i = 1; i < entries.size(); ++i) {
      const SymbolEntry entry = entries[i];
      std::uint32_t section = entry.section;
      if (section == SHN_XINDEX) section = i < large_numbers.size() ? large_numbers[i] : 0;
      Add(entries, entry, section);
    }
  }

  const CandidateCounts& counts() const { return counts_; }

 private:
  // Sections can name the same symbols again and again.
  bool IsRepeated(const Section& table) const {
    return std::ranges::any_of(read_, [&](const Section* other) {
      return other->offset == table.offset && other->link == table.link;
    });
  }

  // With more than 65279 sections, a separate table contains the section numbers of symbols.
  FixedArray<std::uint32_t> LargeNumbersOf(const Section& table) const {
    const auto number = static_cast<std::uint32_t>(&table - sections_.data());
    for (const Section& section : sections_) {
      if (section.type == SHT_SYMTAB_SHNDX && section.link == number) {
        return {file_.RawBytes(section), file_.header().order};
      }
    }
    return {};
  }

  void Add(const SymbolEntries& entries, const SymbolEntry& entry, std::uint32_t number) {
    if (entry.name == 0 || number == SHN_UNDEF) return;
    if (entry.section == SHN_ABS || entry.section == SHN_COMMON) return;
    if (number >= sections_.size()) {
      ++counts_.damaged;
      return;
    }
    const Section& section = sections_[number];
    if (!NamesCode(entry, section)) return;
    const char* text = entries.TextOf(entry);
    if (text == nullptr) {
      ++counts_.damaged;
      return;
    }
    if (*text == '\0' || (has_marks_ && IsMark(machine_, text))) return;
    // Symbols can share a long name.
    const std::size_t length = strnlen(text, names_left_);
    if (length == names_left_) {
      counts_.left_out += sizeof(Elf64_Sym);
      return;
    }
    names_left_ -= length;
    if (&section == descriptors_) {
      AddByDescriptor({text, length}, entry);
    } else {
      AddAt({text, length}, entry, section, AddressOf(entry, section));
    }
  }

  void AddByDescriptor(std::string_view text, const SymbolEntry& entry) {
    const Bytes table = file_.RawBytes(*descriptors_);
    const std::uint64_t at = entry.value - descriptors_->address;
    if (at >= table.size()) return;
    std::uint64_t address = 0;
    FieldReader(table.subspan(at), file_.header()).Word(address);
    const auto code = std::ranges::find_if(sections_, [&](const Section& section) {
      return section.is_code() && address >= section.address &&
             address - section.address < section.size;
    });
    if (code != sections_.end()) AddAt(text, entry, *code, address);
  }

  std::uint64_t StartOf(const Section& section) const {
    return file_.header().type == ET_REL ? section.offset : section.address;
  }

  std::uint64_t AddressOf(const SymbolEntry& entry, const Section& section) const {
    if (file_.header().type == ET_REL) return section.offset + entry.value;
    // On 32-bit ARM the lowest bit of a function's address marks Thumb code.
    const bool is_thumb = machine_ == EM_ARM && entry.type() == STT_FUNC;
    return is_thumb ? entry.value & ~std::uint64_t{1} : entry.value;
  }

  void AddAt(std::string_view text, const SymbolEntry& entry, const Section& section,
             std::uint64_t start) {
    const std::uint64_t section_start = StartOf(section);
    if (start < section_start || start - section_start >= section.size) return;
    const std::uint64_t room = std::min(section.size - (start - section_start),
                                        std::numeric_limits<std::uint64_t>::max() - start);
    // Names are read here in the order of the table, because reading them in sorted order is
    // slower.
    const std::string_view name = may_have_versions_ ? WithoutVersion(text) : text;
    out_.push_back({.name = name,
                    .start = start,
                    .end = start + std::min(entry.size, room),
                    .section_end = start + room,
                    .type = entry.type(),
                    .binding = entry.binding(),
                    .underscores = LeadingUnderscores(name)});
  }

  const ElfFile& file_;
  std::span<const Section> sections_;
  std::uint16_t machine_;
  bool has_marks_;
  std::vector<Candidate>& out_;
  const Section* descriptors_ = nullptr;  // .opd, or null
  bool may_have_versions_ = false;  // "memcpy@@GLIBC_2.14"; .dynsym has versions in another table
  std::uint64_t left_ = symbol_limits::kSymbolTables;  // bytes that may still be read
  std::uint64_t names_left_ = symbol_limits::kSymbolNames;
  std::vector<const Section*> read_;
  CandidateCounts counts_;
};

}  // namespace

// The first of equally good aliases is chosen, so the fuller table comes first.
CandidateCounts AppendCandidates(const ElfFile& file, std::vector<Candidate>& out) {
  CandidateReader reader(file, out);
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (const Section& section : file.sections()) {
      if (section.type == type) reader.Read(section);
    }
  }
  return reader.counts();
}

}  // namespace perftape::elf

// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/scopes.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>
#include <utility>

namespace perftape::dwarf {
namespace {

// Entries nest as deep as the blocks of a source file. Only forged files reach this.
constexpr std::size_t kDeepest = 4096;

// Whether the members of a type, unless it is local to a function, never contain code. This holds
// for gcc's C and C++. gcc also writes DW_AT_sibling, the offset of the entry after the type. Half
// of all entries are members of types.
bool KeepsCodeOutOfTypes(std::uint64_t language) {
  switch (language) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
      return true;
    default:
      return false;
  }
}

class SlotValues {
 public:
  void Set(Slot slot, const FormValue& value) {
    forms_[static_cast<std::size_t>(slot)] = value.form;
    numbers_[static_cast<std::size_t>(slot)] = value.number;
  }
  FormValue operator[](Slot slot) const {
    return {.form = forms_[static_cast<std::size_t>(slot)],
            .number = numbers_[static_cast<std::size_t>(slot)]};
  }

 private:
  static constexpr auto kSlots = static_cast<std::size_t>(Slot::kCount);
  std::array<std::uint16_t, kSlots> forms_ = {};
  std::array<std::uint64_t, kSlots> numbers_ = {};
};

class ScopeWalker {
 public:
  ScopeWalker(const Unit& unit, std::span<const Extent> code, std::uint64_t& work,
              std::uint64_t work_limit, ScopeWalk space)
      : unit_(unit),
        encoding_(unit.header.encoding),
        code_(code),
        work_(work),
        work_limit_(work_limit),
        skips_types_(KeepsCodeOutOfTypes(unit.language)),
        at_(unit.InfoAt(unit.header.first_die)),
        walk_(std::move(space)) {
    extents_.reserve(16);
    walk_.scopes.clear();
    walk_.extents.clear();
  }

  ScopeWalk Run() {
    while (at_.ok() && at_.remaining() != 0 && work_ <= work_limit_) {
      const std::uint64_t die = at_.offset();
      const std::uint64_t code = at_.Uleb();
      if (code == 0) {
        if (enclosing_.size() <= 1) break;
        enclosing_.pop_back();
        continue;
      }
      const Abbreviation* entry = unit_.abbreviations.Find(code);
      if (entry == nullptr) break;
      EnclosingScope inside = Context();
      if (entry->is_scope()) {
        inside = {.scope = AddScope(*entry, die), .is_in_function = true};
      } else if (entry->is_type()) {
        if (SkipType(*entry)) continue;
      } else {
        SkipEntry(*entry);
      }
      if (!entry->has_children) {
        if (enclosing_.empty()) break;  // a root without children
        continue;
      }
      if (enclosing_.size() >= kDeepest) break;
      enclosing_.push_back(inside);
    }
    return std::move(walk_);
  }

 private:
  // The context of an entry.
  struct EnclosingScope {
    std::uint32_t scope = kNoScope;
    bool is_in_function = false;  // even if that function has no code
  };

  void SkipEntry(const Abbreviation& entry) {
    if (entry.size) return at_.Skip(*entry.size);
    for (const PlanStep& step : unit_.abbreviations.plan(entry)) {
      at_.Skip(step.skip);
      if (step.form != 0) SkipVariable(step.form);
    }
  }

  // Skips the type. Returns whether its members were skipped too.
  bool SkipType(const Abbreviation& entry) {
    std::uint64_t sibling = 0;
    for (const PlanStep& step : unit_.abbreviations.plan(entry)) {
      at_.Skip(step.skip);
      if (step.slot == Slot::kSibling) {
        sibling = unit_.header.offset + ReadStep(step).number;
      } else if (step.form != 0) {
        SkipVariable(step.form);
      }
    }
    if (!skips_types_ || !entry.has_children || Context().is_in_function) return false;
    if (sibling <= at_.offset()) return false;
    at_.Skip(sibling - at_.offset());
    return true;
  }

  void SkipVariable(std::uint16_t form) {
    if (form == DW_FORM_exprloc) {  // nearly all are
      at_.Skip(at_.Uleb());
    } else {
      ReadForm(at_, form, 0, encoding_);
    }
  }

  FormValue ReadStep(const PlanStep& step) {
    if (step.size == 0 || step.size > 8) {  // no value, 16 bytes, or variable
      return ReadForm(at_, step.form, step.constant, encoding_);
    }
    return {.form = step.form, .number = at_.Unsigned(step.size)};
  }

  std::uint32_t AddScope(const Abbreviation& entry, std::uint64_t die) {
    SlotValues values;
    for (const PlanStep& step : unit_.abbreviations.plan(entry)) {
      at_.Skip(step.skip);
      if (step.form == 0) continue;
      if (step.slot == Slot::kNone) {
        SkipVariable(step.form);
      } else {
        values.Set(step.slot, ReadStep(step));
      }
    }
    if (!at_.ok()) return kNoScope;
    const bool is_inlined = entry.tag == DW_TAG_inlined_subroutine;
    const auto scope = static_cast<std::uint32_t>(walk_.scopes.size());
    if (scope == kNoScope) return kNoScope;
    // An inlined function may have all of its code in functions inlined into it.
    const bool has_code = AddExtents(values, scope);
    if (!has_code && !(is_inlined && entry.has_children && Enclosing() != kNoScope)) {
      return is_inlined ? Enclosing() : kNoScope;
    }
    walk_.scopes.push_back({.die = is_inlined ? OriginOf(values, die) : die,
                            .caller = is_inlined ? Enclosing() : kNoScope,
                            .call_file = Number(values, Slot::kCallFile),
                            .call_line = Number(values, Slot::kCallLine),
                            .call_column = Number(values, Slot::kCallColumn)});
    return scope;
  }

  // The origin, not the inlined entry, has the name. So the name is read once for all inlined
  // calls.
  std::uint64_t OriginOf(const SlotValues& values, std::uint64_t die) const {
    const FormValue origin = values[Slot::kOrigin];
    return IsWithinUnit(origin.form) ? unit_.header.offset + origin.number : die;
  }

  // Returns whether there are any.
  bool AddExtents(const SlotValues& values, std::uint32_t scope) {
    const FormValue low_pc = values[Slot::kLowPc], ranges = values[Slot::kRanges];
    if (!low_pc && !ranges) return false;
    extents_.clear();
    if (const FormValue high_pc = values[Slot::kHighPc]; low_pc && high_pc) {
      AppendRange(unit_, low_pc, high_pc, extents_);
    } else if (ranges) {
      work_ += AppendRanges(unit_, ranges, extents_);
    }
    const std::size_t before = walk_.extents.size();
    for (const Extent& extent : extents_) {
      if (extent.start < extent.end && Contains(code_, extent.start)) {
        walk_.extents.push_back({.extent = extent, .scope = scope});
      }
    }
    return walk_.extents.size() != before;
  }

  static std::uint32_t Number(const SlotValues& values, Slot slot) {
    const std::uint64_t number = values[slot].number;
    return number > std::numeric_limits<std::uint32_t>::max() ? 0
                                                              : static_cast<std::uint32_t>(number);
  }

  EnclosingScope Context() const {
    return enclosing_.empty() ? EnclosingScope() : enclosing_.back();
  }
  std::uint32_t Enclosing() const { return Context().scope; }

  const Unit& unit_;
  const Encoding encoding_;
  std::span<const Extent> code_;
  std::uint64_t& work_;
  const std::uint64_t work_limit_;
  const bool skips_types_;
  Cursor at_;
  std::vector<EnclosingScope> enclosing_;  // one for each entry that encloses the next one
  std::vector<Extent> extents_;            // of one entry
  ScopeWalk walk_;
};

// Sorts enclosing scopes first. Among equal extents, the later scope is on top.
bool IsBefore(const ScopeExtent& a, const ScopeExtent& b) {
  if (a.extent.start != b.extent.start) return a.extent.start < b.extent.start;
  if (a.extent.end != b.extent.end) return a.extent.end > b.extent.end;
  return a.scope < b.scope;
}

// Sorts by start only, with a radix sort from the lowest digit. The starts of a unit differ in two
// or three digits, while a comparison sort needs a step for each bit of their count.
void SortByStart(std::span<ScopeExtent> extents) {
  constexpr unsigned kDigitBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  const auto start_of = [](const ScopeExtent& extent) { return extent.extent.start; };
  const auto [lowest, highest] = std::ranges::minmax(std::views::transform(extents, start_of));
  std::vector<ScopeExtent> space(extents.size());
  std::span<ScopeExtent> from = extents, to = space;
  for (unsigned shift = 0; shift < 64 && (highest - lowest) >> shift != 0; shift += kDigitBits) {
    const auto digit_of = [&, base = lowest](const ScopeExtent& extent) {
      return ((extent.extent.start - base) >> shift) % kDigits;
    };
    std::array<std::size_t, kDigits> positions = {};
    for (const ScopeExtent& extent : from) ++positions[digit_of(extent)];
    std::exclusive_scan(positions.begin(), positions.end(), positions.begin(), std::size_t{0});
    for (const ScopeExtent& extent : from) to[positions[digit_of(extent)]++] = extent;
    std::swap(from, to);
  }
  if (from.data() != extents.data()) std::ranges::copy(from, extents.begin());
}

void SortExtents(std::span<ScopeExtent> extents) {
  constexpr std::size_t kWorthDigits = 1024;
  if (std::ranges::is_sorted(extents, IsBefore)) return;
  if (extents.size() < kWorthDigits) {
    std::ranges::sort(extents, IsBefore);
    return;
  }
  SortByStart(extents);
  for (auto at = extents.begin(); at != extents.end();) {
    const auto next = std::find_if(
        at, extents.end(),
        [start = at->extent.start](const auto& other) { return other.extent.start != start; });
    // Usually already sorted, because compilers write the enclosing scope first.
    if (!std::is_sorted(at, next, IsBefore)) std::sort(at, next, IsBefore);
    at = next;
  }
}

class Flattener {
 public:
  explicit Flattener(std::vector<ScopeStart> space) : starts_(std::move(space)) { starts_.clear(); }

  std::vector<ScopeStart> Run(std::span<const ScopeExtent> sorted) {
    for (const ScopeExtent& next : sorted) {
      CloseUpTo(next.extent.start);
      open_.push_back(next);
      Begin(next.extent.start, next.scope);
    }
    CloseUpTo(std::numeric_limits<std::uint64_t>::max());
    return std::move(starts_);
  }

 private:
  void CloseUpTo(std::uint64_t address) {
    while (!open_.empty() && open_.back().extent.end <= address) {
      const std::uint64_t end = open_.back().extent.end;
      while (!open_.empty() && open_.back().extent.end <= end) open_.pop_back();
      Begin(end, open_.empty() ? kNoScope : open_.back().scope);
    }
  }

  void Begin(std::uint64_t start, std::uint32_t scope) {
    if (!starts_.empty() && starts_.back().start == start) starts_.pop_back();
    if (!starts_.empty() && starts_.back().scope == scope) return;
    starts_.push_back({.start = start, .scope = scope});
  }

  std::vector<ScopeExtent> open_;  // all contain the next start; the last is innermost
  std::vector<ScopeStart> starts_;
};

}  // namespace

ScopeWalk WalkScopes(const Unit& unit, std::span<const Extent> code, std::uint64_t& work,
                     std::uint64_t work_limit, ScopeWalk space) {
  return ScopeWalker(unit, code, work, work_limit, std::move(space)).Run();
}

std::vector<ScopeStart> Flatten(std::span<ScopeExtent> extents, std::vector<ScopeStart> space) {
  SortExtents(extents);
  return Flattener(std::move(space)).Run(extents);
}

}  // namespace perftape::dwarf

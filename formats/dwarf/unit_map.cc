// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/unit_map.h"

#include <algorithm>
#include <set>

#include "formats/dwarf/unit_index.h"

namespace perftape::dwarf {
namespace {

std::optional<std::uint32_t> NumberOf(std::span<const UnitHeader> headers, std::uint64_t offset) {
  const auto found = std::ranges::lower_bound(headers, offset, {}, &UnitHeader::offset);
  if (found == headers.end() || found->offset != offset) return std::nullopt;
  return static_cast<std::uint32_t>(found - headers.begin());
}

class ClaimReader {
 public:
  ClaimReader(const Sections& sections, std::span<const UnitHeader> headers,
              std::span<const Extent> code)
      : sections_(sections), headers_(headers), code_(code), listed_(headers.size()) {}

  void ReadAranges() {
    for (std::uint64_t offset = 0; offset < sections_.aranges.size();) offset = ReadSet(offset);
  }

  void ReadRoots(std::uint64_t& work, std::uint64_t work_limit) {
    for (std::uint32_t i = 0; i < headers_.size() && work <= work_limit; ++i) {
      if (headers_[i].is_type_unit() || headers_[i].type == DW_UT_partial) continue;
      if (listed_[i] != 0) {
        AddUnlisted(i, work);
        continue;
      }
      const auto unit = ReadUnit(sections_, headers_[i], work);
      if (unit && unit->tag != 0) ReadRoot(*unit, i, work, work_limit);
    }
  }

  std::vector<UnitMap::Entry> Claims() && { return std::move(claims_); }

 private:
  bool IsCode(const Extent& extent) const {
    return extent.start < extent.end && Contains(code_, extent.start);
  }
  void Claim(const Extent& extent, std::uint32_t unit) {
    if (IsCode(extent)) claims_.push_back({.extent = extent, .unit = unit});
  }

  // Appends the ranges of the root entry. Returns whether it has any.
  static bool AppendRootRanges(const Unit& unit, std::vector<Extent>& extents,
                               std::uint64_t& work) {
    if (unit.low_pc && unit.high_pc) {
      const FormValue low_pc = {.form = DW_FORM_addr, .number = *unit.low_pc};
      AppendRange(unit, low_pc, unit.high_pc, extents);
    } else if (unit.ranges) {
      work += AppendRanges(unit, unit.ranges, extents);
    } else {
      return false;
    }
    return true;
  }

  // For a unit with less code in .debug_aranges than in its root entry.
  void AddUnlisted(std::uint32_t number, std::uint64_t& work) {
    const auto unit = ReadUnitRoot(sections_, headers_[number], work);
    if (!unit) return;
    std::vector<Extent> extents;
    AppendRootRanges(*unit, extents, work);
    std::erase_if(extents, [&](const Extent& extent) { return !IsCode(extent); });
    std::uint64_t size = 0;
    for (const Extent& extent : extents) size += extent.end - extent.start;
    if (size <= listed_[number]) return;
    for (const Extent& extent : extents) Claim(extent, number);
  }

  void ReadRoot(const Unit& unit, std::uint32_t number, std::uint64_t& work,
                std::uint64_t work_limit) {
    std::vector<Extent> extents;
    if (!AppendRootRanges(unit, extents, work)) {
      extents = CodeOfFunctions(unit, code_, work, work_limit);
    }
    for (const Extent& extent : extents) Claim(extent, number);
  }

  // { u32 length, or 0xffffffff and u64 length; u16 version; offset of the unit; u8 address size,
  // segment selector size; padding; { start, size }[] and a pair of zeros } (DWARF 5, 6.1.2).
  // llvm-bolt writes pairs of zeros for functions that the linker dropped, so only the length ends
  // a set. Returns the offset of the next set.
  std::uint64_t ReadSet(std::uint64_t offset) {
    Cursor at(sections_.aranges, offset, sections_.order);
    std::uint8_t offset_size = 4;
    const std::uint64_t length = at.InitialLength(offset_size);
    if (!at.ok() || length > at.remaining()) return sections_.aranges.size();
    at.EndAfter(length);
    const std::uint64_t next = at.offset() + length;
    const auto version = at.Fixed<std::uint16_t>();
    const auto unit = NumberOf(headers_, at.Unsigned(offset_size));
    const auto address_size = at.Fixed<std::uint8_t>();
    const auto segment_size = at.Fixed<std::uint8_t>();
    if (!unit || version != 2 || segment_size != 0 || (address_size != 4 && address_size != 8)) {
      return next;
    }
    const std::uint64_t header_size = at.offset() - offset, pair_size = 2U * address_size;
    at.Skip((pair_size - header_size % pair_size) % pair_size);
    while (at.remaining() >= pair_size) {
      const std::uint64_t start = at.Unsigned(address_size), size = at.Unsigned(address_size);
      const Extent extent = {start, start + size};
      if (!IsCode(extent)) continue;
      Claim(extent, *unit);
      listed_[*unit] += size;
    }
    return next;
  }

  const Sections& sections_;
  std::span<const UnitHeader> headers_;
  std::span<const Extent> code_;
  std::vector<std::uint64_t> listed_;  // bytes of code in .debug_aranges, by unit
  std::vector<UnitMap::Entry> claims_;
};

}  // namespace

UnitMap UnitMap::Read(const Sections& sections, std::span<const UnitHeader> headers,
                      std::span<const Extent> code, std::uint64_t& work, std::uint64_t work_limit) {
  ClaimReader reader(sections, headers, code);
  reader.ReadAranges();
  reader.ReadRoots(work, work_limit);
  return FromClaims(std::move(reader).Claims());
}

UnitMap UnitMap::FromClaims(std::span<const Entry> claims) {
  struct Endpoint {
    std::uint64_t address;
    std::uint32_t unit;
    bool is_start;
  };
  std::vector<Endpoint> endpoints;
  for (const Entry& claim : claims) {
    endpoints.push_back({claim.extent.start, claim.unit, true});
    endpoints.push_back({claim.extent.end, claim.unit, false});
  }
  std::ranges::stable_sort(endpoints, {}, &Endpoint::address);

  UnitMap map;
  std::multiset<std::uint32_t> claiming;
  std::uint64_t previous = 0;
  for (const Endpoint& endpoint : endpoints) {
    if (previous < endpoint.address && !claiming.empty()) {
      Entry* last = map.owned_.empty() ? nullptr : &map.owned_.back();
      if (last != nullptr && last->extent.end == previous && claiming.contains(last->unit)) {
        last->extent.end = endpoint.address;
      } else {
        map.owned_.push_back({.extent = {previous, endpoint.address}, .unit = *claiming.begin()});
      }
    }
    if (endpoint.is_start) {
      claiming.insert(endpoint.unit);
    } else {
      claiming.erase(claiming.find(endpoint.unit));
    }
    previous = endpoint.address;
  }
  map.entries_ = map.owned_;
  return map;
}

std::optional<std::uint32_t> UnitMap::Find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(
      entries_, address, {}, [](const Entry& entry) { return entry.extent.start; });
  if (after == entries_.begin() || address >= std::prev(after)->extent.end) return std::nullopt;
  return std::prev(after)->unit;
}

}  // namespace perftape::dwarf

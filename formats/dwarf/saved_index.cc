// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/saved_index.h"

#include <cstring>
#include <type_traits>

namespace perftape::dwarf {
namespace {

// "source01". The last two digits are the version.
constexpr std::uint64_t kMagic = 0x3130656372756f73;

struct IndexHeader {
  std::uint64_t magic = kMagic;
  std::uint64_t fingerprint = 0;
  std::uint64_t map_size = 0, unit_count = 0;
};

struct UnitEntry {
  std::uint64_t unit = 0;
  std::uint64_t sequences = 0, rows = 0, starts = 0, scopes = 0;  // number of elements that follow
};

// The types are written as they are in memory, so they must have no padding bytes of unknown
// content.
static_assert(std::has_unique_object_representations_v<LineSequence>);
static_assert(std::has_unique_object_representations_v<LineRow>);
static_assert(std::has_unique_object_representations_v<ScopeStart>);
static_assert(std::has_unique_object_representations_v<Scope>);
static_assert(std::has_unique_object_representations_v<UnitMap::Entry>);

class IndexWriter {
 public:
  template <class T>
  void Add(std::span<const T> values) {
    static_assert(sizeof(T) % 8 == 0);
    const Bytes bytes = std::as_bytes(values);
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  template <class T>
  void Add(const T& value) {
    Add(std::span<const T>(&value, 1));
  }
  std::vector<std::byte> Finish() && { return std::move(out_); }

 private:
  std::vector<std::byte> out_;
};

class IndexReader {
 public:
  explicit IndexReader(Bytes bytes) : bytes_(bytes) {}

  // Returns an empty span, and sets ok() to false, if fewer than `count` values remain.
  template <class T>
  std::span<const T> ReadArray(std::uint64_t count) {
    if (count > bytes_.size() / sizeof(T)) {
      ok_ = false;
      return {};
    }
    const auto* first = reinterpret_cast<const T*>(bytes_.data());
    bytes_ = bytes_.subspan(count * sizeof(T));
    return {first, count};
  }
  template <class T>
  T ReadOne() {
    const std::span<const T> one = ReadArray<T>(1);
    return one.empty() ? T{} : one.front();
  }
  bool ok() const { return ok_; }

 private:
  Bytes bytes_;
  bool ok_ = true;
};

}  // namespace

std::vector<std::byte> EncodeIndex(const SavedIndex& index, std::uint64_t fingerprint) {
  IndexWriter out;
  out.Add(IndexHeader{
      .fingerprint = fingerprint, .map_size = index.map.size(), .unit_count = index.units.size()});
  out.Add(index.map);
  for (const SavedUnit& unit : index.units) {
    out.Add(UnitEntry{.unit = unit.unit,
                      .sequences = unit.index.sequences.size(),
                      .rows = unit.index.rows.size(),
                      .starts = unit.index.starts.size(),
                      .scopes = unit.index.scopes.size()});
    out.Add(unit.index.sequences);
    out.Add(unit.index.rows);
    out.Add(unit.index.starts);
    out.Add(unit.index.scopes);
  }
  return std::move(out).Finish();
}

std::optional<SavedIndex> DecodeIndex(Bytes bytes, std::uint64_t fingerprint) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) != 0) return {};
  IndexReader in(bytes);
  const auto header = in.ReadOne<IndexHeader>();
  if (!in.ok() || header.magic != kMagic || header.fingerprint != fingerprint) return {};
  SavedIndex index;
  index.map = in.ReadArray<UnitMap::Entry>(header.map_size);
  for (std::uint64_t i = 0; i < header.unit_count && in.ok(); ++i) {
    const auto entry = in.ReadOne<UnitEntry>();
    SavedUnit unit = {.unit = static_cast<std::uint32_t>(entry.unit), .index = {}};
    unit.index.sequences = in.ReadArray<LineSequence>(entry.sequences);
    unit.index.rows = in.ReadArray<LineRow>(entry.rows);
    unit.index.starts = in.ReadArray<ScopeStart>(entry.starts);
    unit.index.scopes = in.ReadArray<Scope>(entry.scopes);
    index.units.push_back(unit);
  }
  if (!in.ok()) return {};
  return index;
}

}  // namespace perftape::dwarf

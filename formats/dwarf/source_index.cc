// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/source_index.h"

#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "formats/dwarf/debug_sections.h"
#include "formats/dwarf/entry_names.h"
#include "formats/dwarf/saved_index.h"
#include "formats/dwarf/split_units.h"

namespace perftape::dwarf {
namespace {

// Limits the work for forged files. With compilers' output, sections that units share are read
// once, or a few times.
constexpr std::uint64_t kLeastWorkLimit = std::uint64_t{1} << 20;
constexpr std::uint64_t kWorkPerByte = 4;

// For fewer bytes, starting threads costs more time than it saves.
constexpr std::uint64_t kWorthThreads = std::uint64_t{4} << 20;
constexpr std::size_t kMostThreads = 8;

// Each needs about 40 KB.
constexpr std::size_t kMostOpenUnits = 1024;
constexpr std::size_t kLongestCallChain = 4096;

// The executable segments, sorted, with adjacent ones joined. All loaded segments if none is
// executable.
std::vector<Extent> CodeOf(const elf::ElfFile& image) {
  std::vector<Extent> code;
  const bool has_executable = std::ranges::any_of(image.segments(), &elf::Segment::executable);
  for (const elf::Segment& segment : image.segments()) {
    if (has_executable && !segment.executable) continue;
    const std::uint64_t end = segment.address.value + segment.size;
    if (segment.address.value < end) code.push_back({segment.address.value, end});
  }
  std::ranges::sort(code, {}, &Extent::start);
  std::vector<Extent> joined;
  for (const Extent& extent : code) {
    if (!joined.empty() && extent.start <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, extent.end);
    } else {
      joined.push_back(extent);
    }
  }
  return joined;
}

// Identifies the sections of a file by their sizes and first bytes. Two files may have the same
// build id, as before and after dwz.
std::uint64_t FingerprintOf(const Sections& sections) {
  constexpr std::size_t kBeginning = 4096;
  std::uint64_t fingerprint = 0;
  for (const Bytes section : {sections.info, sections.abbrev, sections.line, sections.ranges,
                              sections.rnglists, sections.addr, sections.aranges}) {
    const std::uint64_t size = section.size();
    const Bytes beginning = section.first(std::min(section.size(), kBeginning));
    fingerprint = XXH3_64bits_withSeed(&size, sizeof(size), fingerprint);
    fingerprint = XXH3_64bits_withSeed(beginning.data(), beginning.size(), fingerprint);
  }
  return fingerprint;
}

enum class UnitState : std::uint8_t { kNotBuilt, kBuilt, kRestored };

// A unit that is open for reading names and paths.
struct OpenUnit {
  Unit linked;                // has the line program
  std::optional<Unit> split;  // has the entries, if they are in another file
  std::optional<LineHeader> files;

  const Unit& entries() const { return split ? *split : linked; }
};

}  // namespace

struct SourceIndex::Parts {
  Parts(const elf::ElfFile& image, const elf::ElfFile& dwarf, const Surroundings& surroundings)
      : loaded(LoadedSections::Read(dwarf, Part::kLinked)),
        sections(loaded.get()),
        headers(ReadUnitHeaders(sections.info, sections.order)),
        code(CodeOf(image)),
        work_limit(kLeastWorkLimit + kWorkPerByte * sections.size()),
        splits(surroundings.path, surroundings.searched) {
    if (surroundings.shared != nullptr) {
      shared.emplace(LoadedSections::Read(*surroundings.shared, Part::kLinked));
      shared_headers = ReadUnitHeaders(shared->get().info, shared->get().order);
    }
    names.emplace(InfoUnits{&sections, headers},
                  InfoUnits{shared ? &shared->get() : nullptr, shared_headers});
    states.resize(headers.size());
    built.resize(headers.size());
    views.resize(headers.size());
    open_units.resize(headers.size());
  }

  // Read on first use: a restored index contains one.
  const UnitMap& Map() {
    if (!map) {
      std::uint64_t spent = 0;
      map = UnitMap::Read(sections, headers, code, spent, work_limit);
      work += spent;
    }
    return *map;
  }

  Result<OpenUnit> Open(std::uint32_t number, std::uint64_t& spent) {
    auto linked = ReadUnit(sections, headers[number], spent);
    if (!linked) return std::unexpected(std::move(linked).error());
    OpenUnit unit = {.linked = *std::move(linked), .split = {}, .files = {}};
    if (unit.linked.dwo_name.empty()) return unit;
    if (auto split = splits.Open(unit.linked, spent)) {
      unit.split = *std::move(split);
    } else {
      AddProblem(std::move(split).error().message);
    }
    return unit;
  }

  void AddProblem(std::string what) {
    const std::lock_guard lock(problem_mutex);
    if (problem.empty()) problem = std::move(what);
    ++problem_count;
  }

  // Null if the unit cannot be read. Valid until the next call.
  OpenUnit* Reopen(std::uint32_t number) {
    if (open_units[number]) return open_units[number].get();
    if (open_count >= kMostOpenUnits) {
      for (auto& unit : open_units) unit.reset();
      open_count = 0;
    }
    std::uint64_t spent = 0;
    auto unit = Open(number, spent);
    if (!unit) return nullptr;
    Keep(number, *std::move(unit));
    return open_units[number].get();
  }

  // Several threads may call this, each for different units.
  void Keep(std::uint32_t number, OpenUnit unit) {
    if (open_count >= kMostOpenUnits) return;
    ++open_count;
    if (unit.linked.line_program && !unit.files) {
      if (auto files = LineHeader::Read(unit.linked)) unit.files = *std::move(files);
    }
    open_units[number] = std::make_unique<OpenUnit>(std::move(unit));
  }

  const EntryName& NameOf(std::uint32_t unit, std::uint64_t die) {
    const auto [known, is_new] = known_names.try_emplace({unit, die});
    if (is_new) {
      if (const OpenUnit* open = Reopen(unit)) known->second = names->Read(open->entries(), die);
    }
    return known->second;
  }

  const std::string& PathOf(std::uint32_t unit, std::uint32_t file) {
    const auto [known, is_new] = known_paths.try_emplace({unit, file});
    if (is_new) {
      const OpenUnit* open = Reopen(unit);
      if (open != nullptr && open->files) {
        known->second = open->files->Path(file, open->linked.directory);
      }
    }
    return known->second;
  }

  struct HashPair {
    template <class A, class B>
    std::size_t operator()(const std::pair<A, B>& pair) const {
      return (pair.first * 0x9e3779b97f4a7c15U) ^ (pair.second * 0xc2b2ae3d27d4eb4fU);
    }
  };
  template <class Second, class Value>
  using ByUnitAnd = std::unordered_map<std::pair<std::uint32_t, Second>, Value, HashPair>;

  const LoadedSections loaded;
  const Sections& sections;
  const std::vector<UnitHeader> headers;
  const std::vector<Extent> code;
  const std::uint64_t work_limit;
  std::atomic<std::uint64_t> work = 0;

  std::optional<LoadedSections> shared;
  std::vector<UnitHeader> shared_headers;
  SplitUnits splits;
  std::optional<EntryNames> names;

  std::optional<UnitMap> map;
  // Indexed by unit.
  std::vector<UnitState> states;
  std::vector<std::unique_ptr<const BuiltUnitIndex>> built;
  std::vector<UnitIndex> views;

  std::vector<std::unique_ptr<OpenUnit>> open_units;  // null for units that are not open
  std::atomic<std::size_t> open_count = 0;
  ByUnitAnd<std::uint64_t, EntryName> known_names;
  ByUnitAnd<std::uint32_t, std::string> known_paths;

  bool has_given_up = false;  // the work limit was reached
  std::mutex problem_mutex;
  std::string problem;  // the first one
  std::uint64_t problem_count = 0;
};

std::unique_ptr<SourceIndex> SourceIndex::Open(const elf::ElfFile& image, const elf::ElfFile& dwarf,
                                               const Surroundings& surroundings) {
  if (!HasDwarf(dwarf, Part::kLinked)) return nullptr;
  auto parts = std::make_unique<Parts>(image, dwarf, surroundings);
  if (!parts->loaded.problem().empty()) parts->AddProblem(parts->loaded.problem());
  return std::unique_ptr<SourceIndex>(new SourceIndex(std::move(parts)));
}

SourceIndex::SourceIndex(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SourceIndex::~SourceIndex() = default;

void SourceIndex::Prepare(std::span<const ImageAddress> addresses) {
  std::vector<std::uint32_t> wanted;
  for (const ImageAddress address : addresses) {
    const auto unit = parts_->Map().Find(address.value);
    if (!unit || *unit >= parts_->states.size()) continue;
    if (parts_->states[*unit] != UnitState::kNotBuilt) continue;
    parts_->states[*unit] = UnitState::kBuilt;
    wanted.push_back(*unit);
  }
  Build(wanted);
}

void SourceIndex::Build(std::span<const std::uint32_t> units) {
  const auto size_of = [&](std::uint32_t unit) {
    return parts_->headers[unit].end - parts_->headers[unit].offset;
  };
  std::vector<std::uint32_t> largest_first(units.begin(), units.end());
  std::ranges::sort(largest_first, std::greater(), size_of);
  std::uint64_t size = 0;
  for (const std::uint32_t unit : units) size += size_of(unit);

  std::atomic<std::size_t> next = 0;
  const auto build_some = [&] {
    UnitIndexBuilder builder;
    for (std::size_t i; (i = next++) < largest_first.size();) BuildOne(largest_first[i], builder);
  };
  std::vector<std::jthread> threads;
  if (size >= kWorthThreads) {
    const std::size_t wanted =
        std::min<std::size_t>({std::thread::hardware_concurrency(), kMostThreads, units.size()});
    try {
      while (threads.size() + 1 < wanted) threads.emplace_back(build_some);
    } catch (const std::system_error&) {
      // Fewer threads do all the work.
    }
  }
  build_some();
  threads.clear();
  if (parts_->work > parts_->work_limit && !parts_->has_given_up) {
    parts_->has_given_up = true;
    parts_->AddProblem("its debug information refers to the same parts too many times");
  }
}

void SourceIndex::BuildOne(std::uint32_t unit, UnitIndexBuilder& builder) {
  std::uint64_t spent = parts_->work;
  const std::uint64_t before = spent;
  if (auto open = parts_->Open(unit, spent)) {
    auto built = std::make_unique<const BuiltUnitIndex>(
        builder.Build(open->entries(), parts_->code, spent, parts_->work_limit));
    parts_->views[unit] = built->view();
    parts_->built[unit] = std::move(built);
    parts_->Keep(unit, *std::move(open));
  } else {
    parts_->AddProblem(open.error().message);
  }
  parts_->work += spent - before;
}

std::vector<CallFrame> SourceIndex::Find(ImageAddress address) {
  Prepare({&address, 1});
  const auto number = parts_->Map().Find(address.value);
  if (!number || *number >= parts_->views.size()) return {};
  const UnitIndex& unit = parts_->views[*number];
  const LineRow* row = unit.FindRow(address.value);
  const Scope* scope = unit.FindScope(address.value);
  std::vector<CallFrame> frames;
  if (row == nullptr && scope == nullptr) return frames;

  CallFrame frame;
  if (row != nullptr) {
    frame.filename = parts_->PathOf(*number, row->file);
    frame.line = row->line;
    frame.column = row->column;
  }
  while (scope != nullptr && frames.size() < kLongestCallChain) {
    const EntryName& name = parts_->NameOf(*number, scope->die);
    frame.function = name.name;
    frame.enclosing = name.enclosing;
    frame.start_line = name.line;
    frames.push_back(frame);
    frame = {.function = {},
             .enclosing = {},
             .filename = parts_->PathOf(*number, scope->call_file),
             .line = scope->call_line,
             .column = scope->call_column};
    scope = unit.CallerOf(*scope);
  }
  if (frames.empty()) frames.push_back(frame);
  return frames;
}

std::string SourceIndex::problem() const {
  if (parts_->problem_count <= 1) return parts_->problem;
  return parts_->problem + ", and " + std::to_string(parts_->problem_count - 1) + " more";
}

std::uint64_t SourceIndex::size() const {
  return parts_->sections.size();
}

std::vector<std::byte> SourceIndex::Save() const {
  SavedIndex saved;
  saved.map = parts_->Map().entries();
  for (std::uint32_t i = 0; i < parts_->states.size(); ++i) {
    if (parts_->states[i] == UnitState::kNotBuilt) continue;
    saved.units.push_back({.unit = i, .index = parts_->views[i]});
  }
  return EncodeIndex(saved, FingerprintOf(parts_->sections));
}

void SourceIndex::Restore(Bytes bytes) {
  const auto saved = DecodeIndex(bytes, FingerprintOf(parts_->sections));
  if (!saved) return;
  if (!parts_->map) parts_->map = UnitMap(saved->map);
  for (const SavedUnit& unit : saved->units) {
    if (unit.unit >= parts_->states.size()) continue;
    if (parts_->states[unit.unit] != UnitState::kNotBuilt) continue;
    parts_->states[unit.unit] = UnitState::kRestored;
    parts_->views[unit.unit] = unit.index;
  }
}

bool SourceIndex::has_built() const {
  return std::ranges::find(parts_->states, UnitState::kBuilt) != parts_->states.end();
}

}  // namespace perftape::dwarf

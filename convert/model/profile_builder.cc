// SPDX-License-Identifier: Apache-2.0
#include "convert/model/profile_builder.h"

#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <type_traits>
#include <utility>
#include <vector>

#include "convert/model/id_table.h"
#include "convert/model/saturating.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::convert {
namespace {

std::uint64_t HashBytes(std::span<const std::byte> bytes, std::uint64_t seed = 0) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

// The keys that determine equality. Keys that are hashed as bytes must have no padding.
struct MappingKey {
  std::uint64_t file_offset, size, instance;
  StringId filename, build_id;
  std::uint64_t type;
  bool operator==(const MappingKey&) const = default;
};
struct FunctionKey {
  std::int64_t start_line;
  StringId name, system_name, filename;
  std::uint32_t padding;
  bool operator==(const FunctionKey&) const = default;
};
struct LocationKey {
  MappingId mapping;
  bool is_folded, is_outer_instruction;
  FileOffset offset;
  std::span<const Line> lines;
  bool operator==(const LocationKey& other) const {
    return mapping == other.mapping && is_folded == other.is_folded &&
           is_outer_instruction == other.is_outer_instruction && offset == other.offset &&
           std::ranges::equal(lines, other.lines);
  }
};
struct ThreadKey {
  std::uint32_t pid, tid;
  StringId comm;
  bool operator==(const ThreadKey&) const = default;
};
struct EventKey {
  StringId name, unit;
  std::uint32_t values, decimals;
  bool operator==(const EventKey&) const = default;
};
struct LabelsKey {
  std::span<const Label> labels;
  bool operator==(const LabelsKey& other) const { return std::ranges::equal(labels, other.labels); }
};
struct SampleKey {
  StackId stack;
  ThreadId thread;
  EventId event;
  LabelsId labels;
  bool operator==(const SampleKey&) const = default;
};

MappingKey KeyOf(const Mapping& mapping) {
  return {mapping.file_offset, mapping.limit - mapping.start, mapping.instance, mapping.filename,
          mapping.build_id,    std::uint64_t(mapping.type)};
}
FunctionKey KeyOf(const Function& function) {
  return {function.start_line, function.name, function.system_name, function.filename, 0};
}
LocationKey KeyOf(const Location& location) {
  return {location.mapping, location.is_folded, location.is_outer_instruction, location.offset,
          location.lines};
}
ThreadKey KeyOf(const Thread& thread) {
  return {thread.pid, thread.tid, thread.comm};
}
EventKey KeyOf(const Event& event) {
  return {event.name, event.unit, std::uint32_t(event.values), event.decimals};
}
LabelsKey KeyOf(std::span<const Label> labels) {
  return {labels};
}
SampleKey KeyOf(const Sample& sample) {
  return {sample.stack, sample.thread, sample.event, sample.labels};
}
const Stack& KeyOf(const Stack& stack) {
  return stack;
}
std::string_view KeyOf(std::string_view text) {
  return text;
}

struct KeyHash {
  template <class Key>
  std::size_t operator()(const Key& key) const {
    static_assert(std::has_unique_object_representations_v<Key>);
    return HashBytes(std::as_bytes(std::span(&key, 1)));
  }
  std::size_t operator()(std::string_view text) const {
    return HashBytes(std::as_bytes(std::span(text)));
  }
  std::size_t operator()(const LocationKey& key) const {
    const std::uint64_t address[] = {key.mapping.index, key.offset.value};
    return HashBytes(std::as_bytes(std::span(address)), HashBytes(std::as_bytes(key.lines)));
  }
  std::size_t operator()(const LabelsKey& key) const {
    std::uint64_t hash = 0;
    for (const Label& label : key.labels) {
      hash = HashBytes(std::as_bytes(std::span(&label.number, 1)), hash ^ label.text.index) +
             label.key.index;
    }
    return hash;
  }
};
static_assert(std::has_unique_object_representations_v<Line>);

// The index of each entry of a table, by value. Built at its first use, so that a builder that
// starts from a whole profile only indexes the tables that it adds to.
template <class T>
class Index {
 public:
  // The first `skipped` entries of the table are never found.
  explicit Index(std::size_t skipped = 0) : skipped_(skipped), indexed_(skipped) {}

  // Returns the index of the entry that equals `value`. If there is none, calls `append`, which
  // adds it at the end.
  template <class Append>
  std::uint32_t FindOr(const std::vector<T>& table, const T& value, Append append) {
    assert(table.size() < IdTable::kNone);
    while (indexed_ < table.size()) AddNext(KeyHash()(KeyOf(table[indexed_])));
    const std::uint64_t hash = KeyHash()(KeyOf(value));
    const std::uint32_t found = indexes_.Find(
        hash, [&](std::uint32_t index) { return KeyOf(table[index]) == KeyOf(value); });
    if (found != IdTable::kNone) return found;
    append();
    AddNext(hash);
    return static_cast<std::uint32_t>(table.size() - 1);
  }

  void Forget() {
    indexes_.Clear();
    indexed_ = skipped_;
  }

 private:
  void AddNext(std::uint64_t hash) { indexes_.Add(hash, static_cast<std::uint32_t>(indexed_++)); }

  IdTable indexes_;
  std::size_t skipped_;
  std::size_t indexed_;  // number of entries in `indexes_`
};

template <class T>
std::uint32_t Intern(std::vector<T>& table, Index<T>& index, const T& value) {
  return index.FindOr(table, value, [&] { table.push_back(value); });
}

}  // namespace

struct ProfileBuilder::State {
  ProfileTables tables;
  Index<std::string_view> texts{};
  Index<Mapping> mappings{};
  Index<Function> functions{};
  Index<Location> locations{};
  Index<Stack> stacks{1};  // keeps the empty stack apart from location 0 without a caller
  Index<Thread> threads{};
  Index<Event> events{};
  Index<std::span<const Label>> labels{};
  Index<Sample> samples{};
  std::vector<Label> sorted_labels;  // scratch of Add
  // By mapping: whether lines of its locations were replaced, so that `names` may claim too much.
  std::vector<bool> has_old_names;

  // Adds the names in these lines to the names of the location's mapping.
  void NoteNames(MappingId id, std::span<const Line> lines) {
    if (id == MappingId{} || lines.empty()) return;
    MappingNames& names = tables.mappings[id.index].names;
    names.functions = true;
    names.inline_frames |= lines.size() > 1;
    for (const Line& line : lines) {
      names.line_numbers |= line.number != 0;
      names.filenames |= tables.functions[line.function.index].filename != StringId{};
    }
  }

  // Sets the names of the mappings that have old ones to what their locations contain now.
  void RemoveOldNames() {
    if (has_old_names.empty()) return;
    has_old_names.resize(tables.mappings.size());
    for (std::size_t i = 1; i < has_old_names.size(); ++i) {
      if (has_old_names[i]) tables.mappings[i].names = {};
    }
    for (const Location& location : tables.locations) {
      if (has_old_names[location.mapping.index]) NoteNames(location.mapping, location.lines);
    }
  }
};

ProfileBuilder::ProfileBuilder() : state_(std::make_unique<State>()) {}
ProfileBuilder::ProfileBuilder(const Profile& profile) : state_(std::make_unique<State>()) {
  state_->tables = profile.tables();
}
ProfileBuilder::ProfileBuilder(ProfileBuilder&&) noexcept = default;
ProfileBuilder& ProfileBuilder::operator=(ProfileBuilder&&) noexcept = default;
ProfileBuilder::~ProfileBuilder() = default;

void ProfileBuilder::Reserve(const Sizes& sizes) {
  state_->tables.samples.reserve(sizes.samples);
  state_->tables.labels.reserve(sizes.labels);
}

StringId ProfileBuilder::Add(std::string_view text) {
  ProfileTables& tables = state_->tables;
  return {state_->texts.FindOr(tables.texts, text,
                               [&] { tables.texts.push_back(tables.arena.Copy(text)); })};
}

// Any mapping that equals the empty one is "no mapping".
MappingId ProfileBuilder::Add(const Mapping& added) {
  Mapping mapping = added;
  const std::string_view name = state_->tables.texts[mapping.filename.index];
  if (perfdata::IsIdentifiedByAddress(name)) mapping.instance = mapping.start;
  const MappingId id = {Intern(state_->tables.mappings, state_->mappings, mapping)};
  Mapping& known = state_->tables.mappings[id.index];
  if (id != MappingId{} && mapping.start < known.start) {
    known.limit = mapping.limit;
    known.start = mapping.start;
  }
  known.names.functions |= mapping.names.functions;
  known.names.filenames |= mapping.names.filenames;
  known.names.line_numbers |= mapping.names.line_numbers;
  known.names.inline_frames |= mapping.names.inline_frames;
  return id;
}

FunctionId ProfileBuilder::Add(const Function& function) {
  return {Intern(state_->tables.functions, state_->functions, function)};
}

LocationId ProfileBuilder::Add(const Location& location) {
  ProfileTables& tables = state_->tables;
  assert(location.mapping.index < tables.mappings.size());
  const LocationId id = {state_->locations.FindOr(tables.locations, location, [&] {
    Location& added = tables.locations.emplace_back(location);
    added.lines = tables.arena.Copy(location.lines);
  })};
  Location& known = tables.locations[id.index];
  if (!known.symbol_offset) known.symbol_offset = location.symbol_offset;
  return id;
}

ThreadId ProfileBuilder::Add(const Thread& thread) {
  return {Intern(state_->tables.threads, state_->threads, thread)};
}

EventId ProfileBuilder::Add(const Event& event) {
  const EventId id = {Intern(state_->tables.events, state_->events, event)};
  std::uint64_t& period = state_->tables.events[id.index].period;
  period = std::max(period, event.period);
  return id;
}

LabelsId ProfileBuilder::Add(std::span<const Label> labels) {
  ProfileTables& tables = state_->tables;
  std::vector<Label>& sorted = state_->sorted_labels;
  sorted.assign(labels.begin(), labels.end());
  std::ranges::stable_sort(sorted, {},
                           [&](const Label& label) { return tables.texts[label.key.index]; });
  return {state_->labels.FindOr(tables.labels, std::span<const Label>(sorted), [&] {
    tables.labels.push_back(tables.arena.Copy(std::span<const Label>(sorted)));
  })};
}

StackId ProfileBuilder::Push(StackId caller, LocationId leaf) {
  assert(caller.index < state_->tables.stacks.size());
  assert(leaf.index < state_->tables.locations.size());
  return {Intern(state_->tables.stacks, state_->stacks, Stack{caller, leaf})};
}

void ProfileBuilder::Add(const Sample& sample) {
  ProfileTables& tables = state_->tables;
  const std::size_t before = tables.samples.size();
  const std::uint32_t index = Intern(tables.samples, state_->samples, sample);
  if (tables.samples.size() != before) return;
  Sample& sum = tables.samples[index];
  sum.count = AddUpToLimit(sum.count, sample.count);
  sum.period = AddUpToLimit(sum.period, sample.period);
  sum.first_ms = std::min(sum.first_ms, sample.first_ms);
}

// The sample is indexed at the next lookup.
void ProfileBuilder::AddNew(const Sample& sample) {
  state_->tables.samples.push_back(sample);
}

void ProfileBuilder::SetLines(LocationId location, std::span<const Line> lines,
                              std::optional<std::uint64_t> symbol_offset) {
  Location& changed = state_->tables.locations[location.index];
  if (!changed.lines.empty()) {
    state_->has_old_names.resize(state_->tables.mappings.size());
    state_->has_old_names[changed.mapping.index] = true;
  }
  changed.lines = state_->tables.arena.Copy(lines);
  changed.symbol_offset = symbol_offset;
  state_->locations.Forget();
  state_->NoteNames(changed.mapping, changed.lines);
}

void ProfileBuilder::SetMetadata(Metadata metadata) {
  state_->tables.metadata = std::move(metadata);
}

Profile ProfileBuilder::Finish() && {
  state_->RemoveOldNames();
  return Profile(std::make_shared<const ProfileTables>(std::move(state_->tables)));
}

}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
// A profile: how often each stack was seen, in which thread, by which event. Every reader makes one
// and every writer reads one. The terms are pprof's (mapping, location, function, line, sample),
// with one change: a stack is a node of a tree, so that common callers are stored once.
//
//   for (const Sample& sample : profile.samples()) {
//     for (StackId at = sample.stack; at != StackId{}; at = profile[at].caller) {
//       const Location& frame = profile[profile[at].leaf];  // leaf first
//       ...
//     }
//   }
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/model/arena.h"
#include "formats/base/addresses.h"  // IWYU pragma: export

namespace perftape::convert {

// The index of an entry in its table of a Profile. Within one profile equal entries have equal ids.
template <class Tag>
struct Id {
  std::uint32_t index = 0;
  auto operator<=>(const Id&) const = default;
};

using StringId = Id<struct StringTag>;    // 0 is the empty string
using MappingId = Id<struct MappingTag>;  // 0 is "no mapping"
using StackId = Id<struct StackTag>;      // 0 is the empty stack
using FunctionId = Id<struct FunctionTag>;
using LocationId = Id<struct LocationTag>;
using ThreadId = Id<struct ThreadTag>;  // 0 is "no thread"
using LabelsId = Id<struct LabelsTag>;  // 0 is "no labels"
using EventId = Id<struct EventTag>;

}  // namespace perftape::convert

template <class Tag>
struct std::hash<perftape::convert::Id<Tag>> {
  std::size_t operator()(perftape::convert::Id<Tag> id) const { return id.index; }
};

namespace perftape::convert {

enum class MappingType : std::uint8_t { kUser, kKernel };

// What is known by name in a mapping, like pprof's has_functions and its siblings. A reader sets
// what its file contains, and SetLines adds or replaces what it provides. A mapping with none of
// these was not symbolized, or no names were found.
struct MappingNames {
  bool functions = false;
  bool filenames = false;
  bool line_numbers = false;
  bool inline_frames = false;
  bool operator==(const MappingNames&) const = default;
};

// A range of a file, as processes map it. There is one Mapping for each filename, build id, file
// offset, size and type, for any number of processes and addresses. `start` is the lowest of these
// addresses, so that it does not depend on the order of input. Memory without a file
// (perfdata::IsIdentifiedByAddress) has one Mapping for each address.
struct Mapping {
  StringId filename = {};         // "/usr/bin/ls", "[vdso]", "[kernel.kallsyms]"
  StringId build_id = {};         // lower-case hex; empty if unknown
  std::uint64_t start = 0;        // the first runtime address
  std::uint64_t limit = 0;        // the end of the runtime addresses, exclusive
  std::uint64_t file_offset = 0;  // of `start`
  MappingType type = MappingType::kUser;
  // Distinguishes mappings that are equal in filename, build id, file offset, size and type:
  // `start` for memory without a file (the builder sets it), InstanceOf a file if others without a
  // build id had its path, and 1, 2, ... for those that a pprof lists at several addresses. Else 0.
  std::uint64_t instance = 0;
  MappingNames names = {};  // not compared when mappings are compared
};

struct Function {
  StringId name = {};           // as displayed: demangled
  StringId system_name = {};    // the linker's name; empty if unknown or equal to `name`
  StringId filename = {};       // of the source; empty if unknown
  std::int64_t start_line = 0;  // 0 if unknown
};

struct Line {
  FunctionId function = {};
  std::uint32_t column = 0;  // from 1; 0 if unknown
  std::int64_t number = 0;   // in the function's file, from 1; 0 if unknown
  bool operator==(const Line&) const = default;
};

// A frame: an address in the code. `offset` is the address to look up. For a return address, the
// code that adds the frame has already subtracted 1, as pprof requires. So the address is inside
// the call instruction. No other code subtracts again. Nothing is subtracted from an interrupted
// instruction, wherever it is in the stack.
//
// Without a mapping (MappingId 0), `offset` is the raw runtime address. A frame that never had an
// address (from a folded file) has offset 0 and its lines.
struct Location {
  MappingId mapping = {};
  bool is_folded = false;  // several functions share this code (identical code folding)
  // The frame calls others, but its address is not a return address: a signal interrupted it, or it
  // is the trampoline to which a signal handler returns.
  bool is_outer_instruction = false;
  FileOffset offset = {};
  // Several if calls were inlined: innermost first, the last one is the function that the linker
  // knows. Empty if the name is unknown. Lives as long as any copy of the profile, or as the
  // builder.
  std::span<const Line> lines = {};
  // Of `offset`, from the start of the symbol that names the last line; nothing if unknown. Not
  // compared when locations are compared.
  std::optional<std::uint64_t> symbol_offset = {};
};

// What kind of address a frame had before it became a location.
enum class AddressKind : std::uint8_t {
  kInstruction,  // that of the sample, or where the kernel was entered
  kReturn,       // a return address, from which 1 was subtracted
};

// `leaf` called by `caller`. The caller of the outermost frame is StackId 0.
struct Stack {
  StackId caller = {};
  LocationId leaf = {};
  bool operator==(const Stack&) const = default;
};

struct Thread {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  StringId comm = {};
};

// Additional data of a sample, as in pprof: a key with a text, or with a number in a unit. Examples
// are "cpu", "cgroup", "timestamp_ns", and any label of an input.
struct Label {
  StringId key = {};
  StringId text = {};  // empty: the label is a number
  std::int64_t number = 0;
  StringId unit = {};
  bool operator==(const Label&) const = default;
};

// What the numbers of an event's samples mean.
enum class EventValues : std::uint8_t {
  kSampled,  // the number of samples, and the sum of their periods
  kPlain,    // one number of any meaning: a count of folded lines, most sample types of pprof
};

struct Event {
  StringId name = {};  // "cpu-clock", "cycles:u", "alloc_space"
  StringId unit = {};  // of the period: "nanoseconds" for cpu-clock and task-clock, else "count"
  EventValues values = EventValues::kSampled;
  // A plain value v means v / 10^decimals: folded files may have counts such as 12.5.
  std::uint8_t decimals = 0;
  std::uint64_t period = 0;  // nominal, between two samples; 0 if unknown or varying
};

// All samples with the same stack, thread, event and labels. The numbers are negative only in
// differences of profiles. Both are 0 only if a file has such a line.
struct Sample {
  StackId stack = {};
  ThreadId thread = {};
  EventId event = {};
  LabelsId labels = {};
  std::int64_t count = 0;   // number of samples; 0 for an event of plain values
  std::int64_t period = 0;  // the sum of their periods, in the event's unit; or the plain value
  // When the first of them was taken, in milliseconds since the first sample of its recording.
  // kNoTime unless ImportOptions::first_times asks for it.
  static constexpr std::uint32_t kNoTime = UINT32_MAX;
  std::uint32_t first_ms = kNoTime;
};

// The meaning of a number, as in pprof's period_type.
struct ValueType {
  std::string name, unit;
  bool operator==(const ValueType&) const = default;
};

struct Metadata {
  std::optional<std::int64_t> start_time_ns = {};  // wall clock, since 1970
  std::int64_t duration_ns = 0;                    // 0 if unknown
  std::vector<std::string> comments = {};  // host, kernel release, command line: one line each

  // Hints of a pprof for viewers; empty if there are none.
  std::string drop_frames = {}, keep_frames = {};  // regular expressions
  std::string doc_url = {};
  std::string default_value = {};             // the sample type to show first
  std::optional<ValueType> period_type = {};  // if it is not that of the last event
  std::int64_t period = 0;                    // of period_type
};

// The tables of a Profile. Only ProfileBuilder fills them for a Profile. validate and its tests use
// them directly.
struct ProfileTables {
  Arena arena;  // owns what the texts, the lines of locations and the labels are views of
  std::vector<std::string_view> texts = {""};
  std::vector<Mapping> mappings = {{}};
  std::vector<Function> functions;
  std::vector<Location> locations;
  std::vector<Stack> stacks = {{}};  // callers before their callees
  std::vector<Thread> threads = {{}};
  std::vector<Event> events;
  std::vector<std::span<const Label>> labels = {{}};  // sets, each sorted by the text of the key
  std::vector<Sample> samples;                        // in the order in which each was first added
  Metadata metadata;
};

// Never changes, is cheap to copy, and may be read by many threads. Views that it returns are valid
// as long as any copy of it. Ids must come from this profile.
class Profile {
 public:
  Profile();  // empty

  std::string_view text(StringId id) const { return tables_->texts[id.index]; }
  const Mapping& operator[](MappingId id) const { return tables_->mappings[id.index]; }
  const Function& operator[](FunctionId id) const { return tables_->functions[id.index]; }
  const Location& operator[](LocationId id) const { return tables_->locations[id.index]; }
  const Stack& operator[](StackId id) const { return tables_->stacks[id.index]; }
  const Thread& operator[](ThreadId id) const { return tables_->threads[id.index]; }
  const Event& operator[](EventId id) const { return tables_->events[id.index]; }
  std::span<const Label> operator[](LabelsId id) const { return tables_->labels[id.index]; }

  // Whole tables: the entry at index i has the id i. The first string, mapping, stack, thread and
  // set of labels are empty.
  std::span<const std::string_view> texts() const { return tables_->texts; }
  std::span<const Mapping> mappings() const { return tables_->mappings; }
  std::span<const Function> functions() const { return tables_->functions; }
  std::span<const Location> locations() const { return tables_->locations; }
  std::span<const Stack> stacks() const { return tables_->stacks; }
  std::span<const Thread> threads() const { return tables_->threads; }
  std::span<const Event> events() const { return tables_->events; }
  std::span<const std::span<const Label>> labels() const { return tables_->labels; }
  std::span<const Sample> samples() const { return tables_->samples; }
  const Metadata& metadata() const { return tables_->metadata; }

  // Returns the runtime address of a location, computed from its mapping's `start`. Returns the raw
  // address of an unmapped location.
  RuntimeAddress AddressOf(const Location& location) const;
  // Returns the kind of address that the caller of this stack's leaf had. Kernel code does not
  // return to the user frame that entered it.
  AddressKind CallerAddress(StackId stack) const;

  const ProfileTables& tables() const { return *tables_; }

 private:
  friend class ProfileBuilder;
  explicit Profile(std::shared_ptr<const ProfileTables> tables) : tables_(std::move(tables)) {}

  std::shared_ptr<const ProfileTables> tables_;
};

// Returns the last component of a path: "libc.so.6" of "/usr/lib/libc.so.6", all of "[vdso]".
std::string_view BaseName(std::string_view path);

// Returns the text for a frame without a function, in a mapping with this filename: "[libc.so.6]",
// or "[unknown]" without a mapping.
std::string NameOfUnresolved(std::string_view mapping);

}  // namespace perftape::convert

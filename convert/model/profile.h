// SPDX-License-Identifier: Apache-2.0
// A profile: how often which stacks were seen, in which threads, by which events. What every reader
// makes and every writer takes. The words are pprof's (mapping, location, function, line, sample)
// with one change: a stack is a node of a tree, so that common callers are kept once.
//
//   for (const Sample& sample : profile.samples()) {
//     for (StackId at = sample.stack; at != StackId{}; at = profile[at].caller) {
//       const Location& frame = profile[profile[at].leaf];  // leaf first
//       ...
//     }
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/model/arena.h"
#include "convert/model/ids.h"

namespace perftape::convert {

enum class MappingKind : std::uint8_t { kUser, kKernel };

// What is known by name in a mapping: as pprof's has_functions and its siblings. A reader sets what
// its file says, SetLines adds what it brings; a mapping without any of them was not symbolized, or
// in vain.
struct MappingNames {
  bool functions = false;
  bool filenames = false;
  bool line_numbers = false;
  bool inline_frames = false;
  bool operator==(const MappingNames&) const = default;
};

// A piece of a file, as processes map it: one for each filename, build id, file offset, size and
// kind, in however many processes and at however many addresses it was. `start` is the lowest of
// these, so that it does not depend on which was seen first.
struct Mapping {
  StringId filename = {};         // "/usr/bin/ls", "[vdso]", "[kernel.kallsyms]"
  StringId build_id = {};         // lower-case hex; empty where unknown
  std::uint64_t start = 0;        // the first runtime address ...
  std::uint64_t limit = 0;        // ... and the first one behind
  std::uint64_t file_offset = 0;  // of `start`
  MappingKind kind = MappingKind::kUser;
  // Tells apart what is equal by all of the above and yet two mappings: a pprof may say where each
  // of them was. 0 for the first, and everywhere else.
  std::uint32_t instance = 0;
  MappingNames names = {};  // no part of what makes mappings equal
};

struct Function {
  StringId name = {};           // as it is shown: demangled
  StringId system_name = {};    // as the linker knows it; empty where it is not known or no other
  StringId filename = {};       // of the source; empty where unknown
  std::int64_t start_line = 0;  // 0 where unknown
};

struct Line {
  FunctionId function = {};
  std::uint32_t column = 0;  // from 1; 0 where unknown
  std::int64_t number = 0;   // in the function's file, from 1; 0 where unknown
  bool operator==(const Line&) const = default;
};

// A frame: an address in the code. `offset` is the address to look up: for a frame that was found
// by a return address whoever adds it has subtracted 1 already (as pprof wants it), so that it lies
// inside the call and not behind it. Nothing after that subtracts again.
//
// Without a mapping (MappingId 0) `offset` is the raw runtime address; a frame that never had an
// address (of a folded file) has offset 0 and its lines.
struct Location {
  MappingId mapping = {};
  bool is_folded = false;  // several functions share this code (identical code folding)
  FileOffset offset = {};
  // Several where calls were inlined: innermost first, the last is the function that the linker
  // knows. Empty where the name is not known. Lives as long as any copy of the profile, or as the
  // builder.
  std::span<const Line> lines = {};
};

// `leaf` called by `caller`; StackId 0 calls the outermost frame.
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

// What else is known of a sample, as pprof has it: a key with a text, or with a number in a unit.
// "cpu", "cgroup", "timestamp_ns", whatever a profile came with.
struct Label {
  StringId key = {};
  StringId text = {};  // empty: the label is the number
  std::int64_t number = 0;
  StringId unit = {};
  bool operator==(const Label&) const = default;
};

// What the numbers of an event's samples are.
enum class EventValues : std::uint8_t {
  kSampled,  // how many samples there were, and the sum of what they stand for, their periods
  kPlain,    // one number, of whatever it counts: of folded lines, of most of pprof's sample types
};

struct Event {
  StringId name = {};  // "cpu-clock", "cycles:u", "alloc_space"
  StringId unit = {};  // of the period: "nanoseconds" for cpu-clock and task-clock, else "count"
  EventValues values = EventValues::kSampled;
  // A plain value v stands for v / 10^decimals: folded files may have counts such as 12.5.
  std::uint8_t decimals = 0;
  std::uint64_t period = 0;  // nominal, between two samples; 0 where unknown or varying
};

// All samples with the same stack, thread, event and labels. The numbers are below 0 only in
// differences of profiles, and both 0 only where a file has such a line.
struct Sample {
  StackId stack = {};
  ThreadId thread = {};
  EventId event = {};
  LabelsId labels = {};
  std::int64_t count = 0;   // samples; 0 of an event of plain values
  std::int64_t period = 0;  // the sum of their periods, in the event's unit; or the plain value
};

// A kind of number, as pprof's period_type.
struct ValueType {
  std::string name, unit;
  bool operator==(const ValueType&) const = default;
};

struct Metadata {
  std::optional<std::int64_t> start_time_ns = {};  // wall clock, since 1970
  std::int64_t duration_ns = 0;                    // 0 where unknown
  std::vector<std::string> comments = {};  // host, kernel release, command line: one line each

  // What a pprof says for whoever shows it; empty where nothing does.
  std::string drop_frames = {}, keep_frames = {};  // regular expressions
  std::string doc_url = {};
  std::string default_value = {};             // the sample type to show first
  std::optional<ValueType> period_type = {};  // where it is not the last event's own
  std::int64_t period = 0;                    // of period_type
};

// What a Profile holds, table by table. Only ProfileBuilder fills them for a Profile; validate and
// its tests look at them as such.
struct ProfileTables {
  Arena arena;  // what the texts, the lines of locations and the labels are views of
  std::vector<std::string_view> texts = {""};
  std::vector<Mapping> mappings = {{}};
  std::vector<Function> functions;
  std::vector<Location> locations;
  std::vector<Stack> stacks = {{}};  // callers before those whom they call
  std::vector<Thread> threads = {{}};
  std::vector<Event> events;
  std::vector<std::span<const Label>> labels = {{}};  // sets, each sorted by the text of the key
  std::vector<Sample> samples;                        // in the order in which each was first added
  Metadata metadata;
};

// Never changes, is cheap to copy, and may be read by many threads. Views that it hands out live as
// long as any copy of it. An id must be one of this profile's own.
class Profile {
 public:
  Profile();  // the empty one

  std::string_view text(StringId id) const { return tables_->texts[id.index]; }
  const Mapping& operator[](MappingId id) const { return tables_->mappings[id.index]; }
  const Function& operator[](FunctionId id) const { return tables_->functions[id.index]; }
  const Location& operator[](LocationId id) const { return tables_->locations[id.index]; }
  const Stack& operator[](StackId id) const { return tables_->stacks[id.index]; }
  const Thread& operator[](ThreadId id) const { return tables_->threads[id.index]; }
  const Event& operator[](EventId id) const { return tables_->events[id.index]; }
  std::span<const Label> operator[](LabelsId id) const { return tables_->labels[id.index]; }

  // Whole tables: what is at index i has the id i. The first string, mapping, stack, thread and set
  // of labels are the empty ones.
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

  // Where the location was in the process that its mapping was first seen in; the raw address of an
  // unmapped one.
  RuntimeAddress AddressOf(const Location& location) const;

  const ProfileTables& tables() const { return *tables_; }

 private:
  friend class ProfileBuilder;
  explicit Profile(std::shared_ptr<const ProfileTables> tables) : tables_(std::move(tables)) {}

  std::shared_ptr<const ProfileTables> tables_;
};

// The last part of a path: "libc.so.6" of "/usr/lib/libc.so.6", all of "[vdso]".
std::string_view BaseName(std::string_view path);

}  // namespace perftape::convert

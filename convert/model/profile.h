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

namespace perftape {

enum class MappingKind : std::uint8_t { kUser, kKernel };

// What is known by name in a mapping: as pprof's has_functions and its siblings. Kept by the
// builder; a mapping without any of them was not symbolized, or in vain.
struct MappingNames {
  bool functions = false;
  bool filenames = false;
  bool line_numbers = false;
  bool inline_frames = false;
  bool operator==(const MappingNames&) const = default;
};

// A piece of a file, as processes map it: one for each filename, build id, file offset, size and
// kind, in however many processes and at however many addresses it was. `start` is where it was
// first seen.
struct Mapping {
  StringId filename = {};         // "/usr/bin/ls", "[vdso]", "[kernel.kallsyms]"
  StringId build_id = {};         // lower-case hex; empty where unknown
  std::uint64_t start = 0;        // the first runtime address ...
  std::uint64_t limit = 0;        // ... and the first one behind
  std::uint64_t file_offset = 0;  // of `start`
  MappingKind kind = MappingKind::kUser;
  MappingNames names = {};  // set by the builder; ignored by ProfileBuilder::Add
};

struct Function {
  StringId name = {};            // as it is shown: demangled
  StringId system_name = {};     // as the linker knows it; empty where it is not known or no other
  StringId filename = {};        // of the source; empty where unknown
  std::uint32_t start_line = 0;  // 0 where unknown
};

struct Line {
  FunctionId function = {};
  std::uint32_t number = 0;  // in the function's file, from 1; 0 where unknown
  bool operator==(const Line&) const = default;
};

// A frame: a place in the code. `offset` is the address to look up: for a frame that was found by a
// return address whoever adds it has subtracted 1 already (as pprof wants it), so that it lies
// inside the call and not behind it. Nothing after that subtracts again.
//
// Without a mapping (MappingId 0) `offset` is the raw runtime address; a frame that never had an
// address (of a folded file) has offset 0 and its lines.
struct Location {
  MappingId mapping = {};
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

struct Event {
  StringId name = {};  // "cpu-clock", "cycles:u"
  StringId unit = {};  // of the period: "nanoseconds" for cpu-clock and task-clock, else "count"
  std::uint64_t period = 0;  // nominal, between two samples; 0 where unknown or varying
};

// All samples with the same stack, thread and event.
struct Sample {
  StackId stack = {};
  ThreadId thread = {};
  EventId event = {};
  std::uint64_t count = 0;   // samples
  std::uint64_t period = 0;  // the sum of their periods, in the event's unit
};

struct Metadata {
  std::optional<std::int64_t> start_time_ns = {};  // wall clock, since 1970
  std::uint64_t duration_ns = 0;                   // 0 where unknown
  std::vector<std::string> comments = {};  // host, kernel release, command line: one line each
};

// What a Profile holds, table by table. Only ProfileBuilder fills them for a Profile; validate and
// its tests look at them as such.
struct ProfileTables {
  Arena arena;  // what the texts and the lines of locations are views of
  std::vector<std::string_view> texts = {""};
  std::vector<Mapping> mappings = {{}};
  std::vector<Function> functions;
  std::vector<Location> locations;
  std::vector<Stack> stacks = {{}};  // callers before those whom they call
  std::vector<Thread> threads;
  std::vector<Event> events;
  std::vector<Sample> samples;  // in the order in which each was first added
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

  // Whole tables: what is at index i has the id i. The first string, mapping and stack are the
  // empty ones.
  std::span<const std::string_view> texts() const { return tables_->texts; }
  std::span<const Mapping> mappings() const { return tables_->mappings; }
  std::span<const Function> functions() const { return tables_->functions; }
  std::span<const Location> locations() const { return tables_->locations; }
  std::span<const Stack> stacks() const { return tables_->stacks; }
  std::span<const Thread> threads() const { return tables_->threads; }
  std::span<const Event> events() const { return tables_->events; }
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

}  // namespace perftape

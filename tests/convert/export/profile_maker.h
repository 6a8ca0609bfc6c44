// SPDX-License-Identifier: Apache-2.0
// Makes profiles for the tests of exporters.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/model/profile_builder.h"

namespace perftape::convert {

class ProfileMaker {
 public:
  // Maps 0x1000 bytes of `path`, from the start of the file, at 0x1000, 0x3000, … in memory.
  MappingId Map(std::string_view path, MappingType type = MappingType::kUser) {
    const std::uint64_t start = next_start_;
    next_start_ += 0x2000;
    return builder.Add(Mapping{.filename = builder.Add(path),
                               .start = start,
                               .limit = start + 0x1000,
                               .file_offset = 0,
                               .type = type});
  }

  // Adds a frame at `offset` of a mapping; `names` are innermost first.
  LocationId Frame(MappingId mapping, std::uint64_t offset,
                   std::initializer_list<std::string_view> names = {}) {
    std::vector<Line> lines;
    for (const std::string_view name : names) {
      lines.push_back({.function = builder.Add(Function{.name = builder.Add(name)})});
    }
    const LocationId location =
        builder.Add(Location{.mapping = mapping, .offset = {offset}, .lines = lines});
    builder.SetLines(location, lines);  // as a symbolizer does, which marks the mapping's names
    return location;
  }
  // Adds a frame that only has a name.
  LocationId Frame(std::string_view name) {
    const Line line = {.function = builder.Add(Function{.name = builder.Add(name)})};
    return builder.Add(Location{.lines = std::span(&line, 1)});
  }

  StackId Calls(std::initializer_list<LocationId> root_first) {
    StackId stack;
    for (const LocationId frame : root_first) stack = builder.Push(stack, frame);
    return stack;
  }
  StackId Calls(std::initializer_list<std::string_view> root_first) {
    StackId stack;
    for (const std::string_view name : root_first) stack = builder.Push(stack, Frame(name));
    return stack;
  }

  ThreadId Runs(std::string_view comm, std::uint32_t pid = 10, std::uint32_t tid = 11) {
    return builder.Add(Thread{.pid = pid, .tid = tid, .comm = builder.Add(comm)});
  }

  EventId Counts(std::string_view name, std::string_view unit = "count", std::uint64_t period = 0) {
    return builder.Add(
        Event{.name = builder.Add(name), .unit = builder.Add(unit), .period = period});
  }

  // Adds an event of plain values, as in folded lines and most types of pprof.
  EventId CountsPlainly(std::string_view name, std::string_view unit = "count",
                        std::uint8_t decimals = 0) {
    return builder.Add(Event{.name = builder.Add(name),
                             .unit = builder.Add(unit),
                             .values = EventValues::kPlain,
                             .decimals = decimals});
  }

  void Hit(StackId stack, ThreadId thread, EventId event, std::int64_t count,
           std::int64_t period = 0) {
    builder.Add(
        Sample{.stack = stack, .thread = thread, .event = event, .count = count, .period = period});
  }

  Profile Make() { return std::move(builder).Finish(); }

  ProfileBuilder builder;

 private:
  std::uint64_t next_start_ = 0x1000;
};

}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
// What is printed of a recording, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "convert/import/import_options.h"
#include "convert/script/fields.h"
#include "convert/script/number_text.h"

namespace perftape::listing {

// Versions of perf whose text differs.
enum class Style : std::uint8_t { kPerf61, kPerf73 };

// perf's --show-*-events.
enum class ShownRecord : std::uint8_t {
  kMmap,
  kTask,
  kSwitch,
  kLost,
  kNamespaces,
  kCgroup,
  kBpf,
  kRound,
};

enum class TimeForm : std::uint8_t { kAbsolute, kSinceFirst, kSincePrevious };
enum class CallGraph : std::uint8_t { kShown, kHidden };

// Empty lists select everything.
struct Selection {
  std::set<std::string, std::less<>> comms, dsos, symbols, events;
  std::set<std::uint32_t> pids, tids;
  std::set<std::uint32_t> cpus;
  std::optional<convert::TimeRange> time;

  bool needs_frame() const { return !dsos.empty() || !symbols.empty(); }
};

struct Options {
  FieldPlan fields;
  Style style = Style::kPerf61;
  std::set<ShownRecord> records;
  Selection selection;
  TimeForm time_form = TimeForm::kAbsolute;
  TimeDigits time_digits = TimeDigits::kMicroseconds;
  CallGraph call_graph = CallGraph::kShown;
  // perf's limit of frames (PERF_MAX_STACK_DEPTH).
  std::size_t max_stack = 127;
};

}  // namespace perftape::listing

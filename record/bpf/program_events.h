// SPDX-License-Identifier: Apache-2.0
// The events that have BPF programs of their own: one row for each. The name for -e, the list, the
// help, the doctor, the plan and the programs all come from it.
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bpf/wire.h"
#include "formats/base/result.h"
#include "formats/perfdata/event_meanings.h"

namespace perftape::record {

struct HitObject;  // hit_object.h

// A field of a raw record, as the format file of its tracepoint describes it.
struct RawField {
  std::string_view name;
  std::uint32_t offset, size;
};

struct ProgramEvent {
  std::string_view name;                  // for -e: "lock"
  const perfdata::EventMeaning* in_file;  // its name in the file, and its unit
  std::string_view meaning;               // of one sample, for the list
  // The tracepoints that the programs are attached to, at least one, in the syntax of ParseEvents.
  // The kernel must have them.
  std::string_view tracepoints;
  // What the programs write as the raw record: fields of the first tracepoint. Readers print them
  // with the format of that tracepoint. If there are none, the samples have no raw record.
  std::span<const RawField> raw_fields = {};
  // Whether the kernel may call the programs while another one sends a message (is_sending() of
  // bpf/common.bpf.h). All programs count their messages then.
  bool interrupts_sending = false;
  Result<HitObject> (*open)(const wire_filter& filter, const std::string& log);
};

std::span<const ProgramEvent> ProgramEvents();

}  // namespace perftape::record

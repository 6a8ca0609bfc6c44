// SPDX-License-Identifier: Apache-2.0
// The BPF objects that sample hits: of tracepoints, probes, functions of the kernel, and of events
// with programs of their own (program_events).
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/result.h"
#include "record/bpf/bpf_session.h"
#include "record/bpf/sample_cause.h"
#include "record/bpf/skeleton.h"
#include "record/probes/probe_spec.h"

struct bpf_object;
struct bpf_object_skeleton;
struct bpf_program;

namespace perftape::record {

// An object that is open, and loaded after Load.
struct HitObject {
  std::shared_ptr<void> owner;  // of all below
  bpf_object* object = nullptr;
  bpf_object_skeleton* skeleton = nullptr;
  // The programs that sample an event. One is attached to the perf event, if there is one.
  // Otherwise all are attached, in this order.
  std::vector<bpf_program*> programs;
  std::string name = {};  // in messages: "the BPF program for probes"

  // Messages of libbpf are quoted from `log`.
  Status Load(const std::string& log) const;
};

using Programs = std::vector<bpf_program*>;

// How often the kernel skipped a run of a loaded program (recursion_misses).
std::uint64_t SkippedRuns(const bpf_program* program);

// Opens an object. `programs_of` returns its programs from its skeleton.
template <class Generated, class ProgramsOf>
Result<HitObject> OpenHitObject(std::string name, const wire_filter& filter, const std::string& log,
                                ProgramsOf programs_of) {
  TRY_ASSIGN(Skeleton<Generated> skeleton, OpenSkeleton<Generated>(log));
  skeleton->rodata->filter = filter;
  HitObject object = {.owner = {},
                      .object = skeleton->obj,
                      .skeleton = skeleton->skeleton,
                      .programs = programs_of(*skeleton),
                      .name = std::move(name)};
  object.owner = std::move(skeleton);
  return object;
}

// How events with the same cause share an object, if cookies distinguish them.
enum class ObjectOf : std::uint8_t { kAllEvents, kOneEvent };

// A kind of object.
struct HitObjectKind {
  SampleCause cause;
  ObjectOf object_of;
  // Opens an object for `event`, or for all events with the cause.
  Result<HitObject> (*open)(const BpfEvent& event, const wire_filter& filter,
                            const std::string& log);
};

// Null for a cause whose programs are in other objects.
const HitObjectKind* HitObjectKindOf(SampleCause cause);

// Loads a program for this function of the kernel, attaches it for a moment, and frees it: a kernel
// may refuse either. Fails with kPermission if the kernel refuses these programs, and with
// kUnsupported if it has none, or if the function cannot be probed.
Status TryTrampoline(ProbeKind kind, const std::string& function);

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
// The loaded BPF objects of a session. Only bpf_session.cc uses it.
#pragma once

#include <linux/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "record/bpf/bpf_session.h"
#include "record/bpf/hit_object.h"
#include "record/bpf/latency_programs.h"
#include "record/bpf/off_cpu_programs.h"
#include "record/bpf/skeleton.h"

struct bpf_object;
struct bpf_program;
struct on_cpu_bpf;

namespace perftape::record {

// The programs of a recording, and the maps that they share. Each event has a program. Events share
// an instance of it if a cookie distinguishes them; before Linux 5.15 each event has its own.
class BpfObjects {
 public:
  // Loads the programs that `options.events` need. Messages of libbpf are quoted from `log`.
  static Result<BpfObjects> Load(const BpfOptions& options, const std::string& log);

  BpfObjects(BpfObjects&&) noexcept;
  BpfObjects& operator=(BpfObjects&&) noexcept;
  ~BpfObjects();

  // The programs that sample this event; they belong to this object. An event with a perf event has
  // one program, which is attached to it. The programs of other events are attached in this order.
  // An off-CPU event has none.
  const std::vector<bpf_program*>& ProgramsOf(std::uint32_t event) const {
    return programs_[event];
  }
  // Whether to attach the number of the event as a cookie.
  bool uses_cookies() const { return uses_cookies_; }
  // The programs that add processes to the targets, and the one that removes them. They are loaded
  // if the filter selects processes.
  std::array<bpf_program*, 2> process_adders() const;
  bpf_program* process_remover() const;
  // The programs that measure waits; null if there are no off-CPU events.
  OffCpuPrograms* off_cpu() { return off_cpu_ ? &*off_cpu_ : nullptr; }
  // The programs of latency probes; null if there are none.
  LatencyPrograms* latency() { return latency_ ? &*latency_ : nullptr; }

  // The index is the number of the ring.
  std::vector<int> rings() const;
  int counters() const;
  UnwindMapFiles unwind_maps() const;
  int target_processes() const;
  int target_threads() const;
  int target_cgroups() const;
  int target_cgroup_ids() const;
  std::size_t cpus() const { return cpus_; }

 private:
  BpfObjects() = default;
  Status LoadInstances(const BpfOptions& options, const std::string& log);
  Status LoadFirst(const BpfOptions& options, std::uint32_t event, const std::string& log);
  Status LoadOnCpu(const BpfOptions& options, std::uint32_t event, ExpirySource source,
                   const std::string& log);
  Status LoadHits(const BpfOptions& options, const HitObjectKind& kind, std::uint32_t event,
                  const std::string& log);
  // Sets the programs of the events with this cause that an instance for `event` samples.
  void SetPrograms(const BpfOptions& options, SampleCause cause, std::uint32_t event,
                   const std::vector<bpf_program*>& programs);
  Status LoadOffCpu(const BpfOptions& options, const std::string& log);
  Status LoadLatency(const BpfOptions& options, const std::string& log);
  Status ShareMaps(bpf_object* object) const;
  Status WriteSettings(const BpfOptions& options) const;
  Status CreateMoreRings(const BpfOptions& options);
  Status GroupRings() const;

  std::size_t cpus_ = 0;
  bool uses_cookies_ = false;
  bool has_stacks_ = false;
  std::vector<Skeleton<on_cpu_bpf>> on_cpu_;  // the first owns the maps
  std::vector<HitObject> hits_;
  std::optional<OffCpuPrograms> off_cpu_;
  std::optional<LatencyPrograms> latency_;
  std::vector<std::vector<bpf_program*>> programs_;  // by event
  std::vector<UniqueFd> more_rings_;
};

}  // namespace perftape::record

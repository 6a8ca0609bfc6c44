// SPDX-License-Identifier: Apache-2.0
// The loaded BPF objects of a session. Only bpf_session.cc uses it.
#pragma once

#include <linux/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "record/bpf/bpf_session.h"
#include "record/bpf/off_cpu_programs.h"

struct bpf_object;
struct bpf_program;
struct lock_bpf;
struct on_cpu_bpf;
struct probe_bpf;
struct tracepoint_bpf;
struct trampoline_bpf;

namespace perftape::record {

// Sets the function of the kernel that the skeleton's program for this kind of probe, kFentry or
// kFexit, is called for. The other program is not loaded. Returns 0 or the negative errno.
int SetFunction(trampoline_bpf* skeleton, ProbeKind kind, const std::string& function);

// The programs of a recording, and the maps that they share. Each event has a program. Events share
// an instance of it if a cookie tells them apart; before Linux 5.15 each event has its own.
class BpfObjects {
 public:
  // Loads the programs that `options.events` need. Messages of libbpf are quoted from `log`.
  static Result<BpfObjects> Load(const BpfOptions& options, const std::string& log);

  BpfObjects(BpfObjects&&) noexcept;
  BpfObjects& operator=(BpfObjects&&) noexcept;
  ~BpfObjects();

  // The descriptor of the program that samples this event. It belongs to this object.
  int ProgramOf(std::uint32_t event) const { return programs_[event]; }
  // Whether to attach the number of the event as a cookie.
  bool uses_cookies() const { return uses_cookies_; }
  // The programs that add processes to the targets, and the one that removes them. They are loaded
  // if the filter is by process.
  std::array<bpf_program*, 2> process_adders() const;
  bpf_program* process_remover() const;
  // The programs that measure waits; null if there are no off-CPU events.
  OffCpuPrograms* off_cpu() { return off_cpu_ ? &*off_cpu_ : nullptr; }

  // The programs of an event that has no perf event: of a wait for a lock, of a function of the
  // kernel.
  std::vector<bpf_program*> ProgramsWithoutEvent(std::uint32_t event) const;

  // The index is the number of the ring.
  std::vector<int> rings() const;
  int counters() const;
  UnwindMapFiles unwind_maps() const;
  int target_processes() const;
  int target_threads() const;
  int target_cgroups() const;
  std::size_t cpus() const { return cpus_; }

 private:
  struct DestroyOnCpu {
    void operator()(on_cpu_bpf* skeleton) const;
  };
  struct DestroyTracepoint {
    void operator()(tracepoint_bpf* skeleton) const;
  };
  struct DestroyProbe {
    void operator()(probe_bpf* skeleton) const;
  };
  struct DestroyLock {
    void operator()(lock_bpf* skeleton) const;
  };
  using OnCpu = std::unique_ptr<on_cpu_bpf, DestroyOnCpu>;
  using Tracepoint = std::unique_ptr<tracepoint_bpf, DestroyTracepoint>;
  struct DestroyTrampoline {
    void operator()(trampoline_bpf* skeleton) const;
  };
  using Trampoline = std::unique_ptr<trampoline_bpf, DestroyTrampoline>;
  using Lock = std::unique_ptr<lock_bpf, DestroyLock>;
  using Probe = std::unique_ptr<probe_bpf, DestroyProbe>;

  BpfObjects() = default;
  Status LoadInstances(const BpfOptions& options, const std::string& log);
  Status LoadFirst(const BpfOptions& options, std::uint32_t event, const std::string& log);
  Status LoadOnCpu(const BpfOptions& options, std::uint32_t event, ExpirySource source,
                   const std::string& log);
  Status LoadTracepoint(const BpfOptions& options, std::uint32_t event, const std::string& log);
  Status LoadTrampoline(const BpfOptions& options, std::uint32_t event, const std::string& log);
  Status LoadLock(const BpfOptions& options, std::uint32_t event, const std::string& log);
  Status LoadProbe(const BpfOptions& options, std::uint32_t event, const std::string& log);
  // Loads the program for the hits of `event`, which is no clock or counter.
  Status LoadForHits(const BpfOptions& options, SampleCause cause, std::uint32_t event,
                     const std::string& log);
  // Sets the program of the events with this cause that an instance for `event` samples.
  void SetPrograms(const BpfOptions& options, SampleCause cause, std::uint32_t event, int program);
  Status LoadOffCpu(const BpfOptions& options, const std::string& log);
  Status ShareMaps(bpf_object* object) const;
  Status WriteSettings(const BpfOptions& options) const;
  Status CreateMoreRings(const BpfOptions& options);
  Status GroupRings() const;

  std::size_t cpus_ = 0;
  bool uses_cookies_ = false;
  bool has_stacks_ = false;
  std::vector<OnCpu> on_cpu_;  // the first owns the maps
  std::vector<Tracepoint> tracepoint_;
  std::vector<Probe> probe_;
  Lock lock_;
  std::optional<OffCpuPrograms> off_cpu_;
  std::map<std::uint32_t, Trampoline> trampolines_;  // by event
  std::vector<int> programs_;                        // by event
  std::vector<UniqueFd> more_rings_;
};

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
// The sampling programs in the kernel: loads, attaches and drains them. Only bpf_session.cc uses
// libbpf's skeletons.
//
//   TRY_ASSIGN(BpfSession session, BpfSession::Load({.filter = {.processes = {pid}}}));
//   TRY(session.AttachTo(/*event=*/0, cpu_events));
//   TRY(EnableAll(cpu_events));
//   ... poll session.poll_fd() with a timeout, then session.Drain(...)
#pragma once

#include <linux/types.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "record/bpf/sample_cause.h"
#include "record/bpf/sample_source.h"
#include "record/bpf/unwind_maps.h"
#include "record/probes/probe_spec.h"
#include "record/processes/targets.h"
#include "record/rings/cpu_events.h"
#include "record/scope/cgroup_watch.h"

namespace perftape::record {

enum class Callchains : std::uint8_t {
  kNone,
  kFramePointers,
  kOnlyKernel,    // the user part is found later, with BpfOptions::stack_bytes
  kUnwindTables,  // the user part by the tables of the binaries (unwind_loader.h)
};

// The tables of several hundred binaries. The kernel allocates all of it at once.
inline constexpr std::size_t kUsualUnwindBytes = std::size_t{32} << 20;

// Receives one message of libbpf, without its last newline.
using LibbpfLog = std::function<void(std::string_view message)>;

// With kUnwindTables, if the kernel side does not know the mapping or table of a sample yet, the
// sample gets at most this many bytes of its stack. Few of these stacks are deeper, because the
// processes have just started.
inline constexpr std::uint32_t kLateStackBytes = 32768;

struct ProgramEvent;  // program_events.h

// How the program determines when its timer was due. With its own clock alone, it cannot find out
// why an expiry was missed.
enum class ExpirySource : std::uint8_t { kKernelIfPossible, kOwnClock };

// Which calls of a latency probe become samples.
struct LatencyOptions {
  std::string probe = {};       // "tcp-connect" (formats/perfdata/latency_probes.h)
  std::uint64_t min_ns = 0;     // calls that take at least this long
  bool samples_errors = false;  // and those that fail

  bool operator==(const LatencyOptions&) const = default;
};

// One of the events whose samples the programs collect.
struct BpfEvent {
  SampleCause cause = SampleCause::kTimer;
  wire_event settings = {};
  // For a function of the kernel: kFentry or kFexit.
  ProbeKind probe = ProbeKind::kFentry;
  std::string function = {};
  const ProgramEvent* program = nullptr;  // of kOwnProgram
  LatencyOptions latency = {};            // of kLatency
};

// How a program that several events call determines which event called it.
enum class EventSource : std::uint8_t {
  kCookieIfPossible,  // of the attachment: Linux 5.15
  kOwnPrograms,       // each event has its own instance of the program
};

// The histograms of latency probes that the kernel holds at a time: one for each probe, process and
// CPU, for a second. Each takes 1.6 KB.
inline constexpr std::size_t kUsualLatencyHistograms = 16384;
inline constexpr std::size_t kUsualLatencyInProgress = 16384;

// The most bytes of a stack that a sample can have, as in perf.
inline constexpr std::uint32_t kMaxStackBytes = WIRE_MAX_STACK;

struct BpfOptions {
  SampleFilter filter = {};
  Callchains callchains = Callchains::kFramePointers;
  // If not 0, samples have a wire_user_state with at most this many bytes of stack. A multiple of
  // 8, at most kMaxStackBytes.
  std::uint32_t stack_bytes = 0;
  std::uint32_t user_frames = WIRE_MAX_FRAMES;    // of a stack; at most WIRE_MAX_USER_FRAMES
  std::size_t unwind_bytes = kUsualUnwindBytes;   // the memory for tables of kUnwindTables
  std::size_t ring_bytes = std::size_t{8} << 20;  // a power of two, a multiple of the page size
  std::size_t rings = 1;                          // a power of two (ring_plan.h)
  std::vector<BpfEvent> events = {{}};  // at least one; the index is the number in samples
  ExpirySource expiry_source = ExpirySource::kKernelIfPossible;
  EventSource event_source = EventSource::kCookieIfPossible;
  std::chrono::nanoseconds off_cpu_threshold = std::chrono::milliseconds(1);
  std::size_t latency_histograms = kUsualLatencyHistograms;
  std::size_t latency_in_progress = kUsualLatencyInProgress;  // of each kind
  LibbpfLog log = {};  // gets all messages of libbpf; without one, only errors quote them
};

// Owns programs, maps and links. Not thread-safe.
class BpfSession final : public SampleSource {
 public:
  // Loads the programs. From here on the process filter follows forks and the command's exec. Open
  // tracepoints after this, because the kernel calls their listeners in the order of their opening.
  //
  // Fails with kPermission: the message names the missing capability or setting and how to get it.
  // Fails with kUnsupported if the kernel lacks something (BTF), and with kInvalidArgument for a
  // ring size that no kernel accepts.
  static Result<BpfSession> Load(const BpfOptions& options);

  BpfSession(BpfSession&&) noexcept;
  BpfSession& operator=(BpfSession&&) noexcept;
  ~BpfSession() override;

  const MappedUnwindMaps& unwind_maps() const override;
  Status AttachTo(std::uint32_t event, std::span<const CpuEvent> opened) override;
  void DetachTracepoints() override;
  Status StartMeasuring() override;
  Status StopMeasuring() override;
  Result<std::vector<LatencyCounts>> DrainLatency() override;
  std::uint64_t MissedRuns(std::uint32_t event) const override;
  Result<std::size_t> Drain(const std::function<void(Bytes)>& on_message) override;
  int poll_fd() const override;
  // The samples have rings of their own.
  bool CountLost(std::uint32_t, std::uint64_t) override { return false; }
  std::vector<wire_cpu> Counters(std::uint32_t event) const override;
  std::uint64_t SkippedHits() const override;
  Status SwitchOff(std::uint32_t event) override;
  Status SwitchOn(std::uint32_t event) override;
  void RestartTimer(std::uint32_t event, int cpu) override;
  Status FollowCgroup(std::uint32_t index, const OpenCgroup& cgroup) override;
  void SampleOneIn(std::uint32_t event, std::uint64_t divisor) override;
  void RecordOnly(std::uint32_t event, std::span<const int> cpus) override;

 private:
  struct Impl;
  explicit BpfSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace perftape::record

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
#include "record/events/cpu_events.h"
#include "record/events/known_events.h"
#include "record/probes/probe_spec.h"
#include "record/scope/scope.h"
#include "record/unwind/unwind_maps.h"

namespace perftape::record {

// Which tasks the BPF program samples. The default is every task of every user, idle included.
// `processes`, `threads` and `command` add tasks; `user` and `excluded_process` remove some of
// them. All ids are those of the caller's pid namespace.
struct SampleFilter {
  std::vector<pid_t> processes = {};           // with what they fork from now on
  std::vector<pid_t> threads = {};             // only these
  std::optional<pid_t> command = {};           // also a process, from its exec on
  std::optional<uid_t> user = {};              // the idle task never matches
  std::optional<pid_t> excluded_process = {};  // the recorder itself
  Scope scope = {};                            // all of it must hold, too

  bool by_process() const { return !processes.empty() || command.has_value(); }
};

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

// With kUnwindTables, a sample whose mapping or table the kernel side does not know yet has at most
// so many bytes of its stack. Only few such stacks are deeper: the processes have just started.
inline constexpr std::uint32_t kLateStackBytes = 32768;

// How the program determines when its timer was due. With its own clock alone, it cannot find out
// why an expiry was missed.
enum class ExpirySource : std::uint8_t { kKernelIfPossible, kOwnClock };

// One of the events whose samples the programs collect.
struct BpfEvent {
  Trigger trigger = Trigger::kTimer;
  wire_event settings = {};
  // Of a function of the kernel: kFentry or kFexit.
  ProbeKind probe = ProbeKind::kFentry;
  std::string function = {};
};

// How a program that several events call determines which of them did.
enum class EventSource : std::uint8_t {
  kCookieIfPossible,  // of the attachment: Linux 5.15
  kOwnPrograms,       // each event has its own instance of the program
};

// The most bytes of a stack that a sample can have, as in perf.
inline constexpr std::uint32_t kMaxStackBytes = WIRE_MAX_STACK;

struct BpfOptions {
  SampleFilter filter = {};
  Callchains callchains = Callchains::kFramePointers;
  // Not 0: samples have a wire_user_state with at most so many bytes of stack. A multiple of 8, at
  // most kMaxStackBytes.
  std::uint32_t stack_bytes = 0;
  std::size_t unwind_bytes = kUsualUnwindBytes;   // the memory for tables of kUnwindTables
  std::size_t ring_bytes = std::size_t{8} << 20;  // a power of two, a multiple of the page size
  std::size_t rings = 1;                          // a power of two (ring_plan.h)
  std::vector<BpfEvent> events = {{}};  // at least one; the index is the number in samples
  ExpirySource expiry_source = ExpirySource::kKernelIfPossible;
  EventSource event_source = EventSource::kCookieIfPossible;
  std::chrono::nanoseconds off_cpu_threshold = std::chrono::milliseconds(1);
  LibbpfLog log = {};  // gets all messages of libbpf; without one, only errors quote them
};

// Owns programs, maps and links. Not thread-safe.
class BpfSession {
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
  ~BpfSession();

  // The maps for Callchains::kUnwindTables, which this object owns; empty otherwise.
  const MappedUnwindMaps& unwind_maps() const;

  // Makes each overflow of these events, or each hit of a tracepoint, a sample of event `event`.
  // The events must stay open. A tracepoint is attached once, for all CPUs; its samples start at
  // once.
  Status AttachTo(std::uint32_t event, std::span<const CpuEvent> opened);
  // Ends the samples of tracepoints, which cannot be disabled.
  void DetachTracepoints();

  // Start and end the measuring of waits, if there are off-CPU events. A wait that lasts longer
  // than the recording is cut at both ends. After StopOffCpu, the ring has the rest of the samples.
  Status StartOffCpu();
  Status StopOffCpu();

  // Calls `on_message` for every message in the rings (bpf/wire.h: a wire_header and its body),
  // ring by ring, in the order of arrival, which is only roughly the order of time. The message is
  // valid during the call only. Of each ring, stops after as many bytes as it holds. Returns the
  // number of messages.
  Result<std::size_t> Drain(const std::function<void(Bytes)>& on_message);

  // Is readable if WakeupBytes of messages (wire_settings.h) arrived in a ring since the last
  // Drain. So poll it with a timeout and drain in either case. It belongs to this object.
  int poll_fd() const;

  // Returns the counters of an event on each possible CPU since Load. The index is the CPU. Makes
  // no system call.
  std::vector<wire_cpu> Counters(std::uint32_t event) const;

  // Returns how many hits of tracepoints the kernel skipped, of any task and any of the events: it
  // calls no program on a CPU where bpf_prog_active is held (kernel/trace/bpf_trace.c,
  // trace_call_bpf). Counted since Linux 6.7; 0 before. Makes a bpf(2) call for each program, so
  // call it after the recording.
  std::uint64_t SkippedHits() const;

  // The event was opened again on `cpu`: counts its missed expiries from here on. No event may be
  // running on the CPU.
  void RestartTimer(std::uint32_t event, int cpu);

  // From now on, only one in `divisor` wanted overflows of the event on a CPU is a sample
  // (wire_cpu.divisor). Makes no system call.
  void SampleOneIn(std::uint32_t event, std::uint64_t divisor);

  // Records a tracepoint only on these CPUs. Call it before AttachTo.
  void RecordOnly(std::uint32_t event, std::span<const int> cpus);

 private:
  struct Impl;
  explicit BpfSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace perftape::record

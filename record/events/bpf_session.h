// SPDX-License-Identifier: Apache-2.0
// The sampling programs in the kernel: loaded, attached and drained. The one place where libbpf's
// skeletons are met.
//
//   TRY_ASSIGN(BpfSession session, BpfSession::Load({.filter = {.processes = {pid}}}));
//   TRY(session.AttachTo(cpu_events));
//   TRY(EnableAll(cpu_events));
//   ... poll session.poll_fd() with a timeout, then session.Drain(...)
#pragma once

#include <linux/types.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "record/events/cpu_events.h"

namespace perftape::record {

// Whom to sample, decided in the kernel. Nothing set takes every task of every user, idle included.
// Processes and threads add up; `user` and `excluded_process` take away from what they let through.
// All ids are those of the caller's pid namespace.
struct SampleFilter {
  std::vector<pid_t> processes = {};           // and what they fork from now on
  std::vector<pid_t> threads = {};             // these alone
  std::optional<pid_t> command = {};           // a process as well, from the moment it calls exec
  std::optional<uid_t> user = {};              // never matches the idle task
  std::optional<pid_t> excluded_process = {};  // the recorder itself

  bool by_process() const { return !processes.empty() || command.has_value(); }
};

enum class Callchains : std::uint8_t { kNone, kFramePointers };

// Receives one message of libbpf, without its last newline.
using LibbpfLog = std::function<void(std::string_view message)>;

// How the program knows when its timer was due. By its clock alone it cannot tell why an expiry was
// missed.
enum class ExpirySource : std::uint8_t { kKernelIfPossible, kOwnClock };

struct BpfOptions {
  SampleFilter filter = {};
  Callchains callchains = Callchains::kFramePointers;
  std::size_t ring_bytes = std::size_t{8} << 20;  // a power of two, a multiple of the page size
  std::uint64_t period_ns = 0;  // of the events (TimerPeriodNs); 0: missed expiries are not counted
  ExpirySource expiry_source = ExpirySource::kKernelIfPossible;
  LibbpfLog log = {};  // gets all messages of libbpf; without one, only errors quote them
};

// Owns programs, maps and links; all of them go when it does. Not thread-safe.
class BpfSession {
 public:
  // kPermission says which capability or setting is missing and how to get it, kUnsupported what
  // the kernel lacks (BTF), kInvalidArgument a ring size that no kernel takes.
  static Result<BpfSession> Load(const BpfOptions& options);

  BpfSession(BpfSession&&) noexcept;
  BpfSession& operator=(BpfSession&&) noexcept;
  ~BpfSession();

  // Each overflow of these events becomes a sample; the events must stay open as long as samples
  // are wanted. The process filter follows forks from here on.
  Status AttachTo(std::span<const CpuEvent> events);

  // Hands on every message in the ring (bpf/wire.h: a wire_header and what its kind says), in the
  // order of their arrival, which is not quite that of their times. Each is valid during the call
  // only. It returns how many there were, after a ring's worth at the latest, even if more arrive.
  Result<std::size_t> Drain(const std::function<void(Bytes)>& on_message);

  // Becomes readable once for each 64 KiB (half a smaller ring) that pile up, not for each sample:
  // so wait for it with a timeout, and drain either way. It belongs to the session.
  int poll_fd() const;

  // What each possible CPU counted since Load; the index is the CPU. It takes no system call.
  std::vector<wire_cpu> Counters() const;

  // The event of `cpu` is a new one: what its timer missed counts from here on. No event may be
  // running there.
  void RestartTimer(int cpu);

 private:
  struct Impl;
  explicit BpfSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/latency_settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/latency_buckets.h"
#include "formats/perfdata/latency_probes.h"
#include "formats/perfdata/system_call_names.h"
#include "record/bpf/kernel_facts.h"
#include "record/bpf/off_cpu_programs.h"
#include "record/machine/did_you_mean.h"

namespace perftape::record {
namespace {

static_assert(WIRE_LATENCY_BUCKETS == kLatencyBuckets);
static_assert(offsetof(wire_latency_raw, error) == perfdata::kErrorField.offset);
static_assert(offsetof(wire_latency_raw, fd) == perfdata::kFdField.offset);
static_assert(offsetof(wire_latency_raw, number) == perfdata::kNumberField.offset);
static_assert(offsetof(wire_latency_raw, dev) == perfdata::kDeviceField.offset);
static_assert(offsetof(wire_latency_raw, bytes) == perfdata::kBytesField.offset);
static_assert(offsetof(wire_latency_raw, text_location) == perfdata::kFileField.offset);
static_assert(offsetof(wire_latency_raw, peer) == perfdata::kPeerField.offset);
static_assert(offsetof(wire_latency_raw, text) == perfdata::kLatencyTextOffset);

// What the kernel must have, and where the probe is counted.
struct Row {
  std::string_view probe;
  std::optional<std::uint32_t> slot;
  std::array<const char*, 3> tracepoints;
};
constexpr Row kRows[] = {
    {"dns", WIRE_LATENCY_DNS, {"sys_enter", "sys_exit"}},
    {"runq", WIRE_LATENCY_RUNQ, {"sched_wakeup", "sched_wakeup_new", "sched_switch"}},
    {"reclaim",
     WIRE_LATENCY_RECLAIM,
     {"mm_vmscan_direct_reclaim_begin", "mm_vmscan_direct_reclaim_end"}},
    {"block-io", WIRE_LATENCY_BLOCK_IO, {"block_rq_issue", "block_rq_complete"}},
    {"tcp-connect", WIRE_LATENCY_TCP_CONNECT, {"inet_sock_set_state", "tcp_receive_reset"}},
    {"tcp-accept", WIRE_LATENCY_TCP_ACCEPT, {"inet_sock_set_state", "sys_exit"}},
    {"tcp-rtt", WIRE_LATENCY_TCP_RTT, {"tcp_probe", "inet_sock_set_state"}},
    {"page-fault", WIRE_LATENCY_PAGE_FAULT, {"page_fault_user"}},
};
constexpr Row kOfCalls = {"", {}, {"sys_enter", "sys_exit"}};

const Row& RowOf(std::string_view probe) {
  const auto* const found = std::ranges::find(kRows, probe, &Row::probe);
  return found != std::end(kRows) ? *found : kOfCalls;
}

// The calls of a probe that is about what the calls name.
struct CallsOfProbe {
  std::string_view probe, call;
  wire_call_object object;
};
constexpr CallsOfProbe kCalls[] = {
    {"read", "read", WIRE_CALL_FD},
    {"read", "pread64", WIRE_CALL_FD},
    {"read", "readv", WIRE_CALL_FD},
    {"read", "preadv", WIRE_CALL_FD},
    {"read", "preadv2", WIRE_CALL_FD},
    {"write", "write", WIRE_CALL_FD},
    {"write", "pwrite64", WIRE_CALL_FD},
    {"write", "writev", WIRE_CALL_FD},
    {"write", "pwritev", WIRE_CALL_FD},
    {"write", "pwritev2", WIRE_CALL_FD},
    {"fsync", "fsync", WIRE_CALL_FD},
    {"fsync", "fdatasync", WIRE_CALL_FD},
    {"fsync", "sync_file_range", WIRE_CALL_FD},
    {"fsync", "syncfs", WIRE_CALL_FD},
    {"fsync", "msync", WIRE_CALL_NUMBER},
    {"open", "open", WIRE_CALL_PATH},
    {"open", "creat", WIRE_CALL_PATH},
    {"open", "openat", WIRE_CALL_PATH_AT},
    {"open", "openat2", WIRE_CALL_PATH_AT},
    {"futex", "futex", WIRE_CALL_FUTEX},
    {"futex", "futex_wait", WIRE_CALL_ADDRESS},
    {"futex", "futex_waitv", WIRE_CALL_ADDRESS},
    {"exec", "execve", WIRE_CALL_EXEC},
    {"exec", "execveat", WIRE_CALL_EXEC_AT},
};

struct DnsCall {
  std::string_view call;
  wire_dns_call meaning;
};
constexpr DnsCall kDnsCalls[] = {
    {"write", WIRE_DNS_SEND},
    {"sendto", WIRE_DNS_SEND_TO},
    {"sendmsg", WIRE_DNS_SEND_MESSAGE},
    {"sendmmsg", WIRE_DNS_SEND_MESSAGES},
    {"read", WIRE_DNS_RECEIVE},
    {"recvfrom", WIRE_DNS_RECEIVE},
    {"recvmsg", WIRE_DNS_RECEIVE_MESSAGE},
    {"recvmmsg", WIRE_DNS_RECEIVE_MESSAGES},
    {"close", WIRE_DNS_CLOSE},
};

// Calls that return a socket.
constexpr std::string_view kAccepts[] = {"accept", "accept4"};

void AddSlot(wire_call& call, std::uint32_t slot) {
  auto* const free = std::ranges::find(call.slots, 0);
  if (free != std::end(call.slots)) *free = static_cast<__u8>(slot + 1);
}

// Probes of kinds of calls come first, then that of all calls: the programs look for an object with
// the first one only.
int OrderOf(std::string_view probe) {
  if (probe == perfdata::kSyscallProbe) return 1;
  return probe.starts_with(perfdata::kSyscallProbePrefix) ? 2 : 0;
}

Status AddCalls(std::string_view probe, std::uint32_t slot, wire_latency_settings& settings) {
  if (probe == perfdata::kSyscallProbe) {
    for (wire_call& call : settings.calls) AddSlot(call, slot);
    return {};
  }
  if (OrderOf(probe) == 0) {
    settings.probes[slot].records_objects = 1;
    for (const CallsOfProbe& row : kCalls) {
      if (row.probe != probe) continue;
      const std::optional<std::uint32_t> number = perfdata::SystemCallNumber(row.call);
      if (!number || *number >= WIRE_SYSCALLS) continue;
      AddSlot(settings.calls[*number], slot);
      settings.calls[*number].object = static_cast<__u8>(row.object);
    }
    return {};
  }
  const std::string_view name = probe.substr(perfdata::kSyscallProbePrefix.size());
  const std::optional<std::uint32_t> number = perfdata::SystemCallNumber(name);
  if (!number || *number >= WIRE_SYSCALLS) {
    const std::vector<std::string_view> views = perfdata::SystemCallNames();
    const std::vector<std::string> names(views.begin(), views.end());
    return Fail(ErrorCode::kNotFound,
                fmt::format("no system call '{}'{}", name, DidYouMean(name, names)));
  }
  AddSlot(settings.calls[*number], slot);
  return {};
}

// The calls that programs go on from. Others cost less if they concern no probe.
void AddNextPrograms(wire_latency_settings& settings) {
  const auto has = [&](std::uint32_t slot) { return settings.probes[slot].event != WIRE_NO_EVENT; };
  const auto call = [&](std::string_view name) -> wire_call* {
    const std::optional<std::uint32_t> number = perfdata::SystemCallNumber(name);
    return number && *number < WIRE_SYSCALLS ? &settings.calls[*number] : nullptr;
  };
  if (has(WIRE_LATENCY_TCP_ACCEPT) || has(WIRE_LATENCY_TCP_RTT)) {
    for (const std::string_view name : kAccepts) {
      if (wire_call* const found = call(name)) found->object = WIRE_CALL_ACCEPT;
    }
  }
  if (!has(WIRE_LATENCY_DNS)) return;
  for (const DnsCall& row : kDnsCalls) {
    if (wire_call* const found = call(row.call)) found->dns = row.meaning;
  }
}

}  // namespace

std::optional<std::uint32_t> LatencySlotOf(std::string_view probe) {
  return RowOf(probe).slot;
}

Result<wire_latency_settings> LatencySettings(std::span<const BpfEvent> events) {
  wire_latency_settings settings = {};
  for (wire_latency_probe& probe : settings.probes) probe.event = WIRE_NO_EVENT;
  std::vector<const BpfEvent*> probes;
  for (const BpfEvent& event : events) {
    if (event.cause == SampleCause::kLatency) probes.push_back(&event);
  }
  std::ranges::stable_sort(probes, {},
                           [](const BpfEvent* event) { return OrderOf(event->latency.probe); });
  std::uint32_t calls = 0;
  for (const BpfEvent* const event : probes) {
    const LatencyOptions& options = event->latency;
    const std::optional<std::uint32_t> own = LatencySlotOf(options.probe);
    const std::uint32_t slot = own ? *own : calls++;
    if (!own && slot >= WIRE_SYSCALL_SLOTS) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("more than {} latency probes of system calls", WIRE_SYSCALL_SLOTS));
    }
    settings.probes[slot] = {.min_ns = options.min_ns,
                             .event = static_cast<__u32>(event - events.data()),
                             .id = event->settings.id,
                             .samples_errors = options.samples_errors,
                             .records_objects = 0};
    const auto kind = perfdata::FindLatencyProbe(options.probe)->kind;
    if (kind == perfdata::LatencyKind::kCounted) settings.probes[slot].min_ns = UINT64_MAX;
    if (!own) TRY(AddCalls(options.probe, slot, settings));
  }
  AddNextPrograms(settings);
  settings.restart_call =
      static_cast<__u16>(perfdata::SystemCallNumber("restart_syscall").value_or(WIRE_SYSCALLS));
  settings.sigreturn_call =
      static_cast<__u16>(perfdata::SystemCallNumber("rt_sigreturn").value_or(WIRE_SYSCALLS));
  return settings;
}

Status CheckLatencySupport(std::string_view probe) {
  TRY(CheckOffCpuSupport());
  for (const char* const tracepoint : RowOf(probe).tracepoints) {
    if (tracepoint == nullptr || ArgumentsOfTracepoint(tracepoint)) continue;
    return Fail(ErrorCode::kUnsupported,
                fmt::format("this kernel's BTF has no tracepoint {}", tracepoint));
  }
  if (probe == "dns" && !CanVisitMaps()) {
    return Fail(ErrorCode::kUnsupported, "queries of DNS need Linux 5.13");
  }
  if (probe == "block-io" && ArgumentsOfTracepoint("block_rq_issue") != 1) {
    return Fail(ErrorCode::kUnsupported, "requests to block devices need Linux 5.11");
  }
  return {};
}

}  // namespace perftape::record

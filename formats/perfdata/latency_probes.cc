// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/latency_probes.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace perftape::perfdata {
namespace {

constexpr LatencyField kOfFile[] = {kErrorField, kFdField, kDeviceField, kInodeField, kFileField};
constexpr LatencyField kOfPath[] = {kErrorField, kFileField};
constexpr LatencyField kOfSyscall[] = {kErrorField, kNumberField};
constexpr LatencyField kOfFutex[] = {kErrorField, kLockField};
constexpr LatencyField kOfRunq[] = {kErrorField, kCpuField};
constexpr LatencyField kOfReclaim[] = {kErrorField, kOrderField};
constexpr LatencyField kOfBlock[] = {kErrorField, kDeviceField, kSectorField, kBytesField};
constexpr LatencyField kOfPeer[] = {kErrorField, kPeerField};
constexpr LatencyField kOfDns[] = {kErrorField, kPeerField, kNameField};
constexpr LatencyField kOfFault[] = {kErrorField};

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::string_view kErrno = "the errno of the call";
constexpr std::string_view kNoError = "always 0";

constexpr bool kByDefault = true, kIfNamed = false;

constexpr LatencyProbe kProbes[] = {
    {"tcp-connect", "latency:tcp_connect",
     "a TCP connection, from connect until it is established or fails", "net", kByDefault,
     100 * kMs, kOfPeer, "the errno of the connection"},
    {"tcp-accept", "latency:tcp_accept",
     "a TCP connection that is established until accept returns it", "net", kIfNamed, 100 * kMs,
     kOfPeer, kNoError},
    {"tcp-rtt", "latency:tcp_rtt",
     "the smoothed round-trip time of a TCP connection, at most once in 100 ms", "net", kIfNamed,
     100 * kMs, kOfPeer, kNoError, LatencyKind::kValues},
    {"dns", "latency:dns", "a DNS query over UDP, from its request to its answer", "net", kIfNamed,
     100 * kMs, kOfDns, "the rcode of the answer, or 110 (ETIMEDOUT) without an answer"},
    {"fsync", "latency:fsync", "a call of fsync, fdatasync, sync_file_range, syncfs or msync", "fs",
     kIfNamed, 10 * kMs, kOfFile, kErrno},
    {"read", "latency:read", "a call of read, pread64, readv, preadv or preadv2", "fs", kIfNamed,
     10 * kMs, kOfFile, kErrno},
    {"write", "latency:write", "a call of write, pwrite64, writev, pwritev or pwritev2", "fs",
     kIfNamed, 10 * kMs, kOfFile, kErrno},
    {"open", "latency:open", "a call of open, openat, openat2 or creat", "fs", kIfNamed, 10 * kMs,
     kOfPath, kErrno},
    {"block-io", "latency:block_io", "a request to a block device, from its issue to its end",
     "block", kByDefault, 10 * kMs, kOfBlock, "the errno of the request"},
    {"runq", "latency:runq", "a runnable thread, until it runs", "cpu", kIfNamed, 10 * kMs, kOfRunq,
     kNoError},
    {"page-fault", "latency:page_fault", "a page fault of user code, which is only counted",
     "memory", kIfNamed, 0, kOfFault, kNoError, LatencyKind::kCounted},
    {"reclaim", "latency:reclaim", "an allocation that has to free memory first (direct reclaim)",
     "memory", kByDefault, 1 * kMs, kOfReclaim, kNoError},
    {"syscall", "latency:syscall", "any system call; latency:syscall=NAME: only this one",
     "syscall", kIfNamed, 10 * kMs, kOfSyscall, kErrno},
    {"futex", "latency:futex", "a wait of the futex system call for another thread", "", kIfNamed,
     10 * kMs, kOfFutex, kErrno},
    {"exec", "latency:exec", "a call of execve or execveat", "", kIfNamed, 10 * kMs, kOfPath,
     kErrno},
};

constexpr std::string_view kSyscallEventPrefix = "latency:syscall_";

template <class Same>
const LatencyProbe* Find(Same same) {
  const auto* const found = std::ranges::find_if(kProbes, same);
  return found == std::end(kProbes) ? nullptr : found;
}

// kernel/trace/trace_events.c, f_show. The common fields are those of every tracepoint.
constexpr std::string_view kCommonFields =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

}  // namespace

std::span<const LatencyProbe> LatencyProbes() {
  return kProbes;
}

const LatencyProbe* FindLatencyProbe(std::string_view name) {
  const bool is_syscall =
      name.starts_with(kSyscallProbePrefix) && name.size() > kSyscallProbePrefix.size();
  const std::string_view row = is_syscall ? kSyscallProbe : name;
  return Find([&](const LatencyProbe& probe) { return probe.name == row; });
}

const LatencyProbe* FindLatencyEvent(std::string_view event) {
  if (event.starts_with(kSyscallEventPrefix)) return FindLatencyProbe(kSyscallProbe);
  return Find([&](const LatencyProbe& probe) { return probe.event == event; });
}

std::string LatencyProbeName(std::string_view event) {
  if (event.starts_with(kSyscallEventPrefix)) {
    return std::string(kSyscallProbePrefix).append(event.substr(kSyscallEventPrefix.size()));
  }
  const LatencyProbe* const probe = FindLatencyEvent(event);
  return std::string(probe != nullptr ? probe->name : std::string_view());
}

std::string LatencyEventName(std::string_view probe) {
  if (probe.starts_with(kSyscallProbePrefix)) {
    return std::string(kSyscallEventPrefix).append(probe.substr(kSyscallProbePrefix.size()));
  }
  return std::string(FindLatencyProbe(probe)->event);
}

std::string LatencyFormat(const LatencyProbe& probe, std::string_view event, std::uint64_t id) {
  std::string fields, print, arguments;
  for (const LatencyField& field : probe.fields) {
    fields += fmt::format("\tfield:{};\toffset:{};\tsize:{};\tsigned:{};\n", field.declaration,
                          field.offset, field.size, field.is_signed ? 1 : 0);
    if (!print.empty()) print += ' ';
    print += fmt::format("{}={}", field.name, field.print);
    arguments += field.arguments.empty() ? fmt::format(", REC->{}", field.name)
                                         : fmt::format(", {}", field.arguments);
  }
  event.remove_prefix(std::min(event.size(), kLatencyPrefix.size()));
  return fmt::format("name: {}\nID: {}\nformat:\n{}{}\nprint fmt: \"{}\"{}\n", event, id,
                     kCommonFields, fields, print, arguments);
}

}  // namespace perftape::perfdata

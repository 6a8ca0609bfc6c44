// SPDX-License-Identifier: Apache-2.0
// The latency probes: one row for each, with its name for -e, its event in the file, and what its
// samples have. The recorder and all readers ask here. A sample is a call that was slow or failed.
// Its period is what the call took, in nanoseconds, and its time is the end of the call. All calls
// are in the histograms of the notes (formats/bundle/recording_notes.h).
//
// The event is a tracepoint that no kernel has. Its format is in TRACING_DATA, so readers print its
// fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace perftape::perfdata {

// A field of the raw record, after the common ones.
struct LatencyField {
  std::string_view name;         // "error"
  std::string_view declaration;  // in the format file: "s32 error"
  std::uint32_t offset, size;    // in bytes; of a text: of its __data_loc
  bool is_signed = false;
  std::string_view print = "%d";  // in `print fmt`
  // Its arguments there; empty: REC->name
  std::string_view arguments = {};
};

// A positive errno. 0: none. EAGAIN, EINTR, EINPROGRESS and the restarts of the kernel are no
// errors. Of dns: the rcode, or ETIMEDOUT (110) if there was no answer.
inline constexpr LatencyField kErrorField{"error", "s32 error", 8, 4, true};
inline constexpr LatencyField kFdField{"fd", "s32 fd", 12, 4, true};
inline constexpr LatencyField kCpuField{"cpu", "s32 cpu", 12, 4, true};
inline constexpr LatencyField kOrderField{"order", "s32 order", 12, 4, true};
inline constexpr LatencyField kNumberField{"nr", "s64 nr", 16, 8, true, "%lld"};
inline constexpr LatencyField kLockField{"lock", "u64 lock", 16, 8, false, "0x%llx"};
inline constexpr LatencyField kSectorField{"sector", "u64 sector", 16, 8, false, "%llu"};
inline constexpr LatencyField kInodeField{"ino", "u64 ino", 16, 8, false, "%llu"};
// dev_t of the kernel: the major number from bit 20 on (include/linux/kdev_t.h).
inline constexpr LatencyField kDeviceField{
    "dev",
    "u32 dev",
    24,
    4,
    false,
    "%d,%d",
    "((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1)))"};
inline constexpr LatencyField kBytesField{"bytes", "u32 bytes", 28, 4, false, "%u"};
// The path of a file, or its end after "..." if it is long. Of open and exec: as it was asked for.
inline constexpr LatencyField kFileField{"file", "__data_loc char[] file", 32, 4, false,
                                         "%s",   "__get_str(file)"};
// The name that was looked up.
inline constexpr LatencyField kNameField{"name", "__data_loc char[] name", 32, 4, false,
                                         "%s",   "__get_str(name)"};
// struct sockaddr_in or sockaddr_in6.
inline constexpr LatencyField kPeerField{"peer", "__u8 peer[28]", 36, 28, false, "%pISpc"};

// Where the bytes of a text are, behind all other fields.
inline constexpr std::uint32_t kLatencyTextOffset = 64;

enum class LatencyKind : std::uint8_t {
  kCalls,    // a call, from its begin to its end
  kValues,   // a duration that the kernel has measured
  kCounted,  // only how often it happened: no samples, and no duration
};

struct LatencyProbe {
  std::string_view name;                 // for -e, after "latency:": "tcp-connect"
  std::string_view event;                // in the file: "latency:tcp_connect"
  std::string_view meaning;              // of one call, for lists
  std::string_view set;                  // the name for -e that has it, too; may be empty
  bool is_default;                       // kLatencySystem has it: it costs a busy machine little
  std::uint64_t min_ns;                  // by default, calls that took as long are samples
  std::span<const LatencyField> fields;  // of a sample
  std::string_view error;                // what `error` is, for lists
  LatencyKind kind = LatencyKind::kCalls;
};

// Of events and names for -e. A single system call is the probe "syscall=openat", whose event is
// "latency:syscall_openat".
inline constexpr std::string_view kLatencySystem = "latency";
inline constexpr std::string_view kLatencyPrefix = "latency:";
inline constexpr std::string_view kSyscallProbe = "syscall";
inline constexpr std::string_view kSyscallProbePrefix = "syscall=";

// The numbers of the events, which are those of no tracepoint: the kernel counts from 1. They have
// 16 bits, because a reader finds the event by common_type of the raw record.
inline constexpr std::uint64_t kFirstLatencyEvent = 0xf000;

// The only function of a sample that is the sum of the fast calls of a process.
inline constexpr std::string_view kFastCalls = "fast_calls";

std::span<const LatencyProbe> LatencyProbes();

// The row of a probe by its name, "tcp-connect" or "syscall=openat", or by its event,
// "latency:tcp_connect"; null if there is none.
const LatencyProbe* FindLatencyProbe(std::string_view name);
const LatencyProbe* FindLatencyEvent(std::string_view event);

// The name of the probe of an event: "syscall=openat" of "latency:syscall_openat". Empty if it is
// no event of a probe.
std::string LatencyProbeName(std::string_view event);
// The event of a probe, which must have a row.
std::string LatencyEventName(std::string_view probe);

// The format file of the event `event` of the probe, with this number.
std::string LatencyFormat(const LatencyProbe& probe, std::string_view event, std::uint64_t id);

}  // namespace perftape::perfdata

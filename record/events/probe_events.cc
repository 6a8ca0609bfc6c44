// SPDX-License-Identifier: Apache-2.0
#include "record/events/probe_events.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "formats/base/file.h"
#include "record/bpf/hit_object.h"
#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

// include/linux/trace_events.h and kernel/events/core.c: PERF_PROBE_CONFIG_IS_RETPROBE,
// PERF_UPROBE_REF_CTR_OFFSET_SHIFT and _BITS.
constexpr std::uint64_t kIsReturnProbe = 1;
constexpr unsigned kSemaphoreShift = 32;

std::string_view PmuOf(ProbeKind kind) {
  return IsInKernel(kind) ? "kprobe" : "uprobe";
}

// The type of the PMU's events.
Result<std::uint32_t> TypeOf(ProbeKind kind) {
  const std::string path = fmt::format("/sys/bus/event_source/devices/{}/type", PmuOf(kind));
  const Result<std::string> text = ReadWholeFile(path);
  std::uint32_t type = 0;
  if (text && std::from_chars(text->data(), text->data() + text->size(), type).ec == std::errc()) {
    return type;
  }
  const Requirement pmu = IsInKernel(kind) ? Requirement::kKprobes : Requirement::kUprobes;
  return FailMissing(ErrorCode::kUnsupported, "", {Missing(pmu, {path})});
}

perf_event_attr AttrOf(const ProbeLocation& location, std::uint32_t type) {
  perf_event_attr attr = {};
  attr.size = sizeof attr;
  attr.type = type;
  attr.sample_period = 1;
  attr.disabled = 1;
  if (location.kind == ProbeKind::kUretprobe || location.kind == ProbeKind::kKretprobe) {
    attr.config |= kIsReturnProbe;
  }
  attr.config |= location.semaphore_offset << kSemaphoreShift;
  // uprobe_path or kprobe_func, and probe_offset; of unions with config1 and config2
  attr.config1 = reinterpret_cast<std::uintptr_t>(location.target.c_str());
  attr.config2 = location.offset;
  return attr;
}

std::unexpected<Error> ExplainProbe(const ProbeLocation& location, int error_number) {
  const std::string where = fmt::format("{}+0x{:x}", location.target, location.offset);
  switch (error_number) {
    case EACCES:
    case EPERM:
      return FailMissing(ErrorCode::kPermission,
                         fmt::format("{}: {}", where, std::strerror(error_number)),
                         {Missing(Requirement::kProbeCapability, {RecorderPath()})});
    case EILSEQ:  // __register_kprobe
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: no instruction begins there", where));
    case EINVAL:
    case ENOENT:
    case ENOTSUP:
    case EADDRNOTAVAIL:
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("{}: the kernel cannot place a probe there: {}", where,
                              std::strerror(error_number)));
    default:
      return FailErrno(fmt::format("{}: opening a probe", where), error_number);
  }
}

}  // namespace

Result<std::vector<CpuEvent>> OpenProbes(std::span<const ProbeLocation> locations, int cpu) {
  std::vector<CpuEvent> events;
  for (const ProbeLocation& location : locations) {
    TRY_ASSIGN(const std::uint32_t type, TypeOf(location.kind));
    if (location.semaphore_offset >> kSemaphoreShift != 0) {
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("{}: the semaphore is beyond 4 GiB", location.target));
    }
    const perf_event_attr attr = AttrOf(location, type);
    const int fd = OpenForAllProcesses(&attr, cpu);
    if (fd < 0) return ExplainProbe(location, -fd);
    CpuEvent event{.cpu = cpu, .fd = UniqueFd(fd)};
    if (ioctl(fd, PERF_EVENT_IOC_ID, &event.id) != 0) {
      return FailErrno(fmt::format("{}: the id of a probe", location.target), errno);
    }
    events.push_back(std::move(event));
  }
  return events;
}

Status TryToProbe(const ProbeLocation& location) {
  if (IsTrampoline(location.kind)) return TryTrampoline(location.kind, location.target);
  TRY_ASSIGN(const std::vector<int> online, OnlineCpus());
  TRY(OpenProbes(std::span(&location, 1), online.front()));
  return {};
}

Status CheckProbeKind(ProbeKind kind) {
  if (IsTrampoline(kind)) return TryTrampoline(kind, "vfs_read");
  TRY(TypeOf(kind));
  return {};
}

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "record/rings/cpu_events.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "formats/base/parallel.h"
#include "record/machine/requirements.h"
#include "record/machine/system_facts.h"

namespace perftape::record {
namespace {

std::unexpected<Error> ExplainRefusal(int cpu, int error_number) {
  std::unexpected<Error> refused =
      FailErrno(fmt::format("CPU {}: opening a perf event", cpu), error_number);
  return FailBecause(std::move(refused).error(), LikelyCauses(ReadSystemFacts(), error_number));
}

std::unexpected<Error> ExplainInvalid(const perfdata::EventAttr& attr, int cpu) {
  const std::optional<int> limit = ReadKernelSetting("perf_event_max_sample_rate");
  if (attr.Has(perfdata::kFreq) && limit &&
      attr.sample_period > static_cast<std::uint64_t>(*limit)) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} Hz is above what the kernel allows: "
                                                         "kernel.perf_event_max_sample_rate is {}",
                                                         attr.sample_period, *limit));
  }
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("CPU {}: this kernel does not know this perf event", cpu));
}

std::unexpected<Error> ExplainOpen(const perfdata::EventAttr& attr, int cpu, int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM:
      return ExplainRefusal(cpu, error_number);
    case EINVAL:
      return ExplainInvalid(attr, cpu);
    case EMFILE:
      return FailMissing(ErrorCode::kIo, fmt::format("CPU {}", cpu),
                         {Missing(Requirement::kOpenFiles)});
    case ENOSYS:
    case ENOENT:
    case EOPNOTSUPP:
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("CPU {}: this kernel has no such perf event: {}", cpu,
                              std::strerror(error_number)));
    default:
      return FailErrno(fmt::format("CPU {}: opening a perf event", cpu), error_number);
  }
}

// Raises the soft limit to the hard limit; false if it has this value already.
bool RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

constexpr pid_t kAnyProcess = -1;

constexpr int kNoGroup = -1;

// Returns the descriptor or the negative errno.
int PerfEventOpen(const void* attr, int cpu, pid_t pid, int group = kNoGroup) {
  const long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);
  return fd >= 0 ? static_cast<int>(fd) : -errno;
}

int OpenWithRaisedLimit(const void* attr, int cpu, pid_t pid, int group = kNoGroup) {
  const int fd = PerfEventOpen(attr, cpu, pid, group);
  return fd == -EMFILE && RaiseFileLimit() ? PerfEventOpen(attr, cpu, pid, group) : fd;
}

// The descriptor of the leader on a CPU.
int GroupOn(int cpu, std::span<const CpuEvent> leaders) {
  const auto leader = std::ranges::find(leaders, cpu, &CpuEvent::cpu);
  return leader == leaders.end() ? kNoGroup : leader->fd.get();
}

// The result owns `fd`, an event.
Result<CpuEvent> WithId(int cpu, int fd) {
  CpuEvent event{.cpu = cpu, .fd = UniqueFd(fd)};
  if (ioctl(fd, PERF_EVENT_IOC_ID, &event.id) != 0) {
    return FailErrno(fmt::format("CPU {}: the id of a perf event", cpu), errno);
  }
  return event;
}

// Returns nothing if the CPU went offline meanwhile.
Result<std::optional<CpuEvent>> OpenOn(const perfdata::EventAttr& attr,
                                       std::vector<std::byte>& encoded, int cpu, int group) {
  const int fd = OpenWithRaisedLimit(encoded.data(), cpu, kAnyProcess, group);
  if (fd == -ENODEV) return std::nullopt;
  if (fd < 0) return ExplainOpen(attr, cpu, -fd);
  return WithId(cpu, fd);
}

std::unexpected<Error> ExplainThread(const perfdata::EventAttr& attr, pid_t tid, int cpu,
                                     int error_number) {
  if (error_number == ESRCH) {
    return Fail(ErrorCode::kNotFound, fmt::format("thread {}: No such process", tid));
  }
  const std::string thread = fmt::format("thread {}", tid);
  if (error_number != EACCES && error_number != EPERM) {
    return Fail(InContext(thread, ExplainOpen(attr, cpu, error_number).error()));
  }
  std::string message =
      thread + ": users may record only their own processes, and none that has changed its user";
  const std::optional<Finding> why = WhyNoPrograms(ReadSystemFacts());
  return Fail(ErrorCode::kPermission, why ? message + ": " + why->text() : std::move(message));
}

// Reads the struct that the event's read_format describes.
template <class Values>
Status ReadValues(const CpuEvent& event, Values& values) {
  if (read(event.fd.get(), &values, sizeof values) >= 0) return {};
  return FailErrno(fmt::format("CPU {}: reading a perf event", event.cpu), errno);
}

Status ControlAll(std::span<const CpuEvent> events, unsigned long request, const char* what) {
  for (const CpuEvent& event : events) {
    if (ioctl(event.fd.get(), request, 0) != 0) {
      return FailErrno(fmt::format("CPU {}: {} a perf event", event.cpu, what), errno);
    }
  }
  return {};
}

}  // namespace

int OpenForAllProcesses(const void* attr, int cpu) {
  return OpenWithRaisedLimit(attr, cpu, kAnyProcess);
}

Result<std::vector<CpuEvent>> OpenForThread(const perfdata::EventAttr& attr, pid_t tid,
                                            std::span<const int> cpus) {
  std::vector<std::byte> encoded;
  perfdata::EncodeAttr(attr, encoded);
  std::vector<CpuEvent> events;
  for (const int cpu : cpus) {
    const int fd = OpenWithRaisedLimit(encoded.data(), cpu, tid);
    if (fd < 0) return ExplainThread(attr, tid, cpu, -fd);
    TRY_ASSIGN(CpuEvent event, WithId(cpu, fd));
    events.push_back(std::move(event));
  }
  return events;
}

Result<std::vector<CpuEvent>> OpenOnCpus(const perfdata::EventAttr& attr, std::span<const int> cpus,
                                         std::span<const CpuEvent> leaders) {
  // A CPU that cannot exist would give EINVAL, which has many reasons. So offline CPUs are skipped.
  TRY_ASSIGN(const std::vector<int> online, OnlineCpus());
  std::vector<std::byte> encoded;
  perfdata::EncodeAttr(attr, encoded);

  std::vector<CpuEvent> events;
  for (const int cpu : cpus) {
    if (!std::ranges::binary_search(online, cpu)) continue;
    TRY_ASSIGN(std::optional<CpuEvent> event, OpenOn(attr, encoded, cpu, GroupOn(cpu, leaders)));
    if (event) events.push_back(std::move(*event));
  }
  if (events.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "none of the requested CPUs is online");
  }
  return events;
}

Status TryToOpen(const perfdata::EventAttr& attr) {
  constexpr pid_t kThisProcess = 0;
  constexpr int kAnyCpu = -1;
  std::vector<std::byte> encoded;
  perfdata::EncodeAttr(attr, encoded);
  const int fd = PerfEventOpen(encoded.data(), kAnyCpu, kThisProcess);
  const UniqueFd owner(fd);
  if (fd >= 0) return {};
  const bool is_software = attr.type == perfdata::kTypeSoftware;
  // x86 answers with EINVAL for a cache event that the CPU does not have.
  const bool is_missing =
      fd == -ENOENT || fd == -EOPNOTSUPP || fd == -ENODEV || (fd == -EINVAL && !is_software);
  if (!is_missing) return ExplainOpen(attr, 0, -fd);
  if (is_software) return Fail(ErrorCode::kUnsupported, "this kernel has no such event");
  return FailMissing(ErrorCode::kUnsupported, "", {Missing(Requirement::kHardwareCounters)});
}

Status RedirectOutput(std::span<const CpuEvent> events, std::span<const CpuEvent> to) {
  for (const CpuEvent& event : events) {
    const auto target = std::ranges::find(to, event.cpu, &CpuEvent::cpu);
    if (target == to.end()) continue;
    if (ioctl(event.fd.get(), PERF_EVENT_IOC_SET_OUTPUT, target->fd.get()) != 0) {
      return FailErrno(fmt::format("CPU {}: redirecting a perf event", event.cpu), errno);
    }
  }
  return {};
}

Result<std::uint64_t> EnabledNs(const CpuEvent& event) {
  struct {
    std::uint64_t count, enabled_ns, id;
  } values{};  // kReadTotalTimeEnabled | kReadId
  TRY(ReadValues(event, values));
  return values.enabled_ns;
}

Result<std::uint64_t> LostRecordsOf(const CpuEvent& event) {
  struct {
    std::uint64_t count, enabled_ns, id, lost;
  } values{};  // kReadTotalTimeEnabled | kReadId | kReadLost
  TRY(ReadValues(event, values));
  return values.lost;
}

Status EnableAll(std::span<const CpuEvent> events) {
  return ControlAll(events, PERF_EVENT_IOC_ENABLE, "starting");
}

Status DisableAll(std::span<const CpuEvent> events) {
  return ControlAll(events, PERF_EVENT_IOC_DISABLE, "stopping");
}

void CloseAll(std::vector<UniqueFd> descriptors) {
  constexpr unsigned kMostThreads = 64;  // they only wait
  ParallelFor(descriptors.size(), kMostThreads,
              [&](std::size_t i, unsigned /*worker*/) { descriptors[i].Reset(); });
}

}  // namespace perftape::record

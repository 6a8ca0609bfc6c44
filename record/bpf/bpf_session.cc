// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/bpf_session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <set>
#include <utility>

#include "record/bpf/bpf_objects.h"
#include "record/bpf/cpu_counters.h"
#include "record/bpf/skeleton.h"
#include "record/rings/cpu_events.h"
#include "record/scope/cgroup_watch.h"

namespace perftape::record {
namespace {

struct FreeRing {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};
using RingReader = std::unique_ptr<ring_buffer, FreeRing>;

Status CheckRingBytes(std::size_t bytes) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  constexpr std::size_t kMost = std::size_t{1} << 30;
  if (std::has_single_bit(bytes) && bytes >= page && bytes <= kMost) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("a ring buffer of {} bytes: it takes a power of two, from {} to {}",
                          bytes, page, kMost));
}

Status AddKey(int map, pid_t key) {
  const std::uint8_t present = 1;
  if (bpf_map_update_elem(map, &key, &present, BPF_ANY) != 0) {
    return FailErrno(fmt::format("filtering by {}", key), errno);
  }
  return {};
}

// Attaches the program with a link (Linux 5.15) or, before that, to the event itself. Unlike
// libbpf's attach, neither owns the descriptor or starts the event. A cookie needs the link.
Result<UniqueFd> LinkToEvent(int program, const CpuEvent& event,
                             std::optional<std::uint64_t> cookie) {
  bpf_link_create_opts options = {};
  options.sz = sizeof options;
  options.perf_event.bpf_cookie = cookie.value_or(0);
  const int link = bpf_link_create(program, event.fd.get(), BPF_PERF_EVENT, &options);
  if (link >= 0) return UniqueFd(link);
  const int link_error = errno;
  if (link_error == EINVAL && !cookie &&
      ioctl(event.fd.get(), PERF_EVENT_IOC_SET_BPF, program) == 0) {
    return UniqueFd();
  }
  return FailErrno(fmt::format("CPU {}: attaching the sampling program", event.cpu), link_error);
}

}  // namespace

struct BpfSession::Impl {
  std::string log;
  LibbpfLog user_log;
  bool by_process = false;
  bool follows_exits = false;
  std::vector<BpfEvent> events;
  std::optional<BpfObjects> objects;
  CpuCounters counters;
  MappedUnwindMaps unwind_maps;
  std::vector<RingReader> rings;
  wire_cgroup_ids cgroup_ids = {};
  UniqueFd wakeups;  // epoll of the rings, edge-triggered
  std::vector<Link> process_links;
  std::vector<Link> program_links;
  std::vector<UniqueFd> event_links, tracepoint_links;

  // State of the running Drain.
  const std::function<void(Bytes)>* handle_message = nullptr;
  std::size_t message_count = 0;
  std::size_t bytes_left = 0;
  std::size_t ring_bytes = 0;

  Status AddTargets(const SampleFilter& filter);
  Status FollowCgroup(std::uint32_t index, const OpenCgroup& cgroup);
  Status MapRings();
  void ForgetWakeups() const;
  Status Follow(bpf_program* tracker);
  static int OnMessage(void* impl, void* message, std::size_t size);
};

Status BpfSession::Impl::AddTargets(const SampleFilter& filter) {
  for (const pid_t pid : filter.processes) TRY(AddKey(objects->target_processes(), pid));
  for (const pid_t tid : filter.threads) TRY(AddKey(objects->target_threads(), tid));
  const Scope& scope = filter.scope;
  for (std::uint32_t index = 0; index < scope.cgroups.size(); ++index) {
    TRY_ASSIGN(const OpenCgroup cgroup, OpenCgroupOf(scope, index));
    TRY(FollowCgroup(index, cgroup));
  }
  return {};
}

// Of version 2, one map gets the cgroups as open directories.
Status BpfSession::Impl::FollowCgroup(std::uint32_t index, const OpenCgroup& cgroup) {
  const int fd = cgroup.directory.get();
  const __u32 first = 0;
  cgroup_ids.ids[index] = cgroup.id;
  const bool is_set =
      (!cgroup.is_v2 ||
       bpf_map_update_elem(objects->target_cgroups(), &index, &fd, BPF_ANY) == 0) &&
      bpf_map_update_elem(objects->target_cgroup_ids(), &first, &cgroup_ids, BPF_ANY) == 0;
  if (!is_set) return FailErrno("filtering by a cgroup", errno);
  return {};
}

Status BpfSession::Impl::Follow(bpf_program* tracker) {
  Link link(bpf_program__attach(tracker));
  if (!link) return ExplainFailure("cannot follow processes", errno, log);
  process_links.push_back(std::move(link));
  return {};
}

// Each ring has a reader of its own, because libbpf's reader of several starts at the first one
// again if it was stopped. A ring is readable while it has any message. So that only wakeups count,
// they are edges of an epoll of our own.
Status BpfSession::Impl::MapRings() {
  wakeups = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  if (!wakeups) return FailErrno("epoll", errno);
  for (const int map : objects->rings()) {
    rings.emplace_back(ring_buffer__new(map, OnMessage, this, nullptr));
    if (!rings.back()) return ExplainFailure("cannot map the ring buffer", errno, log);
    epoll_event wakeup = {.events = EPOLLIN | EPOLLET, .data = {}};
    if (epoll_ctl(wakeups.get(), EPOLL_CTL_ADD, map, &wakeup) != 0) {
      return FailErrno("waiting for samples", errno);
    }
  }
  return {};
}

// The wakeups until now are for messages that are drained now.
void BpfSession::Impl::ForgetWakeups() const {
  epoll_event wakeup = {};
  while (epoll_wait(wakeups.get(), &wakeup, 1, 0) > 0) {
  }
}

// libbpf consumes the message whatever this returns, and stops if it is negative.
int BpfSession::Impl::OnMessage(void* impl, void* message, std::size_t size) {
  Impl& self = *static_cast<Impl*>(impl);
  (*self.handle_message)(Bytes(static_cast<const std::byte*>(message), size));
  ++self.message_count;
  if (size >= self.bytes_left) return -ECANCELED;
  self.bytes_left -= size;
  return 0;
}

BpfSession::BpfSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BpfSession::BpfSession(BpfSession&&) noexcept = default;
BpfSession& BpfSession::operator=(BpfSession&&) noexcept = default;
BpfSession::~BpfSession() = default;

Result<BpfSession> BpfSession::Load(const BpfOptions& options) {
  TRY(CheckRingBytes(options.ring_bytes));
  auto impl = std::make_unique<Impl>();
  impl->user_log = options.log;
  impl->events = options.events;
  impl->ring_bytes = options.ring_bytes;
  const CapturedLog captured(impl->log, &options.log);

  TRY_ASSIGN(BpfObjects objects, BpfObjects::Load(options, impl->log));
  impl->objects.emplace(std::move(objects));
  impl->log.clear();  // what failed to load had a substitute
  TRY_ASSIGN(impl->counters, CpuCounters::Map(impl->objects->counters(), options.events.size(),
                                              impl->objects->cpus()));
  if (options.callchains == Callchains::kUnwindTables) {
    TRY_ASSIGN(impl->unwind_maps,
               MappedUnwindMaps::Map(impl->objects->unwind_maps(), impl->objects->cpus()));
  }
  TRY(impl->AddTargets(options.filter));
  impl->by_process = options.filter.by_process();
  if (impl->by_process) {
    for (bpf_program* adder : impl->objects->process_adders()) TRY(impl->Follow(adder));
  }
  TRY(impl->MapRings());
  return BpfSession(std::move(impl));
}

Status BpfSession::AttachTo(std::uint32_t event, std::span<const CpuEvent> opened) {
  const CapturedLog captured(impl_->log, &impl_->user_log);
  const BpfObjects& objects = *impl_->objects;
  // After the events are open, so that sched:sched_process_exit is recorded before its process is
  // no longer a target.
  if (impl_->by_process && !impl_->follows_exits) {
    TRY(impl_->Follow(objects.process_remover()));
    impl_->follows_exits = true;
  }
  const SampleCause cause = impl_->events[event].cause;
  // StartMeasuring attaches the programs.
  if (IsOffCpu(cause) || cause == SampleCause::kLatency) return {};
  if (!HasPerfEvent(cause)) {
    for (bpf_program* program : objects.ProgramsOf(event)) {
      Link link(bpf_program__attach(program));
      if (!link) return ExplainFailure("cannot attach a BPF program", errno, impl_->log);
      impl_->program_links.push_back(std::move(link));
    }
    return {};
  }
  const bool is_per_cpu = IsPerCpu(cause);
  std::vector<UniqueFd>& links = is_per_cpu ? impl_->event_links : impl_->tracepoint_links;
  const auto cookie = objects.uses_cookies() ? std::optional<std::uint64_t>(event) : std::nullopt;
  const int program = bpf_program__fd(objects.ProgramsOf(event).front());
  for (const CpuEvent& on_cpu : opened) {
    TRY_ASSIGN(UniqueFd link, LinkToEvent(program, on_cpu, cookie));
    links.push_back(std::move(link));
  }
  return {};
}

void BpfSession::DetachTracepoints() {
  impl_->program_links.clear();
  CloseAll(std::exchange(impl_->tracepoint_links, {}));
}

Status BpfSession::StartMeasuring() {
  const CapturedLog captured(impl_->log, &impl_->user_log);
  if (LatencyPrograms* const programs = impl_->objects->latency()) TRY(programs->Start(impl_->log));
  OffCpuPrograms* const programs = impl_->objects->off_cpu();
  return programs != nullptr ? programs->Start(impl_->log) : Status();
}

Result<std::vector<LatencyCounts>> BpfSession::DrainLatency() {
  LatencyPrograms* const programs = impl_->objects->latency();
  return programs != nullptr ? programs->Drain() : std::vector<LatencyCounts>();
}

std::uint64_t BpfSession::MissedRuns(std::uint32_t event) const {
  const LatencyPrograms* const programs = impl_->objects->latency();
  return programs != nullptr ? programs->MissedRuns(event) : 0;
}

Status BpfSession::StopMeasuring() {
  const CapturedLog captured(impl_->log, &impl_->user_log);
  if (LatencyPrograms* const programs = impl_->objects->latency()) programs->Stop();
  OffCpuPrograms* const programs = impl_->objects->off_cpu();
  return programs != nullptr ? programs->Stop(impl_->log) : Status();
}

Result<std::size_t> BpfSession::Drain(const std::function<void(Bytes)>& on_message) {
  impl_->handle_message = &on_message;
  impl_->message_count = 0;
  impl_->ForgetWakeups();
  int failure = 0;
  for (const RingReader& ring : impl_->rings) {
    impl_->bytes_left = impl_->ring_bytes;
    const int outcome = ring_buffer__consume(ring.get());
    if (outcome < 0 && outcome != -ECANCELED) failure = -outcome;
  }
  impl_->handle_message = nullptr;
  if (failure != 0) return FailErrno("the ring buffer", failure);
  return impl_->message_count;
}

int BpfSession::poll_fd() const {
  return impl_->wakeups.get();
}

std::vector<wire_cpu> BpfSession::Counters(std::uint32_t event) const {
  return impl_->counters.Copy(event);
}

std::uint64_t BpfSession::SkippedHits() const {
  std::uint64_t skipped = 0;
  std::set<const bpf_program*> counted;
  for (std::uint32_t event = 0; event < impl_->events.size(); ++event) {
    if (impl_->events[event].cause != SampleCause::kTracepoint) continue;
    const bpf_program* const program = impl_->objects->ProgramsOf(event).front();
    if (counted.insert(program).second) skipped += SkippedRuns(program);
  }
  return skipped;
}

const MappedUnwindMaps& BpfSession::unwind_maps() const {
  return impl_->unwind_maps;
}

Status BpfSession::FollowCgroup(std::uint32_t index, const OpenCgroup& cgroup) {
  return impl_->FollowCgroup(index, cgroup);
}

Status BpfSession::SwitchOff(std::uint32_t event) {
  if (!IsOffCpu(impl_->events[event].cause)) {
    impl_->counters.SwitchOff(event);
    return {};
  }
  const CapturedLog captured(impl_->log, &impl_->user_log);
  OffCpuPrograms* const programs = impl_->objects->off_cpu();
  return programs != nullptr ? programs->Pause(impl_->log) : Status();
}

Status BpfSession::SwitchOn(std::uint32_t event) {
  const SampleCause cause = impl_->events[event].cause;
  if (IsOffCpu(cause)) {
    const CapturedLog captured(impl_->log, &impl_->user_log);
    OffCpuPrograms* const programs = impl_->objects->off_cpu();
    return programs != nullptr ? programs->Resume(impl_->log) : Status();
  }
  // The time in between is no missed expiry.
  if (IsPerCpu(cause)) {
    for (std::size_t cpu = 0; cpu < impl_->counters.cpus(); ++cpu) {
      impl_->counters.RestartTimer(event, cpu);
    }
  }
  impl_->counters.SwitchOn(event);
  return {};
}

void BpfSession::RestartTimer(std::uint32_t event, int cpu) {
  impl_->counters.RestartTimer(event, static_cast<std::size_t>(cpu));
}

void BpfSession::SampleOneIn(std::uint32_t event, std::uint64_t divisor) {
  for (std::size_t cpu = 0; cpu < impl_->counters.cpus(); ++cpu) {
    impl_->counters.SetDivisor(event, cpu, divisor);
  }
}

void BpfSession::RecordOnly(std::uint32_t event, std::span<const int> cpus) {
  for (std::size_t cpu = 0; cpu < impl_->counters.cpus(); ++cpu) {
    if (std::ranges::find(cpus, static_cast<int>(cpu)) != cpus.end()) continue;
    impl_->counters.Exclude(event, cpu);
  }
}

}  // namespace perftape::record

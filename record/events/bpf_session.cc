// SPDX-License-Identifier: Apache-2.0
#include "record/events/bpf_session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

#include "on_cpu.skel.h"
#include "record/events/cpu_counters.h"
#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

// The default of pid_max. The map has two megabytes and exists only if processes are filtered.
constexpr std::uint32_t kMaxTargetProcesses = 32768;

constexpr std::uint32_t kWakeupBytes = 64 << 10;

// libbpf's messages. libbpf has one print function for the whole program and passes it no context.
struct LogCapture {
  std::string* log = nullptr;  // for errors to quote
  const LibbpfLog* user = nullptr;
};
thread_local LogCapture current_log;

int AppendToLog(libbpf_print_level level, const char* format, va_list arguments) {
  if (current_log.log == nullptr) return 0;
  const bool has_user = static_cast<bool>(*current_log.user);
  if (level > (has_user ? LIBBPF_DEBUG : LIBBPF_WARN)) return 0;
  char buffer[1024];
  const int length = std::vsnprintf(buffer, sizeof buffer, format, arguments);
  if (length <= 0) return length;
  std::string_view message(buffer, std::min(static_cast<std::size_t>(length), sizeof buffer - 1));
  current_log.log->append(message);
  if (message.ends_with('\n')) message.remove_suffix(1);
  if (has_user) (*current_log.user)(message);
  return length;
}

// Sends libbpf's messages of this thread to `log`, and to `user` if it is set, during its lifetime.
class CapturedLog {
 public:
  CapturedLog(std::string& log, const LibbpfLog& user) {
    libbpf_set_print(AppendToLog);
    current_log = {.log = &log, .user = &user};
  }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;
  ~CapturedLog() { current_log = {}; }
};

struct DestroySkeleton {
  void operator()(on_cpu_bpf* skeleton) const { on_cpu_bpf__destroy(skeleton); }
};
struct FreeRing {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};
struct DestroyLink {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
using Link = std::unique_ptr<bpf_link, DestroyLink>;

Status CheckRingBytes(std::size_t bytes) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  constexpr std::size_t kMost = std::size_t{1} << 30;
  if (std::has_single_bit(bytes) && bytes >= page && bytes <= kMost) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("a ring buffer of {} bytes: it takes a power of two, from {} to {}",
                          bytes, page, kMost));
}

// Returns the inode of the pid namespace, or 0 for the initial one (include/linux/proc_ns.h,
// PROC_PID_INIT_INO), which needs no translation of ids.
std::uint32_t PidNamespace() {
  constexpr std::uint32_t kInitial = 0xEFFFFFFC;
  struct stat ns {};
  if (stat("/proc/self/ns/pid", &ns) != 0) return 0;
  const auto inode = static_cast<std::uint32_t>(ns.st_ino);
  return inode == kInitial ? 0 : inode;
}

wire_filter WireFilter(const BpfOptions& options) {
  const SampleFilter& filter = options.filter;
  const std::size_t half_ring = options.ring_bytes / 2;
  return {
      .by_process = filter.by_process(),
      .by_thread = !filter.threads.empty(),
      .by_uid = filter.user.has_value(),
      .uid = filter.user.value_or(0),
      .excluded_pid = static_cast<__u32>(filter.excluded_process.value_or(0)),
      .command_pid = static_cast<__u32>(filter.command.value_or(0)),
      .callchain = options.callchains != Callchains::kNone,
      .pid_namespace = PidNamespace(),
      .wakeup_bytes = static_cast<__u32>(std::min<std::size_t>(kWakeupBytes, half_ring)),
      .pad = 0,
      .period_ns = options.period_ns,
  };
}

bpf_program* SamplingProgram(const on_cpu_bpf& skeleton, ExpirySource source) {
  return source == ExpirySource::kKernelIfPossible ? skeleton.progs.on_cpu
                                                   : skeleton.progs.on_cpu_by_time;
}

void Configure(on_cpu_bpf& skeleton, const BpfOptions& options, ExpirySource source,
               std::size_t cpus) {
  skeleton.rodata->filter = WireFilter(options);
  bpf_program__set_autoload(skeleton.progs.on_cpu, false);
  bpf_program__set_autoload(skeleton.progs.on_cpu_by_time, false);
  bpf_program__set_autoload(SamplingProgram(skeleton, source), true);
  bpf_map__set_max_entries(skeleton.maps.cpus, static_cast<__u32>(cpus));
  bpf_map__set_max_entries(skeleton.maps.ring, static_cast<__u32>(options.ring_bytes));
  const SampleFilter& filter = options.filter;
  if (!filter.threads.empty()) {
    bpf_map__set_max_entries(skeleton.maps.target_threads,
                             static_cast<__u32>(filter.threads.size()));
  }
  if (filter.by_process()) {
    bpf_map__set_max_entries(skeleton.maps.target_processes, kMaxTargetProcesses);
  }
  for (bpf_program* tracker :
       {skeleton.progs.follow_fork, skeleton.progs.follow_exec, skeleton.progs.follow_exit}) {
    bpf_program__set_autoload(tracker, filter.by_process());
  }
}

// Returns the last lines of the log, which have the reason. The verifier's log before them is long.
std::string Tail(const std::string& log) {
  constexpr std::size_t kMost = 600;
  std::string_view tail = log;
  if (tail.size() > kMost) {
    tail.remove_prefix(tail.size() - kMost);
    tail.remove_prefix(std::min(tail.find('\n') + 1, tail.size()));
  }
  while (tail.ends_with('\n')) tail.remove_suffix(1);
  return std::string(tail);
}

std::unexpected<Error> ExplainFailure(const char* what, int error_number, const std::string& log) {
  const SystemFacts facts = ReadSystemFacts();
  const std::vector<std::string> missing = CheckFacts(facts).missing;
  if (!missing.empty()) {
    return Fail(facts.has_btf ? ErrorCode::kPermission : ErrorCode::kUnsupported,
                fmt::format("{}: {}", what, fmt::join(missing, "; ")));
  }
  std::string message = fmt::format("{}: {}", what, std::strerror(error_number));
  if (error_number == EPERM || error_number == ENOMEM) {
    message += " (before Linux 5.11 this may be RLIMIT_MEMLOCK: 'ulimit -l unlimited')";
  }
  if (!log.empty()) message += "\n" + Tail(log);
  return Fail(error_number == EPERM || error_number == EACCES ? ErrorCode::kPermission
                                                              : ErrorCode::kUnsupported,
              std::move(message));
}

Status AddKey(const bpf_map* map, pid_t key) {
  const std::uint8_t present = 1;
  if (bpf_map_update_elem(bpf_map__fd(map), &key, &present, BPF_ANY) != 0) {
    return FailErrno(fmt::format("filtering by {}", key), errno);
  }
  return {};
}

// Attaches the program with a link (Linux 5.15) or, before that, to the event itself. Unlike
// libbpf's attach, neither owns the descriptor or starts the event.
Result<UniqueFd> LinkToEvent(int program, const CpuEvent& event) {
  const int link = bpf_link_create(program, event.fd.get(), BPF_PERF_EVENT, nullptr);
  if (link >= 0) return UniqueFd(link);
  const int link_error = errno;
  if (link_error == EINVAL && ioctl(event.fd.get(), PERF_EVENT_IOC_SET_BPF, program) == 0) {
    return UniqueFd();
  }
  return FailErrno(fmt::format("CPU {}: attaching the sampling program", event.cpu), link_error);
}

}  // namespace

struct BpfSession::Impl {
  std::string log;
  LibbpfLog user_log;
  bool by_process = false;
  std::unique_ptr<on_cpu_bpf, DestroySkeleton> skeleton;
  bpf_program* sampling_program = nullptr;
  CpuCounters cpus;
  std::unique_ptr<ring_buffer, FreeRing> ring;
  std::vector<Link> process_links;
  std::vector<UniqueFd> event_links;

  // State of the running Drain.
  const std::function<void(Bytes)>* handle_message = nullptr;
  std::size_t message_count = 0;
  std::size_t bytes_left = 0;
  std::size_t ring_bytes = 0;

  Status LoadSkeleton(const BpfOptions& options, ExpirySource source);
  Status AddTargets(const SampleFilter& filter);
  Status FollowProcesses();
  static int OnMessage(void* impl, void* message, std::size_t size);
};

Status BpfSession::Impl::LoadSkeleton(const BpfOptions& options, ExpirySource source) {
  const int possible = libbpf_num_possible_cpus();
  if (possible < 0) return FailErrno("counting the CPUs", -possible);
  const auto cpu_count = static_cast<std::size_t>(possible);
  log.clear();
  skeleton.reset(on_cpu_bpf__open());
  if (!skeleton) return ExplainFailure("cannot open the BPF programs", errno, log);
  Configure(*skeleton, options, source, cpu_count);
  if (const int error = on_cpu_bpf__load(skeleton.get()); error != 0) {
    return ExplainFailure("cannot load the BPF programs", -error, log);
  }
  sampling_program = SamplingProgram(*skeleton, source);
  TRY_ASSIGN(cpus, CpuCounters::Map(bpf_map__fd(skeleton->maps.cpus), cpu_count));
  return {};
}

Status BpfSession::Impl::AddTargets(const SampleFilter& filter) {
  for (const pid_t pid : filter.processes) TRY(AddKey(skeleton->maps.target_processes, pid));
  for (const pid_t tid : filter.threads) TRY(AddKey(skeleton->maps.target_threads, tid));
  return {};
}

Status BpfSession::Impl::FollowProcesses() {
  for (bpf_program* tracker :
       {skeleton->progs.follow_fork, skeleton->progs.follow_exec, skeleton->progs.follow_exit}) {
    Link link(bpf_program__attach(tracker));
    if (!link) return ExplainFailure("cannot follow processes", errno, log);
    process_links.push_back(std::move(link));
  }
  return {};
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
  impl->by_process = options.filter.by_process();
  impl->ring_bytes = options.ring_bytes;
  const CapturedLog captured(impl->log, options.log);

  // Before Linux 6.2, or without the JIT, a program can read only the registers, not its event.
  Status loaded = impl->LoadSkeleton(options, options.expiry_source);
  if (!loaded && options.expiry_source == ExpirySource::kKernelIfPossible) {
    loaded = impl->LoadSkeleton(options, ExpirySource::kOwnClock);
  }
  TRY(std::move(loaded));
  TRY(impl->AddTargets(options.filter));
  impl->ring.reset(ring_buffer__new(bpf_map__fd(impl->skeleton->maps.ring), Impl::OnMessage,
                                    impl.get(), nullptr));
  if (!impl->ring) return ExplainFailure("cannot map the ring buffer", errno, impl->log);
  return BpfSession(std::move(impl));
}

Status BpfSession::AttachTo(std::span<const CpuEvent> events) {
  const CapturedLog captured(impl_->log, impl_->user_log);
  if (impl_->by_process && impl_->process_links.empty()) TRY(impl_->FollowProcesses());
  const int program = bpf_program__fd(impl_->sampling_program);
  for (const CpuEvent& event : events) {
    TRY_ASSIGN(UniqueFd link, LinkToEvent(program, event));
    impl_->event_links.push_back(std::move(link));
  }
  return {};
}

Result<std::size_t> BpfSession::Drain(const std::function<void(Bytes)>& on_message) {
  impl_->handle_message = &on_message;
  impl_->message_count = 0;
  impl_->bytes_left = impl_->ring_bytes;
  const int outcome = ring_buffer__consume(impl_->ring.get());
  impl_->handle_message = nullptr;
  if (outcome < 0 && outcome != -ECANCELED) return FailErrno("the ring buffer", -outcome);
  return impl_->message_count;
}

int BpfSession::poll_fd() const {
  return ring_buffer__epoll_fd(impl_->ring.get());
}

std::vector<wire_cpu> BpfSession::Counters() const {
  return impl_->cpus.Copy();
}

void BpfSession::RestartTimer(int cpu) {
  impl_->cpus.RestartTimer(static_cast<std::size_t>(cpu));
}

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/off_cpu_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "off_cpu.skel.h"
#include "record/bpf/kernel_facts.h"
#include "record/bpf/skeleton.h"
#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

// What older kernels lack.
struct KernelAge {
  bool has_sleepable_iterators = true;  // Linux 6.1, to read user stacks of threads that wait
  bool has_prev_state = true;           // Linux 5.18: sched_switch passes the state of the thread
};
constexpr KernelAge kAges[] = {{}, {.has_sleepable_iterators = false}, {false, false}};

Result<Skeleton<off_cpu_bpf>> LoadSkeleton(const KernelAge& age, const wire_filter& filter,
                                           const wire_off_cpu& settings,
                                           const std::function<Status(bpf_object*)>& share_maps,
                                           const std::string& log) {
  TRY_ASSIGN(Skeleton<off_cpu_bpf> skeleton, OpenSkeleton<off_cpu_bpf>(log));
  skeleton->rodata->filter = filter;
  skeleton->rodata->off_cpu = settings;
  skeleton->rodata->off_cpu.has_prev_state = age.has_prev_state;
  bpf_program__set_autoload(skeleton->progs.on_waking, settings.wakeup_event != WIRE_NO_EVENT);
  bpf_program__set_autoload(skeleton->progs.at_start, age.has_sleepable_iterators);
  bpf_program__set_autoload(skeleton->progs.at_start_without_stacks, !age.has_sleepable_iterators);
  SizeStoredStacks(skeleton->maps.stored_stacks, settings.stacks, filter);
  TRY(share_maps(skeleton->obj));
  if (const int error = off_cpu_bpf__load(skeleton.get()); error != 0) {
    return ExplainFailure("cannot load the BPF programs that measure waits", -error, log);
  }
  return skeleton;
}

wire_off_cpu WithSchedulerText(wire_off_cpu settings) {
  if (const std::optional<SchedulerText> text = LookUpSchedulerText()) {
    settings.sched_text = text->start;
    settings.sched_text_end = text->end;
    settings.schedule = text->schedule;
  }
  return settings;
}

// Runs an iterator program once for each task.
Status RunOnTasks(const bpf_program* program, const std::string& log) {
  const Link link(bpf_program__attach_iter(program, nullptr));
  if (!link) return ExplainFailure("cannot visit the threads", errno, log);
  const UniqueFd visit(bpf_iter_create(bpf_link__fd(link.get())));
  if (visit.get() < 0) return FailErrno("visiting the threads", errno);
  char unused[64];
  for (;;) {
    const ssize_t size = read(visit.get(), unused, sizeof unused);
    if (size == 0) return {};
    if (size < 0 && errno != EINTR && errno != EAGAIN) {
      return FailErrno("visiting the threads", errno);
    }
  }
}

}  // namespace

struct OffCpuPrograms::Impl {
  Skeleton<off_cpu_bpf> skeleton;
  std::vector<Link> links;

  bool is_paused() const { return skeleton->bss->is_stopped != 0; }

  // Waits that began earlier count from here on.
  Status StartWaits(const std::string& log) const {
    const auto& programs = skeleton->progs;
    return RunOnTasks(bpf_program__autoload(programs.at_start) ? programs.at_start
                                                               : programs.at_start_without_stacks,
                      log);
  }

  // Sends the waits that have not ended and the sums of short ones.
  Status EndWaits(const std::string& log) const {
    const bpf_program* const at_start = skeleton->progs.at_start;
    if (bpf_program__autoload(at_start)) TRY(RunOnTasks(at_start, log));
    skeleton->bss->is_stopped = 1;
    return RunOnTasks(skeleton->progs.at_end, log);
  }

  Status Attach(const bpf_program* program, const std::string& log) {
    Link link(bpf_program__attach(program));
    if (!link) return ExplainFailure("cannot follow the scheduler", errno, log);
    links.push_back(std::move(link));
    return {};
  }
};

OffCpuPrograms::OffCpuPrograms(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OffCpuPrograms::OffCpuPrograms(OffCpuPrograms&&) noexcept = default;
OffCpuPrograms& OffCpuPrograms::operator=(OffCpuPrograms&&) noexcept = default;
OffCpuPrograms::~OffCpuPrograms() = default;

// struct stored_stack of bpf/stored_stack.bpf.h, with the step of its copies.
std::uint32_t StoredStackBytes(std::uint32_t stack_bytes) {
  constexpr std::uint32_t kStep = 4096;
  return static_cast<std::uint32_t>(2 * sizeof(std::uint64_t) + sizeof(wire_user_state)) +
         stack_bytes + kStep;
}

void SizeStoredStacks(bpf_map* map, std::uint32_t stacks, const wire_filter& filter) {
  if (stacks == 0) return;
  const __u32 stack_bytes = filter.stack_bytes != 0 ? filter.stack_bytes : filter.late_bytes;
  bpf_map__set_max_entries(map, stacks + 1);
  bpf_map__set_value_size(map, StoredStackBytes(stack_bytes));
}

Status CheckOffCpuSupport() {
  const SystemFacts facts = ReadSystemFacts();
  if (!facts.has_btf) return FailMissing(ErrorCode::kUnsupported, "", {Missing(Requirement::kBtf)});
  // Without them, the kernel refuses every map.
  if (const std::optional<Finding> capabilities = MissingCapabilities(facts)) {
    return FailMissing(ErrorCode::kPermission, "", {*capabilities});
  }
  if (libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, nullptr) == 0) {
    return FailMissing(ErrorCode::kUnsupported, "", {Missing(Requirement::kTaskStorage)});
  }
  return {};
}

Result<OffCpuPrograms> OffCpuPrograms::Load(const wire_filter& filter, const wire_off_cpu& settings,
                                            const std::function<Status(bpf_object*)>& share_maps,
                                            const std::string& log) {
  auto impl = std::make_unique<Impl>();
  Result<Skeleton<off_cpu_bpf>> skeleton = Fail(ErrorCode::kUnsupported, "");
  const wire_off_cpu with_text = WithSchedulerText(settings);
  for (const KernelAge& age : kAges) {
    skeleton = LoadSkeleton(age, filter, with_text, share_maps, log);
    if (skeleton) break;
  }
  if (!skeleton) return Fail(std::move(skeleton).error());
  impl->skeleton = *std::move(skeleton);
  return OffCpuPrograms(std::move(impl));
}

Status OffCpuPrograms::Start(const std::string& log) {
  const auto& programs = impl_->skeleton->progs;
  TRY(impl_->Attach(programs.on_switch, log));
  TRY(impl_->Attach(programs.on_wakeup, log));
  TRY(impl_->Attach(programs.on_wakeup_new, log));
  if (bpf_program__autoload(programs.on_waking)) TRY(impl_->Attach(programs.on_waking, log));
  return impl_->is_paused() ? Status() : impl_->StartWaits(log);
}

Status OffCpuPrograms::Pause(const std::string& log) {
  if (impl_->is_paused()) return {};
  if (!impl_->links.empty()) return impl_->EndWaits(log);
  impl_->skeleton->bss->is_stopped = 1;
  return {};
}

Status OffCpuPrograms::Resume(const std::string& log) {
  if (!impl_->is_paused()) return {};
  impl_->skeleton->bss->is_stopped = 0;
  return impl_->links.empty() ? Status() : impl_->StartWaits(log);
}

Status OffCpuPrograms::Stop(const std::string& log) {
  if (impl_->links.empty()) return {};
  const Status ended = impl_->is_paused() ? Status() : impl_->EndWaits(log);
  impl_->links.clear();
  return ended;
}

}  // namespace perftape::record

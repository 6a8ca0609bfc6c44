// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/unwind_loader.h"

#include <linux/perf_event.h>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "formats/base/duration.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/record_cursor.h"
#include "record/events/event_attrs.h"
#include "record/machine/clock.h"
#include "record/machine/cpu_list.h"
#include "record/processes/proc_snapshot.h"

namespace perftape::record {
namespace {

constexpr SidebandOptions kRings = {.ring_bytes = std::size_t{128} << 10};

// The rings wake the thread. It looks so often for tables that are hit and not in the maps, and for
// CPUs that returned.
constexpr std::chrono::milliseconds kLookInterval{50};

// The sideband event, which wakes its reader at each record.
perfdata::EventAttr AttrOfOwnRings() {
  perfdata::EventAttr attr = SidebandAttr();
  attr.flags &= ~static_cast<std::uint64_t>(perfdata::kAttrKsymbol | perfdata::kAttrBpfEvent);
  attr.flags |= perfdata::kWatermark;
  attr.wakeup_events = 1;  // wakeup_watermark, in bytes
  return attr;
}

// The recording begins after this time, even if tables are missing.
constexpr std::chrono::milliseconds kLongestStart{1000};

// What no process maps is looked for once in this time. The search visits all mappings of all
// processes. So on a large machine it is longer, up to ten times, for a hundredth of a CPU.
constexpr std::uint64_t kForgetIntervalNs = kNsPerSecond;

std::uint64_t ForgetIntervalNs(std::uint64_t cpu_ns) {
  return std::clamp(100 * cpu_ns, kForgetIntervalNs, 10 * kForgetIntervalNs);
}

// The CPU time of this thread. The time of a clock would include that of others on a busy machine.
std::uint64_t ThreadCpuNs() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kNsPerSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// The allocator returns its free memory to the system after so many bytes of tables were read or
// forgotten.
constexpr std::uint64_t kTrimmedTableBytes = std::uint64_t{8} << 20;

// Its EXIT may be lost.
bool HasEnded(std::uint32_t pid) {
  std::error_code ignored;
  return pid != 0 && !std::filesystem::exists("/proc/" + std::to_string(pid), ignored);
}

struct TimedRecord {
  std::uint64_t time_ns = 0;
  std::vector<std::byte> bytes;
};

}  // namespace

UnwindLoader::UnwindLoader(const UnwindMaps& maps, KnownBinaries& binaries, OthersFiles& files,
                           LoadTimes& loads)
    : format_(perfdata::FormatOf(AttrOfOwnRings())),
      loads_(loads),
      processes_(format_, maps, binaries, files) {}

UnwindLoader::~UnwindLoader() {
  is_ending_ = true;
  is_late_ = true;
}

Result<std::unique_ptr<UnwindLoader>> UnwindLoader::Start(const UnwindMaps& maps,
                                                          KnownBinaries& binaries,
                                                          OthersFiles& files, LoadTimes& loads,
                                                          const UnwoundProcesses& processes) {
  std::unique_ptr<UnwindLoader> loader(new UnwindLoader(maps, binaries, files, loads));
  TRY(loader->OpenRings());
  TRY(loader->LoadRunning(processes));
  TRY_ASSIGN(BackgroundDrain thread,
             BackgroundDrain::Start({.readable_fd = loader->rings_->poll_fd(),
                                     .interval = kLookInterval,
                                     .longest_first = kLongestStart},
                                    [loader = loader.get()] { return loader->Update(); }));
  loader->is_late_ = true;
  loader->thread_.emplace(std::move(thread));
  return loader;
}

Status UnwindLoader::OpenRings() {
  TRY_ASSIGN(const std::vector<int> online, OnlineCpus());
  TRY_ASSIGN(events_, OpenOnCpus(AttrOfOwnRings(), online));
  TRY_ASSIGN(Sideband rings, Sideband::Open(events_, kRings));
  rings_.emplace(std::move(rings));
  return {};
}

// The rings are open already, so that no mapping is missed. The thread reads the binaries: until
// then samples are unfinished (late_unwinder.h).
Status UnwindLoader::LoadRunning(const UnwoundProcesses& processes) {
  processes_.IgnoreUntilExec(processes.ignored);
  if (processes.only) {
    processes_.FollowOnly(*processes.only);
    TRY(SnapshotProcesses("/proc", *processes.only, format_, initial_state_));
  } else {
    TRY(SnapshotAll("/proc", format_, initial_state_));
  }
  processes_.ApplyAll(initial_state_);
  return {};
}

void UnwindLoader::FollowAgain(int cpu) {
  const std::lock_guard lock(returned_mutex_);
  returned_cpus_.push_back(cpu);
}

// A CPU that is gone again is reported again when it returns.
Status UnwindLoader::ReopenReturned() {
  std::vector<int> cpus;
  {
    const std::lock_guard lock(returned_mutex_);
    cpus.swap(returned_cpus_);
  }
  for (const int cpu : cpus) {
    const int only[] = {cpu};
    Result<std::vector<CpuEvent>> opened = OpenOnCpus(AttrOfOwnRings(), only);
    if (!opened) continue;
    TRY(rings_->Replace(opened->front()));
    std::erase_if(events_, [&](const CpuEvent& event) { return event.cpu == cpu; });
    events_.push_back(std::move(opened->front()));
    must_read_again_ = true;
  }
  return {};
}

// What the thread does, with the priority of the recorder: other users decide how much it is.
// Mappings come first, because a binary may take long to read, and then other processes would wait
// for their mappings.
Status UnwindLoader::Update() {
  TRY(ReopenReturned());
  TRY(DrainRings());
  if (!std::exchange(has_started_, true)) {
    processes_.ReadFirstBinaries(MonotonicNs(), is_late_);
  }
  WriteChanged();
  while (processes_.has_unread() && !is_ending_) {
    processes_.ReadNextBinary(MonotonicNs(), is_ending_);
    TRY(DrainRings());
    WriteChanged();
  }
  // The record that woke the thread may be too young for the first time of a load.
  TRY(DrainRings());
  WriteChanged();
  ForgetUnmapped();
  processes_.LoadMissingTables(MonotonicNs());
  return {};
}

// A record may have its time and not be in its ring yet, for some microseconds.
void UnwindLoader::WriteChanged() {
  constexpr std::uint64_t kLongestWriteNs = 20'000;
  processes_.WriteChanged(MonotonicNs());
  loads_.Add(drained_ns_ - kLongestWriteNs, MonotonicNs());
}

// The records of several CPUs are only in order of time for each CPU.
Status UnwindLoader::DrainRings() {
  drained_ns_ = MonotonicNs();
  std::vector<TimedRecord> batch;
  TRY(rings_->Drain([&](Bytes bytes) {
    const std::optional<perfdata::RecordView> record = perfdata::AsRecord(bytes);
    if (!record) return;
    batch.push_back({.time_ns = perfdata::DecodeSampleId(*record, format_).time,
                     .bytes = {bytes.begin(), bytes.end()}});
  }));
  std::ranges::stable_sort(batch, {}, &TimedRecord::time_ns);
  for (const TimedRecord& record : batch) processes_.Apply(*perfdata::AsRecord(record.bytes));
  const bool has_lost_records = processes_.HasLostRecords();
  if (!std::exchange(must_read_again_, false) && !has_lost_records) return {};
  std::vector<std::byte> records;
  TRY(SnapshotAll("/proc", format_, records));
  processes_.ApplyAll(records);
  processes_.ForgetIf(HasEnded);
  return {};
}

// A machine that compiles has new binaries all the time.
void UnwindLoader::ForgetUnmapped() {
  const std::uint64_t start_ns = MonotonicNs();
  if (start_ns < next_forget_ns_) return;
  const std::uint64_t start_cpu_ns = ThreadCpuNs();
  if (!processes_.ForgetUnmapped(start_ns)) return;
  ReturnFreeMemory();
  next_forget_ns_ = MonotonicNs() + ForgetIntervalNs(ThreadCpuNs() - start_cpu_ns);
}

// Several threads build tables, and each has an arena of the allocator, which keeps what is free
// between the blocks in use.
void UnwindLoader::ReturnFreeMemory() {
  if (processes_.changed_table_bytes() - trimmed_at_ < kTrimmedTableBytes) return;
  trimmed_at_ = processes_.changed_table_bytes();
#if defined(__GLIBC__)
  (void)malloc_trim(0);
#endif
}

}  // namespace perftape::record

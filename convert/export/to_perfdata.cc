// SPDX-License-Identifier: Apache-2.0
#include "convert/export/to_perfdata.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "convert/export/address_plan.h"
#include "convert/export/perfdata_events.h"
#include "convert/export/rank.h"
#include "convert/export/sample_plan.h"
#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"
#include "formats/base/duration.h"
#include "formats/base/text.h"
#include "formats/perfdata/converted.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/mapping_name.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/writer.h"

namespace perftape::convert {
namespace {

using perfdata::CpuMode;
using perfdata::MiscOf;

// After this many samples a FINISHED_ROUND lets perf deliver the records that it holds back.
constexpr std::uint64_t kSamplesInARound = 16'384;
// Leaves room for the other fields in the largest record. perf reads names of this length.
constexpr std::size_t kLongestName = 65'000;
constexpr std::size_t kLongestChain = 8'000;
// If the profile has no start time: any time but 0, which perf reads as "no time".
constexpr std::uint64_t kSomeTime = kNsPerSecond;
// Distance of invented times. perf prints different times then.
constexpr std::uint64_t kStep = 1'000;
constexpr std::string_view kNoThreadName = "[no-thread]";
constexpr std::uint32_t kNoCpu = static_cast<std::uint32_t>(-1);

// Returns the name that a record can hold. A long name ends in a hash, so that names stay distinct.
std::string FitName(std::string_view name, std::uint64_t& cut) {
  std::string fit(name);
  std::ranges::replace(fit, '\0', ' ');
  if (fit.size() > kLongestName) {
    std::size_t size = kLongestName - 20;
    while (size > 0 && (static_cast<unsigned char>(fit[size]) & 0xc0) == 0x80) --size;
    fit = fmt::format("{}...{:016x}", fit.substr(0, size), XXH3_64bits(name.data(), name.size()));
  }
  if (fit != name) ++cut;
  return fit;
}

// The times of samples without a time: evenly spaced from the first to the last.
class Clock {
 public:
  Clock(const Metadata& metadata, const SamplePlan& plan) {
    if (plan.has_times) {
      span_ = {plan.first_time_ns, plan.last_time_ns, true};
      return;
    }
    const std::int64_t start = metadata.start_time_ns.value_or(0);
    span_.is_wall_clock = start > 0;
    span_.first_ns = start > 0 ? static_cast<std::uint64_t>(start) : kSomeTime;
    gaps_ = std::max<std::uint64_t>(plan.records, 2) - 1;
    is_made_up_ = metadata.duration_ns <= 0;
    length_ = is_made_up_ ? gaps_ * kStep : static_cast<std::uint64_t>(metadata.duration_ns);
    span_.last_ns = span_.first_ns + length_;
  }

  const SampleTimes& span() const { return span_; }
  bool is_made_up() const { return is_made_up_; }

  // Returns the time of the next sample. `label_ns` is the time from its label, or 0.
  std::uint64_t Next(std::uint64_t label_ns) {
    if (label_ns != 0) return label_ns;
    if (gaps_ == 0) return span_.first_ns;
    const std::uint64_t i = std::min(count_++, gaps_);
    return span_.first_ns + length_ / gaps_ * i + length_ % gaps_ * i / gaps_;
  }

 private:
  SampleTimes span_;
  bool is_made_up_ = false;
  std::uint64_t gaps_ = 0, length_ = 0, count_ = 0;
};

class PerfDataExport {
 public:
  PerfDataExport(const Profile& profile, const PerfDataOptions& options)
      : profile_(profile),
        options_(options),
        ranks_(RankAll(profile)),
        samples_(PlanSamples(profile, ranks_, options.most_records)),
        addresses_(profile, ranks_,
                   options.symbol_dir.empty() ? NamesIn::kKsymbols : NamesIn::kSymbolFiles),
        clock_(profile.metadata(), samples_) {}

  Result<PerfDataReport> Run(const std::filesystem::path& output) &&;

 private:
  void LookAtLabels();
  bool WritesWoken(const Sample& sample) const;
  perfdata::NrCpus CpusOfSamples() const;
  void AddFeaturesOfAFile();
  Result<perfdata::Writer> Open(const std::filesystem::path& output);
  Status AddFunctions();
  Status AddMapping(std::uint32_t mapping, std::uint32_t pid, std::uint64_t time_ns);
  Status AddSamples();
  Status AddSample(const PlannedSample& planned);
  Status WriteThread(const PlannedThread& thread, std::uint64_t time_ns);
  Status WriteWoken(const SampleThread& woken, std::uint64_t time_ns);
  Status WriteNewMappings(std::uint32_t pid, std::uint64_t time_ns);
  void SetChain(StackId stack);
  Status Flush();

  template <class Record>
  Status Add(const Record& record, std::uint16_t misc = 0, const perfdata::SampleId& trailer = {}) {
    TRY(Encode(record, trailer, format(), misc, records_));
    return records_.size() < perfdata::kCommitSize ? Status() : Flush();
  }
  const perfdata::SampleFormat& format() const { return events_.front().format; }

  const Profile& profile_;
  const PerfDataOptions& options_;
  const Ranks ranks_;
  const SamplePlan samples_;
  const AddressPlan addresses_;
  Clock clock_;
  std::uint64_t sample_type_ = perfdata::kIdentifier | perfdata::kIp | perfdata::kTid |
                               perfdata::kTime | perfdata::kPeriod | perfdata::kCallchain;
  std::int64_t last_cpu_ = 0;                          // the highest in a label
  std::map<std::string_view, std::uint64_t> cgroups_;  // ids, from 1
  std::vector<perfdata::Event> events_;
  std::vector<perfdata::Feature> features_;
  std::optional<perfdata::Writer> writer_;
  std::vector<std::byte> records_;  // not passed to the writer yet
  PerfDataReport report_;

  std::map<std::uint32_t, PlannedThread> known_threads_;      // by tid, as last written
  std::set<std::pair<std::uint32_t, std::uint32_t>> mapped_;  // pid, mapping
  std::vector<std::uint64_t> chain_;                          // of the current sample
  std::vector<std::uint32_t> chain_mappings_;                 // the mappings of its user frames
};

Result<PerfDataReport> PerfDataExport::Run(const std::filesystem::path& output) && {
  report_.negative_samples = samples_.negative;
  report_.uncounted_samples = samples_.uncounted;
  report_.joined_counts = samples_.joined;
  report_.displaced_frames = addresses_.displaced();
  LookAtLabels();
  events_ = PerfDataEvents(profile_, sample_type_, clock_.is_made_up());
  features_ = PerfDataFeatures(profile_, clock_.span(), report_.lost_facts);
  features_.push_back({perfdata::FeatureBit::kNrCpus, CpusOfSamples()});
  TRY_ASSIGN(perfdata::Writer writer, Open(output));
  writer_.emplace(std::move(writer));

  TRY(AppendEventUpdates(profile_, records_));
  TRY(AddFunctions());
  TRY(Add(perfdata::FinishedRound{}));
  TRY(AddSamples());
  TRY(Add(perfdata::FinishedRound{}));
  TRY(Flush());
  const bool to_pipe = writer_->container() == perfdata::Container::kPipe;
  if (!to_pipe) AddFeaturesOfAFile();
  GeneratedSymbolFiles symbol_files;
  for (const GeneratedSymbolFile& file : addresses_.symbol_files()) {
    TRY(symbol_files.Write(file, options_.symbol_dir));
  }
  TRY(std::move(*writer_).Finish(features_));
  symbol_files.Keep();
  return std::move(report_);
}

// Selects the labels that a record can hold, and reports the others as lost.
// perf 7 warns of a file without this feature, and assumes 4096 CPUs.
perfdata::NrCpus PerfDataExport::CpusOfSamples() const {
  constexpr std::int64_t kMostCpus = 8192;  // of x86-64: arch/x86/Kconfig, NR_CPUS_RANGE_END
  const auto cpus = static_cast<std::uint32_t>(std::min(last_cpu_, kMostCpus - 1)) + 1;
  return {.available = cpus, .online = cpus};
}

void PerfDataExport::LookAtLabels() {
  std::set<std::string_view> lost;
  for (const PlannedSample& planned : samples_.samples) {
    const Sample& sample = profile_.samples()[planned.sample];
    for (const Label& label : profile_[sample.labels]) {
      const std::string_view key = profile_.text(label.key);
      const bool has_thread = sample.thread != ThreadId{};
      if (key == kCpuLabel && label.text == StringId{}) {
        sample_type_ |= perfdata::kCpu;
        if (label.number > 0) last_cpu_ = std::max(last_cpu_, label.number);
      } else if (key == kCgroupLabel && label.text != StringId{}) {
        sample_type_ |= perfdata::kSampleCgroup;
        cgroups_.emplace(profile_.text(label.text), 0);
      } else if (IsWokenLabel(key) && WritesWoken(sample)) {
        sample_type_ |= perfdata::kAddr;
      } else if ((key != kTimestampLabel || label.number <= 0) &&
                 (has_thread || !IsThreadLabel(key))) {
        lost.insert(key);
      }
    }
  }
  report_.lost_labels.assign(lost.begin(), lost.end());
  std::uint64_t id = 0;
  for (auto& [path, number] : cgroups_) number = ++id;
}

// Only the samples of a wakeup have an address that is read as a thread (event_meanings.h).
bool PerfDataExport::WritesWoken(const Sample& sample) const {
  const Event& event = profile_[sample.event];
  return event.values == EventValues::kSampled && perfdata::IsWakeup(profile_.text(event.name)) &&
         WokenThreadOf(profile_, sample).tid.has_value();
}

// A pipe has records for the names of events instead, and its build ids are only in the mappings.
void PerfDataExport::AddFeaturesOfAFile() {
  features_.push_back({perfdata::FeatureBit::kEventDesc, perfdata::EventDesc{events_}});
  // hotspot reads build ids only from this feature.
  perfdata::BuildIds ids;
  for (const PlannedMapping& mapping : addresses_.mappings()) {
    if (mapping.build_id.empty()) continue;
    const bool is_kernel = mapping.type == MappingType::kKernel;
    ids.entries.push_back({.mode = is_kernel ? CpuMode::kKernel : CpuMode::kUser,
                           .build_id = mapping.build_id,
                           .filename = std::string(mapping.filename)});
  }
  if (!ids.entries.empty()) features_.push_back({perfdata::FeatureBit::kBuildId, std::move(ids)});
}

Result<perfdata::Writer> PerfDataExport::Open(const std::filesystem::path& output) {
  const perfdata::WriterOptions options = {.old = OldFile::kReplace,
                                           .compression_level = options_.compression_level};
  TRY_ASSIGN(const OutputTarget target, ResolveOutput(output));
  TRY(CheckExisting(target, options_.if_exists));
  if (options_.container == perfdata::Container::kFile) {
    return perfdata::Writer::Create(output, events_, options);
  }
  return perfdata::Writer::CreatePipe(output, events_, features_, options);
}

Status PerfDataExport::Flush() {
  TRY(writer_->Append(records_));
  records_.clear();
  return writer_->Commit();
}

// Writes the mappings and functions that exist from the start: time 0.
Status PerfDataExport::AddFunctions() {
  for (const auto& [path, id] : cgroups_) {
    TRY(Add(perfdata::Cgroup{.id = id, .path = FitName(path, report_.cut_names)}));
  }
  for (std::uint32_t i = 0; i < addresses_.mappings().size(); ++i) {
    if (addresses_.mappings()[i].type == MappingType::kKernel) {
      TRY(AddMapping(i, static_cast<std::uint32_t>(-1), 0));
    }
  }
  for (const PlannedFunction& function : addresses_.functions()) {
    const std::string name = FitName(function.name, report_.cut_names);
    TRY(Add(perfdata::Ksymbol{.address = function.address,
                              .length = perfdata::kFunctionSize,
                              .symbol_type = perfdata::kKsymbolTypeUnknown,
                              .name = name}));
  }
  return {};
}

Status PerfDataExport::AddMapping(std::uint32_t index, std::uint32_t pid, std::uint64_t time_ns) {
  const PlannedMapping& mapping = addresses_.mappings()[index];
  const bool is_kernel = mapping.type == MappingType::kKernel;
  const bool has_id = !mapping.build_id.empty();
  // perf recognizes the kernel only by this name, and takes the name of its file from the table of
  // build ids.
  const bool is_vmlinux = is_kernel && perfdata::IsVmlinuxPath(mapping.filename);
  const std::string filename =
      FitName(is_vmlinux ? perfdata::kKernelMappingName : mapping.filename, report_.cut_names);
  const auto misc =
      static_cast<std::uint16_t>(MiscOf(is_kernel ? CpuMode::kKernel : CpuMode::kUser) |
                                 (has_id ? perfdata::kMiscMmapBuildId : 0));
  return Add(perfdata::Mmap2{.pid = pid,
                             .tid = is_kernel ? 0 : pid,
                             .start = mapping.start,
                             .length = mapping.size,
                             .page_offset = mapping.file_offset,
                             .build_id = mapping.build_id,
                             .protection = perfdata::Mmap2::kProtectionExec,
                             .filename = filename},
             misc, {.pid = pid, .tid = pid, .time = time_ns});
}

Status PerfDataExport::AddSamples() {
  std::uint64_t in_round = 0;
  for (const PlannedSample& planned : samples_.samples) {
    TRY(AddSample(planned));
    in_round += planned.records;
    if (in_round < kSamplesInARound) continue;
    in_round = 0;
    TRY(Add(perfdata::FinishedRound{}));
  }
  return {};
}

Status PerfDataExport::AddSample(const PlannedSample& planned) {
  const Sample& sample = profile_.samples()[planned.sample];
  const PlannedThread& thread = samples_.threads[planned.thread];
  SetChain(sample.stack);
  perfdata::Sample record = {.id = events_[sample.event.index].ids.front(),
                             .pid = thread.pid,
                             .tid = thread.tid,
                             .cpu = kNoCpu,
                             .callchain = WordArray(chain_)};
  if (chain_.size() > 1) record.ip = chain_[1];
  if (const Label* cpu = FindLabel(profile_, sample.labels, kCpuLabel)) {
    record.cpu = static_cast<std::uint32_t>(cpu->number);
  }
  if (const Label* cgroup = FindLabel(profile_, sample.labels, kCgroupLabel)) {
    const auto known = cgroups_.find(profile_.text(cgroup->text));
    record.cgroup = known == cgroups_.end() ? 0 : known->second;
  }
  SampleThread woken;
  if (WritesWoken(sample)) woken = WokenThreadOf(profile_, sample);
  record.addr = woken.tid.value_or(0);
  const bool in_user = !chain_.empty() && chain_.front() == perfdata::kContextUser;
  const std::uint16_t misc = MiscOf(in_user ? CpuMode::kUser : CpuMode::kKernel);
  const auto period = static_cast<std::uint64_t>(sample.period);
  for (std::uint64_t i = 0; i < planned.records; ++i) {
    record.time = clock_.Next(planned.time_ns);
    record.period = period / planned.records + (i < period % planned.records ? 1 : 0);
    if (i == 0) {
      TRY(WriteWoken(woken, record.time));
      TRY(WriteThread(thread, record.time));
      TRY(WriteNewMappings(thread.pid, record.time));
    }
    TRY(EncodeSample(record, format(), misc, records_));
    if (records_.size() >= perfdata::kCommitSize) TRY(Flush());
  }
  report_.records += planned.records;
  return {};
}

// Writes the records that perf needs about a thread before its next sample.
Status PerfDataExport::WriteThread(const PlannedThread& thread, std::uint64_t time_ns) {
  const auto [known, is_new] = known_threads_.try_emplace(thread.tid, thread);
  if (!is_new && known->second == thread) return {};
  const perfdata::SampleId trailer = {.pid = thread.pid, .tid = thread.tid, .time = time_ns};
  if (!is_new && known->second.pid != thread.pid) {
    // Without this record perf keeps the thread in its first process. With the bit it inherits no
    // mappings from the other process.
    perfdata::Fork fork;
    fork.pid = fork.ppid = thread.pid;
    fork.tid = fork.ptid = thread.tid;
    fork.time = time_ns;
    TRY(Add(fork, perfdata::kMiscForkExec, trailer));
  }
  known->second = thread;
  const bool has_none = thread.tid == perfdata::kNoThread && thread.comm.empty();
  if (thread.comm.empty() && !has_none) return {};
  const std::string comm =
      has_none ? std::string(kNoThreadName) : FitName(thread.comm, report_.cut_names);
  return Add(perfdata::Comm{.pid = thread.pid, .tid = thread.tid, .comm = comm}, 0, trailer);
}

// The pid of a woken thread without samples is unknown: it gets one of its own.
Status PerfDataExport::WriteWoken(const SampleThread& woken, std::uint64_t time_ns) {
  if (!woken.tid || woken.comm.empty()) return {};
  const auto known = known_threads_.find(*woken.tid);
  const std::uint32_t pid = known == known_threads_.end() ? *woken.tid : known->second.pid;
  return WriteThread({.pid = pid, .tid = *woken.tid, .comm = woken.comm}, time_ns);
}

Status PerfDataExport::WriteNewMappings(std::uint32_t pid, std::uint64_t time_ns) {
  for (const std::uint32_t mapping : chain_mappings_) {
    if (mapped_.emplace(pid, mapping).second) TRY(AddMapping(mapping, pid, time_ns));
  }
  return {};
}

void PerfDataExport::SetChain(StackId stack) {
  chain_.clear();
  chain_mappings_.clear();
  std::optional<CpuMode> mode;
  for (; stack != StackId{}; stack = profile_[stack].caller) {
    for (const PlannedFrame& frame : addresses_.FramesOf(profile_[stack].leaf)) {
      if (chain_.size() + 2 > kLongestChain) {
        ++report_.cut_stacks;
        return;
      }
      const bool is_first_of_part = mode != frame.mode;
      if (is_first_of_part) {
        mode = frame.mode;
        chain_.push_back(frame.mode == CpuMode::kUser ? perfdata::kContextUser
                                                      : perfdata::kContextKernel);
      }
      chain_.push_back(frame.address + (frame.is_kept && !is_first_of_part ? 1 : 0));
      if (frame.mapping != PlannedFrame::kNoMapping && frame.mode == CpuMode::kUser) {
        chain_mappings_.push_back(frame.mapping);
      }
    }
  }
}

}  // namespace

std::vector<std::string> LossLines(const PerfDataReport& report) {
  std::vector<std::string> lines;
  const auto count = [&](std::uint64_t number, std::string_view what) {
    if (number > 0) lines.push_back(fmt::format("{} {}", number, what));
  };
  count(report.negative_samples, "samples with a value below 0 are left out");
  count(report.uncounted_samples, "samples have a period but no count: they count as one each");
  count(report.joined_counts, "counted samples share a record with others");
  count(report.cut_stacks, "stacks are too deep: their outer frames are left out");
  count(report.cut_names, "names are too long or contain a NUL: they are cut");
  count(report.displaced_frames, "frames without a name lose their address");
  const auto list = [&](const std::vector<std::string>& names, std::string_view what) {
    if (!names.empty()) lines.push_back(fmt::format("{}: {}", what, Joined(names, ", ")));
  };
  list(report.lost_labels, "labels that a perf.data cannot contain");
  list(report.lost_facts, "facts that a perf.data cannot contain");
  return lines;
}

Result<PerfDataReport> WritePerfData(const Profile& profile, const PerfDataOptions& options,
                                     const std::filesystem::path& output) {
  return PerfDataExport(profile, options).Run(output);
}

}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/process_checks.h"

#include <fmt/core.h>

#include <algorithm>

#include "formats/perfdata/mapping_name.h"

namespace perftape::perfdata {
namespace {

// The largest number of processes or threads without a record that are tracked at one time. If a
// file has more, the later ones are not checked.
constexpr std::size_t kMostWaiting = 65536;

// Whether the recording should have a build id of the binary: the kernel, or a file.
bool HasFile(const Dso& dso) {
  return dso.symbol.empty() && (dso.path == kKernelMappingName || IsFilePath(dso.path));
}

}  // namespace

ProcessChecks::ProcessChecks(const Reader& reader, Report& report)
    : report_(report), ids_(BuildIdTableOf(reader)) {}

void ProcessChecks::Check(const RecordView& record, const Event* event) {
  if (event == nullptr) return;
  if (record.type != RecordType::kSample) {
    Apply(record, event->format);
    return;
  }
  const auto sample = DecodeSample(record, event->format);
  if (sample && event->format.Has(kTid)) CheckSample(record, *sample, event->format);
}

void ProcessChecks::Apply(const RecordView& record, const SampleFormat& format) {
  processes_.Apply(record, format);
  if (record.type == RecordType::kComm) {
    const auto comm = Decode<Comm>(record, format);
    if (comm) ReportWaiting(without_comm_, comm->tid, Rule::kSampleBeforeComm, "COMM of thread");
  } else if (record.type == RecordType::kMmap || record.type == RecordType::kMmap2) {
    // The payload of both begins with the pid.
    ByteReader at(record.payload, record.order);
    std::uint32_t pid = 0;
    at.Fixed(pid);
    ReportWaiting(without_map_, pid, Rule::kSampleBeforeMmap, "mappings of process");
  } else if (record.type == RecordType::kHeaderBuildId) {
    const auto entry = Decode<HeaderBuildId>(record, SampleFormat{});
    if (entry) ids_.emplace(entry->filename, entry->build_id);
  }
}

void ProcessChecks::ReportWaiting(WaitingFor& waiting, std::uint32_t id, Rule rule,
                                  std::string_view what) {
  const auto found = waiting.find(id);
  if (found == waiting.end()) return;
  report_.Add(rule, found->second.first, [&] {
    return fmt::format("the first of {} samples before the {} {}", found->second.samples, what, id);
  });
  waiting.erase(found);
}

void ProcessChecks::CheckSample(const RecordView& record, const Sample& sample,
                                const SampleFormat& format) {
  const auto wait = [&](WaitingFor& waiting, std::uint32_t id) {
    if (waiting.size() >= kMostWaiting && !waiting.contains(id)) return;
    Waiting& one = waiting[id];
    if (one.samples++ > 0) return;
    one.first = record;
    one.first.payload = {};
  };
  const std::string_view comm = processes_.CommOf(sample.tid);
  if (comm.starts_with(':') && comm == fmt::format(":{}", sample.tid)) {
    wait(without_comm_, sample.tid);
  }
  if (record.cpumode() == CpuMode::kUser && processes_.UserSpace(sample.pid).size() == 0) {
    wait(without_map_, sample.pid);
  }
  if (format.Has(kIp)) CheckRegion(record, sample);
}

void ProcessChecks::CheckRegion(const RecordView& record, const Sample& sample) {
  const CpuMode mode = record.cpumode();
  if (mode != CpuMode::kKernel && mode != CpuMode::kUser) return;
  if (mode == CpuMode::kKernel && processes_.kernel().size() == 0) {
    ++kernel_samples_;
    if (kernel_sample_) return;
    kernel_sample_ = record;
    kernel_sample_->payload = {};
    return;
  }
  const Region* region = processes_.Find(sample.pid, mode, sample.ip);
  if (region == nullptr) {
    report_.Add(Rule::kSampleUnmapped, record, [&] {
      return fmt::format("ip {:#x} of process {} is in no mapping", sample.ip, sample.pid);
    });
    return;
  }
  Hit& hit = hits_[region->dso];
  if (hit.samples++ == 0) hit.offset = record.file_offset;
}

std::vector<std::pair<const Dso*, ProcessChecks::Hit>> ProcessChecks::HitsInFileOrder() const {
  std::vector<std::pair<const Dso*, Hit>> hits(hits_.begin(), hits_.end());
  std::ranges::sort(hits, {}, [](const auto& hit) {
    return std::pair(hit.second.offset, std::string_view(hit.first->path));
  });
  return hits;
}

void ProcessChecks::Finish() {
  if (kernel_sample_) {
    report_.Add(Rule::kKernelMmapMissing, *kernel_sample_, [&] {
      return fmt::format("the first of {} kernel samples before any mapping of the kernel",
                         kernel_samples_);
    });
  }
  for (const auto& [dso, hit] : HitsInFileOrder()) {
    if (dso->is_kernel && dso->path == kKernelMappingName) {
      report_.AddAt(Rule::kKernelNames, hit.offset,
                    fmt::format("the first of {} samples in the kernel", hit.samples));
    }
    if (!HasFile(*dso) || !dso->build_id.empty() || ids_.contains(dso->path)) continue;
    report_.AddAt(Rule::kBuildIdMissing, hit.offset,
                  fmt::format("{} has no build id (samples: {})", dso->path, hit.samples));
  }
}

}  // namespace perftape::perfdata

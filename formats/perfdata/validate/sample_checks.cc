// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/sample_checks.h"

#include <fmt/core.h>

#include "formats/perfdata/off_cpu_raw.h"
#include "formats/perfdata/sample_layout.h"

namespace perftape::perfdata {
namespace {

constexpr std::uint32_t kNoCpu = ~std::uint32_t{0};   // perf writes it if the CPU is unknown
constexpr std::uint32_t kNoTask = ~std::uint32_t{0};  // the kernel writes it if the task has ended
constexpr std::size_t kMostFrames = 127;              // PERF_MAX_STACK_DEPTH

}  // namespace

SampleChecks::SampleChecks(const Reader& reader, Report& report) : report_(report) {
  const auto value = reader.DecodedFeature(FeatureBit::kNrCpus);
  const auto* cpus = value ? std::get_if<NrCpus>(&*value) : nullptr;
  if (cpus != nullptr) cpus_available_ = cpus->available;
}

void SampleChecks::Check(const RecordView& record, const Event* event) {
  if (event == nullptr) return;
  const SampleFormat& format = event->format;
  if (record.type != RecordType::kSample) {
    if (format.sample_id_all) CheckCpu(record, DecodeSampleId(record, format).cpu, format);
    return;
  }
  ByteReader at(record.payload, record.order);
  Sample sample;
  SampleLayout(at, sample, format);
  if (!at.ok()) {
    report_.Add(Rule::kSampleOverrun, record, [&] {
      return fmt::format("SAMPLE has {} bytes, fewer than its fields need", record.size());
    });
    return;
  }
  if (at.remaining() > 0) {
    report_.Add(Rule::kSampleBytesLeft, record, [&] {
      return fmt::format("SAMPLE has {} bytes, but its last {} belong to no field", record.size(),
                         at.remaining());
    });
  }
  CheckCpu(record, sample.cpu, format);
  CheckTask(record, sample, format);
  CheckCallchain(record, sample);
  CheckNewFields(record, sample, *event);
}

void SampleChecks::CheckNewFields(const RecordView& record, const Sample& sample,
                                  const Event& event) {
  if (HasOffCpuRaw(event)) {
    report_.Add(Rule::kSampleOffCpuRaw, record,
                [] { return std::string("the values of the off-CPU sample are in RAW"); });
  }
  if (!sample.regs_user_simd.empty() || !sample.regs_intr_simd.empty()) {
    report_.Add(Rule::kSampleVectorRegisters, record, [&] {
      return fmt::format(
          "SAMPLE has {} bytes of vector registers",
          sample.regs_user_simd.bytes().size() + sample.regs_intr_simd.bytes().size());
    });
  }
}

void SampleChecks::CheckCpu(const RecordView& record, std::uint32_t cpu,
                            const SampleFormat& format) {
  if (!format.Has(kCpu) || !cpus_available_ || cpu < *cpus_available_ || cpu == kNoCpu) return;
  if (std::to_underlying(record.type) >= kFirstToolType) return;
  report_.Add(Rule::kSampleCpuBeyond, record, [&] {
    return fmt::format("{} has CPU {}, but NRCPUS has {} CPUs", RecordName(record.type), cpu,
                       *cpus_available_);
  });
}

void SampleChecks::CheckTask(const RecordView& record, const Sample& sample,
                             const SampleFormat& format) {
  const auto mode = static_cast<unsigned>(std::to_underlying(record.cpumode()));
  if (format.Has(kIp) && (record.cpumode() == CpuMode::kUnknown || mode > 5)) {
    report_.Add(Rule::kSampleCpumode, record,
                [&] { return fmt::format("SAMPLE has cpumode {} at ip {:#x}", mode, sample.ip); });
  }
  if (format.Has(kTime) && sample.time == 0) {
    report_.Add(Rule::kSampleTimeZero, record, [] { return std::string("SAMPLE has time 0"); });
  }
  if (format.Has(kTid) && (sample.pid == kNoTask || sample.tid == kNoTask)) {
    report_.Add(Rule::kSampleTaskUnknown, record,
                [] { return std::string("SAMPLE has pid or tid -1"); });
  }
}

void SampleChecks::CheckCallchain(const RecordView& record, const Sample& sample) {
  std::size_t frames = 0;
  for (const std::uint64_t entry : sample.callchain) {
    if (entry < kContextMax) {
      ++frames;
    } else if (entry == kContextUserDeferred) {
      report_.Add(Rule::kCallchainDeferred, record,
                  [] { return std::string("the call chain continues in a CALLCHAIN_DEFERRED"); });
      return;  // the next entry is a cookie, not an address
    } else if (entry != kContextHv && entry != kContextKernel && entry != kContextUser) {
      report_.Add(Rule::kCallchainContext, record, [&] {
        return fmt::format("the call chain has the unknown marker {:#x}", entry);
      });
      return;
    }
  }
  if (frames <= kMostFrames) return;
  report_.Add(Rule::kCallchainDeep, record,
              [&] { return fmt::format("the call chain has {} frames", frames); });
}

}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
#include "record/output/sample_aggregator.h"

#include <cstring>
#include <optional>
#include <utility>

#include "formats/perfdata/record.h"

namespace perftape::record {
namespace {

using perfdata::RecordType;

// An interval with more bytes of records ends early.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kWordSize = sizeof(std::uint64_t);

// The fields before PERIOD in the order of a sample (perf_event.h, PERF_RECORD_SAMPLE); each has
// one word.
constexpr perfdata::SampleBit kFirstFields[] = {
    perfdata::kIdentifier, perfdata::kIp, perfdata::kTid,      perfdata::kTime,
    perfdata::kAddr,       perfdata::kId, perfdata::kStreamId, perfdata::kCpu};

std::size_t OffsetOf(perfdata::SampleBit field, const perfdata::SampleFormat& format) {
  std::size_t offset = 0;
  for (const perfdata::SampleBit before : kFirstFields) {
    if (before == field) break;
    if (format.Has(before)) offset += kWordSize;
  }
  return offset;
}

std::optional<std::uint32_t> ProcessOf(const perfdata::RecordView& record) {
  switch (record.type) {
    case RecordType::kMmap:
    case RecordType::kMmap2:
    case RecordType::kComm:
    case RecordType::kFork:
    case RecordType::kExit:
      // The pid is the first field of each.
      if (record.payload.size() < sizeof(std::uint32_t)) return std::nullopt;
      return LoadFixed<std::uint32_t>(record.payload.data(), record.order);
    default:
      return std::nullopt;
  }
}

bool IsLoss(RecordType type) {
  return type == RecordType::kLost || type == RecordType::kLostSamples ||
         type == RecordType::kThrottle || type == RecordType::kUnthrottle;
}

}  // namespace

SampleAggregator::SampleAggregator(SampleFormats formats, std::uint64_t interval_ns)
    : formats_(std::move(formats)), interval_ns_(interval_ns) {}

void SampleAggregator::Add(const perfdata::RecordView& record, Bytes bytes) {
  if (record.type == RecordType::kSample) return AddSample(record, bytes);
  if (const std::optional<std::uint32_t> pid = ProcessOf(record)) {
    processes_.erase(*pid);
  } else if (!IsLoss(record.type)) {
    processes_.clear();  // KSYMBOL, BPF_EVENT: of the kernel
  }
  AddOther(bytes);
}

void SampleAggregator::AddSample(const perfdata::RecordView& record, Bytes bytes) {
  const Bytes payload = record.payload;
  const perfdata::SampleFormat& format = formats_.Of(record);
  const std::size_t time_offset = OffsetOf(perfdata::kTime, format);
  const std::size_t period_offset = OffsetOf(perfdata::kPeriod, format);
  if (payload.size() < period_offset + kWordSize) return AddOther(bytes);
  const std::size_t header = bytes.size() - payload.size();
  std::string key(AsText(bytes));
  std::memset(key.data() + header + time_offset, 0, kWordSize);
  std::memset(key.data() + header + period_offset, 0, kWordSize);
  const std::size_t pid_offset = time_offset - kWordSize;  // TID is the field before TIME
  const auto pid = LoadFixed<std::uint32_t>(payload.data() + pid_offset, record.order);
  const auto [found, is_new] =
      processes_[pid].try_emplace(std::move(key), records_.size() + header + period_offset);
  if (begin_ns_ == 0) {
    begin_ns_ = LoadFixed<std::uint64_t>(payload.data() + time_offset, record.order);
  }
  if (is_new) return AddOther(bytes);
  std::byte* const sum = records_.data() + found->second;
  const std::uint64_t period =
      LoadFixed<std::uint64_t>(sum, record.order) +
      LoadFixed<std::uint64_t>(payload.data() + period_offset, record.order);
  std::memcpy(sum, &period, sizeof period);
  ++aggregated_;
}

void SampleAggregator::AddOther(Bytes records) {
  records_.insert(records_.end(), records.begin(), records.end());
}

bool SampleAggregator::IsOver(std::uint64_t now_ns) const {
  if (records_.size() >= kMostBytes) return true;
  // Without a sample, nothing is gained by waiting.
  return begin_ns_ == 0 || (now_ns > begin_ns_ && now_ns - begin_ns_ >= interval_ns_);
}

void SampleAggregator::Clear() {
  records_.clear();
  processes_.clear();
  begin_ns_ = 0;
}

}  // namespace perftape::record

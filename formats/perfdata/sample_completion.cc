// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/sample_completion.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "formats/perfdata/rounds.h"

namespace perftape::perfdata {
namespace {

// PERF_CONTEXT_USER_DEFERRED and the cookie, at the end of a callchain.
constexpr std::size_t kDeferredWords = 2;

// The cookie at the end of the callchain; nothing if the user frames are not deferred.
std::optional<std::uint64_t> CookieOf(const WordArray& chain) {
  const std::size_t size = chain.size();
  if (size < kDeferredWords || chain[size - kDeferredWords] != kContextUserDeferred) return {};
  return chain[size - 1];
}

bool IsDeferred(const Event& event) {
  return event.attr.Has(kDeferCallchain) && event.format.Has(kCallchain);
}

void SetCpuMode(RecordView& record, CpuMode mode) {
  record.misc = static_cast<std::uint16_t>((record.misc & ~kMiscCpumodeMask) | MiscOf(mode));
}

// Leaves a sample as it is if its RAW is too short.
void CompleteFromRaw(RecordView& record, Sample& sample) {
  const std::optional<OffCpuRaw> values = DecodeOffCpuRaw(sample.raw, record.order);
  if (!values) return;
  sample.pid = values->pid;
  sample.tid = values->tid;
  sample.period = values->off_cpu_ns;
  sample.callchain = values->callchain;
  sample.cgroup = values->cgroup;
  // ips[0] is the marker (bpf_off_cpu.c, off_cpu_write; evsel.c, __set_offcpu_sample).
  sample.ip = values->callchain.size() > 1 ? values->callchain[1] : 0;
  sample.raw = {};
  SetCpuMode(record, CpuMode::kUser);
}

}  // namespace

bool SampleCompletion::IsNeeded(const EventTable& events) {
  return std::ranges::any_of(
      events.all(), [](const Event& event) { return IsDeferred(event) || HasOffCpuRaw(event); });
}

bool SampleCompletion::MayBeNeeded(const EventTable& events) {
  return std::ranges::any_of(events.all(), [](const Event& event) {
    return IsDeferred(event) || IsBpfOutputWithRaw(event.attr);
  });
}

SampleCompletion::SampleCompletion(const Reader& reader) : events_(reader.events()) {
  for (const Event& event : events_.all()) {
    has_off_cpu_raw_ = has_off_cpu_raw_ || HasOffCpuRaw(event);
    is_changed_.push_back(IsDeferred(event) || HasOffCpuRaw(event));
  }
  InTimeOrder records(reader.records(), events_);
  EventLookup lookup(events_);
  while (records.Step()) {
    const RecordView& record = records.record();
    const Event* event = records.event();
    const std::uint64_t time = lookup.Of(record).time;
    if (time < kFirstOffCpuSumTime) last_time_ = std::max(last_time_, time);
    if (event == nullptr) continue;
    if (record.type == RecordType::kSample && IsDeferred(*event)) Hold(record, *event);
    if (record.type == RecordType::kCallchainDeferred) Release(record, *event);
  }
  held_ = {};
  std::ranges::sort(user_frames_, {}, &UserFrames::sample);
}

void SampleCompletion::Hold(const RecordView& record, const Event& event) {
  const Result<Sample> sample = DecodeSample(record, event.format);
  if (!sample) return;
  const std::optional<std::uint64_t> cookie = CookieOf(sample->callchain);
  if (!cookie) return;
  const std::size_t size = std::min(record.size(), kMaxRecordSize);
  const std::size_t room = (kMaxRecordSize - size) / kWordSize + kDeferredWords;
  held_[sample->tid].push_back({*cookie, PositionOf(record), room});
}

// A thread enters and leaves the kernel once for each cookie. So samples of the thread with another
// cookie have lost their record.
void SampleCompletion::Release(const RecordView& record, const Event& event) {
  const auto deferred = Decode<CallchainDeferred>(record, event.format);
  if (!deferred) return;
  const auto held = held_.find(DecodeSampleId(record, event.format).tid);
  if (held == held_.end()) return;
  for (const Held& sample : held->second) {
    if (sample.cookie != deferred->cookie) continue;
    user_frames_.push_back({sample.sample, AddChain(deferred->callchain, sample.room)});
  }
  held_.erase(held);
}

const std::string* SampleCompletion::AddChain(const WordArray& chain, std::size_t room) {
  std::string words;
  if (chain.empty() || chain[0] < kContextMax) {
    const std::array<std::uint64_t, 1> marker = {
        chain.order() == std::endian::native ? kContextUser : __builtin_bswap64(kContextUser)};
    words = AsText(std::as_bytes(std::span(marker)));
  }
  words += AsText(chain.bytes());
  words.resize(std::min(words.size(), room * kWordSize));
  return &*user_chains_.insert(std::move(words)).first;
}

EventAttr SampleCompletion::CompletedAttr(const Event& event) {
  EventAttr attr = event.attr;
  attr.flags &= ~std::uint64_t{kDeferCallchain | kDeferOutput};
  if (HasOffCpuRaw(event)) attr.sample_type = (attr.sample_type & ~kRaw) | kCallchain;
  return attr;
}

SampleCompletion::Outcome SampleCompletion::Complete(RecordView& record, const Event& event,
                                                     Sample& sample,
                                                     std::vector<std::byte>& chain) const {
  sample.time = TimeOf(sample.time);
  if (HasOffCpuRaw(event)) {
    CompleteFromRaw(record, sample);
    return Outcome::kWhole;
  }
  if (!CookieOf(sample.callchain)) return Outcome::kWhole;
  const Bytes words = sample.callchain.bytes();
  const Bytes kernel = words.first(words.size() - kDeferredWords * kWordSize);
  const auto found =
      std::ranges::lower_bound(user_frames_, PositionOf(record), {}, &UserFrames::sample);
  if (found == user_frames_.end() || found->sample != PositionOf(record)) {
    sample.callchain = WordArray(kernel, record.order);
    return Outcome::kWithoutUserFrames;
  }
  const Bytes user = AsBytes(*found->words);
  chain.assign(kernel.begin(), kernel.end());
  chain.insert(chain.end(), user.begin(), user.end());
  sample.callchain = WordArray(chain, record.order);
  record.is_lasting = false;
  return Outcome::kWhole;
}

}  // namespace perftape::perfdata

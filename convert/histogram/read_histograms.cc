// SPDX-License-Identifier: Apache-2.0
#include "convert/histogram/read_histograms.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "convert/histogram/frame_names.h"
#include "convert/records/sample_names.h"
#include "convert/rewritten_samples.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/event_lookup.h"
#include "formats/perfdata/reader.h"

namespace perftape::histogram {
namespace {

using convert::Profile;
using convert::RecordedSamples;
using convert::StackId;
using perfdata::CpuMode;

std::uint64_t Amounts::*AmountOf(CpuMode mode) {
  switch (mode) {
    case CpuMode::kKernel:
      return &Amounts::kernel;
    case CpuMode::kUser:
      return &Amounts::user;
    case CpuMode::kGuestKernel:
      return &Amounts::guest_kernel;
    case CpuMode::kGuestUser:
      return &Amounts::guest_user;
    default:
      return nullptr;
  }
}

bool IsGuest(CpuMode mode) {
  return mode == CpuMode::kGuestKernel || mode == CpuMode::kGuestUser;
}

// The times of the first and the last sample.
TimeSlice TimesOf(const perfdata::Reader& reader) {
  TimeSlice times{.first = UINT64_MAX, .last = 0};
  perfdata::EventLookup lookup(reader.events());
  perfdata::RecordCursor cursor = reader.records();
  while (cursor.Step()) {
    if (cursor.record().type != perfdata::RecordType::kSample) continue;
    const std::uint64_t time = lookup.Of(cursor.record()).time;
    times.first = std::min(times.first, time);
    times.last = std::max(times.last, time);
  }
  return times.first > times.last ? TimeSlice{.first = 0, .last = 0} : times;
}

// Makes hits of records, with the stacks and names of a profile.
class HitMaker {
 public:
  HitMaker(const Profile& profile, const RecordedSamples& samples, const ReadOptions& options,
           ChainOrder order, NameTable& names)
      : profile_(profile),
        samples_(samples),
        options_(options),
        order_(order),
        names_(names),
        frames_(profile, names) {}

  // Sets the hit to the record with this index among all samples. Returns whether it is one of the
  // profile.
  bool Make(std::size_t index, const perfdata::Sample& sample, const perfdata::RecordView& record,
            const perfdata::Event& event, Hit& hit);

 private:
  void SetFields(const perfdata::Sample& sample, const perfdata::Event& event, Hit& hit) const;
  void SetFrames(StackId stack, const perfdata::Sample& sample, const perfdata::RecordView& record,
                 const perfdata::Event& event, Hit& hit);
  void FindParent(Hit& hit) const;
  void CutCallees(Hit& hit) const;

  const Profile& profile_;
  const RecordedSamples& samples_;
  const ReadOptions& options_;
  const ChainOrder order_;
  NameTable& names_;
  std::unordered_map<std::uint32_t, std::uint64_t> last_times_;  // by tid, of last_comms
  FrameNames frames_;
  perfdata::CallchainReader callchains_;
};

void HitMaker::SetFields(const perfdata::Sample& sample, const perfdata::Event& event,
                         Hit& hit) const {
  const perfdata::SampleFormat& format = event.format;
  hit.pid = sample.pid;
  hit.tid = sample.tid;
  hit.cpu = format.Has(perfdata::kCpu) ? static_cast<std::int32_t>(sample.cpu) : -1;
  hit.time_ns = format.Has(perfdata::kTime) ? sample.time : 0;
  hit.address = sample.addr;
  hit.weight = sample.weight;
  if (format.Has(perfdata::kWeightStruct)) hit.weight &= UINT32_MAX;  // var1_dw
  hit.transaction = sample.transaction;
  hit.code_page_size = sample.code_page_size;
}

bool HitMaker::Make(std::size_t index, const perfdata::Sample& sample,
                    const perfdata::RecordView& record, const perfdata::Event& event, Hit& hit) {
  if (index >= samples_.of_records.size()) return false;
  const std::uint32_t row = samples_.of_records[index];
  if (row == RecordedSamples::kNone) return false;
  const convert::Sample& counted = samples_.distinct[row];
  SetFields(sample, event, hit);
  const std::string comm(profile_.text(profile_[counted.thread].comm));
  hit.comm = names_.texts.Add(records::CommName(hit.tid, comm.empty() ? nullptr : &comm));
  if (std::uint64_t& last = last_times_[hit.tid]; last <= hit.time_ns) {
    last = hit.time_ns;
    names_.last_comms[hit.tid] = hit.comm;
  }
  hit.cgroup = 0;
  for (const convert::Label& label : profile_[counted.labels]) {
    if (profile_.text(label.key) != "cgroup") continue;
    hit.cgroup = names_.texts.Add(profile_.text(label.text));
  }
  SetFrames(counted.stack, sample, record, event, hit);
  if (options_.filter.hides_unresolved) {
    std::erase_if(hit.chain, [](const Frame& frame) { return frame.symbol == 0; });
  }
  if (options_.parent) FindParent(hit);
  if (options_.ignore_callees) CutCallees(hit);
  return true;
}

// Raw addresses are in the callchain of the record. A stack that was unwound from copied registers
// has other frames than that.
void HitMaker::SetFrames(StackId stack, const perfdata::Sample& sample,
                         const perfdata::RecordView& record, const perfdata::Event& event,
                         Hit& hit) {
  hit.chain.clear();
  std::span<const perfdata::ChainFrame> raw =
      callchains_.FramesOf(sample, event.format, record.cpumode());
  if (callchains_.met_unknown_marker()) raw = {};
  std::size_t depth = 0;
  for (StackId at = stack; at != StackId{}; at = profile_[at].caller) ++depth;
  if (stack != StackId{}) {
    hit.leaf = frames_.LeafOf(profile_[stack].leaf, hit.pid);
  } else {
    hit.leaf = {};
    hit.leaf.address = sample.ip;
  }
  if (hit.leaf.dso == 0 || hit.leaf.level == 'k') {
    const bool has_file = hit.leaf.dso != 0 && !names_.texts[hit.leaf.dso].starts_with("[kernel");
    if (!has_file) hit.leaf.address = sample.ip;
  }
  if (hit.leaf.dso == 0) hit.leaf.level = record.cpumode() == CpuMode::kKernel ? 'k' : '.';
  const bool has_chain = event.format.Has(perfdata::kCallchain) && (!raw.empty() || depth > 1);
  if (!has_chain) return;
  const bool is_raw = raw.size() == depth;
  // perf counts frames in the order in which it reads them.
  const std::size_t most = std::min(depth, options_.max_stack);
  const std::size_t first = order_ == ChainOrder::kCaller ? depth - most : 0;
  std::size_t number = 0;
  for (StackId at = stack; at != StackId{}; at = profile_[at].caller, ++number) {
    if (number < first || number >= first + most) continue;
    const std::uint64_t address =
        is_raw ? raw[number].address : frames_.AddressOf(profile_[at].leaf);
    frames_.Append(profile_[at].leaf, hit.pid, address, hit.chain);
  }
}

// perf looks in the order in which it reads the chain.
void HitMaker::FindParent(Hit& hit) const {
  hit.parent = 0;
  for (const Frame& frame : hit.chain) {
    const std::uint32_t name = names_.symbols[frame.symbol].name;
    if (name == 0 || !options_.parent->Find(names_.texts[name])) continue;
    hit.parent = name;
    if (order_ == ChainOrder::kCallee) return;
  }
}

// The function becomes the leaf, without those that it called.
void HitMaker::CutCallees(Hit& hit) const {
  for (std::size_t i = hit.chain.size(); i > 0; --i) {
    const Frame& frame = hit.chain[i - 1];
    const std::uint32_t name = names_.symbols[frame.symbol].name;
    if (name == 0 || !options_.ignore_callees->Find(names_.texts[name])) continue;
    hit.leaf = frame;
    hit.chain.erase(hit.chain.begin(), hit.chain.begin() + static_cast<std::ptrdiff_t>(i - 1));
    return;
  }
}

// Adds the samples of a reader to histograms.
class HistogramReader {
 public:
  HistogramReader(const perfdata::Reader& reader, const ReadOptions& options, Histograms& result)
      : reader_(reader), options_(options), result_(result), deliveries_(reader.events()) {}

  void Run(HitMaker& maker);

 private:
  void Add(const perfdata::Sample& sample, const perfdata::Event& event,
           const perfdata::RecordView& record, Hit& hit);

  const perfdata::Reader& reader_;
  const ReadOptions& options_;
  Histograms& result_;
  perfdata::Deliveries deliveries_;
};

void HistogramReader::Run(HitMaker& maker) {
  perfdata::EventLookup lookup(reader_.events());
  perfdata::RecordCursor cursor = reader_.records();
  std::size_t index = 0;
  Hit hit;
  while (cursor.Step()) {
    const perfdata::RecordView& record = cursor.record();
    const perfdata::EventLookup::Answer found = lookup.Of(record);
    if (record.type != perfdata::RecordType::kSample) continue;
    const std::size_t number = index++;
    if (found.event == nullptr) continue;
    const Result<perfdata::Sample> whole = perfdata::DecodeSample(record, found.event->format);
    const std::optional<perfdata::Sample> sample =
        whole ? std::optional(*whole) : perfdata::RecoverSample(record, found.event->format);
    if (!sample || !maker.Make(number, *sample, record, *found.event, hit)) continue;
    Add(*sample, *found.event, record, hit);
  }
}

void HistogramReader::Add(const perfdata::Sample& sample, const perfdata::Event& event,
                          const perfdata::RecordView& record, Hit& hit) {
  const CpuMode mode = record.cpumode();
  const bool is_dropped = options_.filter.Drops(hit);
  hit.time_ns -= hit.time_ns % options_.time_quantum_ns;
  const bool is_hidden = IsGuest(mode) || options_.filter.Hides(hit, result_.names) ||
                         (options_.only_with_parent && hit.parent == 0);
  for (const perfdata::Delivery& delivery : deliveries_.Of(sample, event)) {
    if (is_dropped) continue;
    Histogram& histogram =
        result_.events[static_cast<std::size_t>(delivery.event - reader_.events().all().data())]
            .histogram;
    if (is_hidden) {
      histogram.AddFiltered(delivery.period);
      continue;
    }
    hit.amounts = {.period = delivery.period, .samples = 1};
    if (auto member = AmountOf(mode)) hit.amounts.*member = delivery.period;
    histogram.Add(hit);
  }
}

Status CheckPerfData(const Input& input) {
  TRY_ASSIGN(const convert::Format* format, convert::FormatOf(input, nullptr));
  if (format->name == "perf.data") return {};
  return Fail(ErrorCode::kUnsupported,
              input.name() +
                  ": perf report's options need a perf.data; without them, "
                  "perftape-report reads all formats");
}

Result<perfdata::Reader> OpenRecording(Input& input) {
  TRY(CheckPerfData(input));
  if (input.is_stream()) TRY(input.All());
  Result<perfdata::Reader> reader = perfdata::Reader::Open(input);
  if (!reader) return Fail(InContext(input.name(), std::move(reader).error()));
  return reader;
}

}  // namespace

Result<bool> HasCallchains(Input& input) {
  TRY_ASSIGN(const perfdata::Reader reader, OpenRecording(input));
  return std::ranges::any_of(reader.events().all(), [](const perfdata::Event& event) {
    return event.format.Has(perfdata::kCallchain);
  });
}

Result<std::unique_ptr<Histograms>> ReadHistograms(Input& input, const ReadOptions& given,
                                                   const Settings& settings) {
  auto result = std::make_unique<Histograms>();
  TRY_ASSIGN(const perfdata::Reader reader, OpenRecording(input));
  ReadOptions options = given;
  if (!options.times.empty()) {
    const bool needs_ends = options.times.find('%') != std::string::npos;
    TRY_ASSIGN(options.filter.times,
               ParseTimes(options.times, needs_ends ? TimesOf(reader) : TimeSlice{}));
  }
  RecordedSamples samples;
  TRY_ASSIGN(const Profile profile,
             convert::ReadNamedByRecord(input, options.combine, result->read, samples));
  for (const perfdata::Event& event : reader.events().all()) {
    result->has_callchains |= event.format.Has(perfdata::kCallchain);
    result->events.push_back({event.name, Histogram(settings, result->names)});
  }
  HitMaker maker(profile, samples, options, settings.chain_order, result->names);
  HistogramReader(reader, options, *result).Run(maker);
  for (EventHistogram& event : result->events) event.histogram.Sort();
  return result;
}

}  // namespace perftape::histogram

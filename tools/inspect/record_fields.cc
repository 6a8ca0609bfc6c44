// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/record_fields.h"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "formats/perfdata/features.h"
#include "formats/perfdata/flag_text.h"

namespace perftape::inspect {
namespace {

using namespace perfdata;  // NOLINT: the records and the bits of their events

template <class T>
std::vector<std::string> HexesOf(const FixedArray<T>& values) {
  std::vector<std::string> hexes;
  for (const T value : values) hexes.push_back(fmt::format("{:x}", value));
  return hexes;
}

std::vector<std::string> EntriesOf(const WordArray& callchain) {
  std::vector<std::string> entries;
  for (const std::uint64_t entry : callchain) entries.push_back(CallchainEntryText(entry));
  return entries;
}

template <class VisitItem>
void ShowList(RecordFields& to, std::string_view name, std::size_t count, VisitItem&& visit) {
  to.OpenList(name, count);
  for (std::size_t i = 0; i < count; ++i) {
    to.OpenItem();
    visit(i);
    to.CloseItem();
  }
  to.CloseList();
}

void Show(RecordFields& to, const Mmap& mmap) {
  to.Id("pid", mmap.pid);
  to.Id("tid", mmap.tid);
  to.Hex("start", mmap.start);
  to.Hex("length", mmap.length);
  to.Hex("page_offset", mmap.page_offset);
  to.Text("filename", mmap.filename);
}

void Show(RecordFields& to, const Mmap2& mmap) {
  to.Id("pid", mmap.pid);
  to.Id("tid", mmap.tid);
  to.Hex("start", mmap.start);
  to.Hex("length", mmap.length);
  to.Hex("page_offset", mmap.page_offset);
  if (mmap.build_id.empty()) {
    to.Word("device", fmt::format("{:x}:{:x}", mmap.device_major, mmap.device_minor));
    to.Number("inode", mmap.inode);
    to.Number("generation", mmap.inode_generation);
  } else {
    to.Word("build_id", mmap.build_id.hex());
  }
  to.Word("protection", ProtectionText(mmap.protection));
  to.Hex("flags", mmap.flags);
  to.Text("filename", mmap.filename);
}

void Show(RecordFields& to, const Comm& comm) {
  to.Id("pid", comm.pid);
  to.Id("tid", comm.tid);
  to.Text("comm", comm.comm);
}

void Show(RecordFields& to, const Task& task) {
  to.Id("pid", task.pid);
  to.Id("ppid", task.ppid);
  to.Id("tid", task.tid);
  to.Id("ptid", task.ptid);
  to.Number("time", task.time);
}

void Show(RecordFields& to, const Lost& lost) {
  to.Number("id", lost.event_id);
  to.Number("lost", lost.count);
}

void Show(RecordFields& to, const LostSamples& lost) {
  to.Number("lost", lost.count);
}

void Show(RecordFields& to, const ThrottleChange& throttle) {
  to.Number("time", throttle.time);
  to.Number("id", throttle.id);
  to.Number("stream_id", throttle.stream_id);
}

void Show(RecordFields& to, const Read& read) {
  to.Id("pid", read.pid);
  to.Id("tid", read.tid);
  to.Words("read", HexesOf(read.read));
}

void Show(RecordFields& to, const Aux& aux) {
  to.Number("aux_offset", aux.aux_offset);
  to.Number("aux_size", aux.aux_size);
  to.Hex("flags", aux.flags);
}

void Show(RecordFields& to, const ItraceStart& start) {
  to.Id("pid", start.pid);
  to.Id("tid", start.tid);
}

void Show(RecordFields& to, const AuxOutputHwId& output) {
  to.Hex("hw_id", output.hw_id);
}

void Show(RecordFields& to, const CallchainDeferred& deferred) {
  to.Number("cookie", deferred.cookie);
  to.Words("callchain", EntriesOf(deferred.callchain));
}

void Show(RecordFields& to, const Namespaces& namespaces) {
  constexpr std::array<std::string_view, 7> kNames = {"net",  "uts", "ipc",   "pid",
                                                      "user", "mnt", "cgroup"};
  to.Id("pid", namespaces.pid);
  to.Id("tid", namespaces.tid);
  for (std::size_t i = 0; i + 1 < namespaces.links.size(); i += 2) {
    const std::size_t kind = i / 2;
    to.Word(kind < kNames.size() ? kNames[kind] : "other",
            fmt::format("{:x}:{}", namespaces.links[i], namespaces.links[i + 1]));
  }
}

void Show(RecordFields& to, const Ksymbol& symbol) {
  to.Hex("address", symbol.address);
  to.Number("length", symbol.length);
  to.Number("ksym_type", symbol.symbol_type);
  to.Hex("flags", symbol.flags);
  to.Text("name", symbol.name);
}

void Show(RecordFields& to, const BpfEvent& event) {
  to.Number("event_type", event.event_type);
  to.Hex("flags", event.flags);
  to.Number("id", event.id);
  to.Blob("tag", std::as_bytes(std::span(event.tag)));
}

void Show(RecordFields& to, const Cgroup& cgroup) {
  to.Number("id", cgroup.id);
  to.Text("path", cgroup.path);
}

void Show(RecordFields& /*to*/, const Switch& /*change*/) {}

void Show(RecordFields& to, const SwitchCpuWide& change) {
  to.Id("next_prev_pid", change.next_prev_pid);
  to.Id("next_prev_tid", change.next_prev_tid);
}

void Show(RecordFields& to, const TextPoke& poke) {
  to.Hex("address", poke.address);
  to.Number("old_length", poke.old_length);
  to.Number("new_length", poke.new_length);
  to.Blob("bytes", poke.bytes);
}

void Show(RecordFields& to, const HeaderBuildId& entry) {
  to.Id("pid", static_cast<std::uint32_t>(entry.pid));
  to.Word("build_id", entry.build_id.hex());
  to.Text("filename", entry.filename);
}

void Show(RecordFields& to, const IdIndex& index) {
  const WordArray& words = index.words;
  ShowList(to, "entries", words.size() / 4, [&](std::size_t i) {
    to.Number("id", words[4 * i]);
    to.Number("index", words[4 * i + 1]);
    to.Signed("cpu", static_cast<std::int64_t>(words[4 * i + 2]));
    to.Signed("tid", static_cast<std::int64_t>(words[4 * i + 3]));
    if (index.guests.empty()) return;
    to.Number("machine_pid", index.guests[2 * i]);
    to.Number("vcpu", index.guests[2 * i + 1]);
  });
}

void Show(RecordFields& to, const CpuSet& cpus) {
  if (cpus.map_type == CpuSet::kRange) {
    to.Number("any_cpu", cpus.any_cpu);
    to.Number("start_cpu", cpus.start_cpu);
    to.Number("end_cpu", cpus.end_cpu);
  } else if (cpus.map_type == CpuSet::kMask) {
    to.Number("long_size", cpus.long_size);
    to.Words("mask", cpus.mask32.empty() ? HexesOf(cpus.mask64) : HexesOf(cpus.mask32));
  } else {
    std::vector<std::string> numbers;
    for (const std::uint16_t cpu : cpus.cpus) {
      numbers.push_back(fmt::format("{}", static_cast<std::int16_t>(cpu)));
    }
    to.Words("cpus", numbers);
  }
}

void Show(RecordFields& to, const CpuMap& map) {
  Show(to, map.cpus);
}

void Show(RecordFields& to, const EventUpdate& update) {
  to.Number("update_type", update.update_type);
  to.Number("id", update.id);
  switch (update.update_type) {
    case EventUpdate::kUnit:
      return to.Text("unit", update.text);
    case EventUpdate::kName:
      return to.Text("name", update.text);
    case EventUpdate::kScale:
      return to.Real("scale", update.scale);
    case EventUpdate::kCpus:
      return Show(to, update.cpus);
    default:
      return to.Blob("payload", update.unknown);
  }
}

void Show(RecordFields& to, const HeaderAttr& record) {
  to.Word("attr", AttrText(record.attr));
  std::vector<std::string> ids;
  for (const std::uint64_t id : record.ids) ids.push_back(fmt::format("{}", id));
  to.Words("ids", ids);
}

void Show(RecordFields& to, const HeaderEventType& type) {
  to.Number("event_id", type.event_id);
  const std::string_view name = AsText(type.name);
  to.Text("name", name.substr(0, name.find('\0')));
}

void Show(RecordFields& to, const HeaderTracingData& tracing) {
  to.Number("tracing_size", tracing.size);
  if (!tracing.data.empty()) to.Blob("data", tracing.data);
}

void Show(RecordFields& to, const AuxtraceInfo& info) {
  to.Number("auxtrace_type", info.auxtrace_type);
  to.Words("priv", HexesOf(info.priv));
}

void Show(RecordFields& to, const Auxtrace& trace) {
  to.Number("auxtrace_size", trace.size);
  to.Number("auxtrace_offset", trace.offset);
  to.Hex("reference", trace.reference);
  to.Number("index", trace.index);
  to.Id("tid", trace.tid);
  to.Id("cpu", trace.cpu);
}

void Show(RecordFields& to, const AuxtraceError& error) {
  to.Number("error_type", error.error_type);
  to.Number("code", error.code);
  to.Id("cpu", error.cpu);
  to.Id("pid", error.pid);
  to.Id("tid", error.tid);
  to.Hex("ip", error.ip);
  if (error.format >= 1) to.Number("time", error.time);
  to.Text("message", error.message);
  if (error.format < 2) return;
  to.Id("machine_pid", error.machine_pid);
  to.Id("vcpu", error.vcpu);
}

void Show(RecordFields& to, const ThreadMap& map) {
  ShowList(to, "threads", map.threads.size(), [&](std::size_t i) {
    to.Signed("pid", static_cast<std::int64_t>(map.threads[i].pid));
    to.Text("comm", map.threads[i].comm);
  });
}

void Show(RecordFields& to, const StatConfig& config) {
  ShowList(to, "terms", config.terms.size() / 2, [&](std::size_t i) {
    to.Number("tag", config.terms[2 * i]);
    to.Number("value", config.terms[2 * i + 1]);
  });
}

void Show(RecordFields& to, const Stat& stat) {
  to.Number("id", stat.id);
  to.Id("cpu", stat.cpu);
  to.Id("thread", stat.thread);
  to.Number("value", stat.value);
  to.Number("enabled", stat.enabled);
  to.Number("running", stat.running);
}

void Show(RecordFields& to, const StatRound& round) {
  to.Number("round_type", round.round_type);
  to.Number("time", round.time);
}

void Show(RecordFields& to, const TimeConv& conversion) {
  to.Number("time_shift", conversion.time_shift);
  to.Number("time_mult", conversion.time_mult);
  to.Number("time_zero", conversion.time_zero);
  if (!conversion.has_cycles) return;
  to.Number("time_cycles", conversion.time_cycles);
  to.Hex("time_mask", conversion.time_mask);
  to.Number("cap_time_zero", conversion.cap_time_zero);
  to.Number("cap_time_short", conversion.cap_time_short);
}

void Show(RecordFields& to, const CompressedData& compressed) {
  to.Number("data_size", compressed.data.size());
}

void Show(RecordFields& to, const Compressed2Data& compressed) {
  to.Number("data_size", compressed.data_size);
}

void Show(RecordFields& to, const BpfMetadata& metadata) {
  to.Text("program", metadata.program);
  ShowList(to, "entries", metadata.entries.size(), [&](std::size_t i) {
    to.Text("key", metadata.entries[i].key);
    to.Text("value", metadata.entries[i].value);
  });
}

void Show(RecordFields& to, const SchedstatCpu& stat) {
  to.Number("timestamp", stat.timestamp);
  to.Number("cpu", stat.cpu);
  to.Number("version", stat.version);
  // CPU_FIELD of tools/lib/perf/include/perf/schedstat-v15.h
  constexpr std::array<std::string_view, 6> kCounters = {
      "yld_count", "array_exp", "sched_count", "sched_goidle", "ttwu_count", "ttwu_local"};
  constexpr std::array<std::string_view, 3> kTimes = {"rq_cpu_time", "run_delay", "pcount"};
  for (std::size_t i = 0; i < kCounters.size(); ++i) to.Number(kCounters[i], stat.counters[i]);
  for (std::size_t i = 0; i < kTimes.size(); ++i) to.Number(kTimes[i], stat.times[i]);
}

void Show(RecordFields& to, const SchedstatDomain& stat) {
  to.Number("timestamp", stat.timestamp);
  to.Number("cpu", stat.cpu);
  to.Number("version", stat.version);
  to.Number("domain", stat.domain);
  std::vector<std::string> counters;
  for (const std::uint32_t counter : stat.counters) counters.push_back(fmt::format("{}", counter));
  to.Words("counters", counters);
}

void Show(RecordFields& to, const HeaderFeature& feature) {
  to.Word("feature", FeatureName(static_cast<FeatureBit>(feature.bit)));
  to.Blob("payload", feature.payload);
}

void Show(RecordFields& /*to*/, const FinishedRound& /*round*/) {}
void Show(RecordFields& /*to*/, const FinishedInit& /*init*/) {}

void ShowBranches(RecordFields& to, const Sample& sample, const SampleFormat& format) {
  if ((format.branch_sample_type & kBranchHwIndex) != 0) {
    to.Signed("hw_idx", static_cast<std::int64_t>(sample.branch_hw_index));
  }
  std::vector<std::string> branches;
  for (std::size_t i = 0; i < sample.branches.size() / 3; ++i) {
    branches.push_back(fmt::format("{:x}->{:x}/{:x}", sample.branches[3 * i],
                                   sample.branches[3 * i + 1], BranchFlagsAt(sample.branches, i)));
  }
  to.Words("branches", branches);
  if ((format.branch_sample_type & kBranchCounters) != 0) {
    to.Words("branch_counters", HexesOf(sample.branch_counters));
  }
}

// Shows the fields that an event records, in the order of the record.
void ShowSample(RecordFields& to, const Sample& sample, const SampleFormat& format) {
  if (format.Has(kIdentifier) || format.Has(kId)) to.Number("id", sample.id);
  if (format.Has(kIp)) to.Hex("ip", sample.ip);
  if (format.Has(kTid)) to.Id("pid", sample.pid);
  if (format.Has(kTid)) to.Id("tid", sample.tid);
  if (format.Has(kTime)) to.Number("time", sample.time);
  if (format.Has(kAddr)) to.Hex("addr", sample.addr);
  if (format.Has(kStreamId)) to.Number("stream_id", sample.stream_id);
  if (format.Has(kCpu)) to.Id("cpu", sample.cpu);
  if (format.Has(kPeriod)) to.Number("period", sample.period);
  if (format.Has(kRead)) to.Words("read", HexesOf(sample.read));
  if (format.Has(kCallchain)) to.Words("callchain", EntriesOf(sample.callchain));
  if (format.Has(kRaw)) to.Blob("raw", sample.raw);
  if (format.Has(kBranchStack)) ShowBranches(to, sample, format);
  if (format.Has(kRegsUser)) to.Number("regs_user_abi", sample.regs_user_abi);
  if (format.Has(kRegsUser)) to.Words("regs_user", HexesOf(sample.regs_user));
  if (!sample.regs_user_simd.empty()) to.Words("regs_user_simd", HexesOf(sample.regs_user_simd));
  if (format.Has(kStackUser)) to.Blob("stack_user", sample.stack_user);
  if (format.Has(kWeight) || format.Has(kWeightStruct)) to.Number("weight", sample.weight);
  if (format.Has(kDataSrc)) to.Hex("data_src", sample.data_src);
  if (sample.data_src != 0) to.Word("data_src_text", DataSourceText(sample.data_src));
  if (format.Has(kTransaction)) to.Hex("transaction", sample.transaction);
  if (format.Has(kRegsIntr)) to.Number("regs_intr_abi", sample.regs_intr_abi);
  if (format.Has(kRegsIntr)) to.Words("regs_intr", HexesOf(sample.regs_intr));
  if (!sample.regs_intr_simd.empty()) to.Words("regs_intr_simd", HexesOf(sample.regs_intr_simd));
  if (format.Has(kPhysAddr)) to.Hex("phys_addr", sample.phys_addr);
  if (format.Has(kSampleCgroup)) to.Number("cgroup", sample.cgroup);
  if (format.Has(kDataPageSize)) to.Number("data_page_size", sample.data_page_size);
  if (format.Has(kCodePageSize)) to.Number("code_page_size", sample.code_page_size);
  if (format.Has(kAux)) to.Blob("aux", sample.aux);
}

void ShowTrailer(RecordFields& to, const RecordView& record, const SampleFormat& format) {
  if (format.trailer_size() == 0) return;
  const SampleId trailer = DecodeSampleId(record, format);
  to.Trailer();
  if (format.Has(kTid)) to.Id("pid", trailer.pid);
  if (format.Has(kTid)) to.Id("tid", trailer.tid);
  if (format.Has(kTime)) to.Number("time", trailer.time);
  if (format.Has(kIdentifier) || format.Has(kId)) to.Number("id", trailer.id);
  if (format.Has(kStreamId)) to.Number("stream_id", trailer.stream_id);
  if (format.Has(kCpu)) to.Id("cpu", trailer.cpu);
}

void VisitSample(const RecordView& record, const Event* event, RecordFields& to) {
  const Result<Sample> sample =
      DecodeSample(record, event == nullptr ? SampleFormat{} : event->format);
  if (event == nullptr || !sample) {
    to.Remark(event == nullptr ? "of no known event" : "cut off");
    to.Blob("payload", record.payload);
    return;
  }
  to.Word("event", event->name);
  ShowSample(to, *sample, event->format);
  if (event->tracepoint) VisitTracepointFields(*event->tracepoint, sample->raw, to);
}

void VisitValue(std::string_view name, const FieldValue& value, RecordFields& to) {
  switch (value.content) {
    case TracepointField::Content::kSigned:
      return to.Signed(name, static_cast<std::int64_t>(value.number));
    case TracepointField::Content::kUnsigned:
      return to.Number(name, value.number);
    case TracepointField::Content::kHex:
      return to.Hex(name, value.number);
    case TracepointField::Content::kText:
      return to.Text(name, value.text);
    case TracepointField::Content::kArray:
      return to.Words(name, value.Elements());
  }
}

template <class Record>
void VisitTyped(const RecordView& record, const SampleFormat& format, RecordFields& to) {
  const Result<Record> value = Decode<Record>(record, format);
  if (value) {
    Show(to, *value);
  } else {
    to.Remark("cut off");
    to.Blob("payload", record.payload);
  }
}

}  // namespace

void VisitTracepointFields(const TracepointFormat& format, Bytes raw, RecordFields& to) {
  bool is_open = false;
  for (const TracepointField& field : format.fields) {
    if (field.is_common()) continue;
    const std::optional<FieldValue> value = ValueOf(field, raw, format.order);
    if (!value) continue;
    if (!std::exchange(is_open, true)) to.OpenGroup("fields");
    VisitValue(field.name, *value, to);
  }
  if (is_open) to.CloseGroup();
}

void VisitFields(const RecordView& record, const EventTable& events, RecordFields& to) {
  const Event* event = events.EventOf(record);
  if (record.type == RecordType::kSample) return VisitSample(record, event, to);
  const bool is_tool_record = std::to_underlying(record.type) >= kFirstToolType;
  const SampleFormat format = event == nullptr || is_tool_record ? SampleFormat{} : event->format;
  const bool is_typed = VisitRecordType(record.type, [&]<class Record>(std::type_identity<Record>) {
    VisitTyped<Record>(record, format, to);
  });
  if (!is_typed) to.Blob("payload", record.payload);
  ShowTrailer(to, record, format);
}

}  // namespace perftape::inspect

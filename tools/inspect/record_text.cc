// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/record_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "tools/common/cli/escape.h"
#include "tools/inspect/flag_text.h"

namespace perftape::inspect {
namespace {

using perfdata::RecordType;
using perfdata::RecordView;
using perfdata::SampleFormat;

constexpr std::size_t kBytesShown = 64;

// Collects " name value" pairs.
class Fields {
 public:
  explicit Fields(std::string& out) : out_(out) {}

  void Number(std::string_view name, std::uint64_t value) { Put(" {} {}", name, value); }
  // -1 stands for "none" in pids and CPUs.
  void Id(std::string_view name, std::uint32_t value) {
    Put(" {} {}", name, static_cast<std::int32_t>(value));
  }
  void Hex(std::string_view name, std::uint64_t value) { Put(" {} {:#x}", name, value); }
  void Text(std::string_view name, std::string_view value) {
    Put(" {} \"{}\"", name, cli::EscapeForTerminal(value));
  }
  void Words(std::string_view name, const WordArray& words) {
    Put(" {} [{}]", name, words.size());
    for (const std::uint64_t word : words) Put(" {:x}", word);
  }
  void Blob(std::string_view name, Bytes bytes) {
    Put(" {} [{}]", name, bytes.size());
    const Bytes shown = bytes.first(std::min(bytes.size(), kBytesShown));
    for (std::size_t i = 0; i < shown.size(); ++i) {
      Put("{}{:02x}", i % 8 == 0 ? " " : "", std::to_integer<unsigned>(shown[i]));
    }
    if (shown.size() < bytes.size()) Put(" …");
  }
  template <class... Values>
  void Put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
  }

 private:
  std::string& out_;
};

void Show(Fields& to, const perfdata::Mmap& mmap) {
  to.Id("pid", mmap.pid);
  to.Id("tid", mmap.tid);
  to.Hex("start", mmap.start);
  to.Hex("length", mmap.length);
  to.Hex("page_offset", mmap.page_offset);
  to.Text("filename", mmap.filename);
}

void Show(Fields& to, const perfdata::Mmap2& mmap) {
  to.Id("pid", mmap.pid);
  to.Id("tid", mmap.tid);
  to.Hex("start", mmap.start);
  to.Hex("length", mmap.length);
  to.Hex("page_offset", mmap.page_offset);
  if (mmap.build_id.empty()) {
    to.Put(" device {:x}:{:x}", mmap.device_major, mmap.device_minor);
    to.Number("inode", mmap.inode);
    to.Number("generation", mmap.inode_generation);
  } else {
    to.Put(" build_id {}", mmap.build_id.hex());
  }
  to.Put(" protection {}", ProtectionText(mmap.protection));
  to.Hex("flags", mmap.flags);
  to.Text("filename", mmap.filename);
}

void Show(Fields& to, const perfdata::Comm& comm) {
  to.Id("pid", comm.pid);
  to.Id("tid", comm.tid);
  to.Text("comm", comm.comm);
}

void Show(Fields& to, const perfdata::Task& task) {
  to.Id("pid", task.pid);
  to.Id("ppid", task.ppid);
  to.Id("tid", task.tid);
  to.Id("ptid", task.ptid);
  to.Number("time", task.time);
}

void Show(Fields& to, const perfdata::Lost& lost) {
  to.Number("id", lost.event_id);
  to.Number("lost", lost.count);
}

void Show(Fields& to, const perfdata::LostSamples& lost) {
  to.Number("lost", lost.count);
}

void Show(Fields& to, const perfdata::Throttle& throttle) {
  to.Number("time", throttle.time);
  to.Number("id", throttle.id);
  to.Number("stream_id", throttle.stream_id);
}

void Show(Fields& to, const perfdata::Namespaces& namespaces) {
  constexpr std::array<std::string_view, 7> kNames = {"net",  "uts", "ipc",   "pid",
                                                      "user", "mnt", "cgroup"};
  to.Id("pid", namespaces.pid);
  to.Id("tid", namespaces.tid);
  for (std::size_t i = 0; i + 1 < namespaces.links.size(); i += 2) {
    const std::size_t kind = i / 2;
    to.Put(" {} {:x}:{}", kind < kNames.size() ? kNames[kind] : "other", namespaces.links[i],
           namespaces.links[i + 1]);
  }
}

void Show(Fields& to, const perfdata::Ksymbol& symbol) {
  to.Hex("address", symbol.address);
  to.Number("length", symbol.length);
  to.Number("type", symbol.symbol_type);
  to.Hex("flags", symbol.flags);
  to.Text("name", symbol.name);
}

void Show(Fields& to, const perfdata::BpfEvent& event) {
  to.Number("type", event.event_type);
  to.Hex("flags", event.flags);
  to.Number("id", event.id);
  to.Blob("tag", std::as_bytes(std::span(event.tag)));
}

void Show(Fields& to, const perfdata::Cgroup& cgroup) {
  to.Number("id", cgroup.id);
  to.Text("path", cgroup.path);
}

void Show(Fields& to, const perfdata::SwitchCpuWide& change) {
  to.Id("next_prev_pid", change.next_prev_pid);
  to.Id("next_prev_tid", change.next_prev_tid);
}

void Show(Fields& to, const perfdata::TextPoke& poke) {
  to.Hex("address", poke.address);
  to.Number("old_length", poke.old_length);
  to.Number("new_length", poke.new_length);
  to.Blob("bytes", poke.bytes);
}

void Show(Fields& to, const perfdata::HeaderBuildId& entry) {
  to.Id("pid", static_cast<std::uint32_t>(entry.pid));
  to.Put(" build_id {}", entry.build_id.hex());
  to.Text("filename", entry.filename);
}

void Show(Fields& to, const perfdata::IdIndex& index) {
  const WordArray& words = index.words;
  to.Put(" entries [{}]", words.size() / 4);
  for (std::size_t i = 0; i + 3 < words.size(); i += 4) {
    to.Put(" (id {} index {} cpu {} tid {})", words[i], words[i + 1],
           static_cast<std::int64_t>(words[i + 2]), static_cast<std::int64_t>(words[i + 3]));
  }
}

void Show(Fields& to, const perfdata::EventUpdate& update) {
  to.Number("type", update.update_type);
  to.Number("id", update.id);
  if (update.update_type == perfdata::EventUpdate::kName) {
    const std::string_view name = AsText(update.data);
    to.Text("name", name.substr(0, name.find('\0')));
  } else {
    to.Blob("payload", update.data);
  }
}

void Show(Fields& to, const perfdata::HeaderFeature& feature) {
  to.Put(" feature {}", FeatureName(static_cast<perfdata::FeatureBit>(feature.bit)));
  to.Blob("payload", feature.payload);
}

void Show(Fields& /*to*/, const perfdata::FinishedRound& /*round*/) {}
void Show(Fields& /*to*/, const perfdata::FinishedInit& /*init*/) {}

// The fields that an event records, in the order of the record.
void ShowSample(Fields& to, const perfdata::Sample& sample, const SampleFormat& format) {
  using namespace perfdata;  // the SampleBits
  if (format.Has(kIdentifier) || format.Has(kId)) to.Number("id", sample.id);
  if (format.Has(kIp)) to.Hex("ip", sample.ip);
  if (format.Has(kTid)) to.Id("pid", sample.pid);
  if (format.Has(kTid)) to.Id("tid", sample.tid);
  if (format.Has(kTime)) to.Number("time", sample.time);
  if (format.Has(kAddr)) to.Hex("addr", sample.addr);
  if (format.Has(kStreamId)) to.Number("stream_id", sample.stream_id);
  if (format.Has(kCpu)) to.Id("cpu", sample.cpu);
  if (format.Has(kPeriod)) to.Number("period", sample.period);
  if (format.Has(kRead)) to.Words("read", sample.read);
  if (format.Has(kCallchain)) {
    to.Put(" callchain [{}]", sample.callchain.size());
    for (const std::uint64_t entry : sample.callchain) to.Put(" {}", CallchainEntryText(entry));
  }
  if (format.Has(kRaw)) to.Blob("raw", sample.raw);
  if (format.Has(kBranchStack)) {
    to.Put(" branches [{}]", sample.branches.size() / 3);
    for (std::size_t i = 0; i + 2 < sample.branches.size(); i += 3) {
      to.Put(" {:x}->{:x}/{:x}", sample.branches[i], sample.branches[i + 1],
             sample.branches[i + 2]);
    }
  }
  if (format.Has(kRegsUser)) to.Number("regs_user_abi", sample.regs_user_abi);
  if (format.Has(kRegsUser)) to.Words("regs_user", sample.regs_user);
  if (format.Has(kStackUser)) to.Blob("stack_user", sample.stack_user);
  if (format.Has(kWeight) || format.Has(kWeightStruct)) to.Number("weight", sample.weight);
  if (format.Has(kDataSrc)) to.Hex("data_src", sample.data_src);
  if (format.Has(kTransaction)) to.Hex("transaction", sample.transaction);
  if (format.Has(kRegsIntr)) to.Number("regs_intr_abi", sample.regs_intr_abi);
  if (format.Has(kRegsIntr)) to.Words("regs_intr", sample.regs_intr);
  if (format.Has(kPhysAddr)) to.Hex("phys_addr", sample.phys_addr);
  if (format.Has(kSampleCgroup)) to.Number("cgroup", sample.cgroup);
  if (format.Has(kDataPageSize)) to.Number("data_page_size", sample.data_page_size);
  if (format.Has(kCodePageSize)) to.Number("code_page_size", sample.code_page_size);
  if (format.Has(kAux)) to.Blob("aux", sample.aux);
}

void ShowTrailer(Fields& to, const RecordView& record, const SampleFormat& format) {
  using namespace perfdata;  // the SampleBits
  if (format.trailer_size() == 0) return;
  const SampleId trailer = DecodeSampleId(record, format);
  to.Put(" |");
  if (format.Has(kTid)) to.Id("pid", trailer.pid);
  if (format.Has(kTid)) to.Id("tid", trailer.tid);
  if (format.Has(kTime)) to.Number("time", trailer.time);
  if (format.Has(kIdentifier) || format.Has(kId)) to.Number("id", trailer.id);
  if (format.Has(kStreamId)) to.Number("stream_id", trailer.stream_id);
  if (format.Has(kCpu)) to.Id("cpu", trailer.cpu);
}

// Types whose fields nothing else here needs: { width in bytes, name }, in their order. What
// follows the last one is shown as bytes. include/uapi/linux/perf_event.h and
// tools/lib/perf/include/perf/event.h.
struct PlainField {
  std::uint8_t width;
  std::string_view name;
};
struct PlainType {
  RecordType type;
  std::array<PlainField, 7> fields;
};
// clang-format off
constexpr PlainType kPlainTypes[] = {
    {RecordType::kRead, {{{4, "pid"}, {4, "tid"}}}},
    {RecordType::kAux, {{{8, "aux_offset"}, {8, "aux_size"}, {8, "flags"}}}},
    {RecordType::kItraceStart, {{{4, "pid"}, {4, "tid"}}}},
    {RecordType::kSwitch, {}},
    {RecordType::kAuxOutputHwId, {{{8, "hw_id"}}}},
    {RecordType::kCallchainDeferred, {{{8, "cookie"}, {8, "count"}}}},
    {RecordType::kHeaderTracingData, {{{4, "tracing_size"}}}},
    {RecordType::kAuxtraceInfo, {{{4, "auxtrace_type"}, {4, "reserved"}}}},
    {RecordType::kAuxtrace, {{{8, "auxtrace_size"}, {8, "auxtrace_offset"}, {8, "reference"},
                              {4, "index"}, {4, "tid"}, {4, "cpu"}, {4, "reserved"}}}},
    {RecordType::kAuxtraceError, {{{4, "error_type"}, {4, "code"}, {4, "cpu"}, {4, "pid"},
                                   {4, "tid"}, {4, "format"}, {8, "ip"}}}},
    {RecordType::kThreadMap, {{{8, "threads"}}}},
    {RecordType::kStatConfig, {{{8, "terms"}}}},
    {RecordType::kStat, {{{8, "id"}, {4, "cpu"}, {4, "thread"}, {8, "value"}, {8, "enabled"},
                          {8, "running"}}}},
    {RecordType::kStatRound, {{{8, "round_type"}, {8, "time"}}}},
    {RecordType::kTimeConv, {{{8, "time_shift"}, {8, "time_mult"}, {8, "time_zero"},
                              {8, "time_cycles"}, {8, "time_mask"}, {1, "cap_time_zero"},
                              {1, "cap_time_short"}}}},
};
// clang-format on

void ShowPlain(Fields& to, const RecordView& record, std::size_t trailer_size) {
  const std::size_t size = record.payload.size() - std::min(record.payload.size(), trailer_size);
  ByteReader at(record.payload.first(size), record.order);
  const auto plain = std::ranges::find(kPlainTypes, record.type, &PlainType::type);
  if (plain != std::end(kPlainTypes)) {
    for (const PlainField& field : plain->fields) {
      if (field.width > at.remaining() || field.width == 0) break;
      std::uint64_t eight = 0;
      std::uint32_t four = 0;
      std::uint8_t one = 0;
      if (field.width == 8) at.Fixed(eight);
      if (field.width == 4) at.Fixed(four);
      if (field.width == 1) at.Fixed(one);
      to.Number(field.name, eight + four + one);
    }
  }
  Bytes rest;
  at.Blob(rest, at.remaining());
  if (!rest.empty()) to.Blob("payload", rest);
}

void ShowAttr(Fields& to, const RecordView& record) {
  const Result<perfdata::EventAttr> attr = perfdata::DecodeAttr(record.payload, record.order);
  if (!attr) {
    to.Put(" ({})", attr.error().message);
    return;
  }
  to.Put(" {}", AttrText(*attr));
  const WordArray ids(record.payload.subspan(attr->size), record.order);
  to.Put(" ids [{}]", ids.size());
  for (const std::uint64_t id : ids) to.Put(" {}", id);
}

template <class Record>
void ShowTyped(Fields& to, const RecordView& record, const SampleFormat& format) {
  const Result<Record> value = perfdata::Decode<Record>(record, format);
  if (value) {
    Show(to, *value);
  } else {
    to.Put(" (cut off)");
    to.Blob("payload", record.payload);
  }
}

using Shower = void (*)(Fields&, const RecordView&, const SampleFormat&);

template <class... Records>
Shower ShowerOf(RecordType type) {
  Shower found = nullptr;
  ((type == Records::kType ? void(found = &ShowTyped<Records>) : void()), ...);
  return found;
}

Shower FindShower(RecordType type) {
  using namespace perfdata;  // the records
  // The two that share the layout of another.
  if (type == RecordType::kUnthrottle) return &ShowTyped<Throttle>;
  return ShowerOf<Mmap, Mmap2, Comm, Fork, Exit, Lost, LostSamples, Throttle, Namespaces, Ksymbol,
                  BpfEvent, Cgroup, SwitchCpuWide, TextPoke, HeaderBuildId, IdIndex, EventUpdate,
                  HeaderFeature, FinishedRound, FinishedInit>(type);
}

}  // namespace

std::string RecordText(const RecordView& record, const perfdata::EventTable& events) {
  std::string text = fmt::format("{:#x} {} misc {:#x} size {}:", record.file_offset,
                                 RecordName(record.type), record.misc, record.size());
  Fields to(text);
  const perfdata::Event* event = events.EventOf(record);
  const SampleFormat format = event == nullptr ? SampleFormat{} : event->format;
  if (record.type == RecordType::kSample) {
    const Result<perfdata::Sample> sample = DecodeSample(record, format);
    if (event == nullptr || !sample) {
      to.Put("{}", event == nullptr ? " (of no known event)" : " (cut off)");
      to.Blob("payload", record.payload);
      return text;
    }
    to.Put(" event {}", cli::EscapeForTerminal(event->name));
    ShowSample(to, *sample, format);
    return text;
  }
  if (record.type == RecordType::kHeaderAttr) {
    ShowAttr(to, record);
    return text;
  }
  const bool is_tool_record = std::to_underlying(record.type) >= perfdata::kFirstToolType;
  const SampleFormat trailer = is_tool_record ? SampleFormat{} : format;
  if (const Shower show = FindShower(record.type)) {
    show(to, record, format);
  } else {
    ShowPlain(to, record, trailer.trailer_size());
  }
  ShowTrailer(to, record, trailer);
  return text;
}

}  // namespace perftape::inspect

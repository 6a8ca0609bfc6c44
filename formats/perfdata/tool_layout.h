// SPDX-License-Identifier: Apache-2.0
// The fields of perf's own records, in their order, for reading, writing and showing
// (kernel_layout.h explains how). The right column is the text of
// tools/lib/perf/include/perf/event.h.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/field.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/sample_layout.h"

namespace perftape::perfdata {

// A field that extends to the end of the record.
template <class Cursor, class BytesRef>
requires std::convertible_to<BytesRef, Bytes>
void RestLayout(Cursor& at, BytesRef& field, const FieldInfo& info) {
  std::uint64_t size = field.size();
  if constexpr (Cursor::kReads) size = at.remaining();
  at.Blob(field, size, info);
}
template <class Cursor, class ArrayRef>
requires requires(ArrayRef& array) {
  array.order();
}
void RestLayout(Cursor& at, ArrayRef& field, const FieldInfo& info) {
  std::uint64_t count = field.size();
  if constexpr (Cursor::kReads) count = at.remaining() / sizeof(field[0]);
  at.Array(field, count, info);
}

// { u64 nr; Entry entries[nr]; }, with entries of `entry_size` bytes.
template <class Cursor, class List, class EntryLayout>
void SizedList(Cursor& at, std::string_view name, List& list, std::uint64_t entry_size,
               EntryLayout&& layout) {
  if constexpr (kShows<Cursor>) return at.List(name, list, layout);
  std::uint64_t count = list.size();
  at.Count(count, entry_size);
  if constexpr (Cursor::kReads) list.resize(count);
  for (auto& entry : list) layout(entry);
}

template <class Cursor, MaybeConst<HeaderBuildId> Ref>
void Layout(Cursor& at, Ref& entry, const RecordShape& shape) {
  at.Fixed(entry.pid, as::Id("pid"));  // { pid_t pid;
  ShowBuildId(at, entry.build_id);
  for (auto& byte : entry.build_id.bytes) at.Fixed(byte);  //   u8 data[20];
  at.Fixed(entry.build_id.size);                           //   u8 size;
  at.Padding(3);                                           //   u8 reserved1__; u16 reserved2__;
  at.Name(entry.filename, as::Text("filename"));           //   char filename[]; }
  if constexpr (Cursor::kReads) {
    // Before Linux 5.11 the size byte was padding, and every build id had 20 bytes.
    if ((shape.misc & kMiscBuildIdSize) == 0) entry.build_id.size = sizeof entry.build_id.bytes;
    entry.build_id.size = std::min<std::uint8_t>(entry.build_id.size, sizeof entry.build_id.bytes);
  }
}

template <class Cursor, MaybeConst<HeaderAttr> Ref>
void Layout(Cursor& at, Ref& record, const RecordShape& /*shape*/) {
  if constexpr (Cursor::kReads) {
    const Result<EventAttr> attr = DecodeAttr(AsBytes(at.Rest()), at.order());
    if (!attr) {
      at.Break();
      return;
    }
    record.attr = *attr;
    at.Padding(attr->size);
    at.Words(record.ids, at.remaining() / sizeof(std::uint64_t));
  } else if constexpr (kShows<Cursor>) {
    at.Attr(record.attr, as::Text("attr"));
    at.Words(record.ids, record.ids.size(), as::Number("ids"));
  } else {
    std::vector<std::byte> attr;
    EncodeAttr(record.attr, attr);
    at.Blob(attr, attr.size());               // { struct perf_event_attr attr;
    at.Words(record.ids, record.ids.size());  //   u64 id[]; }
  }
}

template <class Cursor, MaybeConst<HeaderEventType> Ref>
void Layout(Cursor& at, Ref& type, const RecordShape& /*shape*/) {
  at.Fixed(type.event_id, as::Number("event_id"));  // { u64 event_id;
  RestLayout(at, type.name, as::Text("name"));      //   char name[MAX_EVENT_NAME]; }
}

template <class Cursor, MaybeConst<HeaderTracingData> Ref>
void Layout(Cursor& at, Ref& tracing, const RecordShape& /*shape*/) {
  at.Fixed(tracing.size, as::Number("tracing_size"));  // { u32 size; }
  RestLayout(at, tracing.data, as::Optional(as::Blob("data")));
}

template <class Cursor, MaybeConst<IdIndex> Ref>
void Layout(Cursor& at, Ref& index, const RecordShape& /*shape*/) {
  if constexpr (kShows<Cursor>) {
    return at.Table(
        "entries",
        {{index.words, {as::Number("id"), as::Number("index"), as::Id("cpu"), as::Id("tid")}},
         {index.guests, {as::Number("machine_pid"), as::Number("vcpu")}}});
  }
  EntriesLayout(at, index.words, 4);  // { u64 nr; { u64 id, idx, cpu, tid; }[nr];
  const std::uint64_t count = index.words.size() / 4;
  bool has_guests = !index.guests.empty();
  if constexpr (Cursor::kReads) has_guests = at.remaining() >= count * 16;
  if (has_guests) at.Words(index.guests, count * 2);  //   { u64 machine_pid, vcpu; }[nr]; }
}

template <class Cursor, MaybeConst<AuxtraceInfo> Ref>
void Layout(Cursor& at, Ref& info, const RecordShape& /*shape*/) {
  at.Fixed(info.auxtrace_type, as::Number("auxtrace_type"));  // { u32 type;
  at.Padding(4);                                              //   u32 reserved__;
  RestLayout(at, info.priv, as::Hex("priv"));                 //   u64 priv[]; }
}

template <class Cursor, MaybeConst<Auxtrace> Ref>
void Layout(Cursor& at, Ref& trace, const RecordShape& /*shape*/) {
  at.Fixed(trace.size, as::Number("auxtrace_size"));      // { u64 size;
  at.Fixed(trace.offset, as::Number("auxtrace_offset"));  //   u64 offset;
  at.Fixed(trace.reference, as::Hex("reference"));        //   u64 reference;
  at.Fixed(trace.index, as::Number("index"));             //   u32 idx;
  at.Fixed(trace.tid, as::Id("tid"));                     //   u32 tid;
  at.Fixed(trace.cpu, as::Id("cpu"));                     //   u32 cpu;
  at.Padding(4);                                          //   u32 reserved__; }
}

template <class Cursor, MaybeConst<AuxtraceError> Ref>
void Layout(Cursor& at, Ref& error, const RecordShape& /*shape*/) {
  constexpr std::uint64_t kMessageSize = 64;
  at.Fixed(error.error_type, as::Number("error_type"));  // { u32 type;
  at.Fixed(error.code, as::Number("code"));              //   u32 code;
  at.Fixed(error.cpu, as::Id("cpu"));                    //   u32 cpu;
  at.Fixed(error.pid, as::Id("pid"));                    //   u32 pid, tid;
  at.Fixed(error.tid, as::Id("tid"));                    //
  at.Fixed(error.format);                                //   u32 fmt;
  at.Fixed(error.ip, as::Hex("ip"));                     //   u64 ip;
  at.EndOfFixed();
  if (error.format >= 1) at.Fixed(error.time, as::Number("time"));  //   u64 time;
  std::uint64_t size = kMessageSize;
  if constexpr (Cursor::kReads) size = std::min<std::uint64_t>(size, at.remaining());
  at.PaddedString(error.message, size, as::Text("message"));  //   char msg[64];
  if (error.format < 2) return;
  at.Fixed(error.machine_pid, as::Id("machine_pid"));  //   u32 machine_pid;
  at.Fixed(error.vcpu, as::Id("vcpu"));                //   u32 vcpu; }
}

template <class Cursor, MaybeConst<ThreadMap> Ref>
void Layout(Cursor& at, Ref& map, const RecordShape& /*shape*/) {
  constexpr std::uint64_t kCommSize = 16;
  SizedList(at, "threads", map.threads, 8 + kCommSize, [&](auto& thread) {  // { u64 nr;
    at.Fixed(thread.pid, as::Id("pid"));                                    //   { u64 pid;
    at.PaddedString(thread.comm, kCommSize, as::Text("comm"));  //     char comm[16]; }[nr]; }
  });
}

// struct perf_record_cpu_map_data, which is packed.
template <class Cursor, MaybeConst<CpuSet> Ref>
void CpuSetLayout(Cursor& at, Ref& set) {
  at.Fixed(set.map_type);  // { u16 type;
  at.EndOfFixed();
  if (set.map_type == CpuSet::kRange) {
    at.Fixed(set.any_cpu, as::Number("any_cpu"));      //   u8 any_cpu;
    at.Padding(1);                                     //   u8 __pad;
    at.Fixed(set.start_cpu, as::Number("start_cpu"));  //   u16 start_cpu;
    at.Fixed(set.end_cpu, as::Number("end_cpu"));      //   u16 end_cpu; }
    return;
  }
  auto count = static_cast<std::uint16_t>(set.cpus.size() + set.mask32.size() + set.mask64.size());
  at.Fixed(count);  //   u16 nr;
  if (set.map_type != CpuSet::kMask) {
    at.Array(set.cpus, count, as::Id("cpus"));  //   u16 cpu[nr]; }
    return;
  }
  at.Fixed(set.long_size, as::Number("long_size"));  //   u16 long_size;
  if (set.long_size == 4) {
    at.Array(set.mask32, count, as::Hex("mask"));  //   u32 mask[nr]; }
  } else {
    at.Padding(4);                                 //   char __pad[4];
    at.Array(set.mask64, count, as::Hex("mask"));  //   u64 mask[nr]; }
  }
}

template <class Cursor, MaybeConst<CpuMap> Ref>
void Layout(Cursor& at, Ref& map, const RecordShape& /*shape*/) {
  CpuSetLayout(at, map.cpus);
}

template <class Cursor, MaybeConst<StatConfig> Ref>
void Layout(Cursor& at, Ref& config, const RecordShape& /*shape*/) {
  TableLayout(at, config.terms, "terms",
              {as::Number("tag"), as::Number("value")});  // { u64 nr; { u64 tag, val; }[nr]; }
}

template <class Cursor, MaybeConst<Stat> Ref>
void Layout(Cursor& at, Ref& stat, const RecordShape& /*shape*/) {
  at.Fixed(stat.id, as::Number("id"));            // { u64 id;
  at.Fixed(stat.cpu, as::Id("cpu"));              //   u32 cpu;
  at.Fixed(stat.thread, as::Id("thread"));        //   u32 thread;
  at.Fixed(stat.value, as::Number("value"));      //   u64 val, ena, run; }
  at.Fixed(stat.enabled, as::Number("enabled"));  //
  at.Fixed(stat.running, as::Number("running"));  //
}

template <class Cursor, MaybeConst<StatRound> Ref>
void Layout(Cursor& at, Ref& round, const RecordShape& /*shape*/) {
  at.Fixed(round.round_type, as::Number("round_type"));  // { u64 type;
  at.Fixed(round.time, as::Number("time"));              //   u64 time; }
}

template <class Cursor, MaybeConst<EventUpdate> Ref>
void Layout(Cursor& at, Ref& update, const RecordShape& /*shape*/) {
  at.Fixed(update.update_type, as::Number("update_type"));  // { u64 type;
  at.Fixed(update.id, as::Number("id"));                    //   u64 id;
  at.EndOfFixed();
  switch (update.update_type) {
    case EventUpdate::kUnit:
      return at.Name(update.text, as::Text("unit"));  //
    case EventUpdate::kName:
      return at.Name(update.text, as::Text("name"));  //   union { char unit[], name[];
    case EventUpdate::kScale: {
      auto bits = std::bit_cast<std::uint64_t>(update.scale);
      if constexpr (kShows<Cursor>) at.Real(update.scale, as::Number("scale"));
      at.Fixed(bits);  //     double scale;
      if constexpr (Cursor::kReads) update.scale = std::bit_cast<double>(bits);
      return;
    }
    case EventUpdate::kCpus:
      return CpuSetLayout(at, update.cpus);  //     struct perf_record_cpu_map_data cpus; }; }
    default:
      return RestLayout(at, update.unknown, as::Blob("payload"));
  }
}

template <class Cursor, MaybeConst<TimeConv> Ref>
void Layout(Cursor& at, Ref& conversion, const RecordShape& /*shape*/) {
  at.Fixed(conversion.time_shift, as::Number("time_shift"));  // { u64 time_shift;
  at.Fixed(conversion.time_mult, as::Number("time_mult"));    //   u64 time_mult;
  at.Fixed(conversion.time_zero, as::Number("time_zero"));    //   u64 time_zero;
  at.EndOfFixed();
  if constexpr (Cursor::kReads) conversion.has_cycles = at.remaining() >= 18;
  if (!conversion.has_cycles) return;
  at.Fixed(conversion.time_cycles, as::Number("time_cycles"));      //   u64 time_cycles;
  at.Fixed(conversion.time_mask, as::Hex("time_mask"));             //   u64 time_mask;
  at.Fixed(conversion.cap_time_zero, as::Number("cap_time_zero"));  //   bool cap_user_time_zero;
  at.Fixed(conversion.cap_time_short,
           as::Number("cap_time_short"));  //   bool cap_user_time_short; }
}

template <class Cursor, MaybeConst<HeaderFeature> Ref>
void Layout(Cursor& at, Ref& feature, const RecordShape& /*shape*/) {
  at.Fixed(feature.bit, as::In(Form::kFeature, "feature"));  // { u64 feat_id;
  RestLayout(at, feature.payload, as::Blob("payload"));      //   char data[]; }
}

template <class Cursor, MaybeConst<FinishedRound> Ref>
void Layout(Cursor& /*at*/, Ref& /*round*/, const RecordShape& /*shape*/) {}

template <class Cursor, MaybeConst<FinishedInit> Ref>
void Layout(Cursor& /*at*/, Ref& /*init*/, const RecordShape& /*shape*/) {}

template <class Cursor, MaybeConst<CompressedData> Ref>
void Layout(Cursor& at, Ref& compressed, const RecordShape& /*shape*/) {
  RestLayout(at, compressed.data, as::In(Form::kSize, "data_size"));  // { char data[]; }
}

template <class Cursor, MaybeConst<Compressed2Data> Ref>
void Layout(Cursor& at, Ref& compressed, const RecordShape& /*shape*/) {
  at.Fixed(compressed.data_size, as::Number("data_size"));  // { u64 data_size;
  at.Blob(compressed.data, compressed.data_size);           //   char data[]; }
}

template <class Cursor, MaybeConst<BpfMetadata> Ref>
void Layout(Cursor& at, Ref& metadata, const RecordShape& /*shape*/) {
  constexpr std::uint64_t kNameSize = 512, kKeySize = 64, kValueSize = 256;
  at.PaddedString(metadata.program, kNameSize, as::Text("program"));  // { char prog_name[512];
  SizedList(at, "entries", metadata.entries, kKeySize + kValueSize,
            [&](auto& entry) {                                        //   u64 nr_entries;
              at.PaddedString(entry.key, kKeySize, as::Text("key"));  //   { char key[64];
              at.PaddedString(entry.value, kValueSize,
                              as::Text("value"));  //     char value[256]; } entries[]; }
            });
}

// CPU_FIELD of tools/lib/perf/include/perf/schedstat-v15.h: numbers of 32 and of 64 bits.
inline constexpr std::array<std::string_view, 6> kCpuCounters = {
    "yld_count", "array_exp", "sched_count", "sched_goidle", "ttwu_count", "ttwu_local"};
inline constexpr std::array<std::string_view, 3> kCpuTimes = {"rq_cpu_time", "run_delay", "pcount"};

template <class Cursor, MaybeConst<SchedstatCpu> Ref>
void Layout(Cursor& at, Ref& stat, const RecordShape& /*shape*/) {
  at.Fixed(stat.timestamp, as::Number("timestamp"));  // { u64 timestamp;
  at.Fixed(stat.cpu, as::Number("cpu"));              //   u32 cpu;
  at.Fixed(stat.version, as::Number("version"));      //   u16 version;
  at.Padding(2);                                      //   char __pad[2];
  at.EndOfFixed();                                    //   the rest depends on the version
  at.Array(stat.counters, kCpuCounters.size(),
           as::Each(kCpuCounters.data()));  //   u32 yld_count, …, ttwu_local;
  at.Words(stat.times, kCpuTimes.size(),
           as::Each(kCpuTimes.data()));  //   u64 rq_cpu_time, run_delay, pcount; }
}

template <class Cursor, MaybeConst<SchedstatDomain> Ref>
void Layout(Cursor& at, Ref& stat, const RecordShape& /*shape*/) {
  at.Fixed(stat.timestamp, as::Number("timestamp"));      // { u64 timestamp;
  at.Fixed(stat.cpu, as::Number("cpu"));                  //   u32 cpu;
  at.Fixed(stat.version, as::Number("version"));          //   u16 version;
  at.Fixed(stat.domain, as::Number("domain"));            //   u16 domain;
  RestLayout(at, stat.counters, as::Number("counters"));  //   u32 busy_lb_count, …; }
}

}  // namespace perftape::perfdata

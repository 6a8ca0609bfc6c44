// SPDX-License-Identifier: Apache-2.0
// Where each field of a record lies, told once: run over a ByteReader a layout decodes, over a
// ByteWriter it encodes. The right column is the text of include/uapi/linux/perf_event.h, or of
// tools/lib/perf/include/perf/event.h for tool records; a reviewer compares two columns.
//
// A layout describes the body: what lies between the record's header and its sample_id trailer.
// `record` is Record& when reading and const Record& when writing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "formats/base/bytes.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

template <class T, class Record>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Record>;

template <class Cursor, MaybeConst<Mmap> Ref>
void Layout(Cursor& at, Ref& mmap, std::uint16_t /*misc*/) {
  at.Fixed(mmap.pid);          // { u32 pid, tid;
  at.Fixed(mmap.tid);          //
  at.Fixed(mmap.start);        //   u64 addr;
  at.Fixed(mmap.length);       //   u64 len;
  at.Fixed(mmap.page_offset);  //   u64 pgoff;
  at.Name(mmap.filename);      //   char filename[]; }
}

// The 20 bytes of a build id, of which `size` count, behind a size byte and three of padding.
template <class Cursor, MaybeConst<BuildId> Ref>
void SizedBuildIdLayout(Cursor& at, Ref& build_id) {
  at.Fixed(build_id.size);                           // { u8 build_id_size;
  at.Padding(3);                                     //   u8 __reserved_1; u16 __reserved_2;
  for (auto& byte : build_id.bytes) at.Fixed(byte);  //   u8 build_id[20]; }
  if constexpr (Cursor::kReads) {
    build_id.size = std::min<std::uint8_t>(build_id.size, sizeof build_id.bytes);
  }
}

template <class Cursor, MaybeConst<Mmap2> Ref>
void Layout(Cursor& at, Ref& mmap, std::uint16_t misc) {
  at.Fixed(mmap.pid);          // { u32 pid, tid;
  at.Fixed(mmap.tid);          //
  at.Fixed(mmap.start);        //   u64 addr;
  at.Fixed(mmap.length);       //   u64 len;
  at.Fixed(mmap.page_offset);  //   u64 pgoff;
  if ((misc & kMiscMmapBuildId) != 0) {
    SizedBuildIdLayout(at, mmap.build_id);
  } else {
    at.Fixed(mmap.device_major);      //   union { struct { u32 maj;
    at.Fixed(mmap.device_minor);      //                    u32 min;
    at.Fixed(mmap.inode);             //                    u64 ino;
    at.Fixed(mmap.inode_generation);  //                    u64 ino_generation; }; … };
  }
  at.Fixed(mmap.protection);  //   u32 prot, flags;
  at.Fixed(mmap.flags);       //
  at.Name(mmap.filename);     //   char filename[]; }
}

template <class Cursor, MaybeConst<Comm> Ref>
void Layout(Cursor& at, Ref& comm, std::uint16_t /*misc*/) {
  at.Fixed(comm.pid);  // { u32 pid, tid;
  at.Fixed(comm.tid);  //
  at.Name(comm.comm);  //   char comm[]; }
}

template <class Cursor, class TaskRef>
requires std::derived_from<std::remove_const_t<TaskRef>, Task>
void Layout(Cursor& at, TaskRef& task, std::uint16_t /*misc*/) {
  at.Fixed(task.pid);   // { u32 pid, ppid;
  at.Fixed(task.ppid);  //
  at.Fixed(task.tid);   //   u32 tid, ptid;
  at.Fixed(task.ptid);  //
  at.Fixed(task.time);  //   u64 time; }
}

template <class Cursor, MaybeConst<Lost> Ref>
void Layout(Cursor& at, Ref& lost, std::uint16_t /*misc*/) {
  at.Fixed(lost.event_id);  // { u64 id;
  at.Fixed(lost.count);     //   u64 lost; }
}

template <class Cursor, MaybeConst<LostSamples> Ref>
void Layout(Cursor& at, Ref& lost, std::uint16_t /*misc*/) {
  at.Fixed(lost.count);  // { u64 lost; }
}

template <class Cursor, MaybeConst<Throttle> Ref>
void Layout(Cursor& at, Ref& throttle, std::uint16_t /*misc*/) {
  at.Fixed(throttle.time);       // { u64 time;
  at.Fixed(throttle.id);         //   u64 id;
  at.Fixed(throttle.stream_id);  //   u64 stream_id; }
}

template <class Cursor, MaybeConst<Namespaces> Ref>
void Layout(Cursor& at, Ref& namespaces, std::uint16_t /*misc*/) {
  std::uint64_t count = namespaces.links.size() / 2;
  at.Fixed(namespaces.pid);  // { u32 pid, tid;
  at.Fixed(namespaces.tid);  //
  at.Fixed(count);           //   u64 nr_namespaces;
  if constexpr (Cursor::kReads) {
    if (count > at.remaining() / 16) at.Break();
  }
  at.Words(namespaces.links, count * 2);  //   { u64 dev, inode; }[nr_namespaces]; }
}

template <class Cursor, MaybeConst<Ksymbol> Ref>
void Layout(Cursor& at, Ref& symbol, std::uint16_t /*misc*/) {
  at.Fixed(symbol.address);      // { u64 addr;
  at.Fixed(symbol.length);       //   u32 len;
  at.Fixed(symbol.symbol_type);  //   u16 ksym_type;
  at.Fixed(symbol.flags);        //   u16 flags;
  at.Name(symbol.name);          //   char name[]; }
}

template <class Cursor, MaybeConst<BpfEvent> Ref>
void Layout(Cursor& at, Ref& event, std::uint16_t /*misc*/) {
  at.Fixed(event.event_type);                   // { u16 type;
  at.Fixed(event.flags);                        //   u16 flags;
  at.Fixed(event.id);                           //   u32 id;
  for (auto& byte : event.tag) at.Fixed(byte);  //   u8 tag[BPF_TAG_SIZE]; }
}

template <class Cursor, MaybeConst<Cgroup> Ref>
void Layout(Cursor& at, Ref& cgroup, std::uint16_t /*misc*/) {
  at.Fixed(cgroup.id);   // { u64 id;
  at.Name(cgroup.path);  //   char path[]; }
}

template <class Cursor, MaybeConst<SwitchCpuWide> Ref>
void Layout(Cursor& at, Ref& change, std::uint16_t /*misc*/) {
  at.Fixed(change.next_prev_pid);  // { u32 next_prev_pid;
  at.Fixed(change.next_prev_tid);  //   u32 next_prev_tid; }
}

template <class Cursor, MaybeConst<TextPoke> Ref>
void Layout(Cursor& at, Ref& poke, std::uint16_t /*misc*/) {
  at.Fixed(poke.address);                                                 // { u64 addr;
  at.Fixed(poke.old_length);                                              //   u16 old_len;
  at.Fixed(poke.new_length);                                              //   u16 new_len;
  at.Blob(poke.bytes, std::uint64_t{poke.old_length} + poke.new_length);  //   u8 bytes[]; }
}

template <class Cursor, MaybeConst<HeaderBuildId> Ref>
void Layout(Cursor& at, Ref& entry, std::uint16_t misc) {
  at.Fixed(entry.pid);                                     // { pid_t pid;
  for (auto& byte : entry.build_id.bytes) at.Fixed(byte);  //   u8 data[20];
  at.Fixed(entry.build_id.size);                           //   u8 size;
  at.Padding(3);                                           //   u8 reserved1__; u16 reserved2__;
  at.Name(entry.filename);                                 //   char filename[]; }
  if constexpr (Cursor::kReads) {
    // Before Linux 5.11 the size byte was padding, and every build id 20 bytes.
    if ((misc & kMiscBuildIdSize) == 0) entry.build_id.size = sizeof entry.build_id.bytes;
    entry.build_id.size = std::min<std::uint8_t>(entry.build_id.size, sizeof entry.build_id.bytes);
  }
}

template <class Cursor, MaybeConst<IdIndex> Ref>
void Layout(Cursor& at, Ref& index, std::uint16_t /*misc*/) {
  std::uint64_t count = index.words.size() / 4;
  at.Fixed(count);  // { u64 nr;
  if constexpr (Cursor::kReads) {
    if (count > at.remaining() / 32) at.Break();
  }
  at.Words(index.words, count * 4);  //   { u64 id, idx, cpu, tid; }[nr]; }
}

template <class Cursor, MaybeConst<EventUpdate> Ref>
void Layout(Cursor& at, Ref& update, std::uint16_t /*misc*/) {
  at.Fixed(update.update_type);  // { u64 type;
  at.Fixed(update.id);           //   u64 id;
  std::uint64_t size = update.data.size();
  if constexpr (Cursor::kReads) size = at.remaining();
  at.Blob(update.data, size);  //   union { char name[]; … }; }
}

template <class Cursor, MaybeConst<HeaderFeature> Ref>
void Layout(Cursor& at, Ref& feature, std::uint16_t /*misc*/) {
  at.Fixed(feature.bit);  // { u64 feat_id;
  std::uint64_t size = feature.payload.size();
  if constexpr (Cursor::kReads) size = at.remaining();
  at.Blob(feature.payload, size);  //   char data[]; }
}

template <class Cursor, MaybeConst<FinishedRound> Ref>
void Layout(Cursor& /*at*/, Ref& /*round*/, std::uint16_t /*misc*/) {}

template <class Cursor, MaybeConst<FinishedInit> Ref>
void Layout(Cursor& /*at*/, Ref& /*init*/, std::uint16_t /*misc*/) {}

// The sample_id trailer.
template <class Cursor, MaybeConst<SampleId> Ref>
void TrailerLayout(Cursor& at, Ref& trailer, const SampleFormat& format) {
  if (format.Has(kTid)) {  // { { u32 pid, tid; } && PERF_SAMPLE_TID
    at.Fixed(trailer.pid);
    at.Fixed(trailer.tid);
  }
  if (format.Has(kTime)) at.Fixed(trailer.time);           //   { u64 time; } && PERF_SAMPLE_TIME
  if (format.Has(kId)) at.Fixed(trailer.id);               //   { u64 id; } && PERF_SAMPLE_ID
  if (format.Has(kStreamId)) at.Fixed(trailer.stream_id);  //   { u64 stream_id; }
  if (format.Has(kCpu)) {                                  //   { u32 cpu, res; }
    at.Fixed(trailer.cpu);
    at.Padding(4);
  }
  if (format.Has(kIdentifier)) at.Fixed(trailer.id);  //   { u64 id; } && PERF_SAMPLE_IDENTIFIER }
}

// The READ block as words. Without PERF_FORMAT_GROUP: value, time_enabled, time_running, id, lost,
// as far as asked for; with it: nr, time_enabled, time_running, then value, id, lost for each
// member.
template <class Cursor, class WordsRef>
void ReadLayout(Cursor& at, WordsRef& read, std::uint64_t read_format) {
  std::uint64_t words = read.size();
  if constexpr (Cursor::kReads) {
    const auto bits =
        static_cast<std::uint64_t>(std::popcount(read_format & (kReadId | kReadLost)));
    const auto times = static_cast<std::uint64_t>(
        std::popcount(read_format & (kReadTotalTimeEnabled | kReadTotalTimeRunning)));
    words = 1 + times + bits;
    if ((read_format & kReadGroup) != 0) {
      std::uint64_t members = 0;
      Cursor ahead = at;
      ahead.Fixed(members);
      if (members > at.remaining() / sizeof(std::uint64_t)) at.Break();
      words = at.ok() ? 1 + times + members * (1 + bits) : 0;
    }
  }
  at.Words(read, words);
}

template <class Cursor, class WordsRef>
void RegsLayout(Cursor& at, std::uint64_t abi, WordsRef& regs, std::uint64_t mask) {
  // The registers are there only where the task had any: PERF_SAMPLE_REGS_ABI_NONE is 0.
  const auto count = abi == 0 ? 0 : static_cast<std::uint64_t>(std::popcount(mask));
  at.Words(regs, count);
}

template <class Cursor, class SampleRef>
void BranchStackLayout(Cursor& at, SampleRef& sample, const SampleFormat& format) {
  std::uint64_t count = sample.branches.size() / 3;
  at.Fixed(count);  // { u64 nr;
  if ((format.branch_sample_type & kBranchHwIndex) != 0) at.Fixed(sample.branch_hw_index);
  if constexpr (Cursor::kReads) {
    if (count > at.remaining() / 24) at.Break();
    if (!at.ok()) count = 0;
  }
  at.Words(sample.branches, count * 3);  //   { u64 from, to, flags; } lbr[nr];
  if ((format.branch_sample_type & kBranchCounters) != 0) {
    at.Words(sample.branch_counters, count);  //   u64 counters[nr]; }
  }
}

template <class Cursor, class SampleRef>
void StackUserLayout(Cursor& at, SampleRef& sample) {
  at.Fixed(sample.stack_user_size);  // { u64 size;
  if (sample.stack_user_size == 0) return;
  if constexpr (Cursor::kReads) {
    std::uint64_t valid = 0;
    at.Blob(sample.stack_user, sample.stack_user_size);
    at.Fixed(valid);
    sample.stack_user = sample.stack_user.first(std::min(valid, sample.stack_user.size()));
  } else {
    const std::uint64_t valid =
        std::min<std::uint64_t>(sample.stack_user.size(), sample.stack_user_size);
    at.Blob(sample.stack_user, sample.stack_user_size);  //   char data[size];
    at.Fixed(valid);                                     //   u64 dyn_size; }
  }
}

template <class Cursor, class SampleRef>
void SampleLayout(Cursor& at, SampleRef& sample, const SampleFormat& format) {
  if (format.Has(kIdentifier)) at.Fixed(sample.id);  // { u64 id; }
  if (format.Has(kIp)) at.Fixed(sample.ip);          // { u64 ip; }
  if (format.Has(kTid)) {                            // { u32 pid, tid; }
    at.Fixed(sample.pid);
    at.Fixed(sample.tid);
  }
  if (format.Has(kTime)) at.Fixed(sample.time);           // { u64 time; }
  if (format.Has(kAddr)) at.Fixed(sample.addr);           // { u64 addr; }
  if (format.Has(kId)) at.Fixed(sample.id);               // { u64 id; }
  if (format.Has(kStreamId)) at.Fixed(sample.stream_id);  // { u64 stream_id; }
  if (format.Has(kCpu)) {                                 // { u32 cpu, res; }
    at.Fixed(sample.cpu);
    at.Padding(4);
  }
  if (format.Has(kPeriod)) at.Fixed(sample.period);  // { u64 period; }
  if (format.Has(kRead)) ReadLayout(at, sample.read, format.read_format);
  if (format.Has(kCallchain)) {  // { u64 nr, ips[nr]; }
    std::uint64_t count = sample.callchain.size();
    at.Fixed(count);
    at.Words(sample.callchain, count);
  }
  if (format.Has(kRaw)) {  // { u32 size; char data[size]; }
    auto size = static_cast<std::uint32_t>(sample.raw.size());
    at.Fixed(size);
    at.Blob(sample.raw, size);
  }
  if (format.Has(kBranchStack)) BranchStackLayout(at, sample, format);
  if (format.Has(kRegsUser)) {  // { u64 abi; u64 regs[weight(mask)]; }
    at.Fixed(sample.regs_user_abi);
    RegsLayout(at, sample.regs_user_abi, sample.regs_user, format.regs_user_mask);
  }
  if (format.Has(kStackUser)) StackUserLayout(at, sample);
  // WEIGHT_STRUCT takes WEIGHT's place; both are one word.
  if (format.Has(kWeight) || format.Has(kWeightStruct)) at.Fixed(sample.weight);
  if (format.Has(kDataSrc)) at.Fixed(sample.data_src);         // { u64 data_src; }
  if (format.Has(kTransaction)) at.Fixed(sample.transaction);  // { u64 transaction; }
  if (format.Has(kRegsIntr)) {                                 // { u64 abi; u64 regs[…]; }
    at.Fixed(sample.regs_intr_abi);
    RegsLayout(at, sample.regs_intr_abi, sample.regs_intr, format.regs_intr_mask);
  }
  if (format.Has(kPhysAddr)) at.Fixed(sample.phys_addr);           // { u64 phys_addr; }
  if (format.Has(kSampleCgroup)) at.Fixed(sample.cgroup);          // { u64 cgroup; }
  if (format.Has(kDataPageSize)) at.Fixed(sample.data_page_size);  // { u64 data_page_size; }
  if (format.Has(kCodePageSize)) at.Fixed(sample.code_page_size);  // { u64 code_page_size; }
  if (format.Has(kAux)) {                                          // { u64 size; char data[size]; }
    std::uint64_t size = sample.aux.size();
    at.Fixed(size);
    at.Blob(sample.aux, size);
  }
}

}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
// The fields of the kernel's records, in their order. With a ByteReader as `at` a layout decodes,
// with a ByteWriter it encodes, and with a FieldCursor it shows the fields that have a description
// (field.h). The right column is the text of include/uapi/linux/perf_event.h, so a reviewer
// compares two columns. kernel/events/core.c writes the records.
//
// A layout describes the body, which is between the record's header and its sample_id trailer.
// `Ref` is Record when reading and const Record when writing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/field.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/sample_layout.h"

namespace perftape::perfdata {

template <class Cursor, MaybeConst<Mmap> Ref>
void Layout(Cursor& at, Ref& mmap, const RecordShape& /*shape*/) {
  at.Fixed(mmap.pid, as::Id("pid"));                   // { u32 pid, tid;
  at.Fixed(mmap.tid, as::Id("tid"));                   //
  at.Fixed(mmap.start, as::Hex("start"));              //   u64 addr;
  at.Fixed(mmap.length, as::Hex("length"));            //   u64 len;
  at.Fixed(mmap.page_offset, as::Hex("page_offset"));  //   u64 pgoff;
  at.Name(mmap.filename, as::Text("filename"));        //   char filename[]; }
}

// A build id: its size, 3 bytes of padding, and 20 bytes, of which the first `size` are valid.
template <class Cursor, MaybeConst<BuildId> Ref>
void SizedBuildIdLayout(Cursor& at, Ref& build_id) {
  ShowBuildId(at, build_id);
  at.Fixed(build_id.size);                           // { u8 build_id_size;
  at.Padding(3);                                     //   u8 __reserved_1; u16 __reserved_2;
  for (auto& byte : build_id.bytes) at.Fixed(byte);  //   u8 build_id[20]; }
  if constexpr (Cursor::kReads) {
    build_id.size = std::min<std::uint8_t>(build_id.size, sizeof build_id.bytes);
  }
}

// The length of `text` up to its first NUL if that part is printable, else 0. Bytes above 0x7f are
// those of other alphabets.
inline std::size_t PrintableLength(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  const bool is_printable = std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < ' ' || byte == 0x7f;
  });
  return is_printable ? text.size() : 0;
}

// Whether a MMAP2 contains protection and flags; `rest` begins at their offset. The kernel of
// RHEL 7.0 wrote the name there. It has MMAP2 in the form of Linux 3.12, which mainline disabled
// before the release and enabled with the two fields in 3.16 (commits f972eb63b100 and
// a5a5ba72843d).
//
// A protection is not always a sum of PROT_READ, PROT_WRITE and PROT_EXEC: perf inject --jit writes
// the mode of the file that it made, 0x81a4 for example (tools/perf/util/jitdump.c,
// jit_repipe_code_load: "event->mmap2.prot = st.st_mode"). But its upper half is 0. So text that is
// longer than the two fields is a name. Shorter text is one if it begins like a path or a [name],
// and no name follows it.
inline bool HasProtection(std::string_view rest) {
  constexpr std::size_t kFieldsSize = 2 * sizeof(std::uint32_t);
  const std::size_t length = PrintableLength(rest);
  if (length == 0) return true;
  if (length >= kFieldsSize) return false;
  if (rest.front() != '/' && rest.front() != '[') return true;
  return rest.size() > kFieldsSize && PrintableLength(rest.substr(kFieldsSize)) != 0;
}

template <class Cursor, MaybeConst<Mmap2> Ref>
void Layout(Cursor& at, Ref& mmap, const RecordShape& shape) {
  at.Fixed(mmap.pid, as::Id("pid"));                   // { u32 pid, tid;
  at.Fixed(mmap.tid, as::Id("tid"));                   //
  at.Fixed(mmap.start, as::Hex("start"));              //   u64 addr;
  at.Fixed(mmap.length, as::Hex("length"));            //   u64 len;
  at.Fixed(mmap.page_offset, as::Hex("page_offset"));  //   u64 pgoff;
  bool has_build_id = (shape.misc & kMiscMmapBuildId) != 0;
  if constexpr (kShows<Cursor>) has_build_id = !mmap.build_id.empty();
  if (has_build_id) {
    SizedBuildIdLayout(at, mmap.build_id);
  } else {
    if constexpr (kShows<Cursor>) {
      at.Device(mmap.device_major, mmap.device_minor, as::Text("device"));
    }
    at.Fixed(mmap.device_major);                //   union { struct { u32 maj;
    at.Fixed(mmap.device_minor);                //                    u32 min;
    at.Fixed(mmap.inode, as::Number("inode"));  //                    u64 ino;
    at.Fixed(mmap.inode_generation,
             as::Number("generation"));  //                    u64 ino_generation; }; … };
  }
  if constexpr (Cursor::kReads) {
    if (!HasProtection(at.Rest())) {
      const bool is_code = (shape.misc & kMiscMmapData) == 0;
      mmap.protection = is_code ? Mmap2::kProtectionExec : 0;
      at.Name(mmap.filename);
      return;
    }
  }
  at.Fixed(mmap.protection, as::In(Form::kProtection, "protection"));  //   u32 prot, flags;
  at.Fixed(mmap.flags, as::Hex("flags"));                              //
  at.Name(mmap.filename, as::Text("filename"));                        //   char filename[]; }
}

template <class Cursor, MaybeConst<Comm> Ref>
void Layout(Cursor& at, Ref& comm, const RecordShape& /*shape*/) {
  at.Fixed(comm.pid, as::Id("pid"));     // { u32 pid, tid;
  at.Fixed(comm.tid, as::Id("tid"));     //
  at.Name(comm.comm, as::Text("comm"));  //   char comm[]; }
}

template <class Cursor, class TaskRef>
requires std::derived_from<std::remove_const_t<TaskRef>, Task>
void Layout(Cursor& at, TaskRef& task, const RecordShape& /*shape*/) {
  at.Fixed(task.pid, as::Id("pid"));        // { u32 pid, ppid;
  at.Fixed(task.ppid, as::Id("ppid"));      //
  at.Fixed(task.tid, as::Id("tid"));        //   u32 tid, ptid;
  at.Fixed(task.ptid, as::Id("ptid"));      //
  at.Fixed(task.time, as::Number("time"));  //   u64 time; }
}

template <class Cursor, MaybeConst<Lost> Ref>
void Layout(Cursor& at, Ref& lost, const RecordShape& /*shape*/) {
  at.Fixed(lost.event_id, as::Number("id"));  // { u64 id;
  at.Fixed(lost.count, as::Number("lost"));   //   u64 lost; }
}

template <class Cursor, MaybeConst<LostSamples> Ref>
void Layout(Cursor& at, Ref& lost, const RecordShape& /*shape*/) {
  at.Fixed(lost.count, as::Number("lost"));  // { u64 lost; }
}

template <class Cursor, class ThrottleRef>
requires std::derived_from<std::remove_const_t<ThrottleRef>, ThrottleChange>
void Layout(Cursor& at, ThrottleRef& throttle, const RecordShape& /*shape*/) {
  at.Fixed(throttle.time, as::Number("time"));            // { u64 time;
  at.Fixed(throttle.id, as::Number("id"));                //   u64 id;
  at.Fixed(throttle.stream_id, as::Number("stream_id"));  //   u64 stream_id; }
}

template <class Cursor, MaybeConst<Read> Ref>
void Layout(Cursor& at, Ref& read, const RecordShape& shape) {
  at.Fixed(read.pid, as::Id("pid"));  // { u32 pid, tid;
  at.Fixed(read.tid, as::Id("tid"));  //
  ReadLayout(at, read.read, shape.format.read_format,
             as::Hex("read"));  //   struct read_format values; }
}

template <class Cursor, MaybeConst<Aux> Ref>
void Layout(Cursor& at, Ref& aux, const RecordShape& /*shape*/) {
  at.Fixed(aux.aux_offset, as::Number("aux_offset"));  // { u64 aux_offset;
  at.Fixed(aux.aux_size, as::Number("aux_size"));      //   u64 aux_size;
  at.Fixed(aux.flags, as::Hex("flags"));               //   u64 flags; }
}

template <class Cursor, MaybeConst<ItraceStart> Ref>
void Layout(Cursor& at, Ref& start, const RecordShape& /*shape*/) {
  at.Fixed(start.pid, as::Id("pid"));  // { u32 pid, tid; }
  at.Fixed(start.tid, as::Id("tid"));  //
}

template <class Cursor, MaybeConst<AuxOutputHwId> Ref>
void Layout(Cursor& at, Ref& output, const RecordShape& /*shape*/) {
  at.Fixed(output.hw_id, as::Hex("hw_id"));  // { u64 hw_id; }
}

template <class Cursor, MaybeConst<CallchainDeferred> Ref>
void Layout(Cursor& at, Ref& deferred, const RecordShape& /*shape*/) {
  at.Fixed(deferred.cookie, as::Number("cookie"));  // { u64 cookie;
  EntriesLayout(at, deferred.callchain, 1,
                as::In(Form::kCallchain, "callchain"));  //   u64 nr; u64 ips[nr]; }
}

template <class Cursor, MaybeConst<Namespaces> Ref>
void Layout(Cursor& at, Ref& namespaces, const RecordShape& /*shape*/) {
  at.Fixed(namespaces.pid, as::Id("pid"));  // { u32 pid, tid;
  at.Fixed(namespaces.tid, as::Id("tid"));  //
  EntriesLayout(
      at, namespaces.links, 2,
      as::In(Form::kNamespaces, "links"));  //   u64 nr_namespaces; { u64 dev, inode; }[]; }
}

template <class Cursor, MaybeConst<Ksymbol> Ref>
void Layout(Cursor& at, Ref& symbol, const RecordShape& /*shape*/) {
  at.Fixed(symbol.address, as::Hex("address"));           // { u64 addr;
  at.Fixed(symbol.length, as::Number("length"));          //   u32 len;
  at.Fixed(symbol.symbol_type, as::Number("ksym_type"));  //   u16 ksym_type;
  at.Fixed(symbol.flags, as::Hex("flags"));               //   u16 flags;
  at.Name(symbol.name, as::Text("name"));                 //   char name[]; }
}

template <class Cursor, MaybeConst<BpfEvent> Ref>
void Layout(Cursor& at, Ref& event, const RecordShape& /*shape*/) {
  at.Fixed(event.event_type, as::Number("event_type"));  // { u16 type;
  at.Fixed(event.flags, as::Hex("flags"));               //   u16 flags;
  at.Fixed(event.id, as::Number("id"));                  //   u32 id;
  ByteArrayLayout(at, event.tag, as::Blob("tag"));       //   u8 tag[BPF_TAG_SIZE]; }
}

template <class Cursor, MaybeConst<Cgroup> Ref>
void Layout(Cursor& at, Ref& cgroup, const RecordShape& /*shape*/) {
  at.Fixed(cgroup.id, as::Number("id"));   // { u64 id;
  at.Name(cgroup.path, as::Text("path"));  //   char path[]; }
}

template <class Cursor, MaybeConst<Switch> Ref>
void Layout(Cursor& /*at*/, Ref& /*change*/, const RecordShape& /*shape*/) {}

template <class Cursor, MaybeConst<SwitchCpuWide> Ref>
void Layout(Cursor& at, Ref& change, const RecordShape& /*shape*/) {
  at.Fixed(change.next_prev_pid, as::Id("next_prev_pid"));  // { u32 next_prev_pid;
  at.Fixed(change.next_prev_tid, as::Id("next_prev_tid"));  //   u32 next_prev_tid; }
}

template <class Cursor, MaybeConst<TextPoke> Ref>
void Layout(Cursor& at, Ref& poke, const RecordShape& /*shape*/) {
  at.Fixed(poke.address, as::Hex("address"));           // { u64 addr;
  at.Fixed(poke.old_length, as::Number("old_length"));  //   u16 old_len;
  at.Fixed(poke.new_length, as::Number("new_length"));  //   u16 new_len;
  at.Blob(poke.bytes, std::uint64_t{poke.old_length} + poke.new_length,
          as::Blob("bytes"));  //   u8 bytes[]; }
}

}  // namespace perftape::perfdata

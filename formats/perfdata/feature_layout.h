// SPDX-License-Identifier: Apache-2.0
// The fields of each feature section, in their order. A layout decodes with a ByteReader and
// encodes with a ByteWriter as `at`. With a FieldCursor it shows the fields that have a description
// (field.h), with the names of struct perf_env and of header.c. The right column is the output of
// the functions write_* of tools/perf/util/header.c (Linux 6.19).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/field.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/sample_layout.h"

namespace perftape::perfdata {

// NAME_ALIGN of header.c: perf pads every string to a multiple of it.
inline constexpr std::size_t kNameAlign = 64;

// do_write_string: { u32 len; char text[len]; }. len includes the NUL and perf's padding.
template <class Cursor, class TextRef>
void TextLayout(Cursor& at, TextRef& text, const auto&... info) {
  auto length = static_cast<std::uint32_t>((text.size() / kNameAlign + 1) * kNameAlign);
  at.Fixed(length);
  at.PaddedString(text, length, info...);
}

// Only shows a value: one that is computed, or a field that is shown before those that precede it
// in the file.
template <class Cursor, class Value>
void Show(Cursor& at, const Value& value, const FieldInfo& info) {
  if constexpr (!kShows<Cursor>) {
    return;
  } else if constexpr (std::convertible_to<Value, std::string_view>) {
    at.Name(value, info);
  } else {
    at.Fixed(value, info);
  }
}

// { Count nr; Item items[nr]; }. An item has at least `smallest` bytes. A count that is too large
// for the remaining bytes breaks the reader before memory is allocated.
template <class Count, class Cursor, class VectorRef, class ItemLayout>
void ListLayout(Cursor& at, VectorRef& items, std::size_t smallest, ItemLayout layout) {
  auto count = static_cast<Count>(items.size());
  at.Fixed(count);
  if constexpr (Cursor::kReads) {
    if (count > at.remaining() / smallest) at.Break();
    items.resize(at.ok() ? count : 0);
  }
  for (auto& item : items) layout(item);
}

// The same, shown as a list with this name.
template <class Count, class Cursor, class VectorRef, class ItemLayout>
void ListLayout(Cursor& at, std::string_view name, VectorRef& items, std::size_t smallest,
                ItemLayout layout) {
  if constexpr (kShows<Cursor>) {
    at.List(name, items, layout);
  } else {
    ListLayout<Count>(at, items, smallest, layout);
  }
}

template <class Cursor, class VectorRef>
void TextListLayout(Cursor& at, std::string_view name, VectorRef& texts) {
  ListLayout<std::uint32_t>(at, name, texts, 4,
                            [&](auto& text) { TextLayout(at, text, as::Text(kUnnamed)); });
}

// A text that ends with a NUL, without a length.
template <class Cursor, class TextRef>
void TerminatedTextLayout(Cursor& at, TextRef& text, const auto&... info) {
  std::size_t size = text.size() + 1;
  if constexpr (Cursor::kReads) {
    const std::size_t end = at.Rest().find('\0');
    if (end == std::string_view::npos) at.Break();
    size = at.ok() ? end + 1 : 0;
  }
  at.PaddedString(text, size, info...);
}

template <class Cursor, class VectorRef>
void BytesLayout(Cursor& at, VectorRef& bytes, std::uint64_t size, const auto&... info) {
  Bytes view = bytes;
  at.Blob(view, size, info...);
  if constexpr (Cursor::kReads) bytes.assign(view.begin(), view.end());
}

template <class Cursor, MaybeConst<TextFeature> Ref>
void FeatureLayout(Cursor& at, Ref& feature) {
  TextLayout(at, feature.text, as::Text(kUnnamed));
}

template <class Cursor, MaybeConst<NrCpus> Ref>
void FeatureLayout(Cursor& at, Ref& cpus) {
  Show(at, cpus.online, as::Number("nr_cpus_online"));
  at.Fixed(cpus.available, as::Number("nr_cpus_avail"));  // write_nrcpus: nr (available) …
  at.Fixed(cpus.online);                                  // … before nra (online)
}

template <class Cursor, MaybeConst<TotalMem> Ref>
void FeatureLayout(Cursor& at, Ref& memory) {
  at.Fixed(memory.kilobytes, as::Number("total_mem_kb"));
}

template <class Cursor, MaybeConst<Cmdline> Ref>
void FeatureLayout(Cursor& at, Ref& cmdline) {
  TextListLayout(at, kUnnamed, cmdline.arguments);
}

template <class Cursor, MaybeConst<NumaTopology> Ref>
void FeatureLayout(Cursor& at, Ref& topology) {
  ListLayout<std::uint32_t>(at, kUnnamed, topology.nodes, 24, [&](auto& node) {
    at.Fixed(node.node, as::Number("node"));                     // { u32 nodenr;
    at.Fixed(node.total_kilobytes, as::Number("mem_total_kb"));  //   u64 mem_total;
    at.Fixed(node.free_kilobytes, as::Number("mem_free_kb"));    //   u64 mem_free;
    TextLayout(at, node.cpus, as::Text("cpus"));                 //   char cpus[]; }
  });
}

template <class Cursor, MaybeConst<PmuMappings> Ref>
void FeatureLayout(Cursor& at, Ref& mappings) {
  ListLayout<std::uint32_t>(at, kUnnamed, mappings.pmus, 8, [&](auto& pmu) {
    Show(at, pmu.name, as::Text("name"));
    at.Fixed(pmu.type, as::Number("type"));  // { u32 pmu_type;
    TextLayout(at, pmu.name);                //   char pmu_name[]; }
  });
}

template <class Cursor, MaybeConst<SampleTime> Ref>
void FeatureLayout(Cursor& at, Ref& time) {
  at.Fixed(time.first_ns, as::Number("first_sample_time"));
  at.Fixed(time.last_ns, as::Number("last_sample_time"));
}

template <class Cursor, MaybeConst<ClockResolution> Ref>
void FeatureLayout(Cursor& at, Ref& clock) {
  at.Fixed(clock.nanoseconds, as::Number("clockid_res_ns"));
}

template <class Cursor, MaybeConst<ClockData> Ref>
void FeatureLayout(Cursor& at, Ref& clock) {
  at.Fixed(clock.version);                               // { u32 version;
  at.Fixed(clock.clockid, as::Number("clockid"));        //   u32 clockid;
  at.Fixed(clock.wall_ns, as::Number("tod_ns"));         //   u64 wall_clock_ns;
  at.Fixed(clock.clockid_ns, as::Number("clockid_ns"));  //   u64 clockid_time_ns; }
}

template <class Cursor, MaybeConst<BpfProgInfo> Ref>
void FeatureLayout(Cursor& at, Ref& info) {
  ListLayout<std::uint32_t>(at, kUnnamed, info.programs, 16, [&](auto& program) {
    if constexpr (kShows<Cursor>) return at.Program(program.info);
    auto info_size = static_cast<std::uint32_t>(program.info.size());
    auto data_size = static_cast<std::uint32_t>(program.data.size());
    at.Fixed(info_size);                       // { u32 info_len;
    at.Fixed(data_size);                       //   u32 data_len;
    at.Fixed(program.arrays);                  //   u64 arrays;
    BytesLayout(at, program.info, info_size);  //   struct bpf_prog_info info;
    BytesLayout(at, program.data, data_size);  //   u8 data[data_len]; }
  });
}

template <class Cursor, MaybeConst<BpfBtf> Ref>
void FeatureLayout(Cursor& at, Ref& btf) {
  ListLayout<std::uint32_t>(at, kUnnamed, btf.nodes, 8, [&](auto& node) {
    auto size = static_cast<std::uint32_t>(node.btf.size());
    at.Fixed(node.id, as::Number("id"));  //   { u32 id;
    at.Fixed(size, as::Number("size"));   //     u32 data_size;
    BytesLayout(at, node.btf, size);      //     u8 data[data_size]; }
  });
}

// tracing_data_get of trace-event-info.c. Copies of tracefs files follow the head.
inline constexpr std::string_view kTracingDataMagic = "\x17\x08\x44tracing";

template <class Cursor, MaybeConst<TracingData> Ref>
void FeatureLayout(Cursor& at, Ref& tracing) {
  Bytes magic = AsBytes(kTracingDataMagic);
  at.Blob(magic, kTracingDataMagic.size());
  if constexpr (Cursor::kReads) {
    if (AsText(magic) != kTracingDataMagic) at.Break();
  }
  TerminatedTextLayout(at, tracing.version, as::Text("version"));
  std::uint8_t is_big = tracing.order == std::endian::big ? 1 : 0;
  at.Fixed(is_big);
  if constexpr (kShows<Cursor>) at.Order(tracing.order, as::Text("byte_order"));
  at.Fixed(tracing.long_size, as::Number("long_size"));
  Show(at, tracing.page_size, as::Number("page_size"));
  // page_size has the byte order of the blob, not of the file.
  std::uint32_t page_size =
      tracing.order == std::endian::native ? tracing.page_size : std::byteswap(tracing.page_size);
  Bytes page_size_bytes = std::as_bytes(std::span(&page_size, 1));
  at.Blob(page_size_bytes, sizeof page_size);
  if constexpr (Cursor::kReads) {
    tracing.order = is_big != 0 ? std::endian::big : std::endian::little;
    if (at.ok()) {
      tracing.page_size = LoadFixed<std::uint32_t>(page_size_bytes.data(), tracing.order);
    }
    BytesLayout(at, tracing.formats, at.remaining());
  } else {
    BytesLayout(at, tracing.formats, tracing.formats.size(), as::In(Form::kSize, "formats_size"));
  }
}

template <class Cursor, MaybeConst<GroupDesc> Ref>
void FeatureLayout(Cursor& at, Ref& description) {
  ListLayout<std::uint32_t>(at, kUnnamed, description.groups, 12, [&](auto& group) {
    TextLayout(at, group.name, as::Text("name"));       // { char name[];
    at.Fixed(group.leader, as::Number("leader_idx"));   //   u32 leader_idx;
    at.Fixed(group.members, as::Number("nr_members"));  //   u32 nr_members; }
  });
}

// auxtrace_index__write of auxtrace.c. simpleperf writes no count. Like its own reader, this one
// detects that by the number of words (ReadAuxTraceFeature of record_file_reader.cpp).
template <class Cursor, MaybeConst<AuxtraceIndex> Ref>
void FeatureLayout(Cursor& at, Ref& index) {
  const auto entry_layout = [&](auto& entry) {
    at.Fixed(entry.file_offset, as::Hex("file_offset"));  // { u64 file_offset;
    at.Fixed(entry.size, as::Number("size"));             //   u64 sz; }
  };
  if constexpr (Cursor::kReads) {
    index.has_count = at.remaining() == 0 || at.remaining() % 16 != 0;
    while (!index.has_count && at.remaining() != 0) entry_layout(index.entries.emplace_back());
  }
  if (index.has_count || kShows<Cursor>) {
    ListLayout<std::uint64_t>(at, kUnnamed, index.entries, 16, entry_layout);
  } else if constexpr (!Cursor::kReads) {
    for (auto& entry : index.entries) entry_layout(entry);
  }
}

template <class Cursor, MaybeConst<CacheInfo> Ref>
void FeatureLayout(Cursor& at, Ref& info) {
  at.Fixed(info.version);
  ListLayout<std::uint32_t>(at, kUnnamed, info.caches, 28, [&](auto& cache) {
    at.Fixed(cache.level, as::Number("level"));          // { u32 level;
    at.Fixed(cache.line_size, as::Number("line_size"));  //   u32 line_size;
    at.Fixed(cache.sets, as::Number("sets"));            //   u32 sets;
    at.Fixed(cache.ways, as::Number("ways"));            //   u32 ways;
    TextLayout(at, cache.type, as::Text("type"));        //   char type[];
    TextLayout(at, cache.size, as::Text("size"));        //   char size[];
    TextLayout(at, cache.cpus, as::Text("map"));         //   char map[]; }
  });
}

// do_write_bitmap: { u64 size; u64 words[BITS_TO_U64(size)]; }
template <class Cursor, class NodeRef>
void BitmapLayout(Cursor& at, NodeRef& node, std::string_view name) {
  if constexpr (kShows<Cursor>) {
    return at.List(name, node.blocks, [&](auto& word) { at.Fixed(word, as::Hex(kUnnamed)); });
  }
  at.Fixed(node.bit_count);
  const std::uint64_t words = node.bit_count / 64 + (node.bit_count % 64 != 0 ? 1 : 0);
  if constexpr (Cursor::kReads) {
    if (words > at.remaining() / sizeof(std::uint64_t)) at.Break();
    node.blocks.resize(at.ok() ? words : 0);
  }
  for (auto& word : node.blocks) at.Fixed(word);
}

template <class Cursor, MaybeConst<MemTopology> Ref>
void FeatureLayout(Cursor& at, Ref& topology) {
  at.Fixed(topology.version);
  at.Fixed(topology.block_size, as::Number("memory_bsize"));
  ListLayout<std::uint64_t>(at, "nodes", topology.nodes, 24, [&](auto& node) {
    at.Fixed(node.node, as::Number("node"));  // { u64 node;
    at.Fixed(node.size, as::Number("size"));  //   u64 size;
    BitmapLayout(at, node, "set");            //   bitmap set; }
  });
}

template <class Cursor, MaybeConst<DirFormat> Ref>
void FeatureLayout(Cursor& at, Ref& format) {
  at.Fixed(format.version, as::Number("version"));
}

template <class Cursor, MaybeConst<CompressionInfo> Ref>
void FeatureLayout(Cursor& at, Ref& compression) {
  at.Fixed(compression.version, as::Number("comp_ver"));        // { u32 comp_ver;
  at.Fixed(compression.type, as::Number("comp_type"));          //   u32 comp_type;
  at.Fixed(compression.level, as::Number("comp_level"));        //   u32 comp_level;
  at.Fixed(compression.ratio, as::Number("comp_ratio"));        //   u32 comp_ratio;
  at.Fixed(compression.mmap_len, as::Number("comp_mmap_len"));  //   u32 comp_mmap_len; }
}

// __write_pmu_caps
template <class Cursor, class VectorRef>
void CapsLayout(Cursor& at, std::string_view name, VectorRef& caps) {
  ListLayout<std::uint32_t>(at, name, caps, 8, [&](auto& cap) {
    TextLayout(at, cap.name, as::Text("name"));    // { char name[];
    TextLayout(at, cap.value, as::Text("value"));  //   char value[]; }
  });
}

template <class Cursor, MaybeConst<CpuPmuCaps> Ref>
void FeatureLayout(Cursor& at, Ref& cpu) {
  CapsLayout(at, kUnnamed, cpu.caps);
}

template <class Cursor, MaybeConst<PmuCaps> Ref>
void FeatureLayout(Cursor& at, Ref& all) {
  ListLayout<std::uint32_t>(at, kUnnamed, all.pmus, 8, [&](auto& pmu) {
    Show(at, pmu.name, as::Text("pmu_name"));
    CapsLayout(at, "caps", pmu.caps);  // { u32 nr_caps; … caps[nr_caps];
    TextLayout(at, pmu.name);          //   char pmu_name[]; }
  });
}

template <class Cursor, MaybeConst<HybridTopology> Ref>
void FeatureLayout(Cursor& at, Ref& topology) {
  ListLayout<std::uint32_t>(at, kUnnamed, topology.pmus, 8, [&](auto& pmu) {
    TextLayout(at, pmu.name, as::Text("pmu_name"));  // { char pmu_name[];
    TextLayout(at, pmu.cpus, as::Text("cpus"));      //   char cpus[]; }
  });
}

template <class Cursor, class CpuRef>
void CpuDomainsLayout(Cursor& at, CpuRef& cpu, std::uint32_t schedstat_version) {
  at.Fixed(cpu.cpu, as::Number("cpu"));  // { u32 cpu;
  ListLayout<std::uint32_t>(
      at, "domains", cpu.domains, 12, [&](auto& domain) {  //   u32 nr_domains;
        at.Fixed(domain.number, as::Number("domain"));     //   { u32 domain;
        Show(at, domain.name, as::Text("dname"));
        if (schedstat_version >= 17) TextLayout(at, domain.name);  //     char dname[];
        TextLayout(at, domain.cpu_mask, as::Text("cpumask"));      //     char cpumask[];
        TextLayout(at, domain.cpu_list, as::Text("cpulist"));      //     char cpulist[]; } }
      });
}

// The number of CPUs is not stored. The section ends after the last CPU.
template <class Cursor, MaybeConst<CpuDomainInfo> Ref>
void FeatureLayout(Cursor& at, Ref& info) {
  at.Fixed(info.schedstat_version, as::Number("schedstat_version"));
  at.Fixed(info.max_domains, as::Number("max_sched_domains"));
  if constexpr (Cursor::kReads) {
    while (at.remaining() >= 8) {
      CpuDomainsLayout(at, info.cpus.emplace_back(), info.schedstat_version);
    }
  } else if constexpr (kShows<Cursor>) {
    at.List("cpus", info.cpus,
            [&](auto& cpu) { CpuDomainsLayout(at, cpu, info.schedstat_version); });
  } else {
    for (auto& cpu : info.cpus) CpuDomainsLayout(at, cpu, info.schedstat_version);
  }
}

template <class Cursor, MaybeConst<ElfMachine> Ref>
void FeatureLayout(Cursor& at, Ref& elf) {
  at.Fixed(elf.machine, as::Number("e_machine"));  // { u32 e_machine;
  at.Fixed(elf.flags, as::Hex("e_flags"));         //   u32 e_flags; }
}

template <class Cursor, MaybeConst<CacheLineSize> Ref>
void FeatureLayout(Cursor& at, Ref& line) {
  at.Fixed(line.bytes, as::Number("cln_size"));
}

// write_memory_ranges. The entries are packed, 22 bytes each.
template <class Cursor, MaybeConst<MemoryRanges> Ref>
void FeatureLayout(Cursor& at, Ref& memory) {
  ListLayout<std::uint32_t>(at, kUnnamed, memory.ranges, 22, [&](auto& range) {  // { u32 nr;
    at.Fixed(range.base, as::Hex("base"));                                       //   { u64 base;
    at.Fixed(range.length, as::Number("length"));                                //     u64 length;
    at.Fixed(range.node, as::Id("node"));                                        //     s32 node;
    at.Fixed(range.local_region, as::Number("local_region"));    //     u8 local_region_id;
    at.Fixed(range.remote_region, as::Number("remote_region"));  //     u8 remote_region_id;
  });                                                            //   }[nr]; }
}

// A few dozen facts are usual. The limit is for a damaged section that contains only NULs.
inline constexpr std::size_t kMostFacts = 65536;

// meta_info of simpleperf's record_file_format.h
template <class Cursor, MaybeConst<MetaInfo> Ref>
void FeatureLayout(Cursor& at, Ref& meta) {
  const auto pair = [&](auto& fact) {
    TerminatedTextLayout(at, fact.name, as::Text("name"));    // { char key[];
    TerminatedTextLayout(at, fact.value, as::Text("value"));  //   char value[]; }
  };
  if constexpr (Cursor::kReads) {
    while (at.remaining() != 0) {
      if (meta.facts.size() == kMostFacts) at.Break();
      pair(meta.facts.emplace_back());
    }
  } else if constexpr (kShows<Cursor>) {
    at.List(kUnnamed, meta.facts, pair);
  } else {
    for (auto& fact : meta.facts) pair(fact);
  }
}

template <class Cursor, MaybeConst<EmptyFeature> Ref>
void FeatureLayout(Cursor& /*at*/, Ref& /*nothing*/) {}

template <class Cursor, MaybeConst<RawFeature> Ref>
void FeatureLayout(Cursor& at, Ref& raw) {
  if constexpr (Cursor::kReads) {
    BytesLayout(at, raw.payload, at.remaining());
  } else {
    BytesLayout(at, raw.payload, raw.payload.size(), as::In(Form::kSize, "size"));
  }
}

// A perf_event_attr, which attr.h decodes and encodes. `size` is the size in the section, which is
// the same for all its attributes.
inline void AttrLayout(ByteReader& at, EventAttr& attr, std::uint32_t size) {
  Bytes bytes;
  at.Blob(bytes, size);
  Result<EventAttr> decoded = DecodeAttr(bytes, at.order());
  if (!decoded) return at.Break();
  attr = *decoded;
}
inline void AttrLayout(ByteWriter& at, const EventAttr& attr, std::uint32_t size) {
  std::vector<std::byte> bytes;
  EncodeAttr(attr, bytes);
  at.Blob(bytes, size);
}
template <class Cursor>
void ShowEvent(Cursor& at, const Event& event) {
  Show(at, event.name, as::Text("name"));
  at.List("ids", event.ids, [&](std::uint64_t id) { at.Fixed(id, as::Number(kUnnamed)); });
  at.Fixed(event.attr.type, as::Number("type"));
  at.Fixed(event.attr.config, as::Hex("config"));
}
template <class Cursor, class EventRef>
void EventLayout(Cursor& at, EventRef& event, std::uint32_t attr_size) {
  auto id_count = static_cast<std::uint32_t>(event.ids.size());
  WordArray ids(event.ids);
  AttrLayout(at, event.attr, attr_size);  // { struct perf_event_attr attr;
  at.Fixed(id_count);                     //   u32 nr_ids;
  TextLayout(at, event.name);             //   char name[];
  at.Words(ids, id_count);                //   u64 ids[nr_ids]; }
  if constexpr (Cursor::kReads) {
    event.ids.assign(ids.begin(), ids.end());
    event.format = FormatOf(event.attr);
  }
}

template <class Cursor, MaybeConst<EventDesc> Ref>
void FeatureLayout(Cursor& at, Ref& description) {
  auto count = static_cast<std::uint32_t>(description.events.size());
  std::uint32_t attr_size = description.events.empty() ? EventAttr::kSize : 0;
  for (const Event& event : description.events) attr_size = std::max(attr_size, event.attr.size);
  at.Fixed(count);      // { u32 nr;
  at.Fixed(attr_size);  //   u32 attr_size; … }
  if constexpr (Cursor::kReads) {
    if (count > at.remaining() / (std::uint64_t{attr_size} + 8)) at.Break();
    description.events.resize(at.ok() ? count : 0);
  }
  if constexpr (kShows<Cursor>) {
    at.List(kUnnamed, description.events, [&](const Event& event) { ShowEvent(at, event); });
  } else {
    for (auto& event : description.events) EventLayout(at, event, attr_size);
  }
}

// The layout of an entry of BUILD_ID: since Linux 2.6.35 with a pid, before that without.
enum class BuildIdShape : std::uint8_t { kWithPid, kWithoutPid };

// A HEADER_BUILD_ID record. Its type is usually 0.
template <class Cursor, class EntryRef>
void BuildIdEntryLayout(Cursor& at, EntryRef& entry, BuildIdShape shape) {
  if constexpr (kShows<Cursor>) {
    ShowBuildId(at, entry.build_id);
    Show(at, entry.filename, as::Text("filename"));
    Show(at, std::to_underlying(entry.mode), as::Number("cpumode"));
    return Show(at, entry.pid, as::Id("pid"));
  }
  const std::size_t fixed_size = shape == BuildIdShape::kWithPid ? 36 : 32;
  // The longest name for which the record's size fits into a u16. A longer name is cut.
  constexpr std::size_t kLargestName = (65535 - 36) / kNameAlign * kNameAlign;
  const std::size_t name_size =
      std::min((entry.filename.size() / kNameAlign + 1) * kNameAlign, kLargestName);
  std::uint32_t type = 0;
  auto misc = static_cast<std::uint16_t>(MiscOf(entry.mode) | kMiscBuildIdSize);
  auto size = static_cast<std::uint16_t>(fixed_size + name_size);
  at.Fixed(type);  // { struct perf_event_header header;
  at.Fixed(misc);  //
  at.Fixed(size);  //
  if constexpr (Cursor::kReads) {
    if (size < fixed_size) at.Break();
  }
  if (shape == BuildIdShape::kWithPid) at.Fixed(entry.pid);  //   pid_t pid;
  for (auto& byte : entry.build_id.bytes) at.Fixed(byte);    //   u8 data[20];
  at.Fixed(entry.build_id.size);                             //   u8 size;
  at.Padding(3);                                             //   u8 reserved1__; u16 reserved2__;
  at.PaddedString(entry.filename, size - fixed_size);        //   char filename[]; }
  if constexpr (Cursor::kReads) {
    constexpr auto kWhole = std::uint8_t{sizeof entry.build_id.bytes};
    // Before Linux 5.11 the size byte was padding, and every build id had 20 bytes.
    const bool has_size = (misc & kMiscBuildIdSize) != 0;
    entry.build_id.size = has_size ? std::min(entry.build_id.size, kWhole) : kWhole;
    entry.mode = static_cast<CpuMode>(misc & kMiscCpumodeMask);
  }
}

template <class Cursor, class BuildIdsRef>
void BuildIdsLayout(Cursor& at, BuildIdsRef& ids, BuildIdShape shape) {
  if constexpr (Cursor::kReads) {
    while (at.remaining() != 0) BuildIdEntryLayout(at, ids.entries.emplace_back(), shape);
  } else if constexpr (kShows<Cursor>) {
    at.List(kUnnamed, ids.entries, [&](auto& entry) { BuildIdEntryLayout(at, entry, shape); });
  } else {
    for (auto& entry : ids.entries) BuildIdEntryLayout(at, entry, shape);
  }
}

// Detects the layout like perf_header__read_build_ids: an entry without a pid that is read as one
// with a pid loses the first four letters of its name. The kernel's name shows this.
inline BuildIdShape ShapeOf(Bytes section, std::endian order) {
  BuildIds ids;
  ByteReader at(section, order);
  BuildIdsLayout(at, ids, BuildIdShape::kWithPid);
  for (const BuildIdEntry& entry : ids.entries) {
    if (entry.filename.starts_with("nel.kallsyms]")) return BuildIdShape::kWithoutPid;
  }
  return BuildIdShape::kWithPid;
}

template <class Cursor, MaybeConst<BuildIds> Ref>
void FeatureLayout(Cursor& at, Ref& ids) {
  auto shape = BuildIdShape::kWithPid;
  if constexpr (Cursor::kReads) shape = ShapeOf(AsBytes(at.Rest()), at.order());
  BuildIdsLayout(at, ids, shape);
}

// A CPU is shown with its die, which the section has in another list.
template <class Cursor>
void ShowCpuTopology(Cursor& at, const CpuTopology& topology) {
  TextListLayout(at, "sibling_sockets", topology.packages);
  TextListLayout(at, "sibling_dies", topology.dies);
  TextListLayout(at, "sibling_threads", topology.cores);
  at.List("cpus", topology.cpus, [&, i = std::size_t{0}](const CpuTopology::Cpu& cpu) mutable {
    at.Fixed(cpu.core, as::Number("core_id"));
    at.Fixed(cpu.socket, as::Number("socket_id"));
    if (i < topology.die_of_cpu.size()) at.Fixed(topology.die_of_cpu[i++], as::Number("die_id"));
  });
}

// write_cpu_topology. The number of CPUs is not stored: it is `available` of NRCPUS. Fewer than 8
// remaining bytes are the padding of a FEATURE record, not a list.
template <class Cursor, class TopologyRef>
void CpuTopologyLayout(Cursor& at, TopologyRef& topology, [[maybe_unused]] std::uint32_t cpus) {
  if constexpr (kShows<Cursor>) return ShowCpuTopology(at, topology);
  TextListLayout(at, "sibling_sockets", topology.packages);
  TextListLayout(at, "sibling_threads", topology.cores);
  if constexpr (Cursor::kReads) {
    if (at.remaining() < 8) return;  // before Linux 4.4 there were no ids
    if (cpus > at.remaining() / sizeof(CpuTopology::Cpu)) at.Break();
    topology.cpus.resize(at.ok() ? cpus : 0);
  }
  for (auto& cpu : topology.cpus) {
    at.Fixed(cpu.core);    // { u32 core_id;
    at.Fixed(cpu.socket);  //   u32 socket_id; }
  }
  if constexpr (Cursor::kReads) {
    if (at.remaining() < 8) return;  // before Linux 5.3 there were no dies
    topology.die_of_cpu.resize(topology.cpus.size());
  } else {
    if (topology.dies.empty()) return;
  }
  TextListLayout(at, "sibling_dies", topology.dies);
  for (auto& die : topology.die_of_cpu) at.Fixed(die);
}

// The layout of any feature. Only that of CPU_TOPOLOGY depends on another section.
template <class Cursor, class Value>
void AnyFeatureLayout(Cursor& at, Value& value, std::uint32_t cpus_available) {
  if constexpr (std::same_as<std::remove_const_t<Value>, CpuTopology>) {
    CpuTopologyLayout(at, value, cpus_available);
  } else {
    FeatureLayout(at, value);
  }
}

}  // namespace perftape::perfdata

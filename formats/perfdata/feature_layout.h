// SPDX-License-Identifier: Apache-2.0
// The fields of each feature section, in their order. A layout decodes with a ByteReader and
// encodes with a ByteWriter as `at`. The right column is the output of the functions write_* of
// tools/perf/util/header.c (Linux 6.19).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/sample_layout.h"

namespace perftape::perfdata {

// NAME_ALIGN of header.c: perf pads every string to a multiple of it.
inline constexpr std::size_t kNameAlign = 64;

// do_write_string: { u32 len; char text[len]; }. len includes the NUL and perf's padding.
template <class Cursor, class TextRef>
void TextLayout(Cursor& at, TextRef& text) {
  auto length = static_cast<std::uint32_t>((text.size() / kNameAlign + 1) * kNameAlign);
  at.Fixed(length);
  at.PaddedString(text, length);
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

template <class Cursor, class VectorRef>
void TextListLayout(Cursor& at, VectorRef& texts) {
  ListLayout<std::uint32_t>(at, texts, 4, [&](auto& text) { TextLayout(at, text); });
}

// A text that ends with a NUL, without a length.
template <class Cursor, class TextRef>
void TerminatedTextLayout(Cursor& at, TextRef& text) {
  std::size_t size = text.size() + 1;
  if constexpr (Cursor::kReads) {
    const std::size_t end = at.Rest().find('\0');
    if (end == std::string_view::npos) at.Break();
    size = at.ok() ? end + 1 : 0;
  }
  at.PaddedString(text, size);
}

template <class Cursor, class VectorRef>
void BytesLayout(Cursor& at, VectorRef& bytes, std::uint64_t size) {
  Bytes view = bytes;
  at.Blob(view, size);
  if constexpr (Cursor::kReads) bytes.assign(view.begin(), view.end());
}

template <class Cursor, MaybeConst<TextFeature> Ref>
void FeatureLayout(Cursor& at, Ref& feature) {
  TextLayout(at, feature.text);
}

template <class Cursor, MaybeConst<NrCpus> Ref>
void FeatureLayout(Cursor& at, Ref& cpus) {
  at.Fixed(cpus.available);  // write_nrcpus: nr (available) …
  at.Fixed(cpus.online);     // … before nra (online)
}

template <class Cursor, MaybeConst<TotalMem> Ref>
void FeatureLayout(Cursor& at, Ref& memory) {
  at.Fixed(memory.kilobytes);
}

template <class Cursor, MaybeConst<Cmdline> Ref>
void FeatureLayout(Cursor& at, Ref& cmdline) {
  TextListLayout(at, cmdline.arguments);
}

template <class Cursor, MaybeConst<NumaTopology> Ref>
void FeatureLayout(Cursor& at, Ref& topology) {
  ListLayout<std::uint32_t>(at, topology.nodes, 24, [&](auto& node) {
    at.Fixed(node.node);             // { u32 nodenr;
    at.Fixed(node.total_kilobytes);  //   u64 mem_total;
    at.Fixed(node.free_kilobytes);   //   u64 mem_free;
    TextLayout(at, node.cpus);       //   char cpus[]; }
  });
}

template <class Cursor, MaybeConst<PmuMappings> Ref>
void FeatureLayout(Cursor& at, Ref& mappings) {
  ListLayout<std::uint32_t>(at, mappings.pmus, 8, [&](auto& pmu) {
    at.Fixed(pmu.type);        // { u32 pmu_type;
    TextLayout(at, pmu.name);  //   char pmu_name[]; }
  });
}

template <class Cursor, MaybeConst<SampleTime> Ref>
void FeatureLayout(Cursor& at, Ref& time) {
  at.Fixed(time.first_ns);
  at.Fixed(time.last_ns);
}

template <class Cursor, MaybeConst<ClockResolution> Ref>
void FeatureLayout(Cursor& at, Ref& clock) {
  at.Fixed(clock.nanoseconds);
}

template <class Cursor, MaybeConst<ClockData> Ref>
void FeatureLayout(Cursor& at, Ref& clock) {
  at.Fixed(clock.version);     // { u32 version;
  at.Fixed(clock.clockid);     //   u32 clockid;
  at.Fixed(clock.wall_ns);     //   u64 wall_clock_ns;
  at.Fixed(clock.clockid_ns);  //   u64 clockid_time_ns; }
}

template <class Cursor, MaybeConst<BpfProgInfo> Ref>
void FeatureLayout(Cursor& at, Ref& info) {
  ListLayout<std::uint32_t>(at, info.programs, 16, [&](auto& program) {
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
  ListLayout<std::uint32_t>(at, btf.nodes, 8, [&](auto& node) {
    auto size = static_cast<std::uint32_t>(node.btf.size());
    at.Fixed(node.id);                //   { u32 id;
    at.Fixed(size);                   //     u32 data_size;
    BytesLayout(at, node.btf, size);  //     u8 data[data_size]; }
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
  TerminatedTextLayout(at, tracing.version);
  std::uint8_t is_big = tracing.order == std::endian::big ? 1 : 0;
  at.Fixed(is_big);
  at.Fixed(tracing.long_size);
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
    BytesLayout(at, tracing.formats, tracing.formats.size());
  }
}

template <class Cursor, MaybeConst<GroupDesc> Ref>
void FeatureLayout(Cursor& at, Ref& description) {
  ListLayout<std::uint32_t>(at, description.groups, 12, [&](auto& group) {
    TextLayout(at, group.name);  // { char name[];
    at.Fixed(group.leader);      //   u32 leader_idx;
    at.Fixed(group.members);     //   u32 nr_members; }
  });
}

// auxtrace_index__write of auxtrace.c. simpleperf writes no count. Like its own reader, this one
// detects that by the number of words (ReadAuxTraceFeature of record_file_reader.cpp).
template <class Cursor, MaybeConst<AuxtraceIndex> Ref>
void FeatureLayout(Cursor& at, Ref& index) {
  const auto entry_layout = [&](auto& entry) {
    at.Fixed(entry.file_offset);  // { u64 file_offset;
    at.Fixed(entry.size);         //   u64 sz; }
  };
  if constexpr (Cursor::kReads) {
    index.has_count = at.remaining() == 0 || at.remaining() % 16 != 0;
    while (!index.has_count && at.remaining() != 0) entry_layout(index.entries.emplace_back());
  }
  if (index.has_count) {
    ListLayout<std::uint64_t>(at, index.entries, 16, entry_layout);
  } else if constexpr (!Cursor::kReads) {
    for (auto& entry : index.entries) entry_layout(entry);
  }
}

template <class Cursor, MaybeConst<CacheInfo> Ref>
void FeatureLayout(Cursor& at, Ref& info) {
  at.Fixed(info.version);
  ListLayout<std::uint32_t>(at, info.caches, 28, [&](auto& cache) {
    at.Fixed(cache.level);       // { u32 level;
    at.Fixed(cache.line_size);   //   u32 line_size;
    at.Fixed(cache.sets);        //   u32 sets;
    at.Fixed(cache.ways);        //   u32 ways;
    TextLayout(at, cache.type);  //   char type[];
    TextLayout(at, cache.size);  //   char size[];
    TextLayout(at, cache.cpus);  //   char map[]; }
  });
}

// do_write_bitmap: { u64 size; u64 words[BITS_TO_U64(size)]; }
template <class Cursor, class NodeRef>
void BitmapLayout(Cursor& at, NodeRef& node) {
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
  at.Fixed(topology.block_size);
  ListLayout<std::uint64_t>(at, topology.nodes, 24, [&](auto& node) {
    at.Fixed(node.node);     // { u64 node;
    at.Fixed(node.size);     //   u64 size;
    BitmapLayout(at, node);  //   bitmap set; }
  });
}

template <class Cursor, MaybeConst<DirFormat> Ref>
void FeatureLayout(Cursor& at, Ref& format) {
  at.Fixed(format.version);
}

template <class Cursor, MaybeConst<CompressionInfo> Ref>
void FeatureLayout(Cursor& at, Ref& compression) {
  at.Fixed(compression.version);   // { u32 comp_ver;
  at.Fixed(compression.type);      //   u32 comp_type;
  at.Fixed(compression.level);     //   u32 comp_level;
  at.Fixed(compression.ratio);     //   u32 comp_ratio;
  at.Fixed(compression.mmap_len);  //   u32 comp_mmap_len; }
}

// __write_pmu_caps
template <class Cursor, class VectorRef>
void CapsLayout(Cursor& at, VectorRef& caps) {
  ListLayout<std::uint32_t>(at, caps, 8, [&](auto& cap) {
    TextLayout(at, cap.name);   // { char name[];
    TextLayout(at, cap.value);  //   char value[]; }
  });
}

template <class Cursor, MaybeConst<CpuPmuCaps> Ref>
void FeatureLayout(Cursor& at, Ref& cpu) {
  CapsLayout(at, cpu.caps);
}

template <class Cursor, MaybeConst<PmuCaps> Ref>
void FeatureLayout(Cursor& at, Ref& all) {
  ListLayout<std::uint32_t>(at, all.pmus, 8, [&](auto& pmu) {
    CapsLayout(at, pmu.caps);  // { u32 nr_caps; … caps[nr_caps];
    TextLayout(at, pmu.name);  //   char pmu_name[]; }
  });
}

template <class Cursor, MaybeConst<HybridTopology> Ref>
void FeatureLayout(Cursor& at, Ref& topology) {
  ListLayout<std::uint32_t>(at, topology.pmus, 8, [&](auto& pmu) {
    TextLayout(at, pmu.name);  // { char pmu_name[];
    TextLayout(at, pmu.cpus);  //   char cpus[]; }
  });
}

template <class Cursor, class CpuRef>
void CpuDomainsLayout(Cursor& at, CpuRef& cpu, std::uint32_t schedstat_version) {
  at.Fixed(cpu.cpu);                                                  // { u32 cpu;
  ListLayout<std::uint32_t>(at, cpu.domains, 12, [&](auto& domain) {  //   u32 nr_domains;
    at.Fixed(domain.number);                                          //   { u32 domain;
    if (schedstat_version >= 17) TextLayout(at, domain.name);         //     char dname[];
    TextLayout(at, domain.cpu_mask);                                  //     char cpumask[];
    TextLayout(at, domain.cpu_list);                                  //     char cpulist[]; } }
  });
}

// The number of CPUs is not stored. The section ends after the last CPU.
template <class Cursor, MaybeConst<CpuDomainInfo> Ref>
void FeatureLayout(Cursor& at, Ref& info) {
  at.Fixed(info.schedstat_version);
  at.Fixed(info.max_domains);
  if constexpr (Cursor::kReads) {
    while (at.remaining() >= 8) {
      CpuDomainsLayout(at, info.cpus.emplace_back(), info.schedstat_version);
    }
  } else {
    for (auto& cpu : info.cpus) CpuDomainsLayout(at, cpu, info.schedstat_version);
  }
}

template <class Cursor, MaybeConst<ElfMachine> Ref>
void FeatureLayout(Cursor& at, Ref& elf) {
  at.Fixed(elf.machine);  // { u32 e_machine;
  at.Fixed(elf.flags);    //   u32 e_flags; }
}

template <class Cursor, MaybeConst<CacheLineSize> Ref>
void FeatureLayout(Cursor& at, Ref& line) {
  at.Fixed(line.bytes);
}

// write_memory_ranges. The entries are packed, 22 bytes each.
template <class Cursor, MaybeConst<MemoryRanges> Ref>
void FeatureLayout(Cursor& at, Ref& memory) {
  ListLayout<std::uint32_t>(at, memory.ranges, 22, [&](auto& range) {  // { u32 nr;
    at.Fixed(range.base);                                              //   { u64 base;
    at.Fixed(range.length);                                            //     u64 length;
    at.Fixed(range.node);                                              //     s32 node;
    at.Fixed(range.local_region);                                      //     u8 local_region_id;
    at.Fixed(range.remote_region);                                     //     u8 remote_region_id;
  });                                                                  //   }[nr]; }
}

// A few dozen facts are usual. The limit is for a damaged section that contains only NULs.
inline constexpr std::size_t kMostFacts = 65536;

// meta_info of simpleperf's record_file_format.h
template <class Cursor, MaybeConst<MetaInfo> Ref>
void FeatureLayout(Cursor& at, Ref& meta) {
  const auto pair = [&](auto& fact) {
    TerminatedTextLayout(at, fact.name);   // { char key[];
    TerminatedTextLayout(at, fact.value);  //   char value[]; }
  };
  if constexpr (Cursor::kReads) {
    while (at.remaining() != 0) {
      if (meta.facts.size() == kMostFacts) at.Break();
      pair(meta.facts.emplace_back());
    }
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
    BytesLayout(at, raw.payload, raw.payload.size());
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
  for (auto& event : description.events) EventLayout(at, event, attr_size);
}

// The layout of an entry of BUILD_ID: since Linux 2.6.35 with a pid, before that without.
enum class BuildIdShape : std::uint8_t { kWithPid, kWithoutPid };

// A HEADER_BUILD_ID record. Its type is usually 0.
template <class Cursor, class EntryRef>
void BuildIdEntryLayout(Cursor& at, EntryRef& entry, BuildIdShape shape) {
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

// write_cpu_topology. The number of CPUs is not stored: it is `available` of NRCPUS. Fewer than 8
// remaining bytes are the padding of a FEATURE record, not a list.
template <class Cursor, class TopologyRef>
void CpuTopologyLayout(Cursor& at, TopologyRef& topology, [[maybe_unused]] std::uint32_t cpus) {
  TextListLayout(at, topology.packages);
  TextListLayout(at, topology.cores);
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
  TextListLayout(at, topology.dies);
  for (auto& die : topology.die_of_cpu) at.Fixed(die);
}

}  // namespace perftape::perfdata

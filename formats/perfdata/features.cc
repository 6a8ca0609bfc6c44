// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "formats/perfdata/tool_layout.h"

namespace perftape::perfdata {
namespace {

constexpr std::size_t kNameAlign = 64;  // NAME_ALIGN of header.c: perf pads every string to it

// do_write_string: { u32 len; char text[len]; }, len counting the NUL and perf's padding.
template <class Cursor, class TextRef>
void TextLayout(Cursor& at, TextRef& text) {
  auto length = static_cast<std::uint32_t>((text.size() / kNameAlign + 1) * kNameAlign);
  at.Fixed(length);
  at.PaddedString(text, length);
}

// { Count nr; Item items[nr]; }. A count that cannot be true for what is left, each item taking at
// least `smallest` bytes, breaks the reader before anything is allocated for it.
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
    at.Fixed(info_size);       // { u32 info_len;
    at.Fixed(data_size);       //   u32 data_len;
    at.Fixed(program.arrays);  //   u64 arrays;
    Bytes info_bytes = program.info;
    Bytes data_bytes = program.data;
    at.Blob(info_bytes, info_size);  //   struct bpf_prog_info info;
    at.Blob(data_bytes, data_size);  //   u8 data[data_len]; }
    if constexpr (Cursor::kReads) {
      program.info.assign(info_bytes.begin(), info_bytes.end());
      program.data.assign(data_bytes.begin(), data_bytes.end());
    }
  });
}

// write_cpu_topology. The number of CPUs is not stored: it is NRCPUS' available ones. Fewer than 8
// bytes are no list, but padding of a FEATURE record.
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

// write_event_desc: { u32 nr, attr_size; { attr; u32 nr_ids; char name[]; u64 ids[nr_ids]; }[nr]; }
void EncodeEventDesc(const EventDesc& description, std::vector<std::byte>& out) {
  ByteWriter at(out);
  std::uint32_t attr_size = description.events.empty() ? EventAttr::kSize : 0;
  for (const Event& event : description.events) attr_size = std::max(attr_size, event.attr.size);
  at.Fixed(static_cast<std::uint32_t>(description.events.size()));
  at.Fixed(attr_size);
  for (const Event& event : description.events) {
    EventAttr attr = event.attr;
    attr.size = attr_size;
    EncodeAttr(attr, out);
    at.Fixed(static_cast<std::uint32_t>(event.ids.size()));
    TextLayout(at, event.name);
    at.Words(WordArray(event.ids), event.ids.size());
  }
}

Result<EventDesc> DecodeEventDesc(Bytes section, std::endian order) {
  ByteReader at(section, order);
  std::uint32_t count = 0, attr_size = 0;
  at.Fixed(count);
  at.Fixed(attr_size);
  EventDesc description;
  for (std::uint32_t i = 0; i < count && at.ok(); ++i) {
    Bytes attr;
    std::uint32_t id_count = 0;
    WordArray ids;
    Event event;
    at.Blob(attr, attr_size);
    at.Fixed(id_count);
    TextLayout(at, event.name);
    at.Words(ids, id_count);
    if (!at.ok()) break;
    TRY_ASSIGN(event.attr, DecodeAttr(attr, order));
    event.format = FormatOf(event.attr);
    event.ids.assign(ids.begin(), ids.end());
    description.events.push_back(std::move(event));
  }
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "section ends inside an event");
  return description;
}

// The entries are HEADER_BUILD_ID records, their type mostly left 0.
void EncodeBuildIds(const BuildIds& ids, std::vector<std::byte>& out) {
  for (const BuildIdEntry& entry : ids.entries) {
    const HeaderBuildId record{.pid = -1, .build_id = entry.build_id, .filename = entry.filename};
    const auto misc = static_cast<std::uint16_t>(MiscOf(entry.mode) | kMiscBuildIdSize);
    // A path is at most PATH_MAX, far below what a record holds.
    (void)Encode(record, misc, out);
  }
}

Result<BuildIds> DecodeBuildIds(Bytes section, std::endian order) {
  BuildIds ids;
  while (!section.empty()) {
    ByteReader at(section, order);
    RecordHeader header = {};
    at.Fixed(header.type);
    at.Fixed(header.misc);
    at.Fixed(header.size);
    if (!at.ok() || header.size < sizeof header || header.size > section.size()) {
      return Fail(ErrorCode::kTruncated, "section ends inside an entry");
    }
    const RecordView view{.type = RecordType::kHeaderBuildId,
                          .misc = header.misc,
                          .payload = section.subspan(sizeof header, header.size - sizeof header),
                          .order = order};
    TRY_ASSIGN(const HeaderBuildId record, Decode<HeaderBuildId>(view, SampleFormat{}));
    ids.entries.push_back({view.cpumode(), record.build_id, std::string(record.filename)});
    section = section.subspan(header.size);
  }
  return ids;
}

template <class Value>
Result<FeatureValue> DecodeAs(Bytes section, std::endian order) {
  Value value;
  ByteReader at(section, order);
  FeatureLayout(at, value);
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "section is shorter than what it says it holds");
  return FeatureValue(std::move(value));
}

Result<FeatureValue> DecodeCpuTopology(Bytes section, std::endian order, std::uint32_t cpus) {
  CpuTopology topology;
  ByteReader at(section, order);
  CpuTopologyLayout(at, topology, cpus);
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "section is shorter than what it says it holds");
  return FeatureValue(std::move(topology));
}

template <class Value>
Result<FeatureValue> Widen(Result<Value> value) {
  if (!value) return Fail(std::move(value).error());
  return FeatureValue(*std::move(value));
}

// By bit, from kTracingData (1) on.
constexpr auto kFeatureNames = std::to_array<std::string_view>(
    {"TRACING_DATA", "BUILD_ID",        "HOSTNAME",     "OSRELEASE",     "VERSION",
     "ARCH",         "NRCPUS",          "CPUDESC",      "CPUID",         "TOTAL_MEM",
     "CMDLINE",      "EVENT_DESC",      "CPU_TOPOLOGY", "NUMA_TOPOLOGY", "BRANCH_STACK",
     "PMU_MAPPINGS", "GROUP_DESC",      "AUXTRACE",     "STAT",          "CACHE",
     "SAMPLE_TIME",  "MEM_TOPOLOGY",    "CLOCKID",      "DIR_FORMAT",    "BPF_PROG_INFO",
     "BPF_BTF",      "COMPRESSED",      "CPU_PMU_CAPS", "CLOCK_DATA",    "HYBRID_TOPOLOGY",
     "PMU_CAPS",     "CPU_DOMAIN_INFO", "E_MACHINE",    "CLN_SIZE"});

}  // namespace

std::string FeatureName(FeatureBit bit) {
  const auto number = std::to_underlying(bit);
  if (number == 0 || number > kFeatureNames.size()) return fmt::format("feature {}", number);
  return std::string(kFeatureNames[number - 1]);
}

Result<FeatureValue> DecodeFeature(FeatureBit bit, Bytes section, std::endian order,
                                   std::uint32_t cpus_available) {
  switch (bit) {
    case FeatureBit::kHostname:
    case FeatureBit::kOsRelease:
    case FeatureBit::kVersion:
    case FeatureBit::kArch:
    case FeatureBit::kCpuDesc:
    case FeatureBit::kCpuId:
      return DecodeAs<TextFeature>(section, order);
    case FeatureBit::kNrCpus:
      return DecodeAs<NrCpus>(section, order);
    case FeatureBit::kTotalMem:
      return DecodeAs<TotalMem>(section, order);
    case FeatureBit::kCmdline:
      return DecodeAs<Cmdline>(section, order);
    case FeatureBit::kEventDesc:
      return Widen(DecodeEventDesc(section, order));
    case FeatureBit::kCpuTopology:
      return DecodeCpuTopology(section, order, cpus_available);
    case FeatureBit::kNumaTopology:
      return DecodeAs<NumaTopology>(section, order);
    case FeatureBit::kPmuMappings:
      return DecodeAs<PmuMappings>(section, order);
    case FeatureBit::kSampleTime:
      return DecodeAs<SampleTime>(section, order);
    case FeatureBit::kClockid:
      return DecodeAs<ClockResolution>(section, order);
    case FeatureBit::kClockData:
      return DecodeAs<ClockData>(section, order);
    case FeatureBit::kBuildId:
      return Widen(DecodeBuildIds(section, order));
    case FeatureBit::kBpfProgInfo:
      return DecodeAs<BpfProgInfo>(section, order);
    default:
      return FeatureValue(RawFeature{{section.begin(), section.end()}});
  }
}

void EncodeFeature(const FeatureValue& value, std::vector<std::byte>& out) {
  std::visit(
      [&out](const auto& feature) {
        using Value = std::remove_cvref_t<decltype(feature)>;
        ByteWriter at(out);
        if constexpr (std::same_as<Value, RawFeature>) {
          at.Blob(feature.payload, feature.payload.size());
        } else if constexpr (std::same_as<Value, EventDesc>) {
          EncodeEventDesc(feature, out);
        } else if constexpr (std::same_as<Value, CpuTopology>) {
          CpuTopologyLayout(at, feature, static_cast<std::uint32_t>(feature.cpus.size()));
        } else if constexpr (std::same_as<Value, BuildIds>) {
          EncodeBuildIds(feature, out);
        } else {
          FeatureLayout(at, feature);
        }
      },
      value);
}

}  // namespace perftape::perfdata

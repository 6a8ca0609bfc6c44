// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/shown_feature.h"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <ranges>
#include <utility>
#include <variant>
#include <vector>

#include "formats/base/counted.h"
#include "formats/base/duration.h"
#include "formats/base/text.h"
#include "formats/perfdata/bpf_program.h"
#include "tools/common/cli/escape.h"

namespace perftape::inspect {
namespace {

using Json = nlohmann::ordered_json;
using cli::EscapeForTerminal;
using perfdata::FeatureBit;
using perfdata::NamedValue;

// Returns the name in clock_gettime(2), by number.
std::string ClockText(std::uint32_t clockid) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"realtime", "monotonic", "process_cputime_id", "thread_cputime_id", "monotonic_raw",
       "realtime_coarse", "monotonic_coarse", "boottime", "realtime_alarm", "boottime_alarm", "",
       "tai"});
  const std::string_view name = clockid < kNames.size() ? kNames[clockid] : "";
  return fmt::format("{} ({})", name.empty() ? "unknown" : name, clockid);
}

// Returns the set bits as ranges, "0-23,32-69".
std::string BitsText(const std::vector<std::uint64_t>& words) {
  const auto is_set = [&](std::uint64_t bit) {
    return bit / 64 < words.size() && (words[bit / 64] >> (bit % 64) & 1) != 0;
  };
  std::string text;
  for (std::uint64_t bit = 0; bit < words.size() * 64; ++bit) {
    if (!is_set(bit)) continue;
    const std::uint64_t first = bit;
    while (is_set(bit + 1)) ++bit;
    text += text.empty() ? "" : ",";
    text += first == bit ? fmt::format("{}", first) : fmt::format("{}-{}", first, bit);
  }
  return text.empty() ? "none" : text;
}

// Returns "2G": rounded down to the largest unit that fits, as in perf. A product that overflows is
// shown as its factors.
std::string SizeText(std::uint64_t blocks, std::uint64_t block_size) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(blocks, block_size, &bytes)) {
    return fmt::format("{} x {:#x}", blocks, block_size);
  }
  constexpr std::string_view kUnits = "BKMGTPE";
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", bytes, kUnits[unit]);
}

std::string Hex(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}

// The texts of all items, one after the other, and an array of their JSON.
template <class Items, class ShowItem>
ShownFeature ShowAll(const Items& items, ShowItem show) {
  ShownFeature all = {.text = "", .json = Json::array()};
  for (const auto& item : items) {
    ShownFeature shown = show(item);
    all.text += shown.text;
    all.json.push_back(std::move(shown.json));
  }
  return all;
}

// The same, with a line of text before the items: "\n", or their number, " 3 nodes\n".
template <class Items, class ShowItem>
ShownFeature ShowLines(const Items& items, ShowItem show) {
  ShownFeature all = ShowAll(items, show);
  all.text.insert(0, "\n");
  return all;
}
template <class Items, class ShowItem>
ShownFeature ShowCounted(const Items& items, std::string_view noun, ShowItem show) {
  ShownFeature all = ShowAll(items, show);
  all.text.insert(0, fmt::format(" {}\n", Counted(items.size(), noun)));
  return all;
}

// " a=1, b=2". An array of pairs in JSON, because names may be repeated.
ShownFeature ShowCaps(const std::vector<NamedValue>& caps) {
  ShownFeature shown = ShowAll(caps, [is_first = true](const NamedValue& cap) mutable {
    return ShownFeature{fmt::format("{} {}={}", std::exchange(is_first, false) ? "" : ",",
                                    EscapeForTerminal(cap.name), EscapeForTerminal(cap.value)),
                        {{"name", cap.name}, {"value", cap.value}}};
  });
  if (caps.empty()) shown.text = " none";
  return shown;
}

std::string OwnerText(const perfdata::BuildIdEntry& entry) {
  std::string text;
  if (entry.mode == perfdata::CpuMode::kKernel) text = " (kernel)";
  if (entry.mode == perfdata::CpuMode::kGuestKernel) text = " (guest kernel)";
  if (entry.mode == perfdata::CpuMode::kGuestUser) text = " (guest)";
  if (entry.pid > 0) text += fmt::format(" (machine {})", entry.pid);
  return text;
}

class FeatureVisitor {
 public:
  FeatureVisitor(FeatureBit bit, const perfdata::Reader& reader) : bit_(bit), reader_(reader) {}

  ShownFeature operator()(const perfdata::RawFeature& feature) const {
    return {fmt::format(" {} bytes\n", feature.payload.size()), {{"size", feature.payload.size()}}};
  }
  ShownFeature operator()(const perfdata::EmptyFeature& /*feature*/) const {
    if (bit_ == FeatureBit::kBranchStack) return {" contains samples with branch stack\n", true};
    if (bit_ == FeatureBit::kStat) return {" contains stat data\n", true};
    return {" the end of this pipe's features\n", {{"end_of_features", true}}};
  }
  ShownFeature operator()(const perfdata::TextFeature& feature) const {
    return {fmt::format(" {}\n", EscapeForTerminal(feature.text)), feature.text};
  }
  ShownFeature operator()(const perfdata::NrCpus& cpus) const {
    return {fmt::format(" {} online, {} available\n", cpus.online, cpus.available),
            {{"nr_cpus_online", cpus.online}, {"nr_cpus_avail", cpus.available}}};
  }
  ShownFeature operator()(const perfdata::TotalMem& memory) const {
    return {fmt::format(" {} kB\n", memory.kilobytes), {{"total_mem_kb", memory.kilobytes}}};
  }
  ShownFeature operator()(const perfdata::Cmdline& cmdline) const {
    ShownFeature shown = ShowAll(cmdline.arguments, [](const std::string& argument) {
      return ShownFeature{fmt::format(" {}", EscapeForTerminal(argument)), argument};
    });
    shown.text += '\n';
    return shown;
  }
  ShownFeature operator()(const perfdata::EventDesc& description) const {
    return ShowCounted(description.events, "event", [](const perfdata::Event& event) {
      return ShownFeature{
          fmt::format("  {}: ids {}\n", EscapeForTerminal(event.name), Joined(event.ids, ",")),
          {{"name", event.name},
           {"ids", event.ids},
           {"type", event.attr.type},
           {"config", Hex(event.attr.config)}}};
    });
  }
  ShownFeature operator()(const perfdata::CpuTopology& topology) const {
    const auto lists = [](std::string_view name, const std::vector<std::string>& all) {
      return ShowAll(all, [&](const std::string& cpus) {
        return ShownFeature{fmt::format("  {}: {}\n", name, EscapeForTerminal(cpus)), cpus};
      });
    };
    ShownFeature sockets = lists("sibling sockets", topology.packages);
    ShownFeature dies = lists("sibling dies", topology.dies);
    ShownFeature threads = lists("sibling threads", topology.cores);
    ShownFeature cpus = ShowAll(std::views::iota(std::size_t{0}, topology.cpus.size()),
                                [&](std::size_t i) { return ShowCpu(topology, i); });
    return {"\n" + sockets.text + dies.text + threads.text + cpus.text,
            {{"sibling_sockets", std::move(sockets.json)},
             {"sibling_dies", std::move(dies.json)},
             {"sibling_threads", std::move(threads.json)},
             {"cpus", std::move(cpus.json)}}};
  }
  ShownFeature operator()(const perfdata::NumaTopology& topology) const {
    return ShowCounted(topology.nodes, "node", [](const auto& node) {
      return ShownFeature{
          fmt::format("  node {}: CPUs {}, {} kB, {} kB free\n", node.node,
                      EscapeForTerminal(node.cpus), node.total_kilobytes, node.free_kilobytes),
          {{"node", node.node},
           {"mem_total_kb", node.total_kilobytes},
           {"mem_free_kb", node.free_kilobytes},
           {"cpus", node.cpus}}};
    });
  }
  ShownFeature operator()(const perfdata::PmuMappings& mappings) const {
    ShownFeature shown = ShowAll(mappings.pmus, [is_first = true](const auto& pmu) mutable {
      return ShownFeature{fmt::format("{} {} = {}", std::exchange(is_first, false) ? "" : ",",
                                      EscapeForTerminal(pmu.name), pmu.type),
                          {{"name", pmu.name}, {"type", pmu.type}}};
    });
    shown.text += '\n';
    return shown;
  }
  // "{cycles,instructions}", with the names of its events.
  ShownFeature operator()(const perfdata::GroupDesc& description) const {
    return ShowLines(description.groups, [this](const auto& group) {
      // perf's name for a group without a name.
      const std::string name = group.name == "{anon_group}" ? "" : group.name;
      return ShownFeature{
          fmt::format("  {}{{{}}}: {} from event {}\n", EscapeForTerminal(name),
                      EventNamesOf(group), Counted(group.members, "event"), group.leader),
          {{"name", group.name}, {"leader_idx", group.leader}, {"nr_members", group.members}}};
    });
  }
  ShownFeature operator()(const perfdata::AuxtraceIndex& index) const {
    ShownFeature shown = ShowAll(index.entries, [](const auto& entry) {
      return ShownFeature{fmt::format("  {} bytes at {:#x}\n", entry.size, entry.file_offset),
                          {{"file_offset", Hex(entry.file_offset)}, {"size", entry.size}}};
    });
    shown.text.insert(0, fmt::format(" contains AUX area data (e.g. instruction trace), {}\n",
                                     Counted(index.entries.size(), "record")));
    return shown;
  }
  ShownFeature operator()(const perfdata::CacheInfo& info) const {
    return ShowCounted(info.caches, "cache", [](const auto& cache) {
      return ShownFeature{
          fmt::format("  L{} {} {} [{}], {} sets of {} lines of {} bytes\n", cache.level,
                      EscapeForTerminal(cache.type), EscapeForTerminal(cache.size),
                      EscapeForTerminal(cache.cpus), cache.sets, cache.ways, cache.line_size),
          {{"level", cache.level},
           {"line_size", cache.line_size},
           {"sets", cache.sets},
           {"ways", cache.ways},
           {"type", cache.type},
           {"size", cache.size},
           {"map", cache.cpus}}};
    });
  }
  ShownFeature operator()(const perfdata::SampleTime& time) const {
    std::string text = fmt::format(" first {} s, last {} s", SecondsText(time.first_ns),
                                   SecondsText(time.last_ns));
    if (time.last_ns >= time.first_ns) {
      text += fmt::format(", duration {} s", SecondsText(time.last_ns - time.first_ns));
    }
    return {text + '\n',
            {{"first_sample_time", time.first_ns}, {"last_sample_time", time.last_ns}}};
  }
  ShownFeature operator()(const perfdata::MemTopology& topology) const {
    ShownFeature nodes = ShowAll(topology.nodes, [&](const auto& node) {
      Json set = Json::array();
      for (const std::uint64_t blocks : node.blocks) set.push_back(Hex(blocks));
      return ShownFeature{
          fmt::format("  {} [{}]: {}\n", node.node, SizeText(node.size, topology.block_size),
                      BitsText(node.blocks)),
          {{"node", node.node}, {"size", node.size}, {"set", std::move(set)}}};
    });
    return {fmt::format(" {}, block size {:#x}\n{}", Counted(topology.nodes.size(), "node"),
                        topology.block_size, nodes.text),
            {{"memory_bsize", topology.block_size}, {"nodes", std::move(nodes.json)}}};
  }
  ShownFeature operator()(const perfdata::ClockResolution& clock) const {
    return {fmt::format(" resolution {} ns\n", clock.nanoseconds),
            {{"clockid_res_ns", clock.nanoseconds}}};
  }
  ShownFeature operator()(const perfdata::ClockData& clock) const {
    return {
        fmt::format(" {} at {} s was {} s since 1970\n", ClockText(clock.clockid),
                    SecondsText(clock.clockid_ns), SecondsText(clock.wall_ns)),
        {{"clockid", clock.clockid}, {"tod_ns", clock.wall_ns}, {"clockid_ns", clock.clockid_ns}}};
  }
  ShownFeature operator()(const perfdata::DirFormat& format) const {
    return {fmt::format(" directory data version {}\n", format.version),
            {{"version", format.version}}};
  }
  ShownFeature operator()(const perfdata::CompressionInfo& info) const {
    return {fmt::format(" {}, level = {}, ratio = {}, up to {} bytes a record\n",
                        info.type == 1 ? "Zstd" : fmt::format("type {}", info.type), info.level,
                        info.ratio, info.mmap_len),
            {{"comp_ver", info.version},
             {"comp_type", info.type},
             {"comp_level", info.level},
             {"comp_ratio", info.ratio},
             {"comp_mmap_len", info.mmap_len}}};
  }
  ShownFeature operator()(const perfdata::BuildIds& ids) const {
    return ShowCounted(ids.entries, "file", [](const perfdata::BuildIdEntry& entry) {
      return ShownFeature{fmt::format("  {} {}{}\n", entry.build_id.hex(),
                                      EscapeForTerminal(entry.filename), OwnerText(entry)),
                          {{"build_id", entry.build_id.hex()},
                           {"filename", entry.filename},
                           {"cpumode", std::to_underlying(entry.mode)},
                           {"pid", entry.pid}}};
    });
  }
  ShownFeature operator()(const perfdata::BpfProgInfo& info) const {
    return ShowCounted(info.programs, "program", [this](const auto& program) -> ShownFeature {
      const std::optional<perfdata::BpfProgram> known =
          perfdata::BpfProgramOf(program.info, reader_.order());
      if (!known) {
        return {fmt::format("  info of {} bytes, which is too short\n", program.info.size()),
                {{"info_len", program.info.size()}}};
      }
      return {fmt::format("  {}: {}, jited {} bytes, xlated {} bytes\n", known->id,
                          EscapeForTerminal(known->name()), known->jited_size, known->xlated_size),
              {{"id", known->id},
               {"type", known->type},
               {"name", known->name()},
               {"jited_prog_len", known->jited_size},
               {"xlated_prog_len", known->xlated_size}}};
    });
  }
  ShownFeature operator()(const perfdata::BpfBtf& btf) const {
    return ShowCounted(btf.nodes, "program", [](const auto& node) {
      return ShownFeature{fmt::format("  id {}: {} bytes\n", node.id, node.btf.size()),
                          {{"id", node.id}, {"size", node.btf.size()}}};
    });
  }
  ShownFeature operator()(const perfdata::TracingData& tracing) const {
    const std::string_view order = tracing.order == std::endian::little ? "little" : "big";
    return {fmt::format(" version {}, {} endian, longs of {} bytes, pages of {}, {} of formats\n",
                        EscapeForTerminal(tracing.version), order, tracing.long_size,
                        tracing.page_size, Counted(tracing.formats.size(), "byte")),
            {{"version", tracing.version},
             {"byte_order", order},
             {"long_size", tracing.long_size},
             {"page_size", tracing.page_size},
             {"formats_size", tracing.formats.size()}}};
  }
  ShownFeature operator()(const perfdata::CpuPmuCaps& cpu) const {
    ShownFeature shown = ShowCaps(cpu.caps);
    shown.text += '\n';
    return shown;
  }
  ShownFeature operator()(const perfdata::PmuCaps& all) const {
    return ShowCounted(all.pmus, "PMU", [](const auto& pmu) {
      ShownFeature caps = ShowCaps(pmu.caps);
      return ShownFeature{fmt::format("  {}:{}\n", EscapeForTerminal(pmu.name), caps.text),
                          {{"pmu_name", pmu.name}, {"caps", std::move(caps.json)}}};
    });
  }
  ShownFeature operator()(const perfdata::HybridTopology& topology) const {
    return ShowLines(topology.pmus, [](const auto& pmu) {
      return ShownFeature{fmt::format("  {} cpu list: {}\n", EscapeForTerminal(pmu.name),
                                      EscapeForTerminal(pmu.cpus)),
                          {{"pmu_name", pmu.name}, {"cpus", pmu.cpus}}};
    });
  }
  ShownFeature operator()(const perfdata::CpuDomainInfo& info) const {
    ShownFeature cpus = ShowAll(info.cpus, [](const auto& cpu) {
      ShownFeature domains = ShowAll(cpu.domains, [&](const auto& domain) {
        return ShownFeature{
            fmt::format("  CPU {} domain {}{}{}: {}\n", cpu.cpu, domain.number,
                        domain.name.empty() ? "" : " ", EscapeForTerminal(domain.name),
                        EscapeForTerminal(domain.cpu_list)),
            {{"domain", domain.number},
             {"dname", domain.name},
             {"cpumask", domain.cpu_mask},
             {"cpulist", domain.cpu_list}}};
      });
      return ShownFeature{std::move(domains.text),
                          {{"cpu", cpu.cpu}, {"domains", std::move(domains.json)}}};
    });
    return {fmt::format(" schedstat version {}, at most {} a CPU\n{}", info.schedstat_version,
                        Counted(info.max_domains, "domain"), cpus.text),
            {{"schedstat_version", info.schedstat_version},
             {"max_sched_domains", info.max_domains},
             {"cpus", std::move(cpus.json)}}};
  }
  ShownFeature operator()(const perfdata::ElfMachine& elf) const {
    return {fmt::format(" {}, flags {:#x}\n", elf.machine, elf.flags),
            {{"e_machine", elf.machine}, {"e_flags", Hex(elf.flags)}}};
  }
  ShownFeature operator()(const perfdata::CacheLineSize& line) const {
    return {fmt::format(" {} bytes\n", line.bytes), {{"cln_size", line.bytes}}};
  }
  ShownFeature operator()(const perfdata::MemoryRanges& memory) const {
    return ShowLines(memory.ranges, [](const auto& range) {
      return ShownFeature{fmt::format("  {:#x} to {:#x}, node {}, region {} local, {} remote\n",
                                      range.base, range.base + range.length, range.node,
                                      range.local_region, range.remote_region),
                          {{"base", Hex(range.base)},
                           {"length", range.length},
                           {"node", range.node},
                           {"local_region", range.local_region},
                           {"remote_region", range.remote_region}}};
    });
  }
  ShownFeature operator()(const perfdata::MetaInfo& meta) const {
    return ShowLines(meta.facts, [](const NamedValue& fact) {
      return ShownFeature{
          fmt::format("  {} = {}\n", EscapeForTerminal(fact.name), EscapeForTerminal(fact.value)),
          {{"name", fact.name}, {"value", fact.value}}};
    });
  }

 private:
  static ShownFeature ShowCpu(const perfdata::CpuTopology& topology, std::size_t i) {
    const perfdata::CpuTopology::Cpu& cpu = topology.cpus[i];
    ShownFeature shown = {fmt::format("  CPU {}: Core ID {}, ", i, cpu.core),
                          {{"core_id", cpu.core}, {"socket_id", cpu.socket}}};
    if (i < topology.die_of_cpu.size()) {
      shown.text += fmt::format("Die ID {}, ", topology.die_of_cpu[i]);
      shown.json["die_id"] = topology.die_of_cpu[i];
    }
    shown.text += fmt::format("Socket ID {}\n", cpu.socket);
    return shown;
  }

  std::string EventNamesOf(const perfdata::GroupDesc::Group& group) const {
    const auto events = reader_.events().all();
    std::string names;
    for (std::uint64_t i = group.leader;
         i < events.size() && i < std::uint64_t{group.leader} + group.members; ++i) {
      names += fmt::format("{}{}", names.empty() ? "" : ",", EscapeForTerminal(events[i].name));
    }
    return names;
  }

  FeatureBit bit_;
  const perfdata::Reader& reader_;
};

}  // namespace

ShownFeature ShowFeature(const perfdata::FeatureValue& value, FeatureBit bit,
                         const perfdata::Reader& reader) {
  return std::visit(FeatureVisitor(bit, reader), value);
}

}  // namespace perftape::inspect

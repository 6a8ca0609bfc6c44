// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/feature_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <variant>

#include "tools/common/cli/count.h"
#include "tools/common/cli/escape.h"
#include "tools/inspect/bpf_program.h"

namespace perftape::inspect {
namespace {

using cli::Counted;
using cli::EscapeForTerminal;
using perfdata::FeatureBit;
using perfdata::NamedValue;

constexpr std::uint64_t kNanosecondsInSecond = 1'000'000'000;

std::string SecondsText(std::uint64_t nanoseconds) {
  return fmt::format("{}.{:09}", nanoseconds / kNanosecondsInSecond,
                     nanoseconds % kNanosecondsInSecond);
}

// Returns the name in clock_gettime(2), by number.
std::string ClockText(std::uint32_t clockid) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"realtime", "monotonic", "process_cputime_id", "thread_cputime_id", "monotonic_raw",
       "realtime_coarse", "monotonic_coarse", "boottime", "realtime_alarm", "boottime_alarm", "",
       "tai"});
  const std::string_view name = clockid < kNames.size() ? kNames[clockid] : "";
  return fmt::format("{} ({})", name.empty() ? "unknown" : name, clockid);
}

std::string CapsText(const std::vector<NamedValue>& caps) {
  std::string text;
  for (const NamedValue& cap : caps) {
    text += fmt::format("{} {}={}", text.empty() ? "" : ",", EscapeForTerminal(cap.name),
                        EscapeForTerminal(cap.value));
  }
  return text.empty() ? " none" : text;
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

class TextOf {
 public:
  TextOf(FeatureBit bit, const perfdata::Reader& reader) : bit_(bit), reader_(reader) {}

  std::string operator()(const perfdata::RawFeature& feature) const {
    return fmt::format(" {} bytes\n", feature.payload.size());
  }
  std::string operator()(const perfdata::EmptyFeature& /*feature*/) const {
    if (bit_ == FeatureBit::kBranchStack) return " contains samples with branch stack\n";
    if (bit_ == FeatureBit::kStat) return " contains stat data\n";
    return " the end of this pipe's features\n";
  }
  std::string operator()(const perfdata::TextFeature& feature) const {
    return fmt::format(" {}\n", EscapeForTerminal(feature.text));
  }
  std::string operator()(const perfdata::NrCpus& cpus) const {
    return fmt::format(" {} online, {} available\n", cpus.online, cpus.available);
  }
  std::string operator()(const perfdata::TotalMem& memory) const {
    return fmt::format(" {} kB\n", memory.kilobytes);
  }
  std::string operator()(const perfdata::Cmdline& cmdline) const {
    std::string text;
    for (const std::string& argument : cmdline.arguments) {
      text += fmt::format(" {}", EscapeForTerminal(argument));
    }
    return text + '\n';
  }
  std::string operator()(const perfdata::EventDesc& description) const {
    std::string text = fmt::format(" {}\n", Counted(description.events.size(), "event"));
    for (const perfdata::Event& event : description.events) {
      text +=
          fmt::format("  {}: ids {}\n", EscapeForTerminal(event.name), fmt::join(event.ids, ","));
    }
    return text;
  }
  std::string operator()(const perfdata::CpuTopology& topology) const {
    std::string text = "\n";
    const auto lists = [&](std::string_view name, const std::vector<std::string>& cpus) {
      for (const std::string& list : cpus) {
        text += fmt::format("  {}: {}\n", name, EscapeForTerminal(list));
      }
    };
    lists("sibling sockets", topology.packages);
    lists("sibling dies", topology.dies);
    lists("sibling threads", topology.cores);
    for (std::size_t i = 0; i < topology.cpus.size(); ++i) {
      text += fmt::format("  CPU {}: Core ID {}, ", i, topology.cpus[i].core);
      if (i < topology.die_of_cpu.size()) {
        text += fmt::format("Die ID {}, ", topology.die_of_cpu[i]);
      }
      text += fmt::format("Socket ID {}\n", topology.cpus[i].socket);
    }
    return text;
  }
  std::string operator()(const perfdata::NumaTopology& topology) const {
    std::string text = fmt::format(" {}\n", Counted(topology.nodes.size(), "node"));
    for (const auto& node : topology.nodes) {
      text += fmt::format("  node {}: CPUs {}, {} kB, {} kB free\n", node.node,
                          EscapeForTerminal(node.cpus), node.total_kilobytes, node.free_kilobytes);
    }
    return text;
  }
  std::string operator()(const perfdata::PmuMappings& mappings) const {
    std::string text;
    for (const auto& pmu : mappings.pmus) {
      text +=
          fmt::format("{} {} = {}", text.empty() ? "" : ",", EscapeForTerminal(pmu.name), pmu.type);
    }
    return text + '\n';
  }
  // "{cycles,instructions}", with the names of its events.
  std::string operator()(const perfdata::GroupDesc& description) const {
    const auto events = reader_.events().all();
    std::string text = "\n";
    for (const auto& group : description.groups) {
      std::string names;
      for (std::uint64_t i = group.leader;
           i < events.size() && i < std::uint64_t{group.leader} + group.members; ++i) {
        names += fmt::format("{}{}", names.empty() ? "" : ",", EscapeForTerminal(events[i].name));
      }
      // perf's name for a group without a name.
      const std::string name = group.name == "{anon_group}" ? "" : group.name;
      text += fmt::format("  {}{{{}}}: {} from event {}\n", EscapeForTerminal(name), names,
                          Counted(group.members, "event"), group.leader);
    }
    return text;
  }
  std::string operator()(const perfdata::AuxtraceIndex& index) const {
    std::string text = fmt::format(" contains AUX area data (e.g. instruction trace), {}\n",
                                   Counted(index.entries.size(), "record"));
    for (const auto& entry : index.entries) {
      text += fmt::format("  {} bytes at {:#x}\n", entry.size, entry.file_offset);
    }
    return text;
  }
  std::string operator()(const perfdata::CacheInfo& info) const {
    std::string text = fmt::format(" {}\n", Counted(info.caches.size(), "cache"));
    for (const auto& cache : info.caches) {
      text += fmt::format("  L{} {} {} [{}], {} sets of {} lines of {} bytes\n", cache.level,
                          EscapeForTerminal(cache.type), EscapeForTerminal(cache.size),
                          EscapeForTerminal(cache.cpus), cache.sets, cache.ways, cache.line_size);
    }
    return text;
  }
  std::string operator()(const perfdata::SampleTime& time) const {
    std::string text = fmt::format(" first {} s, last {} s", SecondsText(time.first_ns),
                                   SecondsText(time.last_ns));
    if (time.last_ns >= time.first_ns) {
      text += fmt::format(", duration {} s", SecondsText(time.last_ns - time.first_ns));
    }
    return text + '\n';
  }
  std::string operator()(const perfdata::MemTopology& topology) const {
    std::string text = fmt::format(" {}, block size {:#x}\n",
                                   Counted(topology.nodes.size(), "node"), topology.block_size);
    for (const auto& node : topology.nodes) {
      text += fmt::format("  {} [{}]: {}\n", node.node, SizeText(node.size, topology.block_size),
                          BitsText(node.blocks));
    }
    return text;
  }
  std::string operator()(const perfdata::ClockResolution& clock) const {
    return fmt::format(" resolution {} ns\n", clock.nanoseconds);
  }
  std::string operator()(const perfdata::ClockData& clock) const {
    return fmt::format(" {} at {} s was {} s since 1970\n", ClockText(clock.clockid),
                       SecondsText(clock.clockid_ns), SecondsText(clock.wall_ns));
  }
  std::string operator()(const perfdata::DirFormat& format) const {
    return fmt::format(" directory data version {}\n", format.version);
  }
  std::string operator()(const perfdata::CompressionInfo& info) const {
    return fmt::format(" {}, level = {}, ratio = {}, up to {} bytes a record\n",
                       info.type == 1 ? "Zstd" : fmt::format("type {}", info.type), info.level,
                       info.ratio, info.mmap_len);
  }
  std::string operator()(const perfdata::BuildIds& ids) const {
    std::string text = fmt::format(" {}\n", Counted(ids.entries.size(), "file"));
    for (const perfdata::BuildIdEntry& entry : ids.entries) {
      text += fmt::format("  {} {}{}\n", entry.build_id.hex(), EscapeForTerminal(entry.filename),
                          OwnerText(entry));
    }
    return text;
  }
  std::string operator()(const perfdata::BpfProgInfo& info) const {
    std::string text = fmt::format(" {}\n", Counted(info.programs.size(), "program"));
    for (const auto& program : info.programs) {
      const std::optional<BpfProgram> known = BpfProgramOf(program.info, reader_.order());
      text += known ? fmt::format("  {}: {}, jited {} bytes, xlated {} bytes\n", known->id,
                                  EscapeForTerminal(known->name()), known->jited_size,
                                  known->xlated_size)
                    : fmt::format("  info of {} bytes, which is too short\n", program.info.size());
    }
    return text;
  }
  std::string operator()(const perfdata::BpfBtf& btf) const {
    std::string text = fmt::format(" {}\n", Counted(btf.nodes.size(), "program"));
    for (const auto& node : btf.nodes) {
      text += fmt::format("  id {}: {} bytes\n", node.id, node.btf.size());
    }
    return text;
  }
  std::string operator()(const perfdata::TracingData& tracing) const {
    return fmt::format(" version {}, {} endian, longs of {} bytes, pages of {}, {} of formats\n",
                       EscapeForTerminal(tracing.version),
                       tracing.order == std::endian::little ? "little" : "big", tracing.long_size,
                       tracing.page_size, Counted(tracing.formats.size(), "byte"));
  }
  std::string operator()(const perfdata::CpuPmuCaps& cpu) const {
    return CapsText(cpu.caps) + '\n';
  }
  std::string operator()(const perfdata::PmuCaps& all) const {
    std::string text = fmt::format(" {}\n", Counted(all.pmus.size(), "PMU"));
    for (const auto& pmu : all.pmus) {
      text += fmt::format("  {}:{}\n", EscapeForTerminal(pmu.name), CapsText(pmu.caps));
    }
    return text;
  }
  std::string operator()(const perfdata::HybridTopology& topology) const {
    std::string text = "\n";
    for (const auto& pmu : topology.pmus) {
      text += fmt::format("  {} cpu list: {}\n", EscapeForTerminal(pmu.name),
                          EscapeForTerminal(pmu.cpus));
    }
    return text;
  }
  std::string operator()(const perfdata::CpuDomainInfo& info) const {
    std::string text = fmt::format(" schedstat version {}, at most {} a CPU\n",
                                   info.schedstat_version, Counted(info.max_domains, "domain"));
    for (const auto& cpu : info.cpus) {
      for (const auto& domain : cpu.domains) {
        text += fmt::format("  CPU {} domain {}{}{}: {}\n", cpu.cpu, domain.number,
                            domain.name.empty() ? "" : " ", EscapeForTerminal(domain.name),
                            EscapeForTerminal(domain.cpu_list));
      }
    }
    return text;
  }
  std::string operator()(const perfdata::ElfMachine& elf) const {
    return fmt::format(" {}, flags {:#x}\n", elf.machine, elf.flags);
  }
  std::string operator()(const perfdata::CacheLineSize& line) const {
    return fmt::format(" {} bytes\n", line.bytes);
  }
  std::string operator()(const perfdata::MemoryRanges& memory) const {
    std::string text = "\n";
    for (const auto& range : memory.ranges) {
      text += fmt::format("  {:#x} to {:#x}, node {}, region {} local, {} remote\n", range.base,
                          range.base + range.length, range.node, range.local_region,
                          range.remote_region);
    }
    return text;
  }
  std::string operator()(const perfdata::MetaInfo& meta) const {
    std::string text = "\n";
    for (const NamedValue& fact : meta.facts) {
      text +=
          fmt::format("  {} = {}\n", EscapeForTerminal(fact.name), EscapeForTerminal(fact.value));
    }
    return text;
  }

 private:
  static std::string OwnerText(const perfdata::BuildIdEntry& entry) {
    std::string text;
    if (entry.mode == perfdata::CpuMode::kKernel) text = " (kernel)";
    if (entry.mode == perfdata::CpuMode::kGuestKernel) text = " (guest kernel)";
    if (entry.mode == perfdata::CpuMode::kGuestUser) text = " (guest)";
    if (entry.pid > 0) text += fmt::format(" (machine {})", entry.pid);
    return text;
  }

  FeatureBit bit_;
  const perfdata::Reader& reader_;
};

}  // namespace

std::string FeatureText(const perfdata::FeatureValue& value, FeatureBit bit,
                        const perfdata::Reader& reader) {
  return std::visit(TextOf(bit, reader), value);
}

}  // namespace perftape::inspect

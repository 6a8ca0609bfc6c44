// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/feature_json.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/inspect/bpf_program.h"

namespace perftape::inspect {
namespace {

using Json = nlohmann::ordered_json;
using perfdata::FeatureBit;

// Returns an array of describe(item) for each item.
template <class Items, class Describe>
Json ListOf(const Items& items, Describe describe) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(describe(item));
  return list;
}

// An array of pairs, because names may be repeated.
Json CapsOf(const std::vector<perfdata::NamedValue>& caps) {
  return ListOf(caps, [](const auto& cap) -> Json {
    return {{"name", cap.name}, {"value", cap.value}};
  });
}

std::string Hex(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}

class JsonOf {
 public:
  JsonOf(FeatureBit bit, std::endian order) : bit_(bit), order_(order) {}

  Json operator()(const perfdata::RawFeature& feature) const {
    return {{"size", feature.payload.size()}};
  }
  Json operator()(const perfdata::EmptyFeature& /*feature*/) const {
    if (bit_ == FeatureBit::kBranchStack || bit_ == FeatureBit::kStat) return true;
    return {{"end_of_features", true}};
  }
  Json operator()(const perfdata::TextFeature& feature) const { return feature.text; }
  Json operator()(const perfdata::NrCpus& cpus) const {
    return {{"nr_cpus_online", cpus.online}, {"nr_cpus_avail", cpus.available}};
  }
  Json operator()(const perfdata::TotalMem& memory) const {
    return {{"total_mem_kb", memory.kilobytes}};
  }
  Json operator()(const perfdata::Cmdline& cmdline) const { return cmdline.arguments; }
  Json operator()(const perfdata::EventDesc& description) const {
    return ListOf(description.events, [](const perfdata::Event& event) -> Json {
      return {{"name", event.name},
              {"ids", event.ids},
              {"type", event.attr.type},
              {"config", Hex(event.attr.config)}};
    });
  }
  Json operator()(const perfdata::CpuTopology& topology) const {
    Json cpus = Json::array();
    for (std::size_t i = 0; i < topology.cpus.size(); ++i) {
      Json cpu = {{"core_id", topology.cpus[i].core}, {"socket_id", topology.cpus[i].socket}};
      if (i < topology.die_of_cpu.size()) cpu["die_id"] = topology.die_of_cpu[i];
      cpus.push_back(std::move(cpu));
    }
    return {{"sibling_sockets", topology.packages},
            {"sibling_dies", topology.dies},
            {"sibling_threads", topology.cores},
            {"cpus", std::move(cpus)}};
  }
  Json operator()(const perfdata::NumaTopology& topology) const {
    return ListOf(topology.nodes, [](const auto& node) -> Json {
      return {{"node", node.node},
              {"mem_total_kb", node.total_kilobytes},
              {"mem_free_kb", node.free_kilobytes},
              {"cpus", node.cpus}};
    });
  }
  Json operator()(const perfdata::PmuMappings& mappings) const {
    return ListOf(mappings.pmus, [](const auto& pmu) -> Json {
      return {{"name", pmu.name}, {"type", pmu.type}};
    });
  }
  Json operator()(const perfdata::GroupDesc& description) const {
    return ListOf(description.groups, [](const auto& group) -> Json {
      return {{"name", group.name}, {"leader_idx", group.leader}, {"nr_members", group.members}};
    });
  }
  Json operator()(const perfdata::AuxtraceIndex& index) const {
    return ListOf(index.entries, [](const auto& entry) -> Json {
      return {{"file_offset", Hex(entry.file_offset)}, {"size", entry.size}};
    });
  }
  Json operator()(const perfdata::CacheInfo& info) const {
    return ListOf(info.caches, [](const auto& cache) -> Json {
      return {{"level", cache.level}, {"line_size", cache.line_size}, {"sets", cache.sets},
              {"ways", cache.ways},   {"type", cache.type},           {"size", cache.size},
              {"map", cache.cpus}};
    });
  }
  Json operator()(const perfdata::SampleTime& time) const {
    return {{"first_sample_time", time.first_ns}, {"last_sample_time", time.last_ns}};
  }
  Json operator()(const perfdata::MemTopology& topology) const {
    Json nodes = ListOf(topology.nodes, [](const auto& node) -> Json {
      return {{"node", node.node}, {"size", node.size}, {"set", ListOf(node.blocks, Hex)}};
    });
    return {{"memory_bsize", topology.block_size}, {"nodes", std::move(nodes)}};
  }
  Json operator()(const perfdata::ClockResolution& clock) const {
    return {{"clockid_res_ns", clock.nanoseconds}};
  }
  Json operator()(const perfdata::ClockData& clock) const {
    return {
        {"clockid", clock.clockid}, {"tod_ns", clock.wall_ns}, {"clockid_ns", clock.clockid_ns}};
  }
  Json operator()(const perfdata::DirFormat& format) const { return {{"version", format.version}}; }
  Json operator()(const perfdata::CompressionInfo& info) const {
    return {{"comp_ver", info.version},
            {"comp_type", info.type},
            {"comp_level", info.level},
            {"comp_ratio", info.ratio},
            {"comp_mmap_len", info.mmap_len}};
  }
  Json operator()(const perfdata::BuildIds& ids) const {
    return ListOf(ids.entries, [](const perfdata::BuildIdEntry& entry) -> Json {
      return {{"build_id", entry.build_id.hex()},
              {"filename", entry.filename},
              {"cpumode", std::to_underlying(entry.mode)},
              {"pid", entry.pid}};
    });
  }
  Json operator()(const perfdata::BpfProgInfo& info) const {
    return ListOf(info.programs, [this](const auto& program) -> Json {
      const std::optional<BpfProgram> known = BpfProgramOf(program.info, order_);
      if (!known) return {{"info_len", program.info.size()}};
      return {{"id", known->id},
              {"type", known->type},
              {"name", known->name()},
              {"jited_prog_len", known->jited_size},
              {"xlated_prog_len", known->xlated_size}};
    });
  }
  Json operator()(const perfdata::BpfBtf& btf) const {
    return ListOf(btf.nodes, [](const auto& node) -> Json {
      return {{"id", node.id}, {"size", node.btf.size()}};
    });
  }
  Json operator()(const perfdata::TracingData& tracing) const {
    return {{"version", tracing.version},
            {"byte_order", tracing.order == std::endian::little ? "little" : "big"},
            {"long_size", tracing.long_size},
            {"page_size", tracing.page_size},
            {"formats_size", tracing.formats.size()}};
  }
  Json operator()(const perfdata::CpuPmuCaps& cpu) const { return CapsOf(cpu.caps); }
  Json operator()(const perfdata::PmuCaps& all) const {
    return ListOf(all.pmus, [](const auto& pmu) -> Json {
      return {{"pmu_name", pmu.name}, {"caps", CapsOf(pmu.caps)}};
    });
  }
  Json operator()(const perfdata::HybridTopology& topology) const {
    return ListOf(topology.pmus, [](const auto& pmu) -> Json {
      return {{"pmu_name", pmu.name}, {"cpus", pmu.cpus}};
    });
  }
  Json operator()(const perfdata::CpuDomainInfo& info) const {
    const auto domain_json = [](const auto& domain) -> Json {
      return {{"domain", domain.number},
              {"dname", domain.name},
              {"cpumask", domain.cpu_mask},
              {"cpulist", domain.cpu_list}};
    };
    Json cpus = ListOf(info.cpus, [&](const auto& cpu) -> Json {
      return {{"cpu", cpu.cpu}, {"domains", ListOf(cpu.domains, domain_json)}};
    });
    return {{"schedstat_version", info.schedstat_version},
            {"max_sched_domains", info.max_domains},
            {"cpus", std::move(cpus)}};
  }
  Json operator()(const perfdata::ElfMachine& elf) const {
    return {{"e_machine", elf.machine}, {"e_flags", Hex(elf.flags)}};
  }
  Json operator()(const perfdata::CacheLineSize& line) const { return {{"cln_size", line.bytes}}; }
  Json operator()(const perfdata::MemoryRanges& memory) const {
    return ListOf(memory.ranges, [](const auto& range) -> Json {
      return {{"base", Hex(range.base)},
              {"length", range.length},
              {"node", range.node},
              {"local_region", range.local_region},
              {"remote_region", range.remote_region}};
    });
  }
  Json operator()(const perfdata::MetaInfo& meta) const { return CapsOf(meta.facts); }

 private:
  FeatureBit bit_;
  std::endian order_;
};

}  // namespace

nlohmann::ordered_json FeatureJson(const perfdata::FeatureValue& value, FeatureBit bit,
                                   const perfdata::Reader& reader) {
  return std::visit(JsonOf(bit, reader.order()), value);
}

}  // namespace perftape::inspect

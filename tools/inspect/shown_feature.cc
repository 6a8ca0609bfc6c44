// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/shown_feature.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "formats/base/counted.h"
#include "formats/base/duration.h"
#include "formats/json/value.h"
#include "formats/perfdata/field.h"
#include "formats/perfdata/visit_fields.h"
#include "tools/inspect/json_fields.h"
#include "tools/inspect/sentence.h"

namespace perftape::inspect {
namespace {

using Json = json::Value;
using perfdata::FeatureBit;
using perfdata::FeatureValue;

// Members of a JSON. What is not there is 0 or empty.
std::uint64_t NumberIn(const Json& json, std::string_view key) {
  const Json* const member = json.Find(key);
  return member == nullptr ? 0 : static_cast<std::uint64_t>(member->AsInteger().value_or(0));
}

std::string TextIn(const Json& json, std::string_view key) {
  const Json* const member = json.Find(key);
  const std::string* const text = member == nullptr ? nullptr : member->AsText();
  return text == nullptr ? "" : *text;
}

std::span<const Json> ListIn(const Json& json, std::string_view key) {
  const Json* const member = json.Find(key);
  return member == nullptr ? std::span<const Json>() : member->elements();
}

// What a text needs beside the JSON.
struct Context {
  const FeatureValue& value;
  const perfdata::Reader& reader;
};

// The text of a feature: `head`, then one sentence for each item of a list. They contain members of
// the feature's JSON, to which `compute` has added those that are in no file.
struct FeatureText {
  FeatureBit bit;
  std::string_view head = {};
  std::string_view item = {};
  std::string_view separator = {};  // between items
  std::string_view none = {};       // instead of items, if there are none
  std::string_view tail = {};
  std::string_view list = perfdata::kUnnamed;  // the member that is the list
  void (*compute)(Json& json, const Context& of) = nullptr;
};

// Returns the name in clock_gettime(2), by number.
std::string ClockText(std::uint64_t clockid) {
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

void AddOwners(Json& json, const Context& /*of*/) {
  for (Json& file : json.elements()) {
    std::string owner;
    const auto mode = static_cast<perfdata::CpuMode>(NumberIn(file, "cpumode"));
    if (mode == perfdata::CpuMode::kKernel) owner = " (kernel)";
    if (mode == perfdata::CpuMode::kGuestKernel) owner = " (guest kernel)";
    if (mode == perfdata::CpuMode::kGuestUser) owner = " (guest)";
    if (const auto pid = static_cast<std::int64_t>(NumberIn(file, "pid")); pid > 0) {
      owner += fmt::format(" (machine {})", pid);
    }
    file["owner"] = owner;
  }
}

void AddTopologyLines(Json& json, const Context& /*of*/) {
  Json lines = Json::EmptyList();
  const auto add = [&](std::string_view name, std::string_view member) {
    for (const Json& cpus : ListIn(json, member)) {
      lines.push_back(fmt::format("{}: {}", name, *cpus.AsText()));
    }
  };
  add("sibling sockets", "sibling_sockets");
  add("sibling dies", "sibling_dies");
  add("sibling threads", "sibling_threads");
  std::size_t number = 0;
  for (const Json& cpu : ListIn(json, "cpus")) {
    const std::string die = cpu.Find("die_id") != nullptr ? Sentence("Die ID {die_id}, ", cpu) : "";
    lines.push_back(fmt::format("CPU {}: {}, {}{}", number++, Sentence("Core ID {core_id}", cpu),
                                die, Sentence("Socket ID {socket_id}", cpu)));
  }
  json["lines"] = std::move(lines);
}

// Adds "{cycles,instructions}": the names of the group's events, after its own if it has one.
void AddGroupNames(Json& json, const Context& of) {
  const auto events = of.reader.events().all();
  for (Json& group : json.elements()) {
    const auto leader = NumberIn(group, "leader_idx");
    const auto members = NumberIn(group, "nr_members");
    std::string names;
    for (std::uint64_t i = leader; i < events.size() && i < leader + members; ++i) {
      names += fmt::format("{}{}", names.empty() ? "" : ",", events[i].name);
    }
    // perf's name for a group without a name.
    const std::string name = TextIn(group, "name");
    group["group"] = fmt::format("{}{{{}}}", name == "{anon_group}" ? "" : name, names);
  }
}

void AddDuration(Json& json, const Context& /*of*/) {
  const auto first = NumberIn(json, "first_sample_time");
  const auto last = NumberIn(json, "last_sample_time");
  if (last >= first) json["duration"] = fmt::format(", duration {} s", SecondsText(last - first));
}

void AddMemory(Json& json, const Context& of) {
  const auto& topology = std::get<perfdata::MemTopology>(of.value);
  json["block_size"] = fmt::format("{:#x}", topology.block_size);
  std::size_t i = 0;
  for (Json& node : json["nodes"].elements()) {
    const perfdata::MemTopology::Node& known = topology.nodes[i++];
    node["bytes"] = SizeText(known.size, topology.block_size);
    node["bits"] = BitsText(known.blocks);
  }
}

void AddClock(Json& json, const Context& /*of*/) {
  json["clock"] = ClockText(NumberIn(json, "clockid"));
}

void AddAlgorithm(Json& json, const Context& /*of*/) {
  const auto type = NumberIn(json, "comp_type");
  json["algorithm"] = type == 1 ? "Zstd" : fmt::format("type {}", type);
}

void AddProgramLines(Json& json, const Context& /*of*/) {
  for (Json& program : json.elements()) {
    program["line"] =
        Sentence(program.Find("info_len") != nullptr
                     ? "info of {info_len} bytes, which is too short"
                     : "{id}: {name}, jited {jited_prog_len} bytes, xlated {xlated_prog_len} bytes",
                 program);
  }
}

void AddCaps(Json& json, const Context& of);

void AddDomainLines(Json& json, const Context& /*of*/) {
  Json lines = Json::EmptyList();
  for (const Json& cpu : ListIn(json, "cpus")) {
    for (const Json& domain : ListIn(cpu, "domains")) {
      const bool has_name = !TextIn(domain, "dname").empty();
      lines.push_back(
          Sentence("CPU {cpu} ", cpu) +
          Sentence(has_name ? "domain {domain} {dname}: {cpulist}" : "domain {domain}: {cpulist}",
                   domain));
    }
  }
  json["lines"] = std::move(lines);
}

void AddRangeEnds(Json& json, const Context& of) {
  const auto& memory = std::get<perfdata::MemoryRanges>(of.value);
  std::size_t i = 0;
  for (Json& range : json.elements()) {
    const auto& known = memory.ranges[i++];
    range["end"] = fmt::format("{:#x}", known.base + known.length);
  }
}

// Names may be repeated, so the JSON has a list of pairs.
constexpr FeatureText kCaps = {.bit = FeatureBit::kCpuPmuCaps,
                               .item = " {name}={value}",
                               .separator = ",",
                               .none = " none",
                               .tail = "\n"};

constexpr FeatureText kTexts[] = {
    {.bit = FeatureBit::kTracingData,
     .head = " version {version}, {byte_order} endian, longs of {long_size} bytes, pages of "
             "{page_size}, {formats_size|byte} of formats\n"},
    {.bit = FeatureBit::kBuildId,
     .head = " {|file}\n",
     .item = "  {build_id} {filename}{owner}\n",
     .compute = &AddOwners},
    {.bit = FeatureBit::kHostname, .head = " {}\n"},
    {.bit = FeatureBit::kOsRelease, .head = " {}\n"},
    {.bit = FeatureBit::kVersion, .head = " {}\n"},
    {.bit = FeatureBit::kArch, .head = " {}\n"},
    {.bit = FeatureBit::kNrCpus, .head = " {nr_cpus_online} online, {nr_cpus_avail} available\n"},
    {.bit = FeatureBit::kCpuDesc, .head = " {}\n"},
    {.bit = FeatureBit::kCpuId, .head = " {}\n"},
    {.bit = FeatureBit::kTotalMem, .head = " {total_mem_kb} kB\n"},
    {.bit = FeatureBit::kCmdline, .item = " {}", .tail = "\n"},
    {.bit = FeatureBit::kEventDesc, .head = " {|event}\n", .item = "  {name}: ids {ids}\n"},
    {.bit = FeatureBit::kCpuTopology,
     .head = "\n",
     .item = "  {}\n",
     .list = "lines",
     .compute = &AddTopologyLines},
    {.bit = FeatureBit::kNumaTopology,
     .head = " {|node}\n",
     .item = "  node {node}: CPUs {cpus}, {mem_total_kb} kB, {mem_free_kb} kB free\n"},
    {.bit = FeatureBit::kPmuMappings, .item = " {name} = {type}", .separator = ",", .tail = "\n"},
    {.bit = FeatureBit::kGroupDesc,
     .head = "\n",
     .item = "  {group}: {nr_members|event} from event {leader_idx}\n",
     .compute = &AddGroupNames},
    {.bit = FeatureBit::kAuxtrace,
     .head = " contains AUX area data (e.g. instruction trace), {|record}\n",
     .item = "  {size} bytes at {file_offset}\n"},
    {.bit = FeatureBit::kCache,
     .head = " {|cache}\n",
     .item =
         "  L{level} {type} {size} [{map}], {sets} sets of {ways} lines of {line_size} bytes\n"},
    {.bit = FeatureBit::kSampleTime,
     .head = " first {first_sample_time|s} s, last {last_sample_time|s} s{duration}\n",
     .compute = &AddDuration},
    {.bit = FeatureBit::kMemTopology,
     .head = " {nodes|node}, block size {block_size}\n",
     .item = "  {node} [{bytes}]: {bits}\n",
     .list = "nodes",
     .compute = &AddMemory},
    {.bit = FeatureBit::kClockid, .head = " resolution {clockid_res_ns} ns\n"},
    {.bit = FeatureBit::kDirFormat, .head = " directory data version {version}\n"},
    {.bit = FeatureBit::kBpfProgInfo,
     .head = " {|program}\n",
     .item = "  {line}\n",
     .compute = &AddProgramLines},
    {.bit = FeatureBit::kBpfBtf, .head = " {|program}\n", .item = "  id {id}: {size} bytes\n"},
    {.bit = FeatureBit::kCompressed,
     .head = " {algorithm}, level = {comp_level}, ratio = {comp_ratio}, up to {comp_mmap_len} "
             "bytes a record\n",
     .compute = &AddAlgorithm},
    kCaps,
    {.bit = FeatureBit::kClockData,
     .head = " {clock} at {clockid_ns|s} s was {tod_ns|s} s since 1970\n",
     .compute = &AddClock},
    {.bit = FeatureBit::kHybridTopology, .head = "\n", .item = "  {pmu_name} cpu list: {cpus}\n"},
    {.bit = FeatureBit::kPmuCaps,
     .head = " {|PMU}\n",
     .item = "  {pmu_name}:{caps_text}\n",
     .compute = &AddCaps},
    {.bit = FeatureBit::kCpuDomainInfo,
     .head = " schedstat version {schedstat_version}, at most {max_sched_domains|domain} a CPU\n",
     .item = "  {}\n",
     .list = "lines",
     .compute = &AddDomainLines},
    {.bit = FeatureBit::kEMachine, .head = " {e_machine}, flags {e_flags}\n"},
    {.bit = FeatureBit::kClnSize, .head = " {cln_size} bytes\n"},
    {.bit = FeatureBit::kMemoryRanges,
     .head = "\n",
     .item =
         "  {base} to {end}, node {node}, region {local_region} local, {remote_region} remote\n",
     .compute = &AddRangeEnds},
    {.bit = FeatureBit::kSimpleperfMetaInfo, .head = "\n", .item = "  {name} = {value}\n"},
};

// Returns the sentences of the items.
std::string ItemsText(const FeatureText& of, std::span<const Json> items) {
  std::string text(items.empty() ? of.none : "");
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i != 0) text += of.separator;
    text += Sentence(of.item, items[i]);
  }
  return text;
}

void AddCaps(Json& json, const Context& /*of*/) {
  for (Json& pmu : json.elements()) pmu["caps_text"] = ItemsText(kCaps, ListIn(pmu, "caps"));
}

std::string TextOf(const FeatureText& of, Json json, const Context& context) {
  if (of.compute != nullptr) of.compute(json, context);
  std::string text = Sentence(of.head, json);
  if (!of.item.empty()) {
    text += ItemsText(of, of.list == perfdata::kUnnamed ? json.elements() : ListIn(json, of.list));
  }
  return text.append(of.tail);
}

ShownFeature ShowEmpty(FeatureBit bit) {
  if (bit == FeatureBit::kBranchStack) return {" contains samples with branch stack\n", true};
  if (bit == FeatureBit::kStat) return {" contains stat data\n", true};
  return {" the end of this pipe's features\n", {{"end_of_features", true}}};
}

}  // namespace

ShownFeature ShowFeature(const FeatureValue& value, FeatureBit bit,
                         const perfdata::Reader& reader) {
  if (std::holds_alternative<perfdata::EmptyFeature>(value)) return ShowEmpty(bit);
  ShownFeature shown = {.text = "", .json = Json::EmptyObject()};
  JsonFields to(shown.json);
  VisitFeatureFields(value, reader.order(), to);
  const auto* row = std::ranges::find(kTexts, bit, &FeatureText::bit);
  shown.text = row == std::end(kTexts) ? Sentence(" {size} bytes\n", shown.json)
                                       : TextOf(*row, shown.json, {value, reader});
  return shown;
}

}  // namespace perftape::inspect

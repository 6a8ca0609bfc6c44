// SPDX-License-Identifier: Apache-2.0
#include "record/machine/machine_features.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "formats/base/cpu_list.h"
#include "formats/base/duration.h"
#include "formats/base/file.h"
#include "formats/base/text.h"
#include "record/machine/cpu_list.h"
#include "record/machine/proc_files.h"

namespace perftape::record {
namespace {

using perfdata::Feature;
using perfdata::FeatureBit;
using perfdata::FeatureValue;

// Returns the text of a file in /proc or /sys without its last newline; empty if it is missing.
std::string ReadText(const std::filesystem::path& path) {
  std::string text = ReadWholeFile(path).value_or(std::string());
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// Returns the value of the first "key : value" line; empty if there is none.
std::string_view ValueOf(std::string_view text, std::string_view key) {
  while (std::optional<std::string_view> line = NextLine(text)) {
    if (Trimmed(NextField(*line, ':')) == key) return Trimmed(*line);
  }
  return {};
}

// Parses "MemTotal:  24684084 kB" in /proc/meminfo and, after "Node 0", in meminfo of a NUMA node.
std::optional<std::uint64_t> KilobytesOf(std::string_view meminfo, std::string_view key) {
  while (std::optional<std::string_view> line = NextLine(meminfo)) {
    std::string_view name = NextField(*line, ':');
    name.remove_prefix(std::min(name.rfind(' ') + 1, name.size()));
    if (name != key) continue;
    std::string_view value = Trimmed(*line);
    return ParseNumber(NextField(value, ' '));
  }
  return std::nullopt;
}

// Adds `text` unless it is empty or already in `texts`.
void AddOnce(std::vector<std::string>& texts, std::string text) {
  const bool is_new = std::ranges::find(texts, text) == texts.end();
  if (!text.empty() && is_new) texts.push_back(std::move(text));
}

// Same as build_cpu_topology in tools/perf/util/cputopo.c: lists of the online CPUs, ids of all
// CPUs.
std::optional<perfdata::CpuTopology> ReadTopology(const std::filesystem::path& sys,
                                                  std::uint32_t cpus_available) {
  const Result<std::vector<int>> online = OnlineCpus(sys);
  if (!online) return std::nullopt;
  const auto directory = [&](int cpu) {
    return sys / "devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology";
  };
  // Linux 5.3 renamed these files.
  const auto list = [&](int cpu, const char* name, const char* old_name) {
    const std::string text = ReadText(directory(cpu) / name);
    return text.empty() ? ReadText(directory(cpu) / old_name) : text;
  };
  const auto id = [&](std::uint32_t cpu, const char* name) {
    const auto number = ParseNumber(ReadText(directory(static_cast<int>(cpu)) / name));
    return static_cast<std::uint32_t>(number.value_or(UINT32_MAX));
  };

  perfdata::CpuTopology topology;
  for (const int cpu : *online) {
    AddOnce(topology.packages, list(cpu, "package_cpus_list", "core_siblings_list"));
    AddOnce(topology.cores, list(cpu, "core_cpus_list", "thread_siblings_list"));
    AddOnce(topology.dies, ReadText(directory(cpu) / "die_cpus_list"));
  }
  for (std::uint32_t cpu = 0; cpu < cpus_available; ++cpu) {
    topology.cpus.push_back({.core = id(cpu, "core_id"), .socket = id(cpu, "physical_package_id")});
    if (!topology.dies.empty()) topology.die_of_cpu.push_back(id(cpu, "die_id"));
  }
  if (topology.packages.empty() || topology.cores.empty()) return std::nullopt;
  return topology;
}

std::optional<perfdata::NumaTopology> ReadNuma(const std::filesystem::path& sys) {
  const std::filesystem::path directory = sys / "devices/system/node";
  const Result<std::vector<int>> nodes = CpuListOf(ReadText(directory / "online"));
  if (!nodes || nodes->empty()) return std::nullopt;
  perfdata::NumaTopology topology;
  for (const int node : *nodes) {
    const std::filesystem::path of_node = directory / ("node" + std::to_string(node));
    const std::string meminfo = ReadText(of_node / "meminfo");
    topology.nodes.push_back({.node = static_cast<std::uint32_t>(node),
                              .total_kilobytes = KilobytesOf(meminfo, "MemTotal").value_or(0),
                              .free_kilobytes = KilobytesOf(meminfo, "MemFree").value_or(0),
                              .cpus = ReadText(of_node / "cpulist")});
  }
  return topology;
}

// Sorts by type, so that the result depends only on the machine. Returns nothing if there are none,
// because quipper rejects an empty list.
std::optional<perfdata::PmuMappings> ReadPmus(const std::filesystem::path& sys) {
  std::error_code error;
  perfdata::PmuMappings mappings;
  for (std::filesystem::directory_iterator at(sys / "bus/event_source/devices", error), end;
       !error && at != end; at.increment(error)) {
    const std::optional<std::uint64_t> type = ParseNumber(ReadText(at->path() / "type"));
    if (!type || *type > UINT32_MAX) continue;
    mappings.pmus.push_back(
        {.type = static_cast<std::uint32_t>(*type), .name = at->path().filename().string()});
  }
  if (mappings.pmus.empty()) return std::nullopt;
  std::ranges::sort(mappings.pmus, {},
                    [](const auto& pmu) { return std::pair(pmu.type, pmu.name); });
  return mappings;
}

// Returns the path of the executable and the arguments after its name.
perfdata::Cmdline CommandLine(const std::filesystem::path& proc,
                              std::span<const std::string> arguments) {
  perfdata::Cmdline line;
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink(proc / "self/exe", error);
  if (!error) {
    line.arguments.push_back(executable.string());
  } else if (!arguments.empty()) {
    line.arguments.push_back(arguments.front());
  }
  if (arguments.empty()) return line;
  line.arguments.insert(line.arguments.end(), arguments.begin() + 1, arguments.end());
  return line;
}

// perf counts up to the highest present CPU, including missing ones (cpu__max_present_cpu). So the
// CPUs of all records are below this number.
perfdata::NrCpus CountCpus(const std::filesystem::path& sys) {
  const std::vector<int> present = PresentCpus(sys).value_or(std::vector<int>());
  const std::vector<int> online = OnlineCpus(sys).value_or(std::vector<int>());
  if (present.empty() || online.empty()) {
    return {.available = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_CONF)),
            .online = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN))};
  }
  return {.available = static_cast<std::uint32_t>(std::max(present.back(), online.back()) + 1),
          .online = static_cast<std::uint32_t>(online.size())};
}

std::string CpuId(const MachineRoots& roots, std::string_view cpuinfo) {
  const std::string id = CpuIdOf(cpuinfo);
  if (!id.empty()) return id;
  // arm64: the main id register, "0x00000000410fd0c0".
  return ReadText(roots.sys / "devices/system/cpu/cpu0/regs/identification/midr_el1");
}

std::uint64_t Nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * kNsPerSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

Result<std::uint64_t> Now(clockid_t clock) {
  timespec time = {};
  if (::clock_gettime(clock, &time) != 0) return FailErrno("clock_gettime", errno);
  return Nanoseconds(time);
}

// Collects available features in the order in which they are added.
class Description {
 public:
  void Add(FeatureBit bit, FeatureValue value) { features_.push_back({bit, std::move(value)}); }
  void AddText(FeatureBit bit, std::string text) {
    if (!text.empty()) Add(bit, perfdata::TextFeature{std::move(text)});
  }
  template <class Value>
  void AddIfThere(FeatureBit bit, std::optional<Value> value) {
    if (value) Add(bit, *std::move(value));
  }
  std::vector<Feature> features() && { return std::move(features_); }

 private:
  std::vector<Feature> features_;
};

void DescribeClock(clockid_t clock, Description& description) {
  timespec resolution = {};
  if (::clock_getres(clock, &resolution) == 0) {
    description.Add(FeatureBit::kClockid, perfdata::ClockResolution{Nanoseconds(resolution)});
  }
  if (const Result<perfdata::ClockData> clocks = ReadClocks(clock)) {
    description.Add(FeatureBit::kClockData, *clocks);
  }
}

}  // namespace

std::string PerfVersion(std::string_view perftape_version) {
  return "6.1.perftape-" + std::string(perftape_version);
}

std::vector<Feature> DescribeMachine(const MachineRoots& roots, const MachineOptions& options) {
  Description description;
  utsname system = {};
  if (::uname(&system) == 0) {
    description.AddText(FeatureBit::kHostname, system.nodename);
    description.AddText(FeatureBit::kOsRelease, system.release);
  }
  description.AddText(FeatureBit::kVersion, PerfVersion(options.version));
  description.AddText(FeatureBit::kArch, system.machine);

  const perfdata::NrCpus cpus = CountCpus(roots.sys);
  description.Add(FeatureBit::kNrCpus, cpus);
  const std::string cpuinfo = ReadText(roots.proc / "cpuinfo");
  description.AddText(FeatureBit::kCpuDesc, CpuNameOf(cpuinfo));
  description.AddText(FeatureBit::kCpuId, CpuId(roots, cpuinfo));
  if (const auto memory = KilobytesOf(ReadText(roots.proc / "meminfo"), "MemTotal")) {
    description.Add(FeatureBit::kTotalMem, perfdata::TotalMem{*memory});
  }
  description.Add(FeatureBit::kCmdline, CommandLine(roots.proc, options.arguments));
  description.AddIfThere(FeatureBit::kCpuTopology, ReadTopology(roots.sys, cpus.available));
  description.AddIfThere(FeatureBit::kNumaTopology, ReadNuma(roots.sys));
  description.AddIfThere(FeatureBit::kPmuMappings, ReadPmus(roots.sys));
  DescribeClock(options.clock, description);
  return std::move(description).features();
}

std::string CpuIdOf(std::string_view cpuinfo) {
  const std::string_view vendor = ValueOf(cpuinfo, "vendor_id");
  const std::string_view family = ValueOf(cpuinfo, "cpu family");
  const std::string_view model = ValueOf(cpuinfo, "model");
  const std::string_view stepping = ValueOf(cpuinfo, "stepping");
  if (vendor.empty() || family.empty() || model.empty() || stepping.empty()) return {};
  std::string id(vendor);
  for (const std::string_view part : {family, model, stepping}) id.append(",").append(part);
  return id;
}

std::string CpuNameOf(std::string_view cpuinfo) {
  std::string_view name = ValueOf(cpuinfo, "model name");
  if (name.empty()) name = ValueOf(cpuinfo, "Processor");  // arm
  std::string squeezed;
  for (const char c : name) {
    if (c != ' ' || !squeezed.ends_with(' ')) squeezed += c;
  }
  return squeezed;
}

Result<perfdata::ClockData> ReadClocks(clockid_t clock) {
  constexpr int kTries = 5;
  perfdata::ClockData best = {.version = 1, .clockid = static_cast<std::uint32_t>(clock)};
  std::uint64_t smallest_gap = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    TRY_ASSIGN(const std::uint64_t before, Now(clock));
    TRY_ASSIGN(const std::uint64_t wall, Now(CLOCK_REALTIME));
    TRY_ASSIGN(const std::uint64_t after, Now(clock));
    if (after < before || after - before >= smallest_gap) continue;
    smallest_gap = after - before;
    best.wall_ns = wall;
    best.clockid_ns = before + smallest_gap / 2;
  }
  return best;
}

std::uint64_t UserAddressLimit(const std::filesystem::path& proc_root) {
#if defined(__x86_64__)
  const std::string cpuinfo = ReadText(proc_root / "cpuinfo");
  std::string_view flags = ValueOf(cpuinfo, "flags");
  while (!flags.empty()) {
    if (NextField(flags, ' ') == "la57") return std::uint64_t{1} << 56;
  }
  return std::uint64_t{1} << 47;
#elif defined(__aarch64__)
  static_cast<void>(proc_root);
  return std::uint64_t{1} << 52;
#else
  static_cast<void>(proc_root);
  return std::uint64_t{1} << 56;
#endif
}

}  // namespace perftape::record

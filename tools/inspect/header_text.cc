// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/header_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <variant>

#include "tools/common/cli/escape.h"
#include "tools/inspect/flag_text.h"

namespace perftape::inspect {
namespace {

using cli::EscapeForTerminal;
using perfdata::FeatureBit;

constexpr std::uint64_t kNanosecondsInSecond = 1'000'000'000;

std::string SecondsText(std::uint64_t nanoseconds) {
  return fmt::format("{}.{:09}", nanoseconds / kNanosecondsInSecond,
                     nanoseconds % kNanosecondsInSecond);
}

// How each kind of feature reads behind its name and a colon; with its line ends.
struct FeatureText {
  std::string operator()(const perfdata::RawFeature& feature) const {
    return fmt::format(" {} bytes\n", feature.payload.size());
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
    std::string text = fmt::format(" {} events\n", description.events.size());
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
        text += fmt::format("  {}: CPUs {}\n", name, EscapeForTerminal(list));
      }
    };
    lists("package", topology.packages);
    lists("core", topology.cores);
    lists("die", topology.dies);
    for (std::size_t i = 0; i < topology.cpus.size(); ++i) {
      text += fmt::format("  CPU {}: core {}, socket {}", i, topology.cpus[i].core,
                          topology.cpus[i].socket);
      if (i < topology.die_of_cpu.size()) text += fmt::format(", die {}", topology.die_of_cpu[i]);
      text += '\n';
    }
    return text;
  }
  std::string operator()(const perfdata::NumaTopology& topology) const {
    std::string text = "\n";
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
  std::string operator()(const perfdata::SampleTime& time) const {
    return fmt::format(" first {} s, last {} s\n", SecondsText(time.first_ns),
                       SecondsText(time.last_ns));
  }
  std::string operator()(const perfdata::ClockResolution& clock) const {
    return fmt::format(" resolution {} ns\n", clock.nanoseconds);
  }
  std::string operator()(const perfdata::ClockData& clock) const {
    return fmt::format(" clock {} at {} s was {} s since 1970\n", clock.clockid,
                       SecondsText(clock.clockid_ns), SecondsText(clock.wall_ns));
  }
  std::string operator()(const perfdata::BuildIds& ids) const {
    std::string text = fmt::format(" {} files\n", ids.entries.size());
    for (const perfdata::BuildIdEntry& entry : ids.entries) {
      text += fmt::format("  {} {}{}\n", entry.build_id.hex(), EscapeForTerminal(entry.filename),
                          entry.mode == perfdata::CpuMode::kKernel ? " (kernel)" : "");
    }
    return text;
  }
  std::string operator()(const perfdata::BpfProgInfo& info) const {
    std::string text = fmt::format(" {} programs\n", info.programs.size());
    for (const auto& program : info.programs) {
      text += fmt::format("  info of {} bytes, arrays of {} bytes\n", program.info.size(),
                          program.data.size());
    }
    return text;
  }
};

// The first part of the header's text; each event on a line that `describe` makes.
template <class Describe>
std::string BeginText(const perfdata::Reader& reader, Describe describe) {
  std::string text;
  const auto end = std::back_inserter(text);
  const bool is_pipe = reader.container() == perfdata::Container::kPipe;
  fmt::format_to(end, "format: perf.data, {}, {} endian\n", is_pipe ? "pipe" : "file",
                 reader.order() == std::endian::little ? "little" : "big");
  fmt::format_to(end, "data: {} bytes at {:#x}\n", reader.data_size(), reader.data_offset());
  fmt::format_to(end, "events: {}\n", reader.events().size());
  for (const perfdata::Event& event : reader.events().all()) {
    fmt::format_to(end, "  {}: {}\n", EscapeForTerminal(event.name), describe(event));
  }
  return text;
}

std::string RateText(const perfdata::EventAttr& attr) {
  return attr.Has(perfdata::kFreq) ? fmt::format("{} Hz", attr.sample_period)
                                   : fmt::format("period {}", attr.sample_period);
}

}  // namespace

std::string HeaderText(const perfdata::Reader& reader) {
  std::string text = BeginText(reader, [](const perfdata::Event& event) {
    return fmt::format("{} ids {}", AttrText(event.attr), fmt::join(event.ids, ","));
  });
  for (const auto& [bit, section] : reader.features()) {
    text += fmt::format("{}:", FeatureName(bit));
    const std::optional<perfdata::FeatureValue> value = reader.DecodedFeature(bit);
    text += value ? std::visit(FeatureText{}, *value)
                  : fmt::format(" {} bytes that cannot be read\n", section.size());
  }
  for (const std::string& problem : reader.problems()) {
    text += fmt::format("problem: {}\n", EscapeForTerminal(problem));
  }
  return text;
}

std::string HeaderSummary(const perfdata::Reader& reader) {
  std::string text = BeginText(reader, [](const perfdata::Event& event) {
    return fmt::format("{}, {}", RateText(event.attr), SampleTypeText(event.attr.sample_type));
  });
  for (const FeatureBit bit :
       {FeatureBit::kHostname, FeatureBit::kOsRelease, FeatureBit::kArch, FeatureBit::kNrCpus,
        FeatureBit::kCmdline, FeatureBit::kSampleTime}) {
    if (const std::optional<perfdata::FeatureValue> value = reader.DecodedFeature(bit)) {
      text += fmt::format("{}:{}", FeatureName(bit), std::visit(FeatureText{}, *value));
    }
  }
  return text;
}

}  // namespace perftape::inspect

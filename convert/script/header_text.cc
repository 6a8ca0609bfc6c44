// SPDX-License-Identifier: Apache-2.0
#include "convert/script/header_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "convert/script/number_text.h"
#include "convert/script/safe_text.h"
#include "formats/base/text.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/flag_text.h"

namespace perftape::listing {
namespace {

using perfdata::FeatureBit;

template <class Feature>
std::optional<Feature> Decoded(const perfdata::Reader& reader, FeatureBit bit) {
  const std::optional<perfdata::FeatureValue> value = reader.DecodedFeature(bit);
  const auto* feature = value ? std::get_if<Feature>(&*value) : nullptr;
  return feature == nullptr ? std::nullopt : std::optional<Feature>(*feature);
}

void AppendTextFeature(std::string& out, const perfdata::Reader& reader, FeatureBit bit,
                       std::string_view name) {
  const std::string text = reader.text(bit);
  if (!reader.feature(bit)) return;
  AppendFormat(out, "# {} : ", name);
  AppendSafe(out, text);
  out += '\n';
}

// ", disabled = 1, precise_ip = 2".
void AppendFlags(std::string& out, std::uint64_t flags) {
  const std::string names = perfdata::AttrFlagsText(flags);
  if (names == "none") return;
  std::string_view rest = names;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find('|'));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    const std::size_t equals = name.find('=');
    AppendFormat(out, ", {} = {}", name.substr(0, equals),
                 equals == std::string_view::npos ? "1" : name.substr(equals + 1));
  }
}

void AppendEvent(std::string& out, const perfdata::Event& event) {
  out += "# event : name = ";
  AppendSafe(out, event.name);
  out += ", ";
  if (!event.ids.empty()) AppendFormat(out, ", id = {{ {} }}", Joined(event.ids, ", "));
  const perfdata::EventAttr& attr = event.attr;
  if (attr.type != 0) AppendFormat(out, ", type = {}", attr.type);
  AppendFormat(out, ", size = {}", attr.size);
  const auto hex = [&](const char* name, std::uint64_t value) {
    AppendFormat(out, ", {} = 0x{:x}", name, value);
  };
  if (attr.config != 0) hex("config", attr.config);
  if (attr.sample_period != 0) {
    AppendFormat(out, ", {{ sample_period, sample_freq }} = {}", attr.sample_period);
  }
  AppendFormat(out, ", sample_type = {}", perfdata::SampleTypeText(attr.sample_type));
  if (attr.read_format != 0) {
    AppendFormat(out, ", read_format = {}", perfdata::ReadFormatText(attr.read_format));
  }
  AppendFlags(out, attr.flags);
  perfdata::ForEachRareField(
      attr, [&](const char* name, auto value) { AppendFormat(out, ", {} = {}", name, value); },
      hex);
  out += '\n';
}

void AppendTimeLine(std::string& out, std::string_view name, std::uint64_t time_ns) {
  AppendFormat(out, "# {} : ", name);
  AppendSeconds(out, time_ns, TimeDigits::kMicroseconds);
  out += '\n';
}

void AppendPlace(std::string& out, const perfdata::Reader& reader) {
  if (reader.container() == perfdata::Container::kPipe) return;
  AppendFormat(out, "# header version : 1\n# data offset    : {}\n# data size      : {}\n",
               reader.data_offset(), reader.data_size());
  AppendFormat(out, "# feat offset    : {}\n", reader.data_offset() + reader.data_size());
}

void AppendMachine(std::string& out, const perfdata::Reader& reader) {
  AppendTextFeature(out, reader, FeatureBit::kHostname, "hostname");
  AppendTextFeature(out, reader, FeatureBit::kOsRelease, "os release");
  AppendTextFeature(out, reader, FeatureBit::kVersion, "perf version");
  AppendTextFeature(out, reader, FeatureBit::kArch, "arch");
  if (const auto cpus = Decoded<perfdata::NrCpus>(reader, FeatureBit::kNrCpus)) {
    AppendFormat(out, "# nrcpus online : {}\n# nrcpus avail : {}\n", cpus->online, cpus->available);
  }
  AppendTextFeature(out, reader, FeatureBit::kCpuDesc, "cpudesc");
  AppendTextFeature(out, reader, FeatureBit::kCpuId, "cpuid");
  if (const auto memory = Decoded<perfdata::TotalMem>(reader, FeatureBit::kTotalMem)) {
    AppendFormat(out, "# total memory : {} kB\n", memory->kilobytes);
  }
}

void AppendRecording(std::string& out, const perfdata::Reader& reader) {
  if (const auto command = Decoded<perfdata::Cmdline>(reader, FeatureBit::kCmdline)) {
    out += "# cmdline : ";
    AppendSafe(out, Joined(command->arguments, " "));
    out += " \n";
  }
  if (reader.feature(FeatureBit::kEventDesc)) {
    for (const perfdata::Event& event : reader.events().all()) AppendEvent(out, event);
  }
  if (const auto pmus = Decoded<perfdata::PmuMappings>(reader, FeatureBit::kPmuMappings)) {
    out += "# pmu mappings: ";
    std::string_view separator;
    for (const auto& pmu : pmus->pmus) {
      out += std::exchange(separator, ", ");
      AppendSafe(out, pmu.name);
      AppendFormat(out, " = {}", pmu.type);
    }
    out += '\n';
  }
  if (const auto times = Decoded<perfdata::SampleTime>(reader, FeatureBit::kSampleTime)) {
    AppendTimeLine(out, "time of first sample", times->first_ns);
    AppendTimeLine(out, "time of last sample", times->last_ns);
    const double duration = static_cast<double>(times->last_ns - times->first_ns) / 1e6;
    AppendFormat(out, "# sample duration : {:10.3f} ms\n", duration);
  }
}

}  // namespace

std::string HeaderText(const perfdata::Reader& reader, std::string_view captured) {
  std::string out = "# ========\n";
  if (!captured.empty()) AppendFormat(out, "# captured on    : {}\n", captured);
  AppendPlace(out, reader);
  AppendMachine(out, reader);
  AppendRecording(out, reader);
  out += "# ========\n#\n";
  return out;
}

}  // namespace perftape::listing

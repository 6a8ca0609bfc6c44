// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <array>
#include <string>
#include <vector>

#include "formats/perfdata/features.h"
#include "formats/perfdata/header.h"
#include "formats/perfdata/validate/checks.h"

namespace perftape::perfdata {
namespace {

// HEADER_LAST_FEATURE of perf 6.1 and 6.12.
constexpr unsigned kFirstUnknownFeature = 32;

class FeatureChecks {
 public:
  FeatureChecks(const Reader& reader, Report& report)
      : file_(reader.file()), reader_(reader), report_(report) {}

  void Check() {
    if (reader_.container() == Container::kFile) CheckTable();
    for (const auto& [bit, section] : reader_.features()) {
      // StreamChecks checks TRACING_DATA, together with the events that need it.
      if (bit != FeatureBit::kTracingData) CheckContents(bit, section);
    }
    CheckTopology();
    CheckEventDesc();
    CheckMissing();
  }

 private:
  void CheckTable() {
    std::vector<std::string> ignored;
    const Result<FileHeader> header = ReadFileHeader(file_, reader_.order(), ignored);
    // The table begins at the end of the data. Without a valid end there is no table.
    if (!header || header->data.size == 0 || !BytesOf(header->data, file_)) return;
    std::uint64_t offset = header->data.offset + header->data.size;
    ByteReader at(file_.subspan(offset), reader_.order());
    for (unsigned bit = 0; bit < kFeatureBits; ++bit) {
      if ((header->features[bit / 64] >> (bit % 64) & 1) == 0) continue;
      const std::string name = FeatureName(static_cast<FeatureBit>(bit));
      if (bit >= kFirstUnknownFeature) {
        report_.AddAt(Rule::kFeatureUnknown, offset,
                      fmt::format("feature bit {} ({}) is set", bit, name));
      }
      Section section;
      SectionLayout(at, section);
      if (!at.ok()) {
        report_.AddAt(Rule::kFeatureTableCut, offset,
                      fmt::format("the feature table ends before the entry of {}", name));
      } else if (!BytesOf(section, file_)) {
        report_.AddAt(Rule::kFeatureOutside, offset,
                      fmt::format("{} has {} bytes at {:#x}, but the file has {}", name,
                                  section.size, section.offset, file_.size()));
      }
      offset += sizeof(Section);
    }
  }

  std::uint64_t OffsetOf(Bytes section) const {
    return static_cast<std::uint64_t>(section.data() - file_.data());
  }

  void CheckContents(FeatureBit bit, Bytes section) {
    const std::optional<FeatureValue> value = reader_.DecodedFeature(bit);
    if (!value) {
      const bool is_count = bit == FeatureBit::kEventDesc && CountsTooManyEvents(section);
      // In a pipe, every perf stops at a feature that it cannot read.
      std::optional<Readers> breaks;
      if (reader_.container() == Container::kPipe) breaks = kAnyPerf;
      report_.AddAt(
          is_count ? Rule::kFeatureEventDescCount : Rule::kFeatureUndecodable, OffsetOf(section),
          fmt::format("{} has {} bytes, but declares more data", FeatureName(bit), section.size()),
          is_count ? std::nullopt : breaks);
      return;
    }
    const auto* mappings = std::get_if<PmuMappings>(&*value);
    if (mappings != nullptr && mappings->pmus.empty()) {
      report_.AddAt(Rule::kFeaturePmuMappingsEmpty, OffsetOf(section),
                    "PMU_MAPPINGS has no entries");
    }
  }

  // EVENT_DESC: { u32 events, attr_size; … }, each event at least 8 bytes and its attribute.
  bool CountsTooManyEvents(Bytes section) const {
    ByteReader at(section, reader_.order());
    std::uint32_t events = 0, attr_size = 0;
    at.Fixed(events);
    at.Fixed(attr_size);
    return at.ok() && events > section.size() / (std::uint64_t{attr_size} + 8);
  }

  void CheckTopology() {
    const std::optional<Bytes> topology = reader_.feature(FeatureBit::kCpuTopology);
    if (!topology || reader_.feature(FeatureBit::kNrCpus)) return;
    report_.AddAt(Rule::kFeatureTopologyWithoutCpus, OffsetOf(*topology),
                  "the file has CPU_TOPOLOGY but no NRCPUS");
  }

  void CheckEventDesc() {
    const std::optional<Bytes> section = reader_.feature(FeatureBit::kEventDesc);
    const std::optional<FeatureValue> value = reader_.DecodedFeature(FeatureBit::kEventDesc);
    const auto* description = value ? std::get_if<EventDesc>(&*value) : nullptr;
    if (!section || description == nullptr) return;
    const auto add = [&](std::string message) {
      report_.AddAt(Rule::kFeatureEventDescDiffers, OffsetOf(*section), std::move(message));
    };
    const auto events = reader_.events().all();
    if (description->events.size() != events.size()) {
      add(fmt::format("EVENT_DESC has {} events, but the attribute table has {}",
                      description->events.size(), events.size()));
      return;
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Event& described = description->events[i];
      if (described.attr.type != events[i].attr.type ||
          described.attr.config != events[i].attr.config ||
          described.attr.sample_type != events[i].attr.sample_type) {
        add(fmt::format("event {} ({}) has a different attribute in EVENT_DESC", i,
                        described.name));
      }
    }
  }

  void CheckMissing() {
    constexpr auto kUseful = std::to_array<FeatureBit>(
        {FeatureBit::kHostname, FeatureBit::kOsRelease, FeatureBit::kVersion, FeatureBit::kArch,
         FeatureBit::kNrCpus, FeatureBit::kCmdline, FeatureBit::kEventDesc});
    for (const FeatureBit bit : kUseful) {
      // In a pipe, EVENT_UPDATE records contain the names of events.
      const bool is_pipe = reader_.container() == Container::kPipe;
      if (reader_.feature(bit) || (is_pipe && bit == FeatureBit::kEventDesc)) continue;
      report_.AddAt(Rule::kFeatureMissing, 0, fmt::format("{} is missing", FeatureName(bit)));
    }
  }

  Bytes file_;
  const Reader& reader_;
  Report& report_;
};

}  // namespace

void CheckFeatures(const Reader& reader, Report& report) {
  FeatureChecks(reader, report).Check();
}

}  // namespace perftape::perfdata

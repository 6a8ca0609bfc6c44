// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/header_json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/perfdata_builder.h"

namespace perftape::inspect {
namespace {

using nlohmann::json;
using perfdata::FeatureBit;
using perfdata::PerfDataBuilder;

json HeaderOf(PerfDataBuilder& file) {
  const std::string text = HeaderJson(file.Open());
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  return json::parse(text).at("header");
}

// Returns the JSON of a file with only this feature.
json FeatureOf(FeatureBit bit, perfdata::FeatureValue value) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddFeature(bit, std::move(value));
  file.AddRound();
  return HeaderOf(file).at("features").at(FeatureName(bit));
}

TEST(HeaderJson, ContainsTheContainerAndTheEvents) {
  PerfDataBuilder file;
  file.AddEvent({.sample_period = 99,
                 .sample_type = perfdata::kIp | perfdata::kTid,
                 .flags = perfdata::kFreq | perfdata::kSampleIdAll});
  const json header = HeaderOf(file);
  EXPECT_EQ(header.at("format"), "file");
  EXPECT_EQ(header.at("byte_order"), "little");
  EXPECT_EQ(header.at("problems"), json::array());
  const json& event = header.at("events").at(0);
  EXPECT_EQ(event.at("name"), "cpu-clock:HG");
  const json& attr = event.at("attr");
  EXPECT_EQ(attr.at("sample_freq"), 99);
  EXPECT_EQ(attr.at("sample_type"), json::parse(R"(["IP", "TID"])"));
  EXPECT_EQ(attr.at("flags"), json::parse(R"(["freq", "sample_id_all"])"));
  EXPECT_EQ(attr.at("read_format"), json::array());
  EXPECT_FALSE(attr.contains("sig_data"));
}

TEST(HeaderJson, DistinguishesFileFromPipe) {
  PerfDataBuilder pipe(perfdata::Container::kPipe);
  pipe.AddEvent();
  EXPECT_EQ(HeaderOf(pipe).at("format"), "pipe");
}

TEST(HeaderJson, HasTextsListsAndFacts) {
  EXPECT_EQ(FeatureOf(FeatureBit::kHostname, perfdata::TextFeature{"he\tre"}), "he\tre");
  EXPECT_EQ(FeatureOf(FeatureBit::kCmdline, perfdata::Cmdline{{"perf", "record"}}),
            json::parse(R"(["perf", "record"])"));
  EXPECT_EQ(FeatureOf(FeatureBit::kNrCpus, perfdata::NrCpus{8, 6}),
            json::parse(R"({"nr_cpus_online": 6, "nr_cpus_avail": 8})"));
  EXPECT_EQ(FeatureOf(FeatureBit::kTotalMem, perfdata::TotalMem{1024}),
            json::parse(R"({"total_mem_kb": 1024})"));
  EXPECT_EQ(FeatureOf(FeatureBit::kBranchStack, perfdata::EmptyFeature()), true);
  EXPECT_EQ(FeatureOf(FeatureBit{200}, perfdata::RawFeature{std::vector<std::byte>(3)}),
            json::parse(R"({"size": 3})"));
}

TEST(HeaderJson, HasWhatTheMachineIsLike) {
  EXPECT_EQ(FeatureOf(FeatureBit::kCpuTopology, perfdata::CpuTopology{{"0"}, {"0"}, {}, {}, {}}),
            json::parse(R"({"sibling_sockets": ["0"], "sibling_dies": [],
                            "sibling_threads": ["0"], "cpus": []})"));
  EXPECT_EQ(FeatureOf(FeatureBit::kNumaTopology, perfdata::NumaTopology{{{1, 100, 50, "0-1"}}}),
            json::parse(R"([{"node": 1, "mem_total_kb": 100, "mem_free_kb": 50,
                             "cpus": "0-1"}])"));
  EXPECT_EQ(FeatureOf(FeatureBit::kCache,
                      perfdata::CacheInfo{1, {{1, 64, 128, 8, "Data", "64K", "0-1"}}}),
            json::parse(R"([{"level": 1, "line_size": 64, "sets": 128, "ways": 8,
                             "type": "Data", "size": "64K", "map": "0-1"}])"));
  EXPECT_EQ(FeatureOf(FeatureBit::kMemTopology,
                      perfdata::MemTopology{1, 1 << 27, {{0, 16, 64, {0xfff}}}}),
            json::parse(R"({"memory_bsize": 134217728,
                            "nodes": [{"node": 0, "size": 16, "set": ["0xfff"]}]})"));
  EXPECT_EQ(FeatureOf(FeatureBit::kPmuMappings, perfdata::PmuMappings{{{1, "software"}}}),
            json::parse(R"([{"name": "software", "type": 1}])"));
  EXPECT_EQ(
      FeatureOf(FeatureBit::kPmuCaps, perfdata::PmuCaps{{{{{"branches", "32"}}, "cpu_core"}}}),
      json::parse(R"([{"pmu_name": "cpu_core",
                       "caps": [{"name": "branches", "value": "32"}]}])"));
}

TEST(HeaderJson, HasWhoseBuildIdsThereAre) {
  const auto id = *BuildId::FromHex("0011");
  EXPECT_EQ(FeatureOf(FeatureBit::kBuildId,
                      perfdata::BuildIds{{{perfdata::CpuMode::kKernel, id, "[kernel.kallsyms]"}}}),
            json::parse(R"([{"build_id": "0011", "filename": "[kernel.kallsyms]",
                             "cpumode": 1, "pid": -1}])"));
}

TEST(HeaderJson, ReportsAnUnreadableFeature) {
  EXPECT_EQ(FeatureOf(FeatureBit::kHostname, perfdata::RawFeature{std::vector<std::byte>(3)}),
            json::parse(R"({"size": 3, "readable": false})"));
}

}  // namespace
}  // namespace perftape::inspect

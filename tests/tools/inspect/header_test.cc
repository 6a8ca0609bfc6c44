// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "formats/perfdata/flag_text.h"
#include "tests/support/perfdata_builder.h"
#include "tools/inspect/shown_sections.h"

namespace perftape::inspect {
namespace {

using Json = nlohmann::json;
using perfdata::FeatureBit;
using perfdata::PerfDataBuilder;
using testing::HasSubstr;

TEST(HeaderText, DistinguishesFileFromPipe) {
  PerfDataBuilder file;
  file.AddEvent();
  EXPECT_THAT(HeaderText(file.Open()), HasSubstr("format: perf.data, file, little endian\n"));
  PerfDataBuilder pipe(perfdata::Container::kPipe);
  pipe.AddEvent();
  EXPECT_THAT(HeaderText(pipe.Open()), HasSubstr("format: perf.data, pipe, little endian\n"));
}

TEST(HeaderText, ShowsFeaturesAsText) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddFeature(FeatureBit::kHostname, perfdata::TextFeature{"he\tre"});
  file.AddFeature(FeatureBit::kNrCpus, perfdata::NrCpus{.available = 8, .online = 6});
  file.AddFeature(FeatureBit::kCmdline, perfdata::Cmdline{{"perftape-record", "-a"}});
  file.AddFeature(FeatureBit::kSampleTime, perfdata::SampleTime{1'500'000'000, 2'000'000'001});
  file.AddRound();
  const std::string text = HeaderText(file.Open());
  EXPECT_THAT(text, HasSubstr("\nHOSTNAME: he\\tre\n"));
  EXPECT_THAT(text, HasSubstr("\nNRCPUS: 6 online, 8 available\n"));
  EXPECT_THAT(text, HasSubstr("\nCMDLINE: perftape-record -a\n"));
  EXPECT_THAT(text, HasSubstr("\nSAMPLE_TIME: first 1.500000000 s, last 2.000000001 s, "
                              "duration 0.500000001 s\n"));
}

// Returns the text of a feature, from a file with an event and the feature.
std::string TextOf(FeatureBit bit, perfdata::FeatureValue value) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddFeature(bit, std::move(value));
  file.AddRound();
  const std::string text = HeaderText(file.Open());
  return text.substr(text.find(FeatureName(bit) + ':'));
}

TEST(HeaderText, ShowsWhatTheCpusAreLike) {
  EXPECT_EQ(
      TextOf(FeatureBit::kCpuTopology, perfdata::CpuTopology{{"0-1"}, {"0", "1"}, {}, {}, {}}),
      "CPU_TOPOLOGY:\n  sibling sockets: 0-1\n  sibling threads: 0\n  sibling threads: 1\n");
  EXPECT_EQ(TextOf(FeatureBit::kNumaTopology, perfdata::NumaTopology{{{0, 100, 50, "0-1"}}}),
            "NUMA_TOPOLOGY: 1 node\n  node 0: CPUs 0-1, 100 kB, 50 kB free\n");
  EXPECT_EQ(
      TextOf(FeatureBit::kCache, perfdata::CacheInfo{1, {{1, 64, 128, 8, "Data", "64K", "0-1"}}}),
      "CACHE: 1 cache\n  L1 Data 64K [0-1], 128 sets of 8 lines of 64 bytes\n");
  EXPECT_EQ(TextOf(FeatureBit::kMemTopology,
                   perfdata::MemTopology{1, 1 << 27, {{0, 16, 128, {0xfff, 5}}}}),
            "MEM_TOPOLOGY: 1 node, block size 0x8000000\n  0 [2G]: 0-11,64,66\n");
  EXPECT_EQ(TextOf(FeatureBit::kHybridTopology, perfdata::HybridTopology{{{"cpu_core", "0-15"}}}),
            "HYBRID_TOPOLOGY:\n  cpu_core cpu list: 0-15\n");
  EXPECT_EQ(TextOf(FeatureBit::kCpuDomainInfo,
                   perfdata::CpuDomainInfo{17, 2, {{1, {{0, "SMT", "3", "0-1"}}}}}),
            "CPU_DOMAIN_INFO: schedstat version 17, at most 2 domains a CPU\n"
            "  CPU 1 domain 0 SMT: 0-1\n");
  EXPECT_EQ(TextOf(FeatureBit::kEMachine, perfdata::ElfMachine{62, 1}),
            "E_MACHINE: 62, flags 0x1\n");
  EXPECT_EQ(TextOf(FeatureBit::kClnSize, perfdata::CacheLineSize{64}), "CLN_SIZE: 64 bytes\n");
}

TEST(HeaderText, ShowsWhatPmusCanDo) {
  EXPECT_EQ(TextOf(FeatureBit::kCpuPmuCaps,
                   perfdata::CpuPmuCaps{{{"branches", "32"}, {"max_precise", "3"}}}),
            "CPU_PMU_CAPS: branches=32, max_precise=3\n");
  EXPECT_EQ(TextOf(FeatureBit::kPmuCaps, perfdata::PmuCaps{{{{{"branches", "32"}}, "cpu_core"}}}),
            "PMU_CAPS: 1 PMU\n  cpu_core: branches=32\n");
  EXPECT_EQ(TextOf(FeatureBit::kGroupDesc, perfdata::GroupDesc{{{"{anon_group}", 0, 2}}}),
            "GROUP_DESC:\n  {cpu-clock:HG}: 2 events from event 0\n");
}

TEST(HeaderText, ShowsHowTheFileWasWritten) {
  EXPECT_EQ(TextOf(FeatureBit::kBranchStack, perfdata::EmptyFeature()),
            "BRANCH_STACK: contains samples with branch stack\n");
  EXPECT_EQ(TextOf(FeatureBit::kStat, perfdata::EmptyFeature()), "STAT: contains stat data\n");
  EXPECT_EQ(TextOf(FeatureBit::kAuxtrace, perfdata::AuxtraceIndex{{{4096, 48}}}),
            "AUXTRACE: contains AUX area data (e.g. instruction trace), 1 record\n"
            "  48 bytes at 0x1000\n");
  EXPECT_EQ(TextOf(FeatureBit::kDirFormat, perfdata::DirFormat{1}),
            "DIR_FORMAT: directory data version 1\n");
  EXPECT_EQ(TextOf(FeatureBit::kCompressed, perfdata::CompressionInfo{1, 1, 3, 7, 4096}),
            "COMPRESSED: Zstd, level = 3, ratio = 7, up to 4096 bytes a record\n");
  EXPECT_EQ(TextOf(FeatureBit::kClockData, perfdata::ClockData{1, 1, 1'500'000'000, 7}),
            "CLOCK_DATA: monotonic (1) at 0.000000007 s was 1.500000000 s since 1970\n");
  EXPECT_EQ(
      TextOf(FeatureBit::kTracingData, perfdata::TracingData{.version = "0.6", .formats = {}}),
      "TRACING_DATA: version 0.6, little endian, longs of 8 bytes, pages of 4096, "
      "0 bytes of formats\n");
  EXPECT_EQ(TextOf(FeatureBit::kSimpleperfMetaInfo, perfdata::MetaInfo{{{"clockid", "monotonic"}}}),
            "META_INFO:\n  clockid = monotonic\n");
}

// struct bpf_prog_info up to its name: { u32 type, id; u8 tag[8]; u32 jited, xlated; …; name[16];
// }.
TEST(HeaderText, NamesBpfProgramsAsKallsymsDoes) {
  perfdata::BpfProgInfo::Program program;
  ByteWriter at(program.info);
  for (const std::uint32_t number : {8U, 27U, 0x03020100U, 0x07060504U, 58U, 64U}) at.Fixed(number);
  at.Padding(40);
  at.PaddedString("sd_devices", 16);
  EXPECT_EQ(TextOf(FeatureBit::kBpfProgInfo, perfdata::BpfProgInfo{{program}}),
            "BPF_PROG_INFO: 1 program\n"
            "  27: bpf_prog_0001020304050607_sd_devices, jited 58 bytes, xlated 64 bytes\n");
}

TEST(HeaderText, NamesTheOwnerOfABuildId) {
  const auto id = *BuildId::FromHex("0011");
  EXPECT_EQ(TextOf(FeatureBit::kBuildId,
                   perfdata::BuildIds{{{perfdata::CpuMode::kKernel, id, "[kernel.kallsyms]"},
                                       {perfdata::CpuMode::kGuestKernel, id, "[guest]", 77},
                                       {perfdata::CpuMode::kUser, id, "/bin/a\tb"}}}),
            "BUILD_ID: 3 files\n  0011 [kernel.kallsyms] (kernel)\n"
            "  0011 [guest] (guest kernel) (machine 77)\n  0011 /bin/a\\tb\n");
}

TEST(HeaderSummary, ShowsRateAndFieldsOfEachEvent) {
  PerfDataBuilder file;
  file.AddEvent({.config = perfdata::kSoftwareDummy,
                 .sample_period = 99,
                 .sample_type = perfdata::kIp | perfdata::kTid,
                 .flags = perfdata::kFreq});
  EXPECT_THAT(HeaderSummary(file.Open()), HasSubstr("  dummy:HG: 99 Hz, IP|TID\n"));
}

Json HeaderOf(PerfDataBuilder& file) {
  const std::string text = HeaderJson(file.Open());
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  return Json::parse(text).at("header");
}

// Returns the JSON of a file with only this feature.
Json FeatureOf(FeatureBit bit, perfdata::FeatureValue value) {
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
  const Json header = HeaderOf(file);
  EXPECT_EQ(header.at("format"), "file");
  EXPECT_EQ(header.at("byte_order"), "little");
  EXPECT_EQ(header.at("problems"), Json::array());
  const Json& event = header.at("events").at(0);
  EXPECT_EQ(event.at("name"), "cpu-clock:HG");
  const Json& attr = event.at("attr");
  EXPECT_EQ(attr.at("sample_freq"), 99);
  EXPECT_EQ(attr.at("sample_type"), Json::parse(R"(["IP", "TID"])"));
  EXPECT_EQ(attr.at("flags"), Json::parse(R"(["freq", "sample_id_all"])"));
  EXPECT_EQ(attr.at("read_format"), Json::array());
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
            Json::parse(R"(["perf", "record"])"));
  EXPECT_EQ(FeatureOf(FeatureBit::kNrCpus, perfdata::NrCpus{8, 6}),
            Json::parse(R"({"nr_cpus_online": 6, "nr_cpus_avail": 8})"));
  EXPECT_EQ(FeatureOf(FeatureBit::kTotalMem, perfdata::TotalMem{1024}),
            Json::parse(R"({"total_mem_kb": 1024})"));
  EXPECT_EQ(FeatureOf(FeatureBit::kBranchStack, perfdata::EmptyFeature()), true);
  EXPECT_EQ(FeatureOf(FeatureBit{200}, perfdata::RawFeature{std::vector<std::byte>(3)}),
            Json::parse(R"({"size": 3})"));
}

TEST(HeaderJson, HasWhatTheMachineIsLike) {
  EXPECT_EQ(FeatureOf(FeatureBit::kCpuTopology, perfdata::CpuTopology{{"0"}, {"0"}, {}, {}, {}}),
            Json::parse(R"({"sibling_sockets": ["0"], "sibling_dies": [],
                            "sibling_threads": ["0"], "cpus": []})"));
  EXPECT_EQ(FeatureOf(FeatureBit::kNumaTopology, perfdata::NumaTopology{{{1, 100, 50, "0-1"}}}),
            Json::parse(R"([{"node": 1, "mem_total_kb": 100, "mem_free_kb": 50,
                             "cpus": "0-1"}])"));
  EXPECT_EQ(FeatureOf(FeatureBit::kCache,
                      perfdata::CacheInfo{1, {{1, 64, 128, 8, "Data", "64K", "0-1"}}}),
            Json::parse(R"([{"level": 1, "line_size": 64, "sets": 128, "ways": 8,
                             "type": "Data", "size": "64K", "map": "0-1"}])"));
  EXPECT_EQ(FeatureOf(FeatureBit::kMemTopology,
                      perfdata::MemTopology{1, 1 << 27, {{0, 16, 64, {0xfff}}}}),
            Json::parse(R"({"memory_bsize": 134217728,
                            "nodes": [{"node": 0, "size": 16, "set": ["0xfff"]}]})"));
  EXPECT_EQ(FeatureOf(FeatureBit::kPmuMappings, perfdata::PmuMappings{{{1, "software"}}}),
            Json::parse(R"([{"name": "software", "type": 1}])"));
  EXPECT_EQ(
      FeatureOf(FeatureBit::kPmuCaps, perfdata::PmuCaps{{{{{"branches", "32"}}, "cpu_core"}}}),
      Json::parse(R"([{"pmu_name": "cpu_core",
                       "caps": [{"name": "branches", "value": "32"}]}])"));
}

TEST(HeaderJson, HasWhoseBuildIdsThereAre) {
  const auto id = *BuildId::FromHex("0011");
  EXPECT_EQ(FeatureOf(FeatureBit::kBuildId,
                      perfdata::BuildIds{{{perfdata::CpuMode::kKernel, id, "[kernel.kallsyms]"}}}),
            Json::parse(R"([{"build_id": "0011", "filename": "[kernel.kallsyms]",
                             "cpumode": 1, "pid": -1}])"));
}

TEST(HeaderJson, ReportsAnUnreadableFeature) {
  EXPECT_EQ(FeatureOf(FeatureBit::kHostname, perfdata::RawFeature{std::vector<std::byte>(3)}),
            Json::parse(R"({"size": 3, "readable": false})"));
}

}  // namespace
}  // namespace perftape::inspect

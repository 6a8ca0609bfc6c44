// SPDX-License-Identifier: Apache-2.0
// What the importer learns from the notes of a recording.
#include "formats/bundle/recording_notes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "formats/bundle/embedding.h"
#include "tests/convert/import/imported_perfdata.h"
#include "tests/support/files.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

// Returns the recording with these notes.
std::string WithNotes(const perfdata::PerfDataBuilder& file, const bundle::RecordingNotes& notes) {
  const TempDir dir;
  const std::string path = dir / "a.data";
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_THAT(WriteAllAt(fd.get(), file.Build(), 0), IsOk());
  const auto offset = bundle::BeginEmbedding(fd.get());
  EXPECT_THAT(offset, IsOk());
  EXPECT_THAT(bundle::WriteNotesArchive(UniqueFd(::dup(fd.get())), notes), IsOk());
  EXPECT_THAT(bundle::EndEmbedding(fd.get(), *offset), IsOk());
  return ReadWholeFile(path).value();
}

// Returns "key=text " of all labels of each sample.
std::vector<std::string> LabelsOf(const Profile& profile) {
  std::vector<std::string> shown;
  for (const Sample& sample : profile.samples()) {
    std::string& text = shown.emplace_back();
    for (const Label& label : profile[sample.labels]) {
      text.append(profile.text(label.key)).append("=").append(profile.text(label.text)) += " ";
    }
  }
  return shown;
}

TEST(NotedChains, AreThoseOfTheRecorder) {
  const std::string bytes = WithNotes(OneProcess(), {.chains = {{"cycles", "complete", 90},
                                                                {"cycles", "no_row", 9},
                                                                {"cycles", "unreadable", 1},
                                                                {"faults", "no_row", 2}}});
  const ImportReport report = Import(AsBytes(bytes)).report;
  ASSERT_EQ(report.noted_chains.size(), 2U);
  EXPECT_EQ(report.noted_chains.at("cycles").all, 100U);
  EXPECT_EQ(report.noted_chains.at("cycles").complete, 90U);
  EXPECT_EQ(report.noted_chains.at("faults").all, 2U);
  EXPECT_EQ(report.noted_chains.at("faults").complete, 0U);
}

TEST(NotedTrigger, IsThatOfTheFlightRecorder) {
  const std::string bytes = WithNotes(OneProcess(), {.trigger = "load above 8"});
  EXPECT_EQ(Import(AsBytes(bytes)).report.trigger, "load above 8");
  EXPECT_EQ(Import(OneProcess()).report.trigger, "");
}

TEST(NotedChains, AreNoneWithoutNotesAboutThem) {
  EXPECT_THAT(Import(OneProcess()).report.noted_chains, IsEmpty());
  EXPECT_THAT(Import(AsBytes(WithNotes(OneProcess(), {.samples = 7}))).report.noted_chains,
              IsEmpty());
}

TEST(NotedChains, OfDamagedNotesAreIgnored) {
  std::string bytes = WithNotes(OneProcess(), {.chains = {{"cycles", "complete", 90}}});
  for (std::size_t at = OneProcess().Build().size(); at + 64 < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    EXPECT_THAT(Import(AsBytes(damaged)).report.problems, IsEmpty());
  }
}

TEST(NotedContainers, AreLabelsOfSamplesInTheirCgroup) {
  perfdata::PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kIp | perfdata::kSampleCgroup});
  const std::vector<std::string> paths = {"/kubepods/pod1/2", "/docker/3", "/other",
                                          "/system.slice/nginx.service"};
  for (std::uint64_t cgroup = 0; cgroup < paths.size(); ++cgroup) {
    file.Add(perfdata::Cgroup{cgroup + 5, paths[cgroup]});
    std::vector<std::byte> record;
    const perfdata::Sample sample = {.ip = 0x10, .cgroup = cgroup + 5};
    ASSERT_THAT(EncodeSample(sample, file.format(0), 2, record), IsOk());
    file.AddRaw(record);
  }
  const std::string bytes = WithNotes(
      file, {.containers = {{"/kubepods/pod1/2", "1", "2", "shop", "web-0", "nginx"},
                            {.cgroup = "/docker/3", .container_id = "3", .container = "db"}}});
  EXPECT_THAT(LabelsOf(Import(AsBytes(bytes), {.container_labels = true}).profile),
              ElementsAre("container=nginx namespace=shop pod=web-0 ", "container=db ", "",
                          "unit=nginx.service "));
  EXPECT_THAT(LabelsOf(Import(AsBytes(bytes)).profile), Each(""));
}

TEST(NotedProcesses, AreLabelsOfSamplesInTheirTime) {
  perfdata::PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kIp | perfdata::kTid | perfdata::kTime});
  for (const std::uint64_t time : {99, 100, 199, 200}) {
    std::vector<std::byte> record;
    const perfdata::Sample sample = {.ip = 0x10 + time, .pid = 7, .tid = 8, .time = time};
    ASSERT_THAT(EncodeSample(sample, file.format(0), 2, record), IsOk());
    file.AddRaw(record);
  }
  const std::string bytes = WithNotes(
      file, {.processes = {{7, 100, 200, {{"service.name", "cart"}, {"service.version", "1.2"}}},
                           {7, 200, {}, {{"service.name", "pay"}}},
                           {9, 0, {}, {{"service.name", "other"}}}}});
  EXPECT_THAT(LabelsOf(Import(AsBytes(bytes), {.service_labels = true}).profile),
              ElementsAre("", "service.name=cart service.version=1.2 ",
                          "service.name=cart service.version=1.2 ", "service.name=pay "));
  EXPECT_THAT(LabelsOf(Import(AsBytes(bytes)).profile), Each(""));
}

}  // namespace
}  // namespace perftape::convert

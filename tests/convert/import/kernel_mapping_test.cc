// SPDX-License-Identifier: Apache-2.0
// Tests the kernel's mapping with the table of build ids.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "convert/export/to_perfdata.h"
#include "convert/import/from_perfdata.h"
#include "convert/model/mappings_without_files.h"
#include "tests/support/bytes_input.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert {
namespace {

using perfdata::CpuMode;
using perfdata::PerfDataBuilder;
using testing::ElementsAre;

constexpr std::uint64_t kText = 0xffffffff81000000;

// Returns a recording with one sample in the kernel.
PerfDataBuilder InTheKernel(std::vector<perfdata::BuildIdEntry> table) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddMmap({.pid = ~0U,
                .start = kText,
                .length = 0x1000000,
                .page_offset = kText,
                .path = "[kernel.kallsyms]_text",
                .mode = CpuMode::kKernel});
  file.AddSample({.ip = kText + 0x10, .pid = 7, .tid = 7, .mode = CpuMode::kKernel});
  file.AddFeature(perfdata::FeatureBit::kBuildId, perfdata::BuildIds{std::move(table)});
  return file;
}

Profile Import(Input& input) {
  ImportReport report;
  auto profile = ReadPerfData(input, {}, report);
  if (!profile) throw std::runtime_error(profile.error().message);
  return *std::move(profile);
}

Profile Import(const PerfDataBuilder& file) {
  const std::vector<std::byte> bytes = file.Build();
  BytesInput input(bytes);
  return Import(input);
}

// Returns "FILENAME BUILD-ID" of each mapping of the kernel.
std::vector<std::string> KernelMappings(const Profile& profile) {
  std::vector<std::string> found;
  for (const Mapping& mapping : profile.mappings()) {
    if (mapping.type != MappingType::kKernel) continue;
    found.push_back(std::string(profile.text(mapping.filename)) + " " +
                    std::string(profile.text(mapping.build_id)));
  }
  return found;
}

TEST(KernelMapping, HasTheNameAndBuildIdOfTheFileThatIsListed) {
  EXPECT_THAT(KernelMappings(Import(InTheKernel(
                  {{CpuMode::kUser, *BuildId::FromHex("aa01"), "/bin/app"},
                   {CpuMode::kKernel, *BuildId::FromHex("aa02"), "/boot/vmlinux-6.1"}}))),
              ElementsAre("/boot/vmlinux-6.1 aa02"));
}

TEST(KernelMapping, HasItsOwnNameWhereNoFileIsListedForTheKernel) {
  EXPECT_THAT(KernelMappings(Import(InTheKernel(
                  {{CpuMode::kUser, *BuildId::FromHex("aa01"), "/boot/vmlinux-6.1"},
                   {CpuMode::kKernel, *BuildId::FromHex("aa02"), "[kernel.kallsyms]"}}))),
              ElementsAre("[kernel.kallsyms] aa02"));
}

TEST(KernelMapping, OfAListedFileComesBackFromAPerfData) {
  const Profile before =
      Import(InTheKernel({{CpuMode::kKernel, *BuildId::FromHex("aa02"), "/boot/vmlinux-6.1"}}));
  const TempDir dir;
  const auto path = dir / "perf.data";
  ASSERT_THAT(WritePerfData(before, {}, path), IsOk());
  auto input = Input::Open(path);
  ASSERT_THAT(input, IsOk());
  EXPECT_THAT(KernelMappings(Import(*input)), ElementsAre("/boot/vmlinux-6.1 aa02"));
}

// Returns "[kernel]+0xffffffff81000010" for each frame of the only sample, leaf first; "?0x10" for
// a frame in no mapping.
std::vector<std::string> FramesOf(const Profile& profile) {
  std::vector<std::string> frames;
  for (StackId at = profile.samples().front().stack; at != StackId{}; at = profile[at].caller) {
    const Location& frame = profile[profile[at].leaf];
    const bool is_mapped = frame.mapping != MappingId{};
    const Mapping& mapping = profile[frame.mapping];
    frames.push_back(
        fmt::format("{}0x{:x}", is_mapped ? std::string(profile.text(mapping.filename)) + "+" : "?",
                    frame.offset.value));
  }
  return frames;
}

TEST(KernelMapping, IsTheHiddenKernelWithoutARecordOfIt) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddSample({.ip = kText + 0x10,
                  .pid = 7,
                  .tid = 7,
                  .callchain = {perfdata::kContextKernel, kText + 0x10, kText + 0x21, 0x33,
                                perfdata::kContextUser, kText + 0x44},
                  .mode = CpuMode::kKernel});
  const Profile profile = Import(file);
  // Neither half of the kernel's chain that is in the other half, nor a user's address.
  EXPECT_THAT(FramesOf(profile),
              ElementsAre("[kernel]+0xffffffff81000010", "[kernel]+0xffffffff81000020", "?0x32",
                          "?0xffffffff81000044"));
  const Mapping& mapping = profile[profile[profile[profile.samples()[0].stack].leaf].mapping];
  EXPECT_TRUE(IsHiddenKernel(profile, mapping));
  EXPECT_EQ(mapping.type, MappingType::kKernel);
}

TEST(KernelMapping, IsTheHiddenKernelForCodeOutsideOfIt) {
  PerfDataBuilder file = InTheKernel({});
  file.AddSample({.ip = 0xfffe000000000010, .pid = 7, .tid = 7, .mode = CpuMode::kKernel});
  EXPECT_THAT(KernelMappings(Import(file)),
              testing::UnorderedElementsAre("[kernel.kallsyms] ", "[kernel] "));
}

}  // namespace
}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
// Tests the kernel's mapping with the table of build ids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "convert/export/to_perfdata.h"
#include "convert/import/from_perfdata.h"
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

}  // namespace
}  // namespace perftape::convert

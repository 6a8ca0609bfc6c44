// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/profile_origin.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/bundle/bundle_writer.h"
#include "formats/bundle/embedding.h"
#include "formats/bundle/recording_notes.h"
#include "tests/convert/symbolize/one_mapping.h"
#include "tests/support/bytes_input.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::symbolize {
namespace {

using perfdata::CpuMode;
using perfdata::FeatureBit;
using perfdata::PerfDataBuilder;
using perfdata::TextFeature;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kText = 0xffffffff81000000;
const BuildId kKernelId = BuildId::From(AsBytes("abc"));

ProfileOrigin::Machine MachineOf(const PerfDataBuilder& file) {
  const std::vector<std::byte> bytes = file.Build();
  BytesInput input(bytes);
  return ProfileOrigin(input).machine();
}

perfdata::MmapOptions KernelMapping(std::string_view name, std::uint64_t text) {
  return {.pid = 0xffffffff,
          .start = text,
          .length = 0x1000000,
          .page_offset = text,
          .path = name,
          .mode = CpuMode::kKernel};
}

TEST(ProfileOrigin, FindsTheKernelBaseByItsReferenceSymbol) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddMmap(KernelMapping("[kernel.kallsyms]_stext", kText));
  const RecordedKernel kernel = MachineOf(file).kernel;
  EXPECT_EQ(kernel.reference, "_stext");
  EXPECT_EQ(kernel.reference_address, kText);
  EXPECT_EQ(kernel.limit, kText + 0x1000000);
}

TEST(ProfileOrigin, UsesTheKernelsFirstMapping) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddMmap(KernelMapping("[kernel.kallsyms]_text", kText));
  file.AddMmap(KernelMapping("[kernel.kallsyms]_text", kText + 0x2000000));
  EXPECT_EQ(MachineOf(file).kernel.reference_address, kText);
}

TEST(ProfileOrigin, ListsModulesByNameInTheirOrder) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddMmap(KernelMapping("[zram]", 0xffffffffc0700000));
  file.AddMmap(KernelMapping("/lib/modules/6.1.0/kernel/net/nf-tables.ko.xz", 0xffffffffc0300000));
  const std::vector<RecordedModule> modules = MachineOf(file).kernel.modules;
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0].name, "nf_tables");
  EXPECT_EQ(modules[0].start, 0xffffffffc0300000);
  EXPECT_EQ(modules[0].limit, 0xffffffffc1300000);
  EXPECT_EQ(modules[1].name, "zram");
}

// perf writes the kernel in MMAP records, and in MMAP2 if these have build ids.
TEST(ProfileOrigin, FindsTheKernelBaseInAMmapToo) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddComm({.pid = 7, .tid = 7, .comm = "[kernel.kallsyms]"});
  file.Add(perfdata::Mmap{.pid = 0xffffffff,
                          .start = kText,
                          .length = 0x1000000,
                          .page_offset = kText,
                          .filename = "[kernel.kallsyms]_text"},
           {}, std::to_underlying(CpuMode::kKernel));
  EXPECT_EQ(MachineOf(file).kernel.reference_address, kText);
}

TEST(ProfileOrigin, IgnoresMappingsOfProcessesForTheKernel) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "[kernel.kallsyms]_text"});
  EXPECT_EQ(MachineOf(file).kernel, RecordedKernel());
}

// perf writes the kernel's record before the first sample.
TEST(ProfileOrigin, ReadsNoFurtherThanToTheFirstSample) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddSample({.ip = 0x400000, .pid = 7, .tid = 7});
  file.AddMmap(KernelMapping("[kernel.kallsyms]_text", kText));
  EXPECT_EQ(MachineOf(file).kernel, RecordedKernel());
}

TEST(ProfileOrigin, HasTheKernelsBuildIdOfTheHeader) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddFeature(
      FeatureBit::kBuildId,
      perfdata::BuildIds{{{.build_id = BuildId::From(AsBytes("xyz")), .filename = "/bin/x"},
                          {.build_id = kKernelId, .filename = "[kernel.kallsyms]"}}});
  EXPECT_EQ(MachineOf(file).kernel.build_id, kKernelId);
}

TEST(ProfileOrigin, HasTheKernelsBuildIdOfARecord) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddBuildId("[kernel.kallsyms]", kKernelId, CpuMode::kKernel);
  EXPECT_EQ(MachineOf(file).kernel.build_id, kKernelId);
}

// The recorder writes it before the first sample of the kernel.
TEST(ProfileOrigin, HasTheKernelsBuildIdOfARecordAfterSamplesOfPrograms) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddMmap(KernelMapping("[kernel.kallsyms]_text", kText));
  file.AddSample({.ip = 0x400000, .pid = 7, .tid = 7});
  file.AddBuildId("[kernel.kallsyms]", kKernelId, CpuMode::kKernel);
  EXPECT_EQ(MachineOf(file).kernel.build_id, kKernelId);
}

TEST(ProfileOrigin, LooksForABuildIdUpToTheFirstSampleOfTheKernel) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddMmap(KernelMapping("[kernel.kallsyms]_text", kText));
  file.AddSample({.ip = kText, .mode = CpuMode::kKernel});
  file.AddBuildId("[kernel.kallsyms]", kKernelId, CpuMode::kKernel);
  EXPECT_TRUE(MachineOf(file).kernel.build_id.empty());
}

TEST(ProfileOrigin, HasTheKernelsBuildIdOfItsMapping) {
  PerfDataBuilder file;
  file.AddEvent();
  perfdata::MmapOptions mapping = KernelMapping("[kernel.kallsyms]_text", kText);
  mapping.build_id = kKernelId;
  file.AddMmap(mapping);
  EXPECT_EQ(MachineOf(file).kernel.build_id, kKernelId);
}

TEST(ProfileOrigin, ReportsItsHost) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddFeature(FeatureBit::kHostname, TextFeature{"moon.invalid"});
  file.AddFeature(FeatureBit::kOsRelease, TextFeature{"6.1.0-moon"});
  const ProfileOrigin::Machine machine = MachineOf(file);
  EXPECT_EQ(machine.kernel_release, "6.1.0-moon");
  EXPECT_EQ(machine.other_than_here, "it was recorded on host moon.invalid");
}

TEST(ProfileOrigin, HasNoMachineWithoutHostFeatures) {
  PerfDataBuilder file;
  file.AddEvent();
  EXPECT_EQ(MachineOf(file).other_than_here, "it does not say on which machine it was recorded");
  const std::string folded = "main;f 3\n";
  BytesInput input(AsBytes(folded));
  EXPECT_FALSE(ProfileOrigin(input).machine().other_than_here.empty());
}

// A perf.data with a bundle, in a directory of its own.
class RecordingWithBundle : public testing::Test {
 protected:
  RecordingWithBundle() {
    PerfDataBuilder file;
    file.AddEvent();
    file.AddFeature(FeatureBit::kHostname, TextFeature{"moon.invalid"});
    file.AddFeature(FeatureBit::kOsRelease, TextFeature{"6.1.0-moon"});
    path_ = dir_.Write("perf.data", file.Build());
  }

  void Embed(bundle::Manifest manifest) {
    UniqueFd fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    const auto offset = bundle::BeginEmbedding(fd.get());
    ASSERT_THAT(offset, IsOk());
    auto writer =
        bundle::BundleWriter::Create(UniqueFd(::open(path_.c_str(), O_RDWR | O_APPEND)), 1);
    ASSERT_THAT(writer, IsOk());
    ASSERT_THAT(std::move(*writer).Finish(std::move(manifest)), IsOk());
    ASSERT_THAT(bundle::EndEmbedding(fd.get(), *offset), IsOk());
  }

  TempDir dir_;
  std::filesystem::path path_;
};

TEST_F(RecordingWithBundle, HasSymbolsThatAreUnpackedOnce) {
  Embed({.host = "moon.invalid"});
  Input input = Input::Open(path_).value();
  ProfileOrigin recording(input);
  EXPECT_TRUE(recording.brings_names());
  const auto bundle = recording.OwnBundle();
  ASSERT_TRUE(bundle);
  EXPECT_EQ(bundle->manifest().host, "moon.invalid");
  EXPECT_EQ(recording.OwnBundle(), bundle);
}

TEST_F(RecordingWithBundle, GetsTheBootIdFromTheBundle) {
  auto boot = ReadWholeFile("/proc/sys/kernel/random/boot_id");
  if (!boot) GTEST_SKIP() << "no boot id: " << boot.error().message;
  while (boot->ends_with('\n')) boot->pop_back();
  Embed({.boot_id = *boot});
  Input input = Input::Open(path_).value();
  ProfileOrigin recording(input);
  EXPECT_THAT(recording.machine().other_than_here, HasSubstr("moon"));
  ASSERT_TRUE(recording.OwnBundle());
  EXPECT_EQ(recording.machine().other_than_here, "");
}

TEST_F(RecordingWithBundle, ReportsAnUnreadableBundle) {
  Embed({.host = "moon.invalid"});
  std::string bytes = ReadWholeFile(path_).value();
  const auto extent = bundle::FindEmbedded(AsBytes(bytes)).value().value();
  bytes.replace(extent.offset, extent.size, extent.size, '?');
  BytesInput input(AsBytes(bytes));
  ProfileOrigin recording(input);
  EXPECT_TRUE(recording.brings_names());
  EXPECT_FALSE(recording.OwnBundle());
  EXPECT_NE(recording.bundle_problem(), "");
}

TEST_F(RecordingWithBundle, HasNoSymbolsWithoutABundle) {
  Input input = Input::Open(path_).value();
  ProfileOrigin recording(input);
  EXPECT_FALSE(recording.brings_names());
  EXPECT_FALSE(recording.OwnBundle());
  EXPECT_EQ(recording.bundle_problem(), "");
}

TEST_F(RecordingWithBundle, HasNoSymbolsWithOnlyNotes) {
  const UniqueFd fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_THAT(bundle::EmbedWith(fd.get(),
                                [](UniqueFd end) {
                                  return bundle::WriteNotesArchive(std::move(end), {.samples = 1});
                                }),
              IsOk());
  Input input = Input::Open(path_).value();
  ProfileOrigin recording(input);
  EXPECT_FALSE(recording.brings_names());
  EXPECT_FALSE(recording.OwnBundle());
  EXPECT_EQ(recording.bundle_problem(), "");
}

// A loaded module splits the kernel's mapping.
TEST(KernelOf, GoesByTheFirstPieceOfTheKernelsMapping) {
  convert::ProfileBuilder builder;
  for (const std::uint64_t start : {kText + 0x200000, kText}) {
    builder.Add(convert::Mapping{.filename = builder.Add("[kernel.kallsyms]_text"),
                                 .build_id = builder.Add("616263"),
                                 .start = start,
                                 .limit = start + 0x100000,
                                 .file_offset = start,
                                 .type = convert::MappingType::kKernel});
  }
  const RecordedKernel kernel = KernelOf(std::move(builder).Finish());
  EXPECT_EQ(kernel.reference, "_text");
  EXPECT_EQ(kernel.reference_address, kText);
  EXPECT_EQ(kernel.build_id, kKernelId);
}

TEST(KernelOf, ListsModulesButNoFilesOfProcesses) {
  const convert::Profile module = ProfileOf({.filename = "[nf_tables]",
                                             .start = 0xffffffffc0300000,
                                             .limit = 0xffffffffc0310000,
                                             .type = convert::MappingType::kKernel});
  EXPECT_THAT(KernelOf(module).modules,
              ElementsAre(RecordedModule{"nf_tables", 0xffffffffc0300000, 0xffffffffc0310000}));
  EXPECT_THAT(KernelOf(ProfileOf({.filename = "[nf_tables]"})).modules, IsEmpty());
}

}  // namespace
}  // namespace perftape::symbolize

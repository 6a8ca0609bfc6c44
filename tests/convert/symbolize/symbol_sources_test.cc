// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/symbol_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/convert/symbolize/one_mapping.h"
#include "tests/support/bytes_input.h"
#include "tests/support/elf_builder.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::symbolize {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

SymbolOptions Nowhere() {
  return {.default_debug_dirs = false, .local = LocalSystem::kSameBoot};
}

SymbolizeReport Report(const convert::Profile& profile, const SymbolOptions& options,
                       ProfileOrigin recording) {
  SymbolizeReport report;
  EXPECT_THAT(SymbolizeFrom(profile, options, std::move(recording), report), IsOk());
  return report;
}

TEST(SymbolSources, UsesLocalFilesForLocalRecordingsOnly) {
  const TempDir dir;
  const convert::Profile profile =
      ProfileOf({.filename = dir.Write("program", SmallElf("abc")), .offsets = {0x1100}});
  const ProfileOrigin here(ProfileOrigin::Machine{.other_than_here = {}});
  const ProfileOrigin elsewhere(
      ProfileOrigin::Machine{.other_than_here = "it was recorded on host moon"});
  EXPECT_EQ(Report(profile, Nowhere(), here).count(Miss::kNone), 1U);
  EXPECT_EQ(Report(profile, Nowhere(), ProfileOrigin()).count(Miss::kNone), 0U);
  const SymbolizeReport report = Report(profile, Nowhere(), elsewhere);
  EXPECT_EQ(report.count(Miss::kNoFile), 1U);
  EXPECT_THAT(report.mappings[0].tried, Contains(HasSubstr("it was recorded on host moon")));

  SymbolOptions always = Nowhere();
  always.local = LocalSystem::kAlways;
  EXPECT_EQ(Report(profile, always, elsewhere).count(Miss::kNone), 1U);
  SymbolOptions never = Nowhere();
  never.local = LocalSystem::kNever;
  EXPECT_EQ(Report(profile, never, here).count(Miss::kNone), 0U);
}

TEST(SymbolSources, ReportsWhichFileHadTheNames) {
  const TempDir dir;
  SymbolOptions options = Nowhere();
  options.debug_dirs = {dir.path()};
  const std::string path = dir.Write("616263/executable", SmallElf("abc"));
  const SymbolizeReport report = Report(
      ProfileOf({.filename = "/program", .build_id = "616263", .offsets = {0x1100}}), options, {});
  EXPECT_EQ(report.mappings.at(0).source, path + " (symbols)");
}

// simpleperf's feature FILE: one ELF file with one function at 0x2100.
TEST(SymbolSources, NamesWhatSimpleperfRecorded) {
  std::vector<std::byte> entry;
  ByteWriter at(entry);
  const std::string_view path("/data/app/libdraw.so\0", 21), name("_ZN4Draw4lineEi\0", 16);
  at.Blob(AsBytes(path), path.size());
  at.Fixed(std::uint32_t{2});
  at.Fixed(std::uint64_t{0x2000});
  at.Fixed(std::uint32_t{1});
  at.Fixed(std::uint64_t{0x2100});
  at.Fixed(std::uint32_t{0x20});
  at.Blob(AsBytes(name), name.size());
  at.Fixed(std::uint64_t{0x1000});
  std::vector<std::byte> section;
  ByteWriter(section).Fixed(static_cast<std::uint32_t>(entry.size()));
  section.insert(section.end(), entry.begin(), entry.end());
  perfdata::PerfDataBuilder file;
  file.AddEvent();
  file.AddFeature(perfdata::FeatureBit::kSimpleperfFile, perfdata::RawFeature{section});
  const std::vector<std::byte> bytes = file.Build();
  BytesInput input(bytes);
  ProfileOrigin recording(input);
  EXPECT_TRUE(recording.brings_names());

  const convert::Profile profile = ProfileOf(
      {.filename = "/data/app/libdraw.so", .file_offset = 0x1000, .offsets = {0x1104, 0x1120}});
  SymbolizeReport report;
  const auto named = SymbolizeFrom(profile, Nowhere(), std::move(recording), report);
  ASSERT_THAT(named, IsOk());
  EXPECT_EQ(report.count(Miss::kNone), 1U);
  EXPECT_THAT(report.problems, testing::IsEmpty());
  const convert::Location& location = named->locations()[0];
  ASSERT_EQ(location.lines.size(), 1U);
  EXPECT_EQ(named->text((*named)[location.lines[0].function].name), "Draw::line");
}

TEST(SymbolSources, NamesNoGuest) {
  const TempDir dir;
  SymbolOptions options = Nowhere();
  options.kallsyms = dir.Write("kallsyms", "ffffffff81000000 T _text\n");
  const SymbolizeReport report = Report(ProfileOf({.filename = "[guest.kernel.kallsyms]",
                                                   .start = 0xffffffff81000000,
                                                   .type = convert::MappingType::kKernel,
                                                   .offsets = {0x10}}),
                                        options, {});
  EXPECT_EQ(report.count(Miss::kNoFile), 1U);
}

TEST(SymbolSources, NamesNoKernelWhoseAddressIsUnknown) {
  const TempDir dir;
  SymbolOptions options = Nowhere();
  options.kallsyms = dir.Write("kallsyms", "ffffffff81000000 T _text\n");
  const SymbolizeReport report = Report(ProfileOf({.filename = "[kernel]",
                                                   .type = convert::MappingType::kKernel,
                                                   .offsets = {0xffffffff81000010}}),
                                        options, {});
  EXPECT_EQ(report.count(Miss::kNoFile), 1U);
  EXPECT_EQ(report.mappings.at(0).problem, "recorded without CAP_SYSLOG: no kernel names");
}

TEST(SymbolSources, FillsACacheAsPerfHasIt) {
  const TempDir dir;
  SymbolOptions options = Nowhere();
  options.debug_dirs = {dir / "from"};
  options.kallsyms = dir.Write("kallsyms", "ffffffff81000000 T _text\n");
  dir.Write("from/616263/executable", SmallElf("abc"));
  convert::ProfileBuilder builder;
  builder.Add(convert::Mapping{.filename = builder.Add("/usr/bin/program"),
                               .build_id = builder.Add("616263")});
  builder.Add(convert::Mapping{.filename = builder.Add("/usr/bin/other"),
                               .build_id = builder.Add("78797a")});
  builder.Add(convert::Mapping{.filename = builder.Add("[kernel.kallsyms]"),
                               .build_id = builder.Add("6b6b6b"),
                               .start = 0xffffffff81000000,
                               .limit = 0xffffffff82000000,
                               .file_offset = 0xffffffff81000000,
                               .type = convert::MappingType::kKernel});
  const convert::Profile profile = std::move(builder).Finish();

  auto sources = SymbolSources::Open(options);
  ASSERT_THAT(sources, IsOk());
  auto report = sources->FillCache(profile, {}, dir / "cache");
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->copied, 2U);
  EXPECT_THAT(report->not_found, ElementsAre("/usr/bin/other 78797a"));
  EXPECT_TRUE(exists(dir / "cache/usr/bin/program/616263/elf"));
  EXPECT_TRUE(exists(dir / "cache/.build-id/61/6263/elf"));
  EXPECT_TRUE(exists(dir / "cache/.build-id/6b/6b6b/kallsyms"));

  report = sources->FillCache(profile, {}, dir / "cache");
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->copied, 0U);
  EXPECT_EQ(report->there, 2U);
}

}  // namespace
}  // namespace perftape::symbolize

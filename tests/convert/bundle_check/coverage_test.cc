// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/bundle_check/bundle_check.h"
#include "tests/convert/bundle_check/made_bundle.h"
#include "tests/convert/symbolize/one_mapping.h"
#include "tests/support/elf_builder.h"

namespace perftape::bundle_check {
namespace {

using bundle::FileKind;
using bundle::Kept;
using testing::IsEmpty;

const BuildId kAbc = BuildId::From(AsBytes("abc"));  // 61 62 63
constexpr std::uint64_t kText = 0xffffffff81000000;

MadeFile Program(const BuildId& build_id = kAbc) {
  return {{.path = "/bin/x", .build_id = build_id, .kept = Kept::kSymbols}, SmallElf("abc")};
}
MadeFile Kallsyms(const BuildId& build_id = kAbc) {
  const Bytes text = AsBytes("ffffffff81000000 T _text\n");
  return {{.path = "[kernel.kallsyms]",
           .kind = FileKind::kKallsyms,
           .build_id = build_id,
           .kept = Kept::kWhole},
          {text.begin(), text.end()}};
}

TEST(CoverageOf, IsWholeWhereTheBundleHasTheBuildIdUnderAnyPath) {
  const bundle::Bundle bundle = BundleWith({Program()});
  const Coverage coverage = CoverageOf(
      bundle,
      symbolize::ProfileOf({.filename = "/moved/x", .build_id = "616263", .offsets = {0x1100}}));
  EXPECT_EQ(coverage.files, 1u);
  EXPECT_THAT(coverage.missing, IsEmpty());
}

TEST(CoverageOf, IsWholeWithADebugFileAlone) {
  MadeFile debug = Program();
  debug.about.kind = FileKind::kDebug;
  const bundle::Bundle bundle = BundleWith({debug});
  const convert::Profile profile =
      symbolize::ProfileOf({.filename = "/bin/x", .build_id = "616263", .offsets = {0x1100}});
  EXPECT_THAT(CoverageOf(bundle, profile).missing, IsEmpty());
}

TEST(CoverageOf, GoesByThePathWhereNoBuildIdWasRecorded) {
  const bundle::Bundle bundle = BundleWith({Program()});
  const convert::Profile known = symbolize::ProfileOf({.filename = "/bin/x", .offsets = {0x1100}});
  EXPECT_THAT(CoverageOf(bundle, known).missing, IsEmpty());
  const convert::Profile unknown =
      symbolize::ProfileOf({.filename = "/bin/y", .offsets = {0x1100}});
  EXPECT_EQ(CoverageOf(bundle, unknown).missing.size(), 1u);
}

TEST(CoverageOf, ReportsAMissingFileAndItsHits) {
  const bundle::Bundle bundle = BundleWith({Program()});
  const convert::Profile profile = symbolize::ProfileOf(
      {.filename = "/bin/y", .build_id = "78797a", .pids = {1, 2}, .offsets = {0x1000, 0x1100}});
  const Coverage coverage = CoverageOf(bundle, profile);
  ASSERT_EQ(coverage.missing.size(), 1u);
  EXPECT_EQ(coverage.missing[0].path, "/bin/y");
  EXPECT_EQ(coverage.missing[0].build_id, "78797a");
  EXPECT_EQ(coverage.missing[0].addresses, 2u);
  EXPECT_EQ(coverage.missing[0].reason, "is not in the bundle");
}

TEST(CoverageOf, ReportsWhyTheRecorderOmittedAFile) {
  const bundle::Bundle bundle =
      BundleWith({{{.path = "/bin/y", .missing = "gone before it could be opened"}, {}}});
  const Coverage coverage =
      CoverageOf(bundle, symbolize::ProfileOf({.filename = "/bin/y", .offsets = {0x1100}}));
  ASSERT_EQ(coverage.missing.size(), 1u);
  EXPECT_EQ(coverage.missing[0].reason, "gone before it could be opened");
}

TEST(CoverageOf, DistinguishesFilesOfOnePathWithoutBuildId) {
  const FileNumber first{.device = 1, .inode = 2}, second{.device = 1, .inode = 3};
  const bundle::Bundle bundle = BundleWith(
      {{{.path = "/bin/x", .kept = bundle::Kept::kSymbols, .number = first}, SmallElf("")}});
  for (const FileNumber& number : {first, second}) {
    convert::ProfileBuilder builder;
    const convert::MappingId mapping =
        builder.Add(convert::Mapping{.filename = builder.Add("/bin/x"),
                                     .start = 0x400000,
                                     .limit = 0x401000,
                                     .instance = InstanceOf(number)});
    builder.Add(convert::Location{.mapping = mapping, .offset = {0x10}});
    const Coverage coverage = CoverageOf(bundle, std::move(builder).Finish());
    EXPECT_EQ(coverage.missing.size(), number == first ? 0u : 1u);
  }
}

TEST(CoverageOf, ReportsAnotherBuildInTheBundle) {
  const bundle::Bundle bundle = BundleWith({Program()});
  const Coverage coverage = CoverageOf(
      bundle,
      symbolize::ProfileOf({.filename = "/bin/x", .build_id = "78797a", .offsets = {0x1100}}));
  ASSERT_EQ(coverage.missing.size(), 1u);
  EXPECT_EQ(coverage.missing[0].reason, "in the bundle with another build id, 616263");
}

// Returns a profile with a sample in the kernel or in one of its modules.
convert::Profile KernelProfile(std::string filename, std::string build_id) {
  return symbolize::ProfileOf({.filename = std::move(filename),
                               .build_id = std::move(build_id),
                               .start = kText,
                               .file_offset = kText,
                               .type = convert::MappingType::kKernel,
                               .offsets = {kText + 0x10}});
}

TEST(CoverageOf, AcceptsKallsymsForKernelAndModules) {
  const bundle::Bundle bundle = BundleWith({Kallsyms()});
  for (const convert::Profile& profile :
       {KernelProfile("[kernel.kallsyms]", "616263"), KernelProfile("[kernel.kallsyms]_text", ""),
        KernelProfile("[nf_tables]", "78797a")}) {
    EXPECT_THAT(CoverageOf(bundle, profile).missing, IsEmpty());
  }
}

TEST(CoverageOf, ReportsAnotherKernel) {
  const bundle::Bundle bundle = BundleWith({Kallsyms()});
  const Coverage coverage = CoverageOf(bundle, KernelProfile("[kernel.kallsyms]_text", "78797a"));
  ASSERT_EQ(coverage.missing.size(), 1u);
  EXPECT_EQ(coverage.missing[0].reason, "in the bundle with another build id, 616263");
}

TEST(CoverageOf, ReportsMissingKernelSymbols) {
  const bundle::Bundle none = BundleWith({Program()});
  const convert::Profile profile = KernelProfile("[kernel.kallsyms]_text", "");
  ASSERT_EQ(CoverageOf(none, profile).missing.size(), 1u);

  MadeFile hidden = Kallsyms();
  hidden.about.kept = Kept::kNothing;
  hidden.about.missing = "addresses are hidden";
  const Coverage coverage = CoverageOf(BundleWith({hidden}), profile);
  ASSERT_EQ(coverage.missing.size(), 1u);
  EXPECT_EQ(coverage.missing[0].reason, "addresses are hidden");
}

TEST(CoverageOf, CountsNoMemoryWithoutAFile) {
  const bundle::Bundle bundle = BundleWith({});
  for (const char* name : {"//anon", "[heap]", "[stack]", "/memfd:jit (deleted)", "/dev/zero",
                           "anon_inode:[perf_event]", ""}) {
    const convert::Profile profile = symbolize::ProfileOf({.filename = name, .offsets = {0x1100}});
    EXPECT_EQ(CoverageOf(bundle, profile).files, 0u) << name;
  }
}

TEST(CoverageOf, CountsTheVdso) {
  const convert::Profile profile = symbolize::ProfileOf({.filename = "[vdso]", .offsets = {0x100}});
  EXPECT_EQ(CoverageOf(BundleWith({}), profile).missing.size(), 1u);
}

TEST(CoverageOf, CountsNothingThatWasNotHit) {
  const convert::Profile profile = symbolize::ProfileOf({.filename = "/bin/y"});
  EXPECT_EQ(CoverageOf(BundleWith({}), profile).files, 0u);
}

TEST(CoverageOf, CountsAFileThatWasMappedTwiceOnce) {
  convert::ProfileBuilder builder;
  for (const std::uint64_t offset : {0x1000, 0x8000}) {
    const convert::MappingId mapping =
        builder.Add(convert::Mapping{.filename = builder.Add("/bin/y"),
                                     .build_id = builder.Add("78797a"),
                                     .start = 0x400000 + offset,
                                     .limit = 0x401000 + offset,
                                     .file_offset = offset});
    builder.Add(convert::Location{.mapping = mapping, .offset = {offset + 0x100}});
  }
  const Coverage coverage = CoverageOf(BundleWith({}), std::move(builder).Finish());
  EXPECT_EQ(coverage.files, 1u);
  ASSERT_EQ(coverage.missing.size(), 1u);
  EXPECT_EQ(coverage.missing[0].addresses, 2u);
}

TEST(CoverageOf, ReportsWhyAHiddenKernelHasNoNames) {
  const convert::Profile profile = symbolize::ProfileOf(
      {.filename = "[kernel]", .type = convert::MappingType::kKernel, .offsets = {kText}});
  const Coverage coverage = CoverageOf(BundleWith({Program(), Kallsyms()}), profile);
  ASSERT_EQ(coverage.missing.size(), 1u);
  EXPECT_EQ(coverage.missing[0].reason, "recorded without CAP_SYSLOG: no kernel names");
}

}  // namespace
}  // namespace perftape::bundle_check

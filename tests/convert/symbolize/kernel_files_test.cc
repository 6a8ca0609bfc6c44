// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/kernel_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/symbolize/symbol_sources.h"
#include "tests/convert/symbolize/one_mapping.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::symbolize {
namespace {

constexpr char kKallsyms[] =
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 T do_idle\n"
    "ffffffff81001000 T _etext\n";

TEST(KernelFiles, ReadsATableAheadOnce) {
  const TempDir dir;
  const auto path = dir.Write("kallsyms", kKallsyms);
  KernelFiles files({}, {});
  files.ReadAhead(path, {});
  files.ReadAhead(path, {});
  const auto table = files.TableAt(path, {});
  ASSERT_THAT(table, IsOk());
  EXPECT_NE((*table)->symbols().Find({0xffffffff81000120}), nullptr);
  files.ReadAhead(path, {});
  EXPECT_EQ(files.TableAt(path, {}).value(), *table);
}

TEST(KernelFiles, ReportsTheErrorOfATableThatWasReadAhead) {
  const TempDir dir;
  KernelFiles files({}, {});
  files.ReadAhead(dir / "absent", {});
  EXPECT_EQ(files.TableAt(dir / "absent", {}).error().code, ErrorCode::kNotFound);
}

TEST(KernelFiles, WaitsForATableThatNobodyAskedFor) {
  const TempDir dir;
  KernelFiles files({}, {});
  files.ReadAhead(dir.Write("kallsyms", kKallsyms), {});
}

TEST(KernelFiles, NamesComeFromATableThatWasReadAhead) {
  const TempDir dir;
  dir.Write("[kernel.kallsyms]/616263/kallsyms", kKallsyms);
  ProfileOrigin recording(
      ProfileOrigin::Machine{.kernel = {.build_id = BuildId::From(AsBytes("abc")),
                                        .reference = "_text",
                                        .reference_address = 0xffffffff81000000}});
  auto sources = SymbolSources::Open(
      {.debug_dirs = {dir.path()}, .default_debug_dirs = false, .local = LocalSystem::kNever});
  ASSERT_THAT(sources, IsOk());
  sources->ReadKernelAhead(recording);
  SymbolizeReport report;
  const convert::Profile named = sources->Name(ProfileOf({.filename = "[kernel.kallsyms]_text",
                                                          .start = 0xffffffff81000000,
                                                          .limit = 0xffffffff81001000,
                                                          .file_offset = 0xffffffff81000000,
                                                          .type = convert::MappingType::kKernel,
                                                          .offsets = {0xffffffff81000120}}),
                                               std::move(recording), report);
  EXPECT_EQ(report.count(Miss::kNone), 1U);
}

}  // namespace
}  // namespace perftape::symbolize

// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/symbol_options.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/support/matchers.h"

namespace perftape::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Command kCommand = {
    .name = "tool", .purpose = "", .operands = "", .options = kSymbolRows};

Result<symbolize::SymbolOptions> OptionsOf(const std::vector<std::string>& words) {
  TRY_ASSIGN(SymbolPlan plan, Parse<SymbolPlan>(kCommand, words));
  FinishSymbolOptions(plan);
  return plan.symbol_options;
}

TEST(SymbolOptions, HaveDefaults) {
  const auto options = OptionsOf({});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->local, symbolize::LocalSystem::kSameBoot);
  EXPECT_EQ(options->demangling, std::nullopt);
  EXPECT_EQ(options->source_lines, symbolize::SourceLines::kLinesAndInlines);
  EXPECT_THAT(options->debug_dirs, IsEmpty());
  EXPECT_EQ(options->bundle, "");
}

TEST(SymbolOptions, ContainTheSearchPaths) {
  const auto options =
      OptionsOf({"--bundle", "b.tar.zst", "--symfs=/mnt", "--kallsyms", "k", "--vmlinux=v",
                 "--debug-dir", "/d1", "--debug-dir=/d2", "--local"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->bundle, "b.tar.zst");
  EXPECT_EQ(options->symfs, "/mnt");
  EXPECT_EQ(options->kallsyms, "k");
  EXPECT_EQ(options->vmlinux, "v");
  EXPECT_THAT(options->debug_dirs, ElementsAre("/d1", "/d2"));
  EXPECT_EQ(options->local, symbolize::LocalSystem::kAlways);
}

TEST(SymbolOptions, ContainTheStyleOfNames) {
  EXPECT_EQ(OptionsOf({"--demangle=simple"})->demangling, symbolize::Demangling::kSimple);
  EXPECT_EQ(OptionsOf({"--demangle=full"})->demangling, symbolize::Demangling::kFull);
  EXPECT_EQ(OptionsOf({"--demangle=none"})->demangling, symbolize::Demangling::kNone);
  EXPECT_EQ(OptionsOf({"--no-demangle"})->demangling, symbolize::Demangling::kNone);
  EXPECT_EQ(OptionsOf({"--no-inline"})->source_lines, symbolize::SourceLines::kLines);
  EXPECT_EQ(OptionsOf({"--no-inline", "--no-lines"})->source_lines, symbolize::SourceLines::kNone);
  EXPECT_EQ(OptionsOf({"--no-local"})->local, symbolize::LocalSystem::kNever);
}

TEST(SymbolOptions, MustNotContradictEachOther) {
  EXPECT_THAT(OptionsOf({"--local", "--no-local"}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("cannot be combined")));
  EXPECT_THAT(OptionsOf({"--no-demangle", "--demangle=full"}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("cannot be combined")));
  EXPECT_THAT(OptionsOf({"--demangle=pretty"}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("unknown value 'pretty'")));
}

}  // namespace
}  // namespace perftape::cli

// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/symbolize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "convert/symbolize/symbol_sources.h"
#include "tests/convert/symbolize/one_mapping.h"
#include "tests/support/elf_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::symbolize {
namespace {

// Names even offsets "f<offset>" inlined into "caller", and stores the requests.
class EvenSymbolizer : public Symbolizer {
 public:
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override {
    if (profile.text(profile[mapping].filename) == "/broken") {
      return Fail(ErrorCode::kIo, "/broken: cannot be read");
    }
    Resolution resolution;
    for (const FileOffset offset : offsets) {
      asked.push_back(offset.value);
      const std::string& linker_name = names.emplace_back("_Zf" + std::to_string(offset.value));
      const std::string_view name = std::string_view(linker_name).substr(2);
      resolution.answers.push_back(
          offset.value % 2 != 0
              ? Resolved{.miss = Miss::kNoSymbol}
              : Resolved{.frames = {{.name = name, .system_name = linker_name, .line = 7},
                                    {.name = "caller"}}});
    }
    ++calls;
    return resolution;
  }

  std::deque<std::string> names;
  std::vector<std::uint64_t> asked;
  int calls = 0;
};

TEST(Symbolize, ResolvesEachAddressOnceInOneBatch) {
  const convert::Profile profile =
      ProfileOf({.filename = "/a", .pids = {1, 2, 3}, .offsets = {2, 5, 4, 2}});
  EvenSymbolizer symbolizer;
  SymbolizeReport report;
  Symbolize(profile, symbolizer, report);
  EXPECT_EQ(symbolizer.calls, 1);
  EXPECT_THAT(symbolizer.asked, testing::ElementsAre(2, 5, 4));
}

TEST(Symbolize, GivesLinesToWhatHasANameAndChangesNothingElse) {
  const convert::Profile profile = ProfileOf({.filename = "/a", .offsets = {2, 5}});
  EvenSymbolizer symbolizer;
  SymbolizeReport report;
  const convert::Profile named = Symbolize(profile, symbolizer, report);

  ASSERT_EQ(named.locations().size(), 2U);
  const convert::Location& location = named.locations()[0];
  ASSERT_EQ(location.lines.size(), 2U);
  EXPECT_EQ(named.text(named[location.lines[0].function].name), "f2");
  EXPECT_EQ(named.text(named[location.lines[0].function].system_name), "_Zf2");
  EXPECT_EQ(location.lines[0].number, 7U);
  EXPECT_EQ(named.text(named[location.lines[1].function].name), "caller");
  EXPECT_TRUE(named.locations()[1].lines.empty());
  EXPECT_EQ(named.samples().size(), profile.samples().size());
  EXPECT_TRUE(profile.locations()[0].lines.empty());
}

TEST(Symbolize, CountsWhatWasNamedAndWhatNot) {
  const convert::Profile profile =
      ProfileOf({.filename = "/a", .build_id = "0a", .offsets = {2, 4, 5}});
  EvenSymbolizer symbolizer;
  SymbolizeReport report;
  Symbolize(profile, symbolizer, report);
  ASSERT_EQ(report.mappings.size(), 1U);
  EXPECT_EQ(report.mappings[0].filename, "/a");
  EXPECT_EQ(report.mappings[0].build_id, "0a");
  EXPECT_EQ(report.count(Miss::kNone), 2U);
  EXPECT_EQ(report.count(Miss::kNoSymbol), 1U);
}

TEST(Symbolize, KeepsNamesThatAreThereAndLeavesTheUnmappedAlone) {
  convert::ProfileBuilder builder;
  const convert::MappingId mapping =
      builder.Add(convert::Mapping{.filename = builder.Add("bpf_prog"), .build_id = {}});
  const convert::Line line = {builder.Add(convert::Function{builder.Add("bpf_prog"), {}, {}}), 0};
  builder.Add(convert::Location{.mapping = mapping, .offset = {2}, .lines = {&line, 1}});
  builder.Add(convert::Location{.mapping = {}, .offset = {4}});
  EvenSymbolizer symbolizer;
  SymbolizeReport report;
  const convert::Profile named = Symbolize(std::move(builder).Finish(), symbolizer, report);
  EXPECT_EQ(symbolizer.calls, 0);
  EXPECT_EQ(report.kept, 1U);
  EXPECT_EQ(report.unmapped, 1U);
  EXPECT_EQ(named.text(named[named.locations()[0].lines[0].function].name), "bpf_prog");
}

TEST(Symbolize, ReplacesNamesWhereAskedToAndABetterOneIsFound) {
  convert::ProfileBuilder builder;
  const convert::MappingId mapping =
      builder.Add(convert::Mapping{.filename = builder.Add("/a"), .build_id = {}});
  const convert::Line line = {builder.Add(convert::Function{builder.Add("old"), {}, {}}), 0};
  for (const std::uint64_t offset : {0, 2, 5}) {
    builder.Add(convert::Location{.mapping = mapping, .offset = {offset}, .lines = {&line, 1}});
  }
  EvenSymbolizer symbolizer;
  SymbolizeReport report;
  const convert::Profile named =
      Symbolize(std::move(builder).Finish(), symbolizer, report, OldNames::kReplace);
  std::vector<std::string_view> names;
  for (const convert::Location& location : named.locations()) {
    names.push_back(named.text(named[location.lines[0].function].name));
  }
  EXPECT_THAT(names, testing::ElementsAre("old", "f2", "old"));
  EXPECT_THAT(symbolizer.asked, testing::ElementsAre(2, 5));
}

// A file with one function, which begins at kMark and is a mark, and a longer one that ends before
// it.
class MarkSymbolizer : public Symbolizer {
 public:
  static constexpr std::uint64_t kMark = 0x40;

  explicit MarkSymbolizer(std::string_view name) : name_(name) {}

  Result<Resolution> Resolve(const convert::Profile&, convert::MappingId,
                             std::span<const FileOffset> offsets) override {
    Resolution resolution = {.source = "/a"};
    for (const FileOffset offset : offsets) {
      const bool is_mark = offset.value >= kMark;
      resolution.answers.push_back({.frames = {{.name = is_mark ? name_ : "before"}},
                                    .symbol_offset = offset.value - (is_mark ? kMark : 0),
                                    .is_last_byte = offset.value + 1 == kMark});
    }
    return resolution;
  }

 private:
  std::string_view name_;
};

// The caller of a sample at offset 4 has its return address at `called_from` + 1.
std::string CallerNamed(std::string_view mark, std::uint64_t called_from) {
  convert::ProfileBuilder builder;
  const convert::MappingId mapping =
      builder.Add(convert::Mapping{.filename = builder.Add("/a"), .build_id = {}, .limit = 0x80});
  const convert::StackId caller =
      builder.Push({}, builder.Add(convert::Location{.mapping = mapping, .offset = {called_from}}));
  const convert::StackId leaf =
      builder.Push(caller, builder.Add(convert::Location{.mapping = mapping, .offset = {4}}));
  builder.Add(convert::Sample{
      .stack = leaf, .event = builder.Add(convert::Event{.name = builder.Add("e"), .unit = {}})});
  MarkSymbolizer symbolizer(mark);
  SymbolizeReport report;
  const convert::Profile named = Symbolize(std::move(builder).Finish(), symbolizer, report);
  return std::string(named.text(named[named[named[caller].leaf].lines[0].function].name));
}

TEST(Symbolize, NamesTheMarkInThePlaceOfAReturnAddress) {
  EXPECT_EQ(CallerNamed("__restore_rt", MarkSymbolizer::kMark - 1), "__restore_rt");
  EXPECT_EQ(CallerNamed("runtime.systemstack_switch", MarkSymbolizer::kMark - 1),
            "runtime.systemstack_switch");
  EXPECT_EQ(CallerNamed("__restore_rt", MarkSymbolizer::kMark - 2), "before");
  // The last instruction of a function may call one that does not return.
  EXPECT_EQ(CallerNamed("main", MarkSymbolizer::kMark - 1), "before");
}

TEST(Symbolize, NamesNoMarkAtAnExecutedInstruction) {
  MarkSymbolizer symbolizer("__restore_rt");
  SymbolizeReport report;
  const convert::Profile named = Symbolize(
      ProfileOf({.filename = "/a", .offsets = {MarkSymbolizer::kMark - 1}}), symbolizer, report);
  EXPECT_EQ(named.text(named[named.locations()[0].lines[0].function].name), "before");
}

TEST(Symbolize, ContinuesAfterAFailedMapping) {
  convert::ProfileBuilder builder;
  for (const char* filename : {"/broken", "/whole"}) {
    const convert::MappingId mapping =
        builder.Add(convert::Mapping{.filename = builder.Add(filename), .build_id = {}});
    builder.Add(convert::Location{.mapping = mapping, .offset = {2}});
  }
  EvenSymbolizer symbolizer;
  SymbolizeReport report;
  Symbolize(std::move(builder).Finish(), symbolizer, report);
  ASSERT_EQ(report.mappings.size(), 2U);
  EXPECT_EQ(report.mappings[0].count(Miss::kNoFile), 1U);
  EXPECT_EQ(report.mappings[0].problem, "/broken: cannot be read");
  EXPECT_EQ(report.mappings[1].count(Miss::kNone), 1U);
}

TEST(SymbolizeFrom, NamesFilesAndKernelOfOneProfile) {
  const TempDir dir;
  const std::string program = dir.Write("program", SmallElf("id"));
  convert::ProfileBuilder builder;
  const convert::MappingId user =
      builder.Add(convert::Mapping{.filename = builder.Add(program), .build_id = {}});
  const convert::MappingId kernel =
      builder.Add(convert::Mapping{.filename = builder.Add("[kernel.kallsyms]"),
                                   .build_id = {},
                                   .start = 0xffffffff81000000,
                                   .limit = 0xffffffff82000000,
                                   .file_offset = 0xffffffff81000000,
                                   .type = convert::MappingType::kKernel});
  builder.Add(convert::Location{.mapping = user, .offset = {0x1110}});
  builder.Add(convert::Location{.mapping = kernel, .offset = {0xffffffff81000010}});
  SymbolizeReport report;
  const auto named = SymbolizeFrom(
      std::move(builder).Finish(),
      {.kallsyms = dir.Write("kallsyms", "ffffffff81000000 T _text\nffffffff81000010 T idle\n")},
      ProfileOrigin(ProfileOrigin::Machine{.other_than_here = {}}), report);
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->text((*named)[named->locations()[0].lines[0].function].name), "spin");
  EXPECT_EQ(named->text((*named)[named->locations()[1].lines[0].function].name), "idle");
  EXPECT_EQ(report.count(Miss::kNone), 2U);
}

TEST(SymbolizeFrom, FailsWhereTheKallsymsAskedForIsNotThere) {
  SymbolizeReport report;
  const auto named = SymbolizeFrom(convert::Profile(), {.kallsyms = "/nonexistent/kallsyms"},
                                   ProfileOrigin(), report);
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace perftape::symbolize

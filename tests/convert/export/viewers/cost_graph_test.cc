// SPDX-License-Identifier: Apache-2.0
#include "convert/export/viewers/cost_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/convert/export/profile_maker.h"

namespace perftape::viewers {
namespace {

using convert::EventId;
using convert::FoldedOptions;
using convert::ProfileMaker;
using testing::ElementsAre;

std::string NameText(const CostFunction& function) {
  return std::string(function.name) +
         (function.level == 1 ? "" : "'" + std::to_string(function.level));
}

// Returns "main:12 5" for a line's own cost and "main:12>work 5" for a call.
std::vector<std::string> Costs(const convert::Profile& profile, const FoldedOptions& options = {}) {
  convert::FrameTexts texts(profile, options);
  const CostGraph graph = CostGraphOf(profile, options, texts);
  std::vector<std::string> lines;
  for (const Cost& cost : graph.costs) {
    if (graph.functions[cost.function].name == kNoThread) continue;
    std::string line = NameText(graph.functions[cost.function]) + ":" + std::to_string(cost.line);
    if (cost.callee != kNoCallee) line += ">" + NameText(graph.functions[cost.callee]);
    for (const std::int64_t number : graph.NumbersOf(cost)) line += " " + std::to_string(number);
    lines.push_back(line);
  }
  return lines;
}

TEST(CostGraphOf, CountsOwnCostsAndCalls) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main", "work"}), {}, cycles, 3);
  made.Hit(made.Calls({"main"}), {}, cycles, 1);
  EXPECT_THAT(Costs(made.Make()), ElementsAre("main:0 1", "main:0>work 3", "work:0 3"));
}

TEST(CostGraphOf, TellsLevelsOfARecursionApart) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"f", "g", "f", "g"}), {}, cycles, 2);
  made.Hit(made.Calls({"g", "f"}), {}, cycles, 1);
  EXPECT_THAT(Costs(made.Make()),
              ElementsAre("f:0 1", "f:0>g 2", "f'2:0>g'2 2", "g:0>f 1", "g:0>f'2 2", "g'2:0 2"));
}

TEST(CostGraphOf, HasAColumnForEachEvent) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const EventId faults = made.Counts("faults");
  made.Counts("unused");
  made.Hit(made.Calls({"a"}), {}, cycles, 30);
  made.Hit(made.Calls({"a"}), {}, faults, 4);
  made.Hit(made.Calls({"a", "b"}), {}, faults, 5);
  EXPECT_THAT(Costs(made.Make()), ElementsAre("a:0 30 4", "a:0>b 0 5", "b:0 0 5"));
}

TEST(CostGraphOf, CountsByLineAndInlinedFunction) {
  ProfileMaker made;
  const auto function = [&](std::string_view name) {
    return made.builder.Add(convert::Function{.name = made.builder.Add(name),
                                              .filename = made.builder.Add("/src/a.c")});
  };
  const convert::MappingId mapping = made.Map("/bin/app");
  const std::vector<convert::Line> inlined = {{.function = function("inner"), .number = 7},
                                              {.function = function("main"), .number = 20}};
  const convert::Line other = {.function = function("main"), .number = 21};
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({made.builder.Add(
               convert::Location{.mapping = mapping, .offset = {1}, .lines = inlined})}),
           {}, cycles, 2);
  made.Hit(made.Calls({made.builder.Add(
               convert::Location{.mapping = mapping, .offset = {2}, .lines = {&other, 1}})}),
           {}, cycles, 1);
  EXPECT_THAT(Costs(made.Make()), ElementsAre("inner:7 2", "main:20>inner 2", "main:21 1"));
}

TEST(CostGraphOf, BeginsWithThreads) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main"}), made.Runs("main"), cycles, 2);
  made.Hit({}, made.Runs("idle"), cycles, 1);
  made.Hit({}, {}, cycles, 4);
  EXPECT_THAT(Costs(made.Make()),
              ElementsAre("[unknown]:0 4", "main:0 2", "idle:0 1", "main:0>main 2"));
  ProfileMaker without;
  without.Hit(without.Calls({"main"}), without.Runs("app"), without.Counts("cycles"), 2);
  EXPECT_THAT(Costs(without.Make(), {.root = folded::Root::kNone}), ElementsAre("main:0 2"));
}

TEST(CostGraphOf, HasARootThatNothingCalls) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"a", "b"}), {}, cycles, 7);
  made.Hit(made.Calls({"b"}), {}, cycles, 2);
  const convert::Profile profile = made.Make();
  const FoldedOptions options;
  convert::FrameTexts texts(profile, options);
  const CostGraph graph = CostGraphOf(profile, options, texts);
  ASSERT_EQ(graph.functions.back().name, kNoThread);
  for (const Cost& cost : graph.costs) EXPECT_NE(cost.callee, graph.functions.size() - 1);
  EXPECT_EQ(graph.costs.back().callee, 1U);  // b
  EXPECT_THAT(graph.NumbersOf(graph.costs.back()), ElementsAre(2));
}

TEST(CostGraphOf, LeavesOutNegativeNumbers) {
  ProfileMaker made;
  const EventId change = made.CountsPlainly("change");
  made.Hit(made.Calls({"a"}), {}, change, 0, -5);
  made.Hit(made.Calls({"b"}), {}, change, 0, 5);
  const convert::Profile profile = made.Make();
  const FoldedOptions options;
  convert::FrameTexts texts(profile, options);
  EXPECT_EQ(CostGraphOf(profile, options, texts).negative_samples, 1U);
}

TEST(CostGraphOf, CountsADeepRecursion) {
  ProfileMaker made;
  convert::StackId stack;
  const convert::LocationId frame = made.Frame("f");
  for (int i = 0; i < 20'000; ++i) stack = made.builder.Push(stack, frame);
  made.Hit(stack, {}, made.Counts("cycles"), 1);
  EXPECT_EQ(Costs(made.Make()).size(), 20'000U);
}

}  // namespace
}  // namespace perftape::viewers

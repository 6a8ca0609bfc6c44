// SPDX-License-Identifier: Apache-2.0
// Commands for the tests of help, completion and man pages.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::cli {

struct ExamplePlan : BaseOptions {
  int count = 0;
};
inline constexpr Choice<int> kExampleCounts[] = {{"samples", 0, "default"}, {"period", 1}};

inline constexpr Option kExampleOutputRows[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "where the result goes, which is a sentence that needs more than one line of a "
             "terminal with eighty columns",
     .completion = Completion::kFile,
     .into = Ignore},
    {.name = "values",
     .argument = "KIND",
     .help = "count {choices}",
     .into = StoreChoice<kExampleCounts, &ExamplePlan::count>},
    {.name = "time", .argument = "FROM,TO", .help = "a range", .is_rare = true, .into = Ignore},
};
inline constexpr Option kExampleOtherRows[] = {
    {.letter = 'g', .help = "call chains", .into = Ignore},
    {.name = "level",
     .letter = 'z',
     .argument = "LEVEL",
     .help = "how small",
     .argument_is_optional = true,
     .into = Ignore},
};
inline constexpr auto kExampleOptions =
    Table(InGroup(Group::kOutput, kExampleOutputRows), InGroup(Group::kOther, kExampleOtherRows));
inline constexpr Example kExamples[] = {
    {"perftape-x a", "one"},
    {"perftape-x b --values period",
     "two, with a purpose that needs more than one line of a terminal"},
    {"perftape-x c --output a-name-that-leaves-no-room-for-a-purpose", "three"},
    {"perftape-x d", "four"},
};
inline constexpr Command kCommand = {.name = "perftape-x",
                                     .purpose = "test a tool",
                                     .operands = "FILE",
                                     .options = kExampleOptions,
                                     .examples = kExamples};

inline constexpr Option kVerbOptions[] = {{.name = "json", .help = "for machines", .into = Ignore}};
inline constexpr Command kVerbCommand = {
    .name = "perftape-y list", .purpose = "List.", .operands = "FILE", .options = kVerbOptions};
inline constexpr Verb kVerbs[] = {
    {"list", "what there is", [] -> const Command& { return kVerbCommand; }, nullptr}};
inline constexpr Command kWithVerbs = {
    .name = "perftape-y", .purpose = "y", .operands = "VERB", .options = {}, .verbs = kVerbs};

inline constexpr Verb kPrograms[] = {{"run", "a program of its own"}};
inline constexpr Topic kTopics[] = {{"units", "what counts what", "perftape.7", "UNITS"}};
inline constexpr Example kExamplesOfPrograms[] = {{"perftape-z run", "something"}};
inline constexpr Command kWithPrograms = {.name = "perftape-z",
                                          .purpose = "run programs",
                                          .operands = "VERB",
                                          .options = {},
                                          .examples = kExamplesOfPrograms,
                                          .verbs = kPrograms,
                                          .topics = kTopics};

}  // namespace perftape::cli

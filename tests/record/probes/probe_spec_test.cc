// SPDX-License-Identifier: Apache-2.0
#include "record/probes/probe_spec.h"

#include <gmock/gmock.h>

#include "record/events/event_spec.h"
#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> NamesIn(std::string_view list) {
  const Result<std::vector<EventSpec>> specs = ParseEvents(list);
  if (!specs) return {specs.error().message};
  std::vector<std::string> names;
  for (const EventSpec& spec : *specs) names.push_back(spec.name);
  return names;
}

std::string ErrorOf(std::string_view list) {
  const Result<std::vector<EventSpec>> specs = ParseEvents(list);
  return specs ? "" : specs.error().message;
}

TEST(ProbeSpec, HasFileFunctionAndOffset) {
  const ProbeSpec probe = ParseProbe("uprobe:/usr/bin/ls:main+0x10").value();
  EXPECT_EQ(probe.kind, ProbeKind::kUprobe);
  EXPECT_EQ(probe.file, "/usr/bin/ls");
  EXPECT_EQ(probe.symbol, "main");
  EXPECT_EQ(probe.offset, 16U);
  EXPECT_EQ(ParseProbe("kprobe:vfs_read+8").value().offset, 8U);
}

TEST(ProbeSpec, HasProviderAndNameOfUsdt) {
  const ProbeSpec probe = ParseProbe("usdt:libstdc++:libstdcxx:throw").value();
  EXPECT_EQ(probe.file, "libstdc++");
  EXPECT_EQ(probe.provider, "libstdcxx");
  EXPECT_EQ(probe.symbol, "throw");
}

TEST(ProbeSpec, HasColonsAndPlusSignsOfCpp) {
  EXPECT_EQ(ParseProbe("uprobe:a:ns::A::operator+").value().symbol, "ns::A::operator+");
  EXPECT_EQ(ParseProbe("uretprobe:a:ns::f(int)").value().symbol, "ns::f(int)");
}

TEST(ProbeSpec, OfAnotherWordIsATracepoint) {
  EXPECT_FALSE(ProbeKindOf("sched:sched_switch"));
  EXPECT_FALSE(ProbeKindOf("uprobe"));
  EXPECT_FALSE(ProbeKindOf("cpu-clock,uprobe:a:b"));
  EXPECT_TRUE(ParseEvents("sched:uprobe").value().front().is_tracepoint());
  EXPECT_FALSE(ParseEvents("uprobe:a:b").value().front().is_tracepoint());
}

TEST(ProbeSpec, SlashesInThePathAreNoOptions) {
  EXPECT_THAT(NamesIn("uprobe:/usr/bin/ls:main/every=3/,cs,usdt:./a:b:c"),
              ElementsAre("uprobe:/usr/bin/ls:main", "cs", "usdt:./a:b:c"));
  EXPECT_EQ(ParseEvents("usdt:/a/b:c:d/every=3/").value().front().every, 3U);
}

TEST(ProbeSpec, CommasInParametersDoNotEndIt) {
  EXPECT_THAT(NamesIn("uprobe:a:f(int, char)/period=2/,uprobe:a:g<int, char>,kprobe:h"),
              ElementsAre("uprobe:a:f(int, char)", "uprobe:a:g<int, char>", "kprobe:h"));
}

TEST(ProbeSpec, SignsOfOperatorsSeparateNothing) {
  for (const std::string name : {"a::operator<", "a::operator<<", "a::operator,", "a::operator/",
                                 "a::operator->", "a::operator()", "a::operator<=>(b, c)"}) {
    const std::string probe = "uprobe:p:" + name;
    EXPECT_THAT(NamesIn(probe + "/every=2/,cs"), ElementsAre(probe, "cs"));
  }
}

TEST(ProbeSpec, SlashesInImportPathsOfGoAreNoOptions) {
  EXPECT_THAT(NamesIn("uprobe:p:github.com/pkg/errors.New,uprobe:p:a/b.F/every=2/,cs"),
              ElementsAre("uprobe:p:github.com/pkg/errors.New", "uprobe:p:a/b.F", "cs"));
}

TEST(ProbeSpec, MessagesShowTheSyntax) {
  EXPECT_THAT(ErrorOf("uprobe:libc"), HasSubstr("write uprobe:PATH:FUNCTION[+OFFSET]"));
  EXPECT_THAT(ErrorOf("uprobe::malloc"), HasSubstr("write uprobe:PATH"));
  EXPECT_THAT(ErrorOf("usdt:a:b"), HasSubstr("write usdt:PATH:PROVIDER:NAME"));
  EXPECT_THAT(ErrorOf("kprobe:"), HasSubstr("write kprobe:FUNCTION"));
  EXPECT_THAT(ErrorOf("uprobe:a:f+0xg"), HasSubstr("the offset after '+' is not a number"));
  EXPECT_THAT(ErrorOf("uretprobe:a:f+4"), HasSubstr("a uretprobe has no offset"));
  EXPECT_THAT(ErrorOf("uprobe:a:f:u"), HasSubstr("a uprobe takes no modifiers"));
  EXPECT_THAT(ErrorOf("uprobe:a:f/every=3"), HasSubstr("the slash after the options is missing"));
  EXPECT_THAT(ErrorOf("uprobe:a:f/"), HasSubstr("the slash after the options is missing"));
}

TEST(ProbeSpec, AnAsteriskIsAllProbesOfAFile) {
  const ProbeSpec probe = ParseProbe("usdt:a:*").value();
  EXPECT_EQ(probe.provider, "*");
  EXPECT_EQ(probe.symbol, "*");
}

}  // namespace
}  // namespace perftape::record

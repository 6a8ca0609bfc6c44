// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_spec.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> NamesOf(std::string_view list) {
  std::vector<std::string> names;
  const auto specs = ParseEvents(list);
  if (!specs) return {specs.error().message};
  for (const EventSpec& spec : *specs) names.push_back(spec.name);
  return names;
}

EventSpec Only(std::string_view text) {
  const auto specs = ParseEvents(text);
  EXPECT_TRUE(specs) << specs.error().message;
  EXPECT_EQ(specs->size(), 1U);
  return specs->front();
}

std::string ErrorOf(std::string_view text) {
  const auto specs = ParseEvents(text);
  if (specs) return "";
  EXPECT_EQ(specs.error().code, ErrorCode::kInvalidArgument);
  return specs.error().message;
}

TEST(ParseEvents, SplitsAtCommasOutsideOfSlashes) {
  EXPECT_THAT(NamesOf("cpu-clock"), ElementsAre("cpu-clock"));
  EXPECT_THAT(NamesOf("cpu-clock,cs"), ElementsAre("cpu-clock", "cs"));
  EXPECT_THAT(NamesOf("sched:sched_switch/every=2,if=prev_pid>0/,cs"),
              ElementsAre("sched:sched_switch", "cs"));
}

TEST(ParseEvents, ReadsModifiers) {
  EXPECT_EQ(Only("page-faults:u").modifiers, "u");
  EXPECT_EQ(Only("page-faults:uk").modifiers, "uk");
  EXPECT_EQ(Only("page-faults/period=1/u").modifiers, "u");
  EXPECT_EQ(Only("page-faults/period=1/:k").modifiers, "k");
  EXPECT_EQ(Only("cycles:upppDI").modifiers, "upppDI");
  EXPECT_EQ(Only("sched:sched_switch:k").name, "sched:sched_switch");
  EXPECT_TRUE(Only("cycles:u").only_user_code());
  EXPECT_TRUE(Only("cycles:k").only_kernel_code());
  EXPECT_FALSE(Only("cycles:ukp").only_user_code());
  EXPECT_FALSE(Only("cycles:ukp").only_kernel_code());
}

TEST(ParseEvents, RefusesBadModifiers) {
  for (const char* text : {"cycles:pppp", "cycles:uu", "cycles/period=9/x", "cycles:uDD"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("bad modifier")) << text;
  }
  EXPECT_THAT(ErrorOf("cycles:b"), HasSubstr("perf stat"));
}

TEST(ParseEvents, ReadsGroups) {
  const auto specs = ParseEvents("cs,{cycles:u,instructions/period=9,name=i/}:pD,mine{faults,cs}");
  ASSERT_THAT(specs, IsOk());
  ASSERT_EQ(specs->size(), 5U);
  EXPECT_EQ((*specs)[0].group, GroupRole::kNone);
  EXPECT_EQ((*specs)[1].group, GroupRole::kFirst);
  EXPECT_EQ((*specs)[1].modifiers, "u");
  EXPECT_EQ((*specs)[1].group_modifiers, "pD");
  EXPECT_EQ((*specs)[2].group, GroupRole::kOther);
  EXPECT_EQ((*specs)[2].name_in_file, "i");
  EXPECT_EQ((*specs)[3].group, GroupRole::kFirst);
  EXPECT_EQ((*specs)[3].group_name, "mine");
  for (const char* text : {"{cs", "{cs,", "{}", "{cs}x", "{cs}:", "{{cs}}", "{cs}:zz", "}", "{cs}}",
                           "{cs:pp}:pp", "cs{", "{cs}{cs}"}) {
    EXPECT_NE(ErrorOf(text), "") << text;
  }
}

TEST(ParseEvents, ReadsBreakpoints) {
  const auto breakpoint = [](const char* text) { return Only(text).breakpoint; };
  EXPECT_EQ(breakpoint("mem:0x1000"), (Breakpoint{.address = 0x1000, .length = 4, .access = 3}));
  EXPECT_EQ(breakpoint("mem:4096:x"), (Breakpoint{.address = 0x1000, .length = 8, .access = 4}));
  EXPECT_EQ(breakpoint("mem:0x1000/8:w:u"),
            (Breakpoint{.address = 0x1000, .length = 8, .access = 2}));
  EXPECT_EQ(Only("mem:0x1000/8:w:u").modifiers, "u");
  EXPECT_EQ(Only("mem:0x1000:u").breakpoint->access, 3U);
  EXPECT_FALSE(Only("mem:0x1000:rw").is_tracepoint());
  EXPECT_THAT(NamesOf("mem:0x1000/1:w,cs"), ElementsAre("mem:0x1000/1:w", "cs"));
  for (const char* text : {"mem:", "mem:x", "mem:0x1000/", "mem:0x1000:rr", "mem:0x1000:q",
                           "mem:0x1000:r:w:u", "mem:0x1ffffffffffffffff"}) {
    EXPECT_NE(ErrorOf(text), "") << text;
  }
}

TEST(ParseEvents, ReadsTermsOfPmus) {
  const EventSpec spec = Only("cpu/event=0x3c,umask=1,any,period=100,name=busy/u");
  EXPECT_EQ(spec.name, "cpu");
  EXPECT_THAT(spec.pmu_terms, ElementsAre(PmuTerm{.key = "event", .value = 0x3c},
                                          PmuTerm{.key = "umask", .value = 1}, PmuTerm{"any"}));
  EXPECT_EQ(spec.name_in_file, "busy");
  EXPECT_EQ(std::get<Period>(*spec.rate).count, 100U);
  EXPECT_THAT(ErrorOf("cpu/event=x/"), HasSubstr("not a number"));
}

TEST(ParseEvents, SaysWhatReplacesOptionsOfPerf) {
  EXPECT_EQ(ErrorOf("cpu-clock/time=1,percore,inherit,no-overwrite,metric-id=x/"), "");
  EXPECT_THAT(ErrorOf("cpu-clock/call-graph=fp/"), HasSubstr("use --call-graph"));
  EXPECT_THAT(ErrorOf("cpu-clock/overwrite/"), HasSubstr("use --flight"));
  EXPECT_THAT(ErrorOf("cpu-clock/time=0/"), HasSubstr("each sample has it"));
  EXPECT_THAT(ErrorOf("cpu-clock/name=/"), HasSubstr("name= must be"));
}

TEST(ParseEvents, TellsATracepointFromAModifier) {
  EXPECT_TRUE(Only("sched:sched_switch").is_tracepoint());
  EXPECT_TRUE(Only("sched:*").is_tracepoint());
  EXPECT_FALSE(Only("cs:u").is_tracepoint());
}

TEST(ParseEvents, ReadsFrequencyAndPeriod) {
  EXPECT_EQ(std::get<Frequency>(*Only("cpu-clock/freq=999/").rate).hz, 999U);
  EXPECT_EQ(std::get<Period>(*Only("cs/period=0x10/").rate).count, 16U);
  EXPECT_FALSE(Only("cs//").rate.has_value());
  EXPECT_THAT(ErrorOf("cs/freq=1,period=1/"), HasSubstr("cannot be combined"));
  EXPECT_THAT(ErrorOf("cs/freq=0/"), HasSubstr("not a number above 0"));
  EXPECT_THAT(ErrorOf("cs/period=18446744073709551615/"), HasSubstr("too large"));
}

TEST(ParseEvents, ReadsConditions) {
  const EventSpec spec = Only("sub:name/every=3,if=x==1,if=y!=-2,if=z<0x10,if=v>4,if=w&8/");
  EXPECT_EQ(spec.every, 3U);
  EXPECT_THAT(
      spec.conditions,
      ElementsAre(FieldCondition{.field = "x", .comparison = Comparison::kEqual, .value = 1},
                  FieldCondition{.field = "y",
                                 .comparison = Comparison::kNotEqual,
                                 .value = static_cast<std::uint64_t>(-2),
                                 .is_negative = true},
                  FieldCondition{.field = "z", .comparison = Comparison::kLess, .value = 16},
                  FieldCondition{.field = "v", .comparison = Comparison::kGreater, .value = 4},
                  FieldCondition{.field = "w", .comparison = Comparison::kAnyBit, .value = 8}));
}

TEST(ParseEvents, ReadsLimitsAndNamesOfValues) {
  const EventSpec spec = Only("sub:name/if=x<=1,if=y>=NO_SOCKET/");
  EXPECT_THAT(
      spec.conditions,
      ElementsAre(
          FieldCondition{.field = "x", .comparison = Comparison::kAtMost, .value = 1},
          FieldCondition{
              .field = "y", .comparison = Comparison::kAtLeast, .value_name = "NO_SOCKET"}));
}

TEST(ParseEvents, RefusesWhatIsNoCondition) {
  for (const char* text : {"sub:name/if=/", "sub:name/if=x/", "sub:name/if===1/",
                           "sub:name/if=x==/", "sub:name/if=x==1y/", "sub:name/if=x=1/"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("is not a condition")) << text;
  }
}

TEST(ParseEvents, RefusesWhatIsNoEvent) {
  for (const char* text : {"", ",", "cs,", ":u", "a:b:c", "/freq=1/"}) {
    EXPECT_NE(ErrorOf(text), "") << text;
  }
  EXPECT_THAT(ErrorOf("cs/freq=1"), HasSubstr("slash after the options is missing"));
  EXPECT_THAT(ErrorOf("cs/fequ=1/"), HasSubstr("unknown option 'fequ'"));
}

TEST(ParseEvents, ReadsTheOptionsOfALatencyProbe) {
  const auto events = ParseEvents("latency:fs/min=1.5ms,errors=off/,latency:syscall=openat");
  ASSERT_THAT(events, IsOk());
  ASSERT_EQ(events->size(), 2U);
  EXPECT_TRUE((*events)[0].is_latency());
  EXPECT_FALSE((*events)[0].is_tracepoint());
  EXPECT_EQ((*events)[0].name, "latency:fs");
  EXPECT_EQ((*events)[0].latency_min_ns, 1'500'000U);
  EXPECT_EQ((*events)[0].samples_errors, false);
  EXPECT_EQ((*events)[1].name, "latency:syscall=openat");
  EXPECT_EQ((*events)[1].latency_min_ns, std::nullopt);
  for (const char* wrong : {"latency:read/min=5/", "latency:read/errors=no/",
                            "latency:read/every=2/", "sched:sched_switch/min=1ms/"}) {
    EXPECT_THAT(ParseEvents(wrong), FailsWith(ErrorCode::kInvalidArgument)) << wrong;
  }
}

}  // namespace
}  // namespace perftape::record

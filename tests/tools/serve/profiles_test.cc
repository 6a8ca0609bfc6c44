// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/profiles.h"

#include <gmock/gmock.h>

#include "tests/convert/profile_lines.h"
#include "tests/support/pprof_reader.h"
#include "tests/tools/serve/profile_of_pods.h"

namespace perftape::serve {
namespace {

using convert::SampleLines;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Profiles, SelectsAPodAndAnEvent) {
  const convert::Profile profile =
      ProfileOfPods({{.pod = "a", .function = "f"},
                     {.pod = "b", .function = "g"},
                     {.event = "cpu-clock", .pod = "a", .function = "h"},
                     {.pod = "", .function = "i"}});
  const Selection selection = {
      .wants_event = [](std::string_view event) { return event == "skb:kfree_skb"; },
      .conditions = {{"namespace", "shop"}, {"pod", "a"}}};
  EXPECT_THAT(SampleLines(Select(profile, selection)),
              ElementsAre("skb:kfree_skb app/7 f {namespace=shop} {pod=a} 1:1"));
}

TEST(Profiles, HasTheFirstEventThatHasSamples) {
  const convert::Profile profile = ProfileOfPods(
      {{.function = "f"}, {.event = "cpu-clock", .function = "g"}, {.function = "h"}});
  const auto lines = [&](const std::vector<std::string>& events) {
    return SampleLines(OfFirstEvent(profile, events));
  };
  EXPECT_THAT(lines({"cpu-clock", "packetloss"}), ElementsAre(HasSubstr(" g ")));
  EXPECT_THAT(lines({"page-faults", "packetloss", "cpu-clock"}),
              ElementsAre(HasSubstr(" f "), HasSubstr(" h ")));
  EXPECT_THAT(SampleLines(OfFirstEvent(convert::Profile(), {})), IsEmpty());
}

TEST(Profiles, SelectsByAnyLabel) {
  const convert::Profile profile =
      ProfileOfPods({{.function = "f", .label = {"unit", "a.service"}},
                     {.function = "g", .label = {"service.name", "cart"}},
                     {.function = "h", .label = {"service.name", "pay"}},
                     {.function = "i"}});
  const auto lines = [&](const LabelConditions& conditions) {
    return SampleLines(Select(profile, {.conditions = conditions}));
  };
  EXPECT_THAT(lines({{"unit", "a.service"}}), ElementsAre(HasSubstr("app/7 f ")));
  EXPECT_THAT(lines({{"service.name", "cart"}}), ElementsAre(HasSubstr("app/7 g ")));
  EXPECT_THAT(lines({{"service.name", "cart"}, {"pod", "a"}}), ElementsAre(HasSubstr("app/7 g ")));
  EXPECT_THAT(lines({{"service.name", "cart"}, {"pod", "b"}}), IsEmpty());
  EXPECT_THAT(lines({{"service.name", "car"}}), IsEmpty());
  EXPECT_THAT(lines({{"unit", ""}}), IsEmpty());
}

TEST(Profiles, KeepsOnlyTheWantedLabels) {
  const convert::Profile profile = ProfileOfPods({{.pod = "a"}, {.pod = "b"}});
  EXPECT_THAT(SampleLines(Select(profile, {.labels = {{"comm", "namespace"}}})),
              ElementsAre(HasSubstr("f {namespace=shop} 2:2")));
}

TEST(Profiles, JoinsWindows) {
  const Window joined = Join(WindowOf(1, {{.function = "f", .count = 2}}),
                             WindowOf(2, {{.function = "f", .count = 3}, {.function = "g"}}))
                            .value();
  EXPECT_EQ(joined.start_ns, 1'000'000'000);
  EXPECT_EQ(joined.end_ns, 3'000'000'000);
  EXPECT_THAT(SampleLines(ProfileOf(joined).value()),
              ElementsAre(HasSubstr("f {namespace=shop} {pod=a} 5:5"), HasSubstr("g")));
  EXPECT_EQ(ProfileOf(joined).value().locations().front().symbol_offset, 0x1f);
  EXPECT_THAT(Join(WindowOf(1, {}), WindowOf(2, {})).value().profile, IsEmpty());
}

TEST(Profiles, FoldedTextAddsUpEvents) {
  const convert::Profile profile = ProfileOfPods({{.event = "tcp:tcp_send_reset", .count = 2},
                                                  {.event = "tcp:tcp_receive_reset", .count = 3}});
  EXPECT_EQ(FoldedText(profile, Offsets::kNo).value(), "app;f 5\n");
  EXPECT_EQ(FoldedText(profile, Offsets::kYes).value(), "app;f+0x1f 5\n");
  EXPECT_EQ(FoldedText(convert::Profile(), Offsets::kNo).value(), "");
}

// The sample types of the answer to /debug/pprof/EVENT, and which go tool pprof shows.
std::vector<std::string> TypesOf(std::string_view event) {
  const convert::Profile profile = ProfileOfPods({{.event = event, .count = 2}});
  const std::string file = PprofFile(profile, 0, 0).value();
  const pprof::Profile written = pprof::ReadProfile(AsBytes(file)).value();
  const auto text = [&](pprof::StringIndex index) {
    return written.string_table[static_cast<std::size_t>(index)];
  };
  std::vector<std::string> types;
  for (const pprof::ValueType& type : written.header.sample_types)
    types.push_back(text(type.type) + "/" + text(type.unit));
  types.push_back("shows " + text(written.header.default_sample_type));
  return types;
}

TEST(Profiles, PprofNamesTheAmountsOfEachKindOfEvent) {
  EXPECT_THAT(TypesOf("cpu-clock"), ElementsAre("samples/count", "cpu/nanoseconds", "shows cpu"));
  EXPECT_THAT(TypesOf("offcpu-time"),
              ElementsAre("samples/count", "offcpu-time/nanoseconds", "shows offcpu-time"));
  EXPECT_THAT(TypesOf("latency:read"),
              ElementsAre("samples/count", "latency:read/nanoseconds", "shows latency:read"));
  EXPECT_THAT(TypesOf("skb:kfree_skb"),
              ElementsAre("samples/count", "skb:kfree_skb/count", "shows skb:kfree_skb"));
  EXPECT_THAT(TypesOf("page-faults"),
              ElementsAre("samples/count", "page-faults/count", "shows page-faults"));
}

TEST(Profiles, PprofAndPageAreMadeOfNothing) {
  EXPECT_THAT(PprofFile(convert::Profile(), 0, 0).value(), HasSubstr("\x1f\x8b"));
  EXPECT_THAT(HtmlPage(ProfileOfPods({{}}), 0, 1).value(), HasSubstr("<!DOCTYPE html>"));
}

}  // namespace
}  // namespace perftape::serve

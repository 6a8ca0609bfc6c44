// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/parameters.h"

#include <gmock/gmock.h>

namespace perftape::serve {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

Result<ProfileRequest> FlameGraph(std::string_view text) {
  Result<Target> target = Target::Parse(text);
  if (!target) return Fail(target.error());
  return ParseFlameGraphRequest(*target);
}

std::string ErrorOf(std::string_view text) {
  const Result<ProfileRequest> request = FlameGraph(text);
  return request ? "" : request.error().message;
}

TEST(Target, DecodesPathAndParameters) {
  Target target = Target::Parse("/a%20b?x=1&y=c+d%26&z").value();
  EXPECT_EQ(target.path(), "/a b");
  EXPECT_EQ(target.Consume("x"), "1");
  EXPECT_EQ(target.Consume("y"), "c d&");
  EXPECT_FALSE(target.CheckAllKnown());
  EXPECT_EQ(target.Consume("z"), "");
  EXPECT_EQ(target.Consume("z"), std::nullopt);
  EXPECT_TRUE(target.CheckAllKnown());
}

TEST(Target, RefusesWhatIsNoTarget) {
  for (const char* const text :
       {"", "x", "/%", "/%4", "/%zz", "/?a=%0a", "/?a=%00", "/\x01", "/?a=1&a=2"})
    EXPECT_FALSE(Target::Parse(text)) << text;
  std::string many = "/?";
  for (int i = 0; i < 100; ++i) many += "&p" + std::to_string(i) + "=1";
  EXPECT_FALSE(Target::Parse(many));
}

TEST(FlameGraphRequest, HasTheParametersOfKubeSkoop) {
  const ProfileRequest request =
      FlameGraph("/f?scope=pod&namespace=default&pod=test&event=PacketLoss&reset=true").value();
  EXPECT_THAT(request.conditions, ElementsAre(Pair("namespace", "default"), Pair("pod", "test")));
  EXPECT_EQ(request.event, "PacketLoss");
  EXPECT_TRUE(request.reset);
  EXPECT_THAT(FlameGraph("/f?scope=node").value().conditions, IsEmpty());
}

TEST(FlameGraphRequest, ChoosesByUnitAndService) {
  EXPECT_THAT(FlameGraph("/f?unit=nginx.service").value().conditions,
              ElementsAre(Pair("unit", "nginx.service")));
  EXPECT_THAT(FlameGraph("/f?scope=node&service=cart").value().conditions,
              ElementsAre(Pair("service.name", "cart")));
  EXPECT_THAT(FlameGraph("/f?namespace=a&pod=b&service=c").value().conditions,
              ElementsAre(Pair("namespace", "a"), Pair("pod", "b"), Pair("service.name", "c")));
}

TEST(FlameGraphRequest, ReadsTimes) {
  EXPECT_EQ(FlameGraph("/f?since=5m").value().ago, seconds(300));
  EXPECT_EQ(FlameGraph("/f?since=-90").value().ago, seconds(90));
  EXPECT_EQ(FlameGraph("/f?since=-90s").value().ago, seconds(90));
  EXPECT_EQ(FlameGraph("/f?since=1700000000.5").value().since_ns, 1'700'000'000'500'000'000);
  EXPECT_EQ(FlameGraph("/f?seconds=2.5").value().seconds, std::chrono::milliseconds(2500));
}

TEST(FlameGraphRequest, NamesWhatIsWrong) {
  EXPECT_THAT(ErrorOf("/f?sinc=5"), HasSubstr("unknown parameter: sinc"));
  EXPECT_THAT(ErrorOf("/f?seconds=0"), HasSubstr("seconds=0"));
  EXPECT_THAT(ErrorOf("/f?seconds=3601"), HasSubstr("seconds=3601"));
  EXPECT_THAT(ErrorOf("/f?seconds=x"), HasSubstr("seconds=x"));
  EXPECT_THAT(ErrorOf("/f?since=now"), HasSubstr("since=now"));
  EXPECT_THAT(ErrorOf("/f?scope=pod&pod=a"), HasSubstr("namespace="));
  EXPECT_THAT(ErrorOf("/f?scope=node&pod=a"), HasSubstr("scope=pod"));
  EXPECT_THAT(ErrorOf("/f?scope=cluster"), HasSubstr("scope=cluster"));
  EXPECT_THAT(ErrorOf("/f?unit="), HasSubstr("unit="));
  EXPECT_THAT(ErrorOf("/f?service"), HasSubstr("service="));
  EXPECT_THAT(ErrorOf("/f?reset=maybe"), HasSubstr("reset=maybe"));
  EXPECT_THAT(ErrorOf("/f?reset=true&since=1m"), HasSubstr("reset="));
}

TEST(CollapsedRequest, AlsoHasOffsets) {
  Target target = Target::Parse("/f?scope=node&offsets=true").value();
  EXPECT_TRUE(ParseCollapsedRequest(target).value().offsets);
  EXPECT_THAT(ErrorOf("/f?offsets=true"), HasSubstr("unknown parameter: offsets"));
}

TEST(PprofRequest, AcceptsWhatScrapersSend) {
  Target target =
      Target::Parse("/p?seconds=10&delta=true&labels=pod,comm&debug=0&unit=a.scope").value();
  const ProfileRequest request = ParsePprofRequest(target, "profile").value();
  EXPECT_EQ(request.seconds, seconds(10));
  EXPECT_THAT(request.conditions, ElementsAre(Pair("unit", "a.scope")));
  EXPECT_EQ(request.labels, (std::vector<std::string>{"pod", "comm"}));
  Target text = Target::Parse("/p?debug=1").value();
  EXPECT_FALSE(ParsePprofRequest(text, "profile"));
}

}  // namespace
}  // namespace perftape::serve

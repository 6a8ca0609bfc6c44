// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/config_file.h"

#include <gmock/gmock.h>

namespace perftape::serve {
namespace {

using testing::HasSubstr;

std::string ConfigErrorOf(std::string_view text) {
  ServePlan plan;
  const Status applied = ApplyConfig(text, "serve.conf", plan);
  return applied ? "" : applied.error().message;
}

TEST(Config, HasTheOptionsOfTheCommandLine) {
  ServePlan plan;
  plan.operands = {"kept"};
  ASSERT_TRUE(
      ApplyConfig("# comment\n\n  listen = /run/x.sock \r\nlisten=127.0.0.1:1\n"
                  "event = cpu-clock,oom\nwindow=2s\nallow-missing-events\nmemory = 2M",
                  "serve.conf", plan));
  EXPECT_EQ(plan.addresses.size(), 2);
  EXPECT_EQ(plan.addresses[0].path, "/run/x.sock");
  EXPECT_EQ(plan.record.input.events.size(), 2);
  EXPECT_EQ(plan.window, std::chrono::seconds(2));
  EXPECT_EQ(plan.history.bytes, 2 << 20);
  EXPECT_EQ(plan.record.input.missing_events, record::MissingEvents::kSkip);
  EXPECT_THAT(plan.operands, testing::ElementsAre("kept"));
}

TEST(Config, NamesTheLineThatIsWrong) {
  EXPECT_THAT(ConfigErrorOf("window = 1s\nwindows = 1s\n"),
              HasSubstr("serve.conf:2: no such option: windows"));
  EXPECT_THAT(ConfigErrorOf("window"), HasSubstr("serve.conf:1: needs a value"));
  EXPECT_THAT(ConfigErrorOf("quiet = yes"), HasSubstr("takes no value"));
  EXPECT_THAT(ConfigErrorOf("window = long"), HasSubstr("serve.conf:1: "));
  EXPECT_THAT(ConfigErrorOf("max-cpu = 0"), HasSubstr("--max-cpu: must be above 0"));
  for (const char* const name : {"config = x", "help", "version", "l = /x", "= x"})
    EXPECT_THAT(ConfigErrorOf(name), HasSubstr("serve.conf:1: ")) << name;
}

TEST(Config, CanBeEmpty) {
  EXPECT_EQ(ConfigErrorOf(""), "");
}

}  // namespace
}  // namespace perftape::serve

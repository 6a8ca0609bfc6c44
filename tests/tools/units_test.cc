// SPDX-License-Identifier: Apache-2.0
// All options that take a time, a size or a percentage accept the same units.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "formats/base/byte_size.h"
#include "formats/base/duration.h"
#include "tests/tools/all_tools.h"

namespace perftape {
namespace {

using testing::HasSubstr;
using Texts = std::vector<std::string>;

struct Quantity {
  std::string_view name;
  Texts accepted, refused;
  std::string_view units;  // what the message for a refused text lists
};

const Quantity kTime = {
    .name = "time",
    .accepted = {"5ns", "5us", "5ms", "5s", "5m", "5min", "5h", "5d", "1.5s", "1h30m"},
    .refused = {"5x", "5w", "5S", "5 s", "-5s", "1e3s", "s", "1h30", "99999999d"},
    .units = kDurationUnits};
const Quantity kSize = {.name = "size",
                        .accepted = {"8192B", "8K", "1M", "1G"},
                        .refused = {"8k", "1KB", "1T", "1.5M", "M", "-1M", "1 M"},
                        .units = kSizeUnits};
const Quantity kPercent = {.name = "percentage",
                           .accepted = {"5%", "0.5%", "99%"},
                           .refused = {"101%", "-5%", "5 %", "%", "1e1%", "nan%"},
                           .units = ""};

// What the value of an option with this word for its argument contains, between two texts.
struct Use {
  std::string_view argument;
  const Quantity& quantity;
  std::string before = {}, after = {};
};
const Use kUses[] = {
    {"TIME", kTime},
    {"SIZE", kSize},
    {"PAGES", kSize},
    {"PERCENT", kPercent},
    {"MODE", kTime},
    {"MODE", kSize},
    {"METHOD", kSize, "dwarf,"},
    {"FROM,TO", kTime, "", ","},
    {"FROM,TO", kPercent, "", ","},
    {"CONDITION", kTime, "offcpu>"},
    {"CONDITION", kPercent, "cpu>", "/5s"},
};

// The other words. A new one is either here or above, so that nobody forgets to decide.
constexpr std::string_view kNoQuantity[] = {"ACTION",       "ADDRESS",
                                            "BUNDLE",       "CHANNEL",
                                            "CLOCK",        "COLUMN",
                                            "COMMAND",      "CPU",
                                            "CPUS",         "DIR",
                                            "DIRECTION",    "ELF",
                                            "EVENT",        "FIELD",
                                            "FIELDS",       "FILE",
                                            "FILTER",       "FORMAT",
                                            "GLOB",         "HZ",
                                            "I/N",          "ID",
                                            "KEY",          "KEYFILE",
                                            "KIND",         "KIND=URL",
                                            "LANGUAGE",     "LEVEL",
                                            "LIST",         "MASK",
                                            "MS",           "N",
                                            "NAME",         "NAME=THRESHOLD",
                                            "NAMES",        "NAMESPACE/NAME",
                                            "NODE",         "OLD",
                                            "OPTIONS",      "PATH",
                                            "PATH|ID",      "PERIOD",
                                            "PID",          "PIDS",
                                            "PID[,PID...]", "PRIORITY",
                                            "RANGE",        "RECORDS",
                                            "REGEX",        "REGISTERS",
                                            "RULE",         "SAMPLER",
                                            "SEVERITY",     "SHELL",
                                            "SPEC",         "STYLE",
                                            "TEXT",         "TID",
                                            "TIDS",         "TID[,TID...]",
                                            "URL",          "URLS",
                                            "USER",         "VERSION",
                                            "WHEN",         "WORDS"};

// Calls `check` with each tool, option and use of a quantity in it.
void ForEachUse(const std::function<void(const Tool&, const cli::Option&, const Use&)>& check) {
  for (const Tool& tool : AllTools()) {
    for (const cli::Option& option : tool.command->options) {
      for (const Use& use : kUses) {
        if (option.argument != use.argument) continue;
        SCOPED_TRACE(std::string(tool.command->name) + " " + option.spelled());
        ASSERT_TRUE(tool.new_plan) << "AllTools() needs the plan of this tool";
        check(tool, option, use);
      }
    }
  }
}

Status Parse(const Tool& tool, const cli::Option& option, const std::string& value) {
  const std::vector<std::string> words = {option.spelled() + "=" + value};
  return cli::ParseInto(*tool.command, words, *tool.new_plan());
}

// Each option has its own limits, which come after the units.
bool IsUnderstood(const Status& status) {
  return status || status.error().message.contains("is out of range");
}

TEST(Units, EachArgumentIsKnownToBeAQuantityOrNot) {
  for (const Tool& tool : AllTools()) {
    for (const cli::Option& option : cli::AllOptions(*tool.command)) {
      if (!option.takes_argument()) continue;
      EXPECT_NE(std::ranges::find(kUses, option.argument, &Use::argument) != std::end(kUses),
                std::ranges::find(kNoQuantity, option.argument) != std::end(kNoQuantity))
          << tool.command->name << " " << option.spelled() << " " << option.argument;
    }
  }
}

TEST(Units, AllOptionsAcceptAllUnits) {
  int checked = 0;
  ForEachUse([&](const Tool& tool, const cli::Option& option, const Use& use) {
    for (const std::string& text : use.quantity.accepted) {
      const Status status = Parse(tool, option, use.before + text + use.after);
      EXPECT_TRUE(IsUnderstood(status))
          << use.quantity.name << " " << text << ": " << (status ? "" : status.error().message);
      ++checked;
    }
  });
  EXPECT_GT(checked, 150);
}

TEST(Units, AllOptionsRefuseOtherTextsAndListTheUnits) {
  ForEachUse([](const Tool& tool, const cli::Option& option, const Use& use) {
    for (const std::string& text : use.quantity.refused) {
      const Status status = Parse(tool, option, use.before + text + use.after);
      ASSERT_FALSE(status) << use.quantity.name << " " << text;
      EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
      EXPECT_THAT(status.error().message, HasSubstr(use.quantity.units)) << text;
      EXPECT_FALSE(status.error().message.contains("is out of range")) << status.error().message;
    }
  });
}

TEST(Units, ANumberWithoutUnitIsAcceptedExceptInModesAndConditions) {
  ForEachUse([](const Tool& tool, const cli::Option& option, const Use& use) {
    const bool needs_unit = use.argument == "MODE" || use.argument == "CONDITION";
    const Status status = Parse(tool, option, use.before + "50" + use.after);
    EXPECT_EQ(IsUnderstood(status), !needs_unit) << (status ? "" : status.error().message);
  });
}

TEST(Units, SwitchOutputSaysThatTheUnitIsMissing) {
  record_tool::Plan plan;
  const std::vector<std::string> words = {"--switch-output=50"};
  const Status status = cli::ParseInto(record_tool::RecordCommand(), words, plan);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("'50' has no unit"));
}

}  // namespace
}  // namespace perftape

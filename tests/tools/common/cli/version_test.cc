// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/tools/common/cli/example_commands.h"
#include "tools/common/cli/help.h"

namespace perftape::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr Command kOfLibraries = {
    .name = "perftape-v",
    .purpose = "",
    .operands = "",
    .options = {},
    .libraries =
        [] {
          return std::vector<LibraryVersion>{{"a", "1.2"}, {"b", "3"}};
        },
    .kernel_features =
        [] {
          return std::vector<KernelFeature>{{"BTF", true}, {"CET", false}};
        },
};

TEST(VersionText, OfAToolWithoutLibrariesIsOneLine) {
  EXPECT_THAT(VersionText(kCommand, VersionForm::kText),
              testing::MatchesRegex("perftape-x [0-9.]+\n"));
}

TEST(VersionText, HasLibrariesAndFeaturesBelowTheVersion) {
  const std::string text = VersionText(kOfLibraries, VersionForm::kText);
  EXPECT_THAT(text, StartsWith("perftape-v "));
  EXPECT_THAT(text, HasSubstr("\nlibraries: a 1.2, b 3\nkernel: Linux "));
  EXPECT_TRUE(text.ends_with("\n  BTF: yes\n  CET: no\n"));
}

TEST(VersionText, AsJsonHasTheSame) {
  const auto json = nlohmann::json::parse(VersionText(kOfLibraries, VersionForm::kJson));
  EXPECT_EQ(json["name"], "perftape-v");
  EXPECT_EQ(json["libraries"]["b"], "3");
  EXPECT_EQ(json["kernel"]["features"]["CET"], false);
  EXPECT_FALSE(nlohmann::json::parse(VersionText(kCommand, VersionForm::kJson)).contains("kernel"));
}

}  // namespace
}  // namespace perftape::cli

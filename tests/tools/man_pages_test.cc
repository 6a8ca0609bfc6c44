// SPDX-License-Identifier: Apache-2.0
// Man pages and tables of options say the same.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "formats/base/file.h"
#include "tools/common/cli/help.h"
#include "tools/convert/command_line.h"
#include "tools/inspect/command_line.h"
#include "tools/record/command_line.h"
#include "tools/recover/command_line.h"

namespace perftape {
namespace {

class ManPage : public testing::TestWithParam<const cli::Command*> {
 protected:
  static std::string Text(std::string_view name) {
    const char* root = std::getenv("PERFTAPE_SOURCE_DIR");
    if (root == nullptr) return "";
    return ReadWholeFile(std::string(root) + "/tools/man/" + std::string(name) + ".1.md")
        .value_or("");
  }
};

TEST_P(ManPage, DescribesTheOptionsThatTheTableHas) {
  const std::string page = Text(GetParam()->name);
  ASSERT_FALSE(page.empty()) << "tools/man/" << GetParam()->name << ".1.md is not there";
  EXPECT_EQ(cli::ManPageDifferences(*GetParam(), page), "");
}

INSTANTIATE_TEST_SUITE_P(OfEachTool, ManPage,
                         testing::Values(&convert_tool::ConvertCommand(),
                                         &inspect::InspectCommand(), &record_tool::RecordCommand(),
                                         &recover_tool::RecoverCommand()));

}  // namespace
}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
// The sources of the man pages describe the options and rules that the tools have.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <string>

#include "formats/base/file.h"
#include "formats/perfdata/validate/rules.h"
#include "tools/bundle/command.h"
#include "tools/common/cli/man_page.h"
#include "tools/convert/command_line.h"
#include "tools/convert/perf_to_profile.h"
#include "tools/doctor/command_line.h"
#include "tools/inspect/command_line.h"
#include "tools/record/command_line.h"
#include "tools/recover/command_line.h"
#include "tools/symbolize/command_line.h"

namespace perftape {
namespace {

std::string ReadManPage(std::string_view name) {
  const char* root = std::getenv("PERFTAPE_SOURCE_DIR");
  if (root == nullptr) return "";
  return ReadWholeFile(std::string(root) + "/tools/man/" + std::string(name) + ".1.md")
      .value_or("");
}

class ManPage : public testing::TestWithParam<const cli::Command*> {};

TEST_P(ManPage, DescribesEachOptionOnce) {
  const std::string source = ReadManPage(GetParam()->name);
  ASSERT_FALSE(source.empty()) << "tools/man/" << GetParam()->name << ".1.md is missing";
  const Result<std::string> page = cli::ManPage(*GetParam(), source);
  EXPECT_TRUE(page) << page.error().message;
}

TEST(InspectManPage, ListsTheRulesOfValidate) {
  const std::string page = ReadManPage("perftape-inspect");
  for (const perfdata::RuleInfo& rule : perfdata::AllRules()) {
    const std::string entry = fmt::format("**{}** ({}", rule.name, NameOf(rule.severity));
    EXPECT_NE(page.find(entry), std::string::npos) << entry;
  }
}

// Without the marks of bold text, escapes, and section numbers of other pages, on one line.
std::string WithoutMarkup(const std::string& page) {
  const std::string plain = std::regex_replace(page, std::regex(R"(\*\*|\\|`|\(1\))"), "");
  return std::regex_replace(plain, std::regex("\\n *"), " ");
}

TEST(InspectManPage, ExplainsTheRulesOfValidateInTheSameWords) {
  const std::string page = WithoutMarkup(ReadManPage("perftape-inspect"));
  for (const perfdata::RuleInfo& rule : perfdata::AllRules()) {
    const std::string why = WithoutMarkup(std::string(rule.why));
    EXPECT_NE(page.find(fmt::format(") :   {} ", why)), std::string::npos)
        << rule.name << ": " << why;
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfEachTool, ManPage,
    testing::Values(&bundle_tool::BundleCommand(), &convert_tool::ConvertCommand(),
                    &convert_tool::PerfToProfileCommand(), &doctor_tool::DoctorCommand(),
                    &inspect::InspectCommand(), &record_tool::RecordCommand(),
                    &recover_tool::RecoverCommand(), &symbolize_tool::SymbolizeCommand()));

}  // namespace
}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
// Not installed: makes a man page of its source in this folder. It reads the source from stdin,
// fills in the option lines of the tool NAME, and writes the page to stdout. With --reference it
// writes the pages in these files as one reference.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/file.h"
#include "tools/bundle/verbs.h"
#include "tools/common/cli/help.h"
#include "tools/common/cli/man_text.h"
#include "tools/convert/command_line.h"
#include "tools/convert/perf_to_profile.h"
#include "tools/doctor/command_line.h"
#include "tools/inspect/command_line.h"
#include "tools/perf/command_line.h"
#include "tools/perf/commands.h"
#include "tools/perftape/command_line.h"
#include "tools/record/command_line.h"
#include "tools/recover/command_line.h"
#include "tools/report/command_line.h"
#include "tools/script/command_line.h"
#include "tools/symbolize/command_line.h"
#include "tools/view/command_line.h"
#if PERFTAPE_HAS_SERVE
#include "tools/serve/command_line.h"
#endif

namespace perftape {
namespace {

int ReportFailure(std::string_view what) {
  std::cerr << what << '\n';
  return 1;
}

int Finish(std::string_view text) {
  std::cout << text << std::flush;
  return std::cout ? 0 : ReportFailure("stdout: cannot be written");
}

// Returns the address of a heading in a page: "#perftape-record1".
std::string AnchorOf(std::string title) {
  std::erase_if(title, [](char c) { return c == '(' || c == ')'; });
  return "#" + title;
}

int WriteReference(std::span<char* const> files) {
  std::string contents, chapters;
  for (const char* const file : files) {
    const Result<std::string> page = ReadWholeFile(file);
    if (!page) return ReportFailure(page.error().message);
    const std::string title = cli::TitleOf(*page);
    contents += "* [" + title + "](" + AnchorOf(title) + ")\n";
    chapters += '\n' + cli::ReferenceChapter(*page);
  }
  return Finish("<!-- Made of the man pages and of the tools' tables of options. -->\n\n" +
                contents + chapters);
}

// Replaces the line "{commands}" by the table of perf's commands.
std::string WithCommands(std::string source) {
  constexpr std::string_view kLine = "{commands}\n";
  const std::size_t at = source.find(kLine);
  if (at == source.npos) return source;
  return source.replace(at, kLine.size(), perf_tool::CommandsMarkdown());
}

int WritePage(std::string_view name) {
  const cli::Command* const commands[] = {
    &bundle_tool::BundleCommand(),
    &convert_tool::ConvertCommand(),
    &convert_tool::PerfToProfileCommand(),
    &doctor_tool::DoctorCommand(),
    &front_tool::FrontCommand(),
    &inspect::InspectCommand(),
    &perf_tool::PerfCommandLine(),
    &record_tool::RecordCommand(),
    &recover_tool::RecoverCommand(),
    &report_tool::ReportCommand(),
    &script_tool::ScriptCommand(),
    &symbolize_tool::SymbolizeCommand(),
    &view_tool::ViewCommand(),
#if PERFTAPE_HAS_SERVE
    &serve::ServeCommand(),
#endif
  };
  const auto found = std::ranges::find(commands, name, &cli::Command::name);
  if (found == std::end(commands)) return ReportFailure("no such tool");
  const std::string source = WithCommands({std::istreambuf_iterator<char>(std::cin), {}});
  const Result<std::string> page = cli::ManPage(**found, source);
  if (!page) return ReportFailure(std::string(name) + ".1.md: " + page.error().message);
  return Finish(*page);
}

}  // namespace
}  // namespace perftape

int main(int argc, char** argv) {
  const std::span<char* const> words(argv, static_cast<std::size_t>(argc));
  if (argc >= 3 && std::string_view(argv[1]) == "--reference") {
    return perftape::WriteReference(words.subspan(2));
  }
  if (argc == 2) return perftape::WritePage(argv[1]);
  std::cerr << "usage: perftape-fill-man-page NAME <NAME.1.md, or --reference FILE...\n";
  return 2;
}

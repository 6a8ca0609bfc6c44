// SPDX-License-Identifier: Apache-2.0
// Not installed: makes a man page of its source in this folder. It reads the source from stdin,
// fills in the option lines of the tool NAME, and writes the page to stdout.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>

#include "tools/bundle/verbs.h"
#include "tools/common/cli/help.h"
#include "tools/convert/command_line.h"
#include "tools/convert/perf_to_profile.h"
#include "tools/doctor/command_line.h"
#include "tools/inspect/command_line.h"
#include "tools/record/command_line.h"
#include "tools/recover/command_line.h"
#include "tools/report/command_line.h"
#include "tools/symbolize/command_line.h"

int main(int argc, char** argv) {
  using namespace perftape;
  const cli::Command* const commands[] = {&bundle_tool::BundleCommand(),
                                          &convert_tool::ConvertCommand(),
                                          &convert_tool::PerfToProfileCommand(),
                                          &doctor_tool::DoctorCommand(),
                                          &inspect::InspectCommand(),
                                          &record_tool::RecordCommand(),
                                          &recover_tool::RecoverCommand(),
                                          &report_tool::ReportCommand(),
                                          &symbolize_tool::SymbolizeCommand()};
  const std::string name = argc == 2 ? argv[1] : "";
  const auto found = std::ranges::find(commands, name, &cli::Command::name);
  if (found == std::end(commands)) {
    std::cerr << "usage: perftape-fill-man-page NAME <NAME.1.md\n";
    return 2;
  }
  const std::string source(std::istreambuf_iterator<char>(std::cin), {});
  const Result<std::string> page = cli::ManPage(**found, source);
  if (!page) {
    std::cerr << name << ".1.md: " << page.error().message << '\n';
    return 1;
  }
  std::cout << *page << std::flush;
  return std::cout ? 0 : 1;
}

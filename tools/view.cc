// SPDX-License-Identifier: Apache-2.0
// perftape-view: makes the page of a profile with perftape-convert, and opens it in the browser.
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/common/cli/console.h"
#include "tools/common/cli/other_tool.h"
#include "tools/mains.h"
#include "tools/view/browser.h"
#include "tools/view/command_line.h"

namespace perftape::view_tool {
namespace {

namespace fs = std::filesystem;

// Returns the path of a page in a new directory that only this user can read. The page stays there,
// because a browser reads it later.
Result<fs::path> NewPage(const std::string& input) {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  if (error) return FailErrno("$TMPDIR", error.value());
  std::string directory = temporary / "perftape-view-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) return FailErrno(directory, errno);
  const fs::path name = input == "-" ? "stdin" : fs::path(input).filename();
  return fs::path(directory) / (name.native() + ".html");
}

// Runs perftape-convert, and returns its exit status.
Result<int> RunConvert(const ViewPlan& plan, const fs::path& page) {
  std::vector<std::string> words = {"perftape-convert", "-f", "-o", page.native()};
  if (plan.quiet) words.emplace_back("-q");
  words.emplace_back("--");
  words.insert(words.end(), plan.inputs.begin(), plan.inputs.end());
  TRY_ASSIGN(const fs::path file, cli::FileOfTool(words.front()));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, file.c_str(), nullptr, nullptr, argv.data(), environ);
  if (failed != 0) return FailErrno(file.native(), failed);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return FailErrno("waitpid", errno);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : cli::kFailed;
}

Result<int> Run(const ViewPlan& plan, cli::Console& console) {
  fs::path page = plan.output;
  if (page.empty()) {
    TRY_ASSIGN(page, NewPage(plan.inputs.front()));
  }
  TRY_ASSIGN(const int status, RunConvert(plan, page));
  if (status != cli::kDone && status != cli::kDegraded) {
    std::error_code ignored;
    if (plan.output.empty()) fs::remove_all(page.parent_path(), ignored);
    return status;
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(page, error);
  if (error) return FailErrno(page.native(), error.value());
  const std::string address = AddressOf(absolute);
  TRY(cli::PrintToStdout(address + "\n"));
  if (plan.only_print) return status;
  if (!HasDesktop()) {
    console.Note("no browser was started, because there is no desktop here (DISPLAY)");
  } else if (!OpenInBrowser(address)) {
    console.Warning("no browser was started, because there is no xdg-open");
  }
  return status;
}

}  // namespace

int Main(int argc, char** argv) noexcept {
  return cli::Main<ViewPlan>({ViewCommand(), &PlanOf, &Run}, argc, argv);
}

}  // namespace perftape::view_tool

// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

namespace perftape::cli {
namespace {

// The tool has no other thread when these are read.
std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

std::string PagerCommand() {
  const char* pager = std::getenv("PAGER");  // NOLINT(concurrency-mt-unsafe)
  return pager == nullptr ? "less" : pager;
}

// Returns the environment with LESS=FRX, unless LESS is set: quit if the text fits on a screen,
// show colours, keep the text on the screen.
std::vector<char*> PagerEnvironment(std::string& less) {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  if (Environment("LESS").empty()) variables.push_back(less.data());
  variables.push_back(nullptr);
  return variables;
}

}  // namespace

std::filesystem::path OutputNamed(std::string_view argument) {
  std::filesystem::path path(argument);
  const Result<OutputTarget> target = ResolveOutput(path);
  return target && target->is_stdout() ? "-" : path;
}

Result<OutputTarget> CheckOutput(const std::filesystem::path& path, IfExists if_exists) {
  TRY_ASSIGN(OutputTarget target, ResolveOutput(path));
  TRY(CheckExisting(target, if_exists));
  if (target.is_stream()) return target;
  // A temporary file is created in the same directory.
  const std::filesystem::path folder =
      target.path.has_parent_path() ? target.path.parent_path() : ".";
  if (access(folder.c_str(), W_OK | X_OK) != 0) return FailErrno(target.name, errno);
  return target;
}

Status RefuseTerminal(const OutputTarget& target, std::string_view what) {
  if (!IsTerminal(target)) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: cannot write a {} to a terminal: use -o FILE or redirect the output",
                          target.name, what));
}

Status CheckReportOutput(bool is_json, const std::filesystem::path& output) {
  if (!is_json || output != "-") return {};
  return Fail(ErrorCode::kInvalidArgument,
              "--json cannot be combined with an output to stdout: use -o FILE");
}

bool IsTerminal() {
  return isatty(STDOUT_FILENO) == 1;
}

Pager::Pager() {
  std::string command = PagerCommand();
  if (command.empty() || command == "cat") return;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  std::string shell = "sh", flag = "-c", less = "LESS=FRX";
  char* const words[] = {shell.data(), flag.data(), command.data(), nullptr};
  const std::vector<char*> environment = PagerEnvironment(less);
  pid_t pid = -1;
  if (posix_spawn(&pid, "/bin/sh", &actions, nullptr, words, environment.data()) == 0) {
    pid_ = pid;
    dup2(ends[1], STDOUT_FILENO);
    // The user may leave the pager before it has read everything.
    std::signal(SIGPIPE, SIG_DFL);
  }
  posix_spawn_file_actions_destroy(&actions);
  close(ends[0]);
  close(ends[1]);
}

Pager::~Pager() {
  if (pid_ < 0) return;
  close(STDOUT_FILENO);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace perftape::cli

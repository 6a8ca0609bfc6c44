// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/console.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/similar.h"
#include "formats/base/text.h"
#include "formats/base/truncation.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/help.h"

namespace perftape::cli {
namespace {

constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kYellow = "\033[33m";
constexpr std::string_view kPlain = "\033[0m";

// If a caller closed stdin, stdout or stderr, the next opened file would get its number. Messages
// for the terminal would be written to that file. So these numbers are filled first, in a mode in
// which their use fails as on a closed one (as in gnulib's stdopen).
void FillStandardDescriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    int opened = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened < 0) opened = open("/", O_PATH);  // an empty root directory
    if (opened != fd && opened >= 0) close(opened);
  }
}

// Makes a write beyond `ulimit -f` fail like a full disk: the error is reported, and no temporary
// file stays. A handler instead of SIG_IGN, because a command that is run does not inherit it.
void OutliveFileSizeLimit() {
  struct sigaction action = {};
  if (sigaction(SIGXFSZ, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_handler = [](int) {};
  sigaction(SIGXFSZ, &action, nullptr);
}

bool WantsColour() {
  // Read before a tool starts a thread.
  const char* no_colour = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe)
  const bool refused = no_colour != nullptr && *no_colour != '\0';
  return !refused && IsCapableTerminal();
}

// Escapes each line of `text`, but not the line ends.
std::string EscapeLines(std::string_view text) {
  std::string escaped;
  while (true) {
    const std::size_t end = text.find('\n');
    escaped += EscapeForTerminal(text.substr(0, end));
    if (end == std::string_view::npos) return escaped;
    escaped += '\n';
    text.remove_prefix(end + 1);
  }
}

int UsageError(const Command& command, Console& console, const Error& error) {
  console.Error(fmt::format("{}\nTry '{} --help'.", error.message, command.name));
  return kUsage;
}

// Returns the text for a common option; nothing if none was given.
Result<std::optional<std::string>> CommonAnswer(const Command& command,
                                                const BaseOptions& options) {
  if (options.help || options.help_all) return RequestedHelp(command, options);
  if (options.version) return VersionText(command, *options.version);
  if (options.completion) {
    TRY_ASSIGN(std::string script, CompletionScript(command, *options.completion));
    return script;
  }
  return std::nullopt;
}

int ParseAndRun(const Command& command, int argc, char** argv, BaseOptions& options,
                const std::function<std::expected<int, RunError>(Console&)>& run) {
  FillStandardDescriptors();
  // Some callers ignore SIGPIPE. Then a reader that closes the pipe would look like a failure.
  (void)std::signal(SIGPIPE, SIG_DFL);
  OutliveFileSizeLimit();
  Console console(command.name);

  const std::vector<std::string> words(argv + 1, argv + (argc > 0 ? argc : 1));
  const Status parsed = ParseInto(command, words, options);
  if (!parsed) return UsageError(command, console, parsed.error());
  const auto answer = CommonAnswer(command, options);
  if (!answer) return UsageError(command, console, answer.error());
  if (*answer) {
    const Status printed = PrintToStdout(**answer);
    if (printed) return kDone;
    console.Error(printed.error().message);
    return kFailed;
  }

  const std::expected<int, RunError> status = run(console);
  if (status) return *status;
  if (status.error().is_usage) return UsageError(command, console, status.error().error);
  console.Error(status.error().error.message);
  return kFailed;
}

int ReportException(const Command& command, std::string_view what) noexcept {
  try {
    Console(command.name).Error(fmt::format("unexpected error: {}", what));
  } catch (...) {
    // There is no memory for a message that names the cause.
    constexpr std::string_view kMessage = "unexpected error: out of memory\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  }
  return kFailed;
}

}  // namespace

Console::Console(std::string_view tool) : tool_(tool), coloured_(WantsColour()) {}

void Console::Error(std::string_view message) {
  Say(kRed, "", message);
}

void Console::Warning(std::string_view message) {
  if (verbosity_ != Verbosity::kQuiet) Say(kYellow, "warning: ", message);
}

void Console::Note(std::string_view message) {
  if (verbosity_ != Verbosity::kQuiet) Say("", "", message);
}

void Console::Detail(std::string_view message) {
  if (verbosity_ == Verbosity::kVerbose) Say("", "", message);
}

void Console::Plain(std::string_view message) {
  if (verbosity_ == Verbosity::kQuiet) return;
  const HiddenProgress hidden;
  // A failed write to stderr cannot be reported.
  (void)WriteAll(STDERR_FILENO, AsBytes(EscapeLines(message) + '\n'));
}

void Console::Say(std::string_view colour, std::string_view label, std::string_view message) {
  const bool coloured = coloured_ && !colour.empty();
  const std::string line = fmt::format("{}{}: {}{}{}\n", coloured ? colour : "", tool_, label,
                                       coloured ? kPlain : "", EscapeLines(message));
  const HiddenProgress hidden;
  (void)WriteAll(STDERR_FILENO, AsBytes(line));
}

Verbosity VerbosityOf(const BaseOptions& options) {
  if (options.quiet) return Verbosity::kQuiet;
  return options.verbose ? Verbosity::kVerbose : Verbosity::kNormal;
}

Status PrintToStdout(std::string_view text) {
  EndProgress();
  if (auto written = WriteAll(STDOUT_FILENO, AsBytes(text)); !written) {
    return Fail(InContext("stdout", std::move(written).error()));
  }
  return {};
}

int RunTool(const Command& command, int argc, char** argv, BaseOptions& options,
            const std::function<std::expected<int, RunError>(Console&)>& run) noexcept {
  try {
    return ParseAndRun(command, argc, argv, options, run);
  } catch (const std::bad_alloc&) {
    return ReportException(command, "out of memory");
  } catch (const std::exception& exception) {
    return ReportException(command, exception.what());
  } catch (...) {
    return ReportException(command, "unknown exception");
  }
}

bool WarnOfTruncatedFiles(Console& console) {
  const std::vector<std::string> names = TruncatedFiles();
  for (const std::string& name : names) {
    console.Warning(name +
                    ": was truncated while it was read; the missing bytes are read as zeros");
  }
  return names.empty();
}

std::string UnknownVerbText(const Command& tool, std::string_view word) {
  if (std::ranges::find(tool.topics, word, &Topic::name) != tool.topics.end()) {
    return fmt::format("unknown verb '{0}': '{1} help {0}' explains this topic", word, tool.name);
  }
  std::vector<std::string_view> names;
  for (const Verb& verb : tool.verbs) names.push_back(verb.name);
  for (const Topic& topic : tool.topics) names.push_back(topic.name);
  const std::vector<std::string_view> similar = MostSimilar(word, names);
  std::string text = fmt::format("unknown verb '{}'", word);
  if (!similar.empty()) text += fmt::format("; did you mean {}?", Joined(similar, " or "));
  return text;
}

std::expected<int, RunError> PrintHelp(const Command& command) {
  if (Status printed = PrintToStdout(HelpText(command, HelpDepth::kUsual)); !printed) {
    return std::unexpected(RunError{std::move(printed).error(), false});
  }
  return kDone;
}

int MainOfVerbs(const Command& tool, int argc, char** argv) noexcept {
  BaseOptions options;
  const auto run = [&](Console&) -> std::expected<int, RunError> {
    const std::vector<std::string>& operands = options.operands;
    const auto usage = [](std::string message) {
      return std::unexpected(RunError{{ErrorCode::kInvalidArgument, std::move(message)}, true});
    };
    if (operands.empty()) return usage("no verb given");
    const bool is_help = operands.front() == "help";
    if (is_help && operands.size() == 1) return PrintHelp(tool);
    const std::string& name = operands[is_help ? 1 : 0];
    const auto verb = std::ranges::find(tool.verbs, name, &Verb::name);
    if (verb == tool.verbs.end()) return usage(UnknownVerbText(tool, name));
    if (is_help) return PrintHelp(verb->command());
    const auto words = static_cast<int>(operands.size());
    return verb->main(words, argv + (argc - words));
  };
  return RunTool(tool, argc, argv, options, run);
}

}  // namespace perftape::cli

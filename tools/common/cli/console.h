// SPDX-License-Identifier: Apache-2.0
// How a tool talks and ends: messages to stderr behind the tool's name, results to stdout, an exit
// status that says how it went.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "formats/base/result.h"
#include "tools/common/cli/options.h"

namespace perftape::cli {

// Exit statuses of all tools; perftape-record also passes on those of the command it ran.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kDegraded = 3;  // done, but with loss or damage beyond what was allowed

enum class Verbosity : std::uint8_t { kQuiet, kNormal, kVerbose };

// Messages of a tool, on stderr, one line each. Control characters in them are escaped, except
// line ends. Colours on a terminal only, and not where NO_COLOR is set.
class Console {
 public:
  explicit Console(std::string_view tool);

  void set_verbosity(Verbosity verbosity) { verbosity_ = verbosity; }
  Verbosity verbosity() const { return verbosity_; }

  void Error(std::string_view message);    // always
  void Warning(std::string_view message);  // "tool: warning: …"; not when quiet
  void Note(std::string_view message);     // "tool: …"; not when quiet
  void Detail(std::string_view message);   // only when verbose
  void Plain(std::string_view message);    // without the tool's name; not when quiet

 private:
  void Say(std::string_view colour, std::string_view label, std::string_view message);

  std::string tool_;
  Verbosity verbosity_ = Verbosity::kNormal;
  bool coloured_;
};

// Reads -q and -v, where the command has them.
Verbosity VerbosityOf(const Parsed& parsed);

// Writes all of `text` to stdout. kIo where it cannot (closed, full); a pipe whose reader has left
// ends the program by SIGPIPE, as it ends other tools.
Status PrintToStdout(std::string_view text);

// A usage error is one of the first function; the second does the work and says how it went.
template <class Plan>
struct Tool {
  const Command& command;
  Result<Plan> (*plan)(const Parsed& parsed);
  Result<int> (*run)(const Plan& plan, Console& console);
};

// What Main does, without the types: parses, answers the common options, reports errors. `run`
// tells by `usage_error` that its error is one of usage. An exception, whatever threw it, becomes a
// message and kFailed.
struct RunError {
  Error error;
  bool is_usage = false;
};
int RunTool(
    const Command& command, int argc, char** argv,
    const std::function<std::expected<int, RunError>(const Parsed&, Console&)>& run) noexcept;

// Whether no input was truncated while it was read; warns of each that was.
bool WarnOfTruncatedFiles(Console& console);

// All of a tool's main(): returns its exit status.
template <class Plan>
int Main(const Tool<Plan>& tool, int argc, char** argv) noexcept {
  return RunTool(tool.command, argc, argv,
                 [&](const Parsed& parsed, Console& console) -> std::expected<int, RunError> {
                   Result<Plan> plan = tool.plan(parsed);
                   if (!plan) {
                     const bool is_usage = plan.error().code == ErrorCode::kInvalidArgument;
                     return std::unexpected(RunError{std::move(plan).error(), is_usage});
                   }
                   console.set_verbosity(VerbosityOf(parsed));
                   Result<int> status = tool.run(*plan, console);
                   const bool is_whole = WarnOfTruncatedFiles(console);
                   if (!status) return std::unexpected(RunError{std::move(status).error(), false});
                   return *status == kDone && !is_whole ? kDegraded : *status;
                 });
}

// "'rec' is no verb; did you mean record or recover?"
std::string UnknownVerbText(const Command& tool, std::string_view word);
// Writes what --help writes.
std::expected<int, RunError> PrintHelp(const Command& command);

// All of the main() of a tool with verbs: hands the words from the verb on to it. The verb "help"
// writes the help of the tool, or of the verb behind it.
int MainOfVerbs(const Command& tool, int argc, char** argv) noexcept;

}  // namespace perftape::cli

// SPDX-License-Identifier: Apache-2.0
// Prints a tool's messages to stderr and its results to stdout, and defines its exit status.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "tools/common/cli/options.h"
#include "tools/common/cli/progress.h"

namespace perftape::cli {

// Exit statuses of all tools. perftape-record also returns those of the command that it ran.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kDegraded = 3;  // done, but with more loss or damage than allowed

enum class Verbosity : std::uint8_t { kQuiet, kNormal, kVerbose };

// Prints messages of a tool to stderr, one line each, after the tool's name. Control characters in
// them are escaped, except line ends. Colours are used only on a terminal, and not if NO_COLOR is
// set.
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

// Returns kQuiet for -q, kVerbose for -v.
Verbosity VerbosityOf(const BaseOptions& options);

// Writes all of `text` to stdout. Fails with kIo if stdout is closed or full. If the reader of a
// pipe has closed it, SIGPIPE ends the program, as in other tools.
Status PrintToStdout(std::string_view text);

// A tool. `plan` checks the parsed options and returns the work to do; its kInvalidArgument is a
// usage error. `confine` then gives up the rights that the work does not need, unless the option
// --no-sandbox was given; null if the tool has no such function. `run` does the work and returns
// the exit status. Options and Plan are often one struct.
template <class Options, class Plan = Options>
struct Tool {
  const Command& command;
  Result<Plan> (*plan)(Options options);
  Result<int> (*run)(const Plan& plan, Console& console);
  Status (*confine)(const Plan& plan) = nullptr;
  // Whether the work is a reading of inputs, whose progress is shown on a terminal.
  bool shows_progress = false;
};

// The untyped part of Main: parses the words, handles the common options, reports errors. `run`
// sets `is_usage` if its error is a usage error. An exception becomes a message and kFailed.
struct RunError {
  Error error;
  bool is_usage = false;
};
int RunTool(const Command& command, int argc, char** argv, BaseOptions& options,
            const std::function<std::expected<int, RunError>(Console&)>& run) noexcept;

// Warns of each input that was truncated while it was read. Returns true if there was none.
bool WarnOfTruncatedFiles(Console& console);

// The complete main() of a tool. Returns its exit status.
template <class Options, class Plan = Options>
int Main(const Tool<Options, Plan>& tool, int argc, char** argv) noexcept {
  Options options;
  return RunTool(
      tool.command, argc, argv, options, [&](Console& console) -> std::expected<int, RunError> {
        const Verbosity verbosity = VerbosityOf(options);
        const bool is_confined = tool.confine != nullptr && !options.no_sandbox;
        const bool is_shown = tool.shows_progress && WantsProgress(options);
        const std::vector<std::string> already_so = AlreadySoTexts(options);
        Result<Plan> plan = tool.plan(std::move(options));
        if (!plan) {
          const bool is_usage = plan.error().code == ErrorCode::kInvalidArgument;
          return std::unexpected(RunError{std::move(plan).error(), is_usage});
        }
        console.set_verbosity(verbosity);
        for (const std::string& text : already_so) console.Detail(text);
        if (is_confined) {
          Status confined = tool.confine(*plan);
          if (!confined) {
            return std::unexpected(RunError{std::move(confined).error(), false});
          }
        }
        Result<int> status =
            RunWithProgress(is_shown, tool.command.name, [&] { return tool.run(*plan, console); });
        const bool is_whole = WarnOfTruncatedFiles(console);
        if (!status) return std::unexpected(RunError{std::move(status).error(), false});
        return *status == kDone && !is_whole ? kDegraded : *status;
      });
}

// Returns "unknown verb 'rec'; did you mean record or recover?"
std::string UnknownVerbText(const Command& tool, std::string_view word);
// Prints the text of --help.
std::expected<int, RunError> PrintHelp(const Command& command);

// The complete main() of a tool with verbs. The verb gets the words from itself on. The verb "help"
// prints the help of the tool, or of the verb after it.
int MainOfVerbs(const Command& tool, int argc, char** argv) noexcept;

}  // namespace perftape::cli

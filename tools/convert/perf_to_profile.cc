// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/perf_to_profile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"

namespace perftape::convert_tool {
namespace {

constexpr std::string_view kName = "perf_to_profile";

constexpr cli::Option kOptions[] = {
    {.name = "input",
     .letter = 'i',
     .argument = "FILE",
     .help = "the perf.data; - is stdin",
     .completion = cli::Completion::kFile},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "the pprof, in gzip; - is stdout",
     .completion = cli::Completion::kFile},
    {.name = "overwrite_output", .letter = 'f', .help = "replace an existing output"},
    {.name = "jit_support",
     .letter = 'j',
     .help = "accepted, as others have it: code of JIT compilers gets names where it can in any "
             "case"},
    {.name = "quiet", .letter = 'q', .help = "errors only"},
    {.name = "verbose", .letter = 'v', .help = "also how many names were found in each binary"},
};

constexpr cli::Command kCommand = {
    .name = kName,
    .purpose =
        "Convert a perf.data into a pprof, as pprof itself asks for it: with this program on the "
        "PATH, `go tool pprof perf.data` works. It is perftape-convert by another name.",
    .operands = "",
    .options = kOptions,
    .epilogue = "Exit status: 0 done, 1 failed, 2 usage.\n"};

std::unexpected<Error> Usage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

}  // namespace

bool IsPerfToProfile(std::string_view program) {
  return convert::BaseName(program) == kName;
}

const cli::Command& PerfToProfileCommand() {
  return kCommand;
}

Result<Plan> PlanOfPerfToProfile(const cli::Parsed& parsed) {
  if (!parsed.operands().empty()) {
    return Usage(fmt::format("'{}': the input is named by -i, the output by -o",
                             cli::EscapeForTerminal(parsed.operands().front())));
  }
  const auto input = parsed.Value("input");
  const auto output = parsed.Value("output");
  if (!input || !output) return Usage("-i FILE and -o FILE are needed");
  if (output->empty()) return Usage("-o: the name is empty");
  Plan plan;
  plan.inputs = {*input};
  plan.output = *output;
  plan.from = convert::FindFormat("perf.data");
  plan.to = convert::FindFormat("pprof");
  if (parsed.Has("overwrite_output")) plan.write.if_exists = IfExists::kReplace;
  return plan;
}

Status TakeOverEmptyOutput(Plan& plan) {
  TRY_ASSIGN(const OutputTarget target, ResolveOutput(plan.output));
  std::error_code error;
  const bool is_empty_file = plan.write.if_exists == IfExists::kReplace &&
                             target.kind == OutputTarget::Kind::kExistingFile &&
                             std::filesystem::file_size(target.path, error) == 0;
  if (!is_empty_file) return {};
  const UniqueFd file(open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file || dup2(file.get(), STDOUT_FILENO) < 0) return FailErrno(plan.output.native(), errno);
  plan.output = "-";
  return {};
}

int StatusForPprof(int status) {
  return status == cli::kDegraded ? cli::kDone : status;
}

}  // namespace perftape::convert_tool

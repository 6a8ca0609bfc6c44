// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/perf_to_profile.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>

#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/rows.h"
#include "tools/common/profiles/libraries.h"

namespace perftape::convert_tool {
namespace {

constexpr cli::Option kPerfToProfileFileRows[] = {
    {.name = "input",
     .letter = 'i',
     .argument = "FILE",
     .help = "read this perf.data; - is stdin",
     .completion = cli::Completion::kFile,
     .is_required = true,
     .into = cli::Store<&Plan::inputs>},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write the profile to FILE, compressed with gzip; - is stdout",
     .completion = cli::Completion::kFile,
     .is_required = true,
     .into = cli::StoreAs<&cli::ParseFileName, &Plan::output>},
    {.name = "overwrite_output",
     .letter = 'f',
     .help = "replace an existing output file",
     .into = cli::SetTo<IfExists::kReplace, &Plan::write, &convert::WriteOptions::if_exists>},
};

constexpr cli::Option kPerfToProfileOtherRows[] = {
    cli::QuietRow(),
    cli::VerboseRow("also print how many names were found in each binary"),
    {.name = "jit_support",
     .letter = 'j',
     .help = "accepted for compatibility, without effect",
     .is_rare = true,
     .into = cli::Ignore},
};
constexpr auto kPerfToProfileOptions =
    cli::Table(cli::InGroup(cli::Group::kOutput, kPerfToProfileFileRows),
               cli::InGroup(cli::Group::kOther, kPerfToProfileOtherRows));

constexpr cli::Example kPerfToProfileExamples[] = {
    {"perf_to_profile -i perf.data -o profile.pb.gz -f", "as pprof runs it"},
};

constexpr cli::Command kPerfToProfileCommand = {
    .name = kPerfToProfile,
    .purpose =
        "Convert a perf.data into a pprof. pprof runs this program: if it is on the PATH, `go tool "
        "pprof perf.data` works. It is perftape-convert under another name.",
    .operands = "",
    .options = kPerfToProfileOptions,
    .examples = kPerfToProfileExamples,
    .epilogue = "Exit status: 0 success, 1 failure, 2 wrong usage.\n",
    .libraries = &cli::LibrariesOfProfiles,
};

}  // namespace

bool IsPerfToProfile(std::string_view program) {
  return convert::BaseName(program) == kPerfToProfile;
}

const cli::Command& PerfToProfileCommand() {
  return kPerfToProfileCommand;
}

Result<Plan> PlanOfPerfToProfile(Plan plan) {
  if (!plan.operands.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}': unexpected operand: use -i for the input and -o for the output",
                            cli::EscapeForTerminal(plan.operands.front())));
  }
  plan.inputs = {plan.inputs.back()};
  plan.from = convert::FindFormat(convert::kPerfDataFormat);
  plan.to = convert::FindFormat(convert::kPprofFormat);
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

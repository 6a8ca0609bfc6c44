// SPDX-License-Identifier: Apache-2.0
// perftape VERB …: runs perftape-VERB from beside itself, as git does.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/cli/console.h"

namespace perftape {
namespace {

constexpr std::string_view kPrefix = "perftape-";

constexpr cli::Command kCommand = {
    .name = "perftape",
    .purpose = "Run perftape-VERB, which lies beside this program, with the arguments that follow.",
    .operands = "VERB [ARGUMENT...]",
    .options = {},
    .order = cli::Order::kOptionsFirst,
    .operand_completion = cli::Completion::kChoice,
    .operand_choices = "record convert inspect recover symbolize bundle",
    .epilogue =
        "Verbs:\n"
        "  record    where programs spend their time, into a perf.data\n"
        "  convert   a perf.data into folded stacks or pprof, with names\n"
        "  inspect   what is in a perf.data, as text\n"
        "  recover   every complete record of a damaged perf.data into a good one\n"
        "  symbolize names for addresses, from saved symbols\n"
        "  bundle    what the symbols of a recording need, carried along with it\n"
        "perftape VERB --help tells more.\n"};

struct Plan {
  std::vector<std::string> words;  // the verb and its arguments
};

Result<Plan> PlanOf(const cli::Parsed& parsed) {
  if (parsed.operands().empty()) return Fail(ErrorCode::kInvalidArgument, "which verb?");
  return Plan{parsed.operands()};
}

std::vector<std::string> VerbsIn(const std::filesystem::path& directory) {
  std::vector<std::string> verbs;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.starts_with(kPrefix)) verbs.push_back(name.substr(kPrefix.size()));
  }
  std::ranges::sort(verbs);
  return verbs;
}

Result<int> Run(const Plan& plan, cli::Console& /*console*/) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return FailErrno("/proc/self/exe", error.value());
  const std::string& verb = plan.words.front();
  const std::filesystem::path tool = self.parent_path() / (std::string(kPrefix) + verb);

  std::vector<std::string> words = plan.words;
  words.front() = tool.native();
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // A verb is a name, not a path to somewhere else.
  if (verb.find('/') == std::string::npos) execv(tool.c_str(), argv.data());
  const int error_number = verb.find('/') == std::string::npos ? errno : ENOENT;
  if (error_number != ENOENT) return FailErrno(tool.native(), error_number);
  return Fail(ErrorCode::kNotFound, fmt::format("no verb '{}'; there are: {}", verb,
                                                fmt::join(VerbsIn(self.parent_path()), ", ")));
}

}  // namespace
}  // namespace perftape

int main(int argc, char** argv) noexcept {
  using namespace perftape;
  return cli::Main<Plan>({kCommand, &PlanOf, &Run}, argc, argv);
}

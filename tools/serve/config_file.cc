// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/config_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/text.h"
#include "tools/common/cli/escape.h"

namespace perftape::serve {
namespace {

constexpr std::uint64_t kMostConfigBytes = std::uint64_t{1} << 20;

std::unexpected<Error> Bad(std::string_view reason, std::string_view name) {
  return Fail(ErrorCode::kInvalidArgument,
              std::string(reason) + ": " + cli::EscapeForTerminal(name));
}

Status ApplyLine(std::string_view line, ServePlan& plan) {
  const std::size_t equals = line.find('=');
  const std::string name(Trimmed(line.substr(0, equals)));
  const cli::Option* const option = cli::FindOption(ServeCommand(), name);
  if (option == nullptr || name.size() < 2) return Bad("no such option", name);
  const std::span<const cli::Option> of_file = ServeCommand().options;
  const bool is_of_file = std::ranges::any_of(
      of_file, [&](const cli::Option& one) { return one.name == name && name != "config"; });
  if (!is_of_file) return Bad("not allowed in a file", name);
  const bool has_value = equals != std::string_view::npos;
  if (has_value != option->takes_argument())
    return Bad(has_value ? "takes no value" : "needs a value", name);
  std::string word = "--" + name;
  if (has_value) word += "=" + std::string(Trimmed(line.substr(equals + 1)));
  return cli::ParseInto(ServeCommand(), std::array{word}, plan);
}

}  // namespace

Status ApplyConfig(std::string_view text, std::string_view name, ServePlan& plan) {
  // The operands are those of the command line.
  const std::vector<std::string> operands = plan.operands;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    const std::string_view line = Trimmed(whole);
    if (line.empty() || line.starts_with('#')) continue;
    if (Status applied = ApplyLine(line, plan); !applied) {
      const std::string where = std::string(name) + ":" + std::to_string(number);
      return Fail(InContext(where, std::move(applied).error()));
    }
  }
  plan.operands = operands;
  return {};
}

Status ApplyConfigFile(const std::string& path, ServePlan& plan) {
  TRY_ASSIGN(const std::string text, ReadWholeFile(path, kMostConfigBytes));
  plan.config += text;
  return ApplyConfig(text, path, plan);
}

}  // namespace perftape::serve

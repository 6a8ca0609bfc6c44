// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/completion.h"

#include <algorithm>

#include "formats/base/text.h"
#include "tools/common/cli/help.h"

namespace perftape::cli {

std::string FunctionName(std::string_view command) {
  std::string name(command);
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == ' '; }, '_');
  return name;
}

std::vector<std::string> ChoiceWords(const Option& option) {
  std::vector<std::string> words;
  if (option.completion == Completion::kEvent) return words;
  for (const Offer& offer : option.offers()) words.push_back(offer.word);
  return words;
}

std::string ShortHelp(const Option& option) {
  std::string_view help = option.help.substr(0, option.help.find("; "));
  if (const std::size_t at = help.find("{choices}"); at != help.npos) {
    const std::string_view after = help.substr(at);
    help = help.substr(0, help.find_last_not_of(" :(,", at - 1) + 1);
    // "print a completion script for SHELL ({choices}) and exit"
    if (after.starts_with("{choices}) ")) {
      return std::string(help).append(after.substr(after.find(' ')));
    }
  }
  return std::string(help);
}

std::vector<std::string> SpellingsWithNextWord(const Command& command) {
  std::vector<std::string> all;
  for (const Option& option : AllOptions(command)) {
    if (!option.takes_next_word()) continue;
    const std::vector<std::string> spellings = option.spellings();
    all.insert(all.end(), spellings.begin(), spellings.end());
  }
  return all;
}

Result<std::string> CompletionScript(const Command& command, std::string_view shell) {
  if (shell == "bash") return BashCompletion(command);
  if (shell == "zsh") return ZshCompletion(command);
  if (shell == "fish") return FishCompletion(command);
  return UnknownValue("--completion", shell, FindOption(command, "completion")->offers());
}

}  // namespace perftape::cli

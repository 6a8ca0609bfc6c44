// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/completion.h"

#include <algorithm>
#include <iterator>

#include "formats/base/text.h"
#include "tools/common/cli/help.h"

namespace perftape::cli {
namespace {

struct Shell {
  std::string_view name;
  std::string (*script)(const Command& command);
};

constexpr Shell kShells[] = {
    {"bash", &BashCompletion},
    {"zsh", &ZshCompletion},
    {"fish", &FishCompletion},
};

}  // namespace

std::vector<Offer> OfferedShells() {
  std::vector<Offer> offers;
  for (const Shell& shell : kShells) offers.push_back({.word = std::string(shell.name)});
  return offers;
}

bool OffersEvents(const Command& command) {
  return std::ranges::find(command.options, Completion::kEvent, &Option::completion) !=
         command.options.end();
}

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
  std::string_view help = option.summary().substr(0, option.summary().find("; "));
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
  const auto* const found = std::ranges::find(kShells, shell, &Shell::name);
  if (found == std::end(kShells)) return UnknownValue("--completion", shell, OfferedShells());
  return found->script(command);
}

}  // namespace perftape::cli

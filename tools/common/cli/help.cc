// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/help.h"

#include <fmt/core.h>

#include <algorithm>

#include "tools/common/cli/options.h"

namespace perftape::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kHelpColumn = 28;
constexpr std::size_t kVerbColumn = 12;

// Returns "  -o, --output FILE" or "  -z, --compression-level[=LEVEL]".
std::string Label(const Option& option) {
  std::string label =
      option.letter == 0 ? std::string("      ") : fmt::format("  -{}", option.letter);
  if (option.letter != 0 && !option.name.empty()) label += ", ";
  if (!option.name.empty()) label += fmt::format("--{}", option.name);
  if (!option.takes_argument()) return label;
  return label +
         fmt::format(fmt::runtime(option.argument_is_optional ? "[={}]" : " {}"), option.argument);
}

// Returns `text` in lines of at most kWidth, each indented to `column`. The first line starts at
// `at`.
std::string Wrapped(std::string_view text, std::size_t at, std::size_t column) {
  std::string wrapped;
  if (at > column) {
    wrapped += '\n';
    at = 0;
  }
  wrapped.append(column - at, ' ');
  at = column;
  bool at_start = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!at_start && at + 1 + word.size() > kWidth) {
      wrapped += '\n';
      wrapped.append(column, ' ');
      at = column;
      at_start = true;
    }
    if (!at_start) wrapped += ' ';
    wrapped += word;
    at += word.size() + (at_start ? 0 : 1);
    at_start = false;
  }
  return wrapped + '\n';
}

// Returns the row's help with its choices.
std::string HelpOf(const Option& option) {
  constexpr std::string_view kChoices = "{choices}";
  std::string help(option.help);
  if (const std::size_t at = help.find(kChoices); at != std::string::npos) {
    help.replace(at, kChoices.size(), OffersText(option.offers(), Notes::kShow));
  }
  return help;
}

std::string VerbsText(const Command& command) {
  std::string text = "\nVerbs:\n";
  for (const Verb& verb : command.verbs) {
    const std::string label = fmt::format("  {}", verb.name);
    text += label + Wrapped(verb.summary, label.size(), kVerbColumn);
  }
  return text + fmt::format("'{} VERB --help' prints the options of a verb.\n", command.name);
}

}  // namespace

std::string VersionText(const Command& command) {
  return fmt::format("{} {}\n", command.name, PERFTAPE_VERSION);
}

std::string HelpText(const Command& command) {
  std::string text = fmt::format("Usage: {} [OPTION...]{}{}\n\n", command.name,
                                 command.operands.empty() ? "" : " ", command.operands);
  text += Wrapped(command.purpose, 0, 0);
  text += "\nOptions:\n";
  for (const Option& option : AllOptions(command)) {
    const std::string label = Label(option);
    // At least two blanks between a label and its help.
    text += label + Wrapped(HelpOf(option), label.size() + 2 > kHelpColumn ? kWidth : label.size(),
                            kHelpColumn);
  }
  if (!command.verbs.empty()) text += VerbsText(command);
  if (!command.epilogue.empty()) text += fmt::format("\n{}", command.epilogue);
  return text;
}

}  // namespace perftape::cli

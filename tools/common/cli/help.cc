// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/help.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include "tools/common/cli/options.h"

namespace perftape::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kHelpColumn = 28;
constexpr std::size_t kVerbColumn = 15;
constexpr std::size_t kUsualExamples = 3;

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

// Returns the row's help with its choices.
std::string HelpOf(const Option& option) {
  if (option.verdict == Verdict::kRefused) return fmt::format("not supported: {}", option.reason);
  constexpr std::string_view kChoices = "{choices}";
  std::string help(option.summary());
  if (const std::size_t at = help.find(kChoices); at != std::string::npos) {
    help.replace(at, kChoices.size(), OffersText(option.offers(), Notes::kShow));
  }
  return help;
}

// Rows is Verb or Topic.
template <class Row>
std::string RowsText(std::string_view heading, std::span<const Row> rows) {
  if (rows.empty()) return "";
  std::string text = fmt::format("\n{}:\n", heading);
  for (const Row& row : rows) {
    const std::string label = fmt::format("  {}", row.name);
    text += label + Wrapped(row.summary, label.size(), kVerbColumn);
  }
  return text;
}

std::string VerbsText(const Command& command) {
  if (command.verbs.empty()) return "";
  return RowsText("Verbs", command.verbs) + RowsText("Topics", command.topics) +
         fmt::format(fmt::runtime(command.topics.empty()
                                      ? "'{} VERB --help' prints the options of a verb.\n"
                                      : "'{} help WORD' explains one of them.\n"),
                     command.name);
}

// A command line that is longer has its purpose below it.
constexpr std::size_t kLongestExample = 44;

std::string ExamplesText(std::span<const Example> examples) {
  if (examples.empty()) return "";
  std::size_t column = 0;
  for (const Example& example : examples) {
    if (example.line.size() <= kLongestExample) column = std::max(column, example.line.size());
  }
  column += 4;
  std::string text = "\nExamples:\n";
  for (const Example& example : examples) {
    const std::string label = fmt::format("  {}", example.line);
    const bool is_long = label.size() + 2 > column;
    text += label + Wrapped(example.purpose, is_long ? kWidth : label.size(), column);
  }
  return text;
}

std::string OptionLine(const Option& option) {
  const std::string label = Label(option);
  // At least two blanks between a label and its help.
  return label + Wrapped(HelpOf(option), label.size() + 2 > kHelpColumn ? kWidth : label.size(),
                         kHelpColumn);
}

std::string OptionsText(std::span<const Option> options) {
  const std::vector<Group> groups = GroupsOf(options);
  std::string text;
  for (const Group group : groups) {
    text += fmt::format("\n{}:\n", groups.size() > 1 ? HeadingOf(group) : "Options");
    for (const Option& option : options) {
      if (option.group == group) text += OptionLine(option);
    }
  }
  return text;
}

}  // namespace

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

std::string RequestedHelp(const Command& command, const BaseOptions& options) {
  if (options.help_all) return HelpText(command, HelpDepth::kAll);
  return options.help ? HelpText(command, HelpDepth::kUsual) : "";
}

std::string BriefText(const Command& command) {
  return Wrapped(command.purpose, 0, 0) + ExamplesText(command.examples) +
         fmt::format("\n{}'{} help' lists all verbs{}.\n", command.epilogue, command.name,
                     command.topics.empty() ? "" : " and topics");
}

std::string HelpText(const Command& command, HelpDepth depth) {
  std::string text = fmt::format("Usage: {} [OPTION...]{}{}\n\n", command.name,
                                 command.operands.empty() ? "" : " ", command.operands);
  text += Wrapped(command.purpose, 0, 0);
  std::span<const Example> examples = command.examples;
  std::vector<Option> options = AllOptions(command);
  std::string rest;
  if (depth == HelpDepth::kUsual) {
    examples = examples.first(std::min(examples.size(), kUsualExamples));
    const std::size_t rare = std::erase_if(options, &Option::is_rare);
    if (rare != 0) {
      rest = fmt::format("\n{} of {} options: '{} --help-all' prints the others, too.\n",
                         options.size(), options.size() + rare, command.name);
    }
  }
  text += ExamplesText(examples);
  text += VerbsText(command);
  text += OptionsText(options) + rest;
  if (!command.epilogue.empty()) text += fmt::format("\n{}", command.epilogue);
  return text;
}

}  // namespace perftape::cli

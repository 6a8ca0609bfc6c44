// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tools/common/cli/choices.h"

namespace perftape::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kHelpColumn = 28;
constexpr std::size_t kVerbColumn = 12;

std::vector<Option> AllOptions(const Command& command) {
  std::vector<Option> all(command.options.begin(), command.options.end());
  const std::span<const Option> common = CommonOptions(command);
  all.insert(all.end(), common.begin(), common.end());
  return all;
}

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

std::vector<std::string> Spellings(const Option& option) {
  std::vector<std::string> spellings;
  if (option.letter != 0) spellings.push_back({'-', option.letter});
  if (!option.name.empty()) spellings.push_back(fmt::format("--{}", option.name));
  return spellings;
}

std::string VerbsText(const Command& command) {
  std::string text = "\nVerbs:\n";
  for (const Verb& verb : command.verbs) {
    const std::string label = fmt::format("  {}", verb.name);
    text += label + Wrapped(verb.summary, label.size(), kVerbColumn);
  }
  return text + fmt::format("'{} VERB --help' prints the options of a verb.\n", command.name);
}

// Returns the options of bash's compgen that offer such arguments. `words` are the choices for
// kChoice.
std::string CompgenFlags(Completion completion, std::string_view words) {
  switch (completion) {
    case Completion::kNothing:
      return "";
    case Completion::kFile:
      return "-f";
    case Completion::kUser:
      return "-u";
    case Completion::kCommand:
      return "-c";
    case Completion::kProcess:
      return "-W \"$(cd /proc && echo [0-9]*)\"";
    case Completion::kChoice:
      return fmt::format("-W \"{}\"", words);
  }
  return "";
}

// One line per match, because a name may contain blanks. readline quotes special characters and
// marks directories only for file names.
std::string OfferLines(Completion completion, std::string_view words, std::string_view indent) {
  const std::string flags = CompgenFlags(completion, words);
  if (flags.empty()) return "";
  std::string lines = fmt::format(
      "{}mapfile -t COMPREPLY < <(compgen -P \"$prefix\" {} -- \"$word\")\n", indent, flags);
  if (completion == Completion::kFile) {
    lines += fmt::format("{}compopt -o filenames 2> /dev/null || :\n", indent);
  }
  return lines;
}

std::string VerbNames(const Command& command) {
  std::string names = "help";
  for (const Verb& verb : command.verbs) names += fmt::format(" {}", verb.name);
  return names;
}

std::string OperandLines(const Command& command, std::string_view indent) {
  if (!command.verbs.empty()) return OfferLines(Completion::kChoice, VerbNames(command), indent);
  return OfferLines(command.operand_completion, "", indent);
}

std::string ArgumentLines(const Option& option, std::string_view indent) {
  const std::vector<Offer> offers = option.offers();
  if (offers.empty()) return OfferLines(option.completion, "", indent);
  std::vector<std::string_view> words;
  for (const Offer& offer : offers) words.push_back(offer.word);
  return OfferLines(Completion::kChoice, fmt::format("{}", fmt::join(words, " ")), indent);
}

// Returns the lines that set COMPREPLY for one command line: an option's argument, an option, or an
// operand.
std::string OptionCases(const Command& command, std::string_view indent) {
  const std::string deeper = fmt::format("{}    ", indent);
  std::string cases;
  std::vector<std::string> words;
  for (const Option& option : AllOptions(command)) {
    const std::vector<std::string> spellings = Spellings(option);
    words.insert(words.end(), spellings.begin(), spellings.end());
    if (!option.takes_next_word()) continue;
    cases += fmt::format("{}  {})\n", indent, fmt::join(spellings, "|"));
    cases += ArgumentLines(option, deeper);
    cases += fmt::format("{}return ;;\n", deeper);
  }
  return fmt::format(
      "{0}case $before in\n"
      "{1}"
      "{0}esac\n"
      "{0}case $word in\n"
      "{0}  -*)\n"
      "{2}"
      "{3};;\n"
      "{0}  *)\n"
      "{4}"
      "{3};;\n"
      "{0}esac\n",
      indent, cases,
      OfferLines(Completion::kChoice, fmt::format("{}", fmt::join(words, " ")), deeper), deeper,
      OperandLines(command, deeper));
}

// Returns the case for a verb that is a program of its own. That program is asked once for its
// completion.
std::string OtherProgramCase(const Command& command, const Verb& verb, std::string_view function) {
  return fmt::format(
      "      {0})\n"
      "        declare -F _{1}_{0} > /dev/null ||\n"
      "          eval \"$(\"${{COMP_WORDS[0]}}\" {0} --completion bash 2> /dev/null)\"\n"
      "        local -a COMP_WORDS=({2}-{0} \"${{COMP_WORDS[@]:2}}\")\n"
      "        local COMP_CWORD=$((COMP_CWORD - 1))\n"
      "        _{1}_{0}\n"
      "        return ;;\n",
      verb.name, function, command.name);
}

// Returns the completion of the words after a verb.
std::string VerbCases(const Command& command, std::string_view function) {
  if (command.verbs.empty()) return "";
  std::string cases =
      fmt::format("      help)\n{}        return ;;\n", OperandLines(command, "        "));
  for (const Verb& verb : command.verbs) {
    if (verb.command == nullptr) {
      cases += OtherProgramCase(command, verb, function);
      continue;
    }
    cases += fmt::format("      {})\n{}        return ;;\n", verb.name,
                         OptionCases(verb.command(), "        "));
  }
  return fmt::format(
      "  if ((COMP_CWORD > 1)); then\n"
      "    case ${{COMP_WORDS[1]}} in\n"
      "{}"
      "    esac\n"
      "  fi\n",
      cases);
}

// bash splits --from=folded into three words, unless COMP_WORDBREAKS is changed.
constexpr std::string_view kCompletedWord =
    "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} prefix=\n"
    "  if [[ $word == --*=* ]]; then\n"
    "    before=${word%%=*} prefix=${word%%=*}= word=${word#*=}\n"
    "  elif [[ $word == = ]]; then\n"
    "    word=\n"
    "  elif [[ $before == = ]]; then\n"
    "    before=${COMP_WORDS[COMP_CWORD-2]}\n"
    "  fi\n";

constexpr std::string_view kWithArgument = " with an argument";
constexpr std::string_view kWithOptionalArgument = " with an optional argument";

// An option that a man page describes, and whether it has an argument. Options are all **-x** and
// **\--name** in lines that begin with one.
struct Described {
  std::string spelled;
  std::string_view argument;  // one of the above, or empty
  auto operator<=>(const Described&) const = default;
};

std::string_view ArgumentOf(const Option& option) {
  if (!option.takes_argument()) return "";
  return option.argument_is_optional ? kWithOptionalArgument : kWithArgument;
}

std::set<Described> DescribedOptions(std::string_view man_page) {
  std::set<Described> described;
  while (!man_page.empty()) {
    std::string_view line = man_page.substr(0, man_page.find('\n'));
    man_page.remove_prefix(std::min(man_page.size(), line.size() + 1));
    if (!line.starts_with("**-") && !line.starts_with("**\\-")) continue;
    std::vector<std::string> spellings;
    while (line.starts_with("**")) {
      const std::size_t end = line.find("**", 2);
      if (end == std::string_view::npos) break;
      std::string spelled(line.substr(2, end - 2));
      std::erase(spelled, '\\');
      spellings.push_back(std::move(spelled));
      line.remove_prefix(end + 2);
      if (line.starts_with(", ")) line.remove_prefix(2);
    }
    std::string_view argument;
    if (line.contains('*')) {
      argument = line.starts_with("[=") ? kWithOptionalArgument : kWithArgument;
    }
    for (std::string& spelled : spellings) described.insert({std::move(spelled), argument});
  }
  return described;
}

// Returns the text below "## NAME", up to the next heading.
std::string_view SectionOf(std::string_view man_page, std::string_view name) {
  const std::string heading = fmt::format("\n## {}\n", name);
  const std::size_t at = man_page.find(heading);
  if (at == std::string_view::npos) return "";
  const std::string_view section = man_page.substr(at + heading.size());
  return section.substr(0, section.find("\n#"));
}

// The tool's own options precede the first section of a verb.
std::string DifferencesOfVerbs(const Command& command, std::string_view man_page) {
  Command own = command;
  own.verbs = {};
  std::string differences = ManPageDifferences(own, man_page.substr(0, man_page.find("\n## ")));
  for (const Verb& verb : command.verbs) {
    if (verb.command == nullptr) continue;
    const std::string_view section = SectionOf(man_page, verb.name);
    if (section.empty()) differences += fmt::format("only the table has the verb {}\n", verb.name);
    differences += ManPageDifferences(verb.command(), section);
  }
  return differences;
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

Result<std::string> CompletionScript(const Command& command, std::string_view shell) {
  if (shell != "bash") {
    return UnknownValue("--completion", shell, FindOption(command, "completion")->offers());
  }
  std::string function(command.name);
  std::ranges::replace(function, '-', '_');
  return fmt::format(
      "# bash completion for {0}; made by: {0} --completion bash\n"
      "_{1}() {{\n"
      "{2}"
      "{3}"
      "{4}"
      "}}\n"
      "complete -F _{1} {0}\n",
      command.name, function, kCompletedWord, VerbCases(command, function),
      OptionCases(command, "  "));
}

std::string ManPageDifferences(const Command& command, std::string_view man_page) {
  if (!command.verbs.empty()) return DifferencesOfVerbs(command, man_page);
  std::set<Described> in_table;
  for (const Option& option : AllOptions(command)) {
    for (std::string& spelled : Spellings(option)) {
      in_table.insert({std::move(spelled), ArgumentOf(option)});
    }
  }
  const std::set<Described> in_page = DescribedOptions(man_page);
  std::string differences;
  const auto report = [&](const auto& has, const auto& lacks, std::string_view who) {
    for (const Described& option : has) {
      if (lacks.contains(option)) continue;
      differences += fmt::format("{} has {}{}\n", who, option.spelled, option.argument);
    }
  };
  report(in_table, in_page, "only the table");
  report(in_page, in_table, "only the man page");
  return differences;
}

}  // namespace perftape::cli

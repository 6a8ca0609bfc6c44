// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "formats/base/text.h"
#include "tools/common/cli/help.h"

namespace perftape::cli {
namespace {

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
  return OfferLines(Completion::kChoice, Joined(words, " "), indent);
}

// Returns the lines that set COMPREPLY for one command line: an option's argument, an option, or an
// operand.
std::string OptionCases(const Command& command, std::string_view indent) {
  const std::string deeper = fmt::format("{}    ", indent);
  std::string cases;
  std::vector<std::string> words;
  for (const Option& option : AllOptions(command)) {
    const std::vector<std::string> spellings = option.spellings();
    words.insert(words.end(), spellings.begin(), spellings.end());
    if (!option.takes_next_word()) continue;
    cases += fmt::format("{}  {})\n", indent, Joined(spellings, "|"));
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
      indent, cases, OfferLines(Completion::kChoice, Joined(words, " "), deeper), deeper,
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

}  // namespace

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

}  // namespace perftape::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "formats/base/text.h"
#include "tools/common/cli/completion.h"

namespace perftape::cli {
namespace {

// Returns the options of bash's compgen that offer such arguments. `words` are the choices for
// kChoice.
std::string CompgenFlags(Completion completion, std::string_view words) {
  switch (completion) {
    case Completion::kNothing:
    case Completion::kEvent:
      return "";
    case Completion::kFile:
      return "-f";
    case Completion::kDirectory:
      return "-d";
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

// The names of events are never expanded by the shell: they may be those of functions in the binary
// of another person. The shell quotes those that are not plain words.
std::string EventLines(std::string_view indent) {
  return fmt::format(
      "{0}local name list=${{word%\"${{word##*,}}\"}}\n"
      "{0}while IFS= read -r name; do\n"
      "{0}  [[ $name == \"${{word##*,}}\"* ]] || continue\n"
      "{0}  printf -v name %q \"$name\"\n"
      "{0}  COMPREPLY+=(\"$prefix$list$name\")\n"
      "{0}done < <(\"${{program[@]}}\" list --names \"${{word##*,}}*\" 2> /dev/null)\n",
      indent);
}

// One line per match, because a name may contain blanks. readline quotes special characters and
// marks directories only for file names.
std::string OfferLines(Completion completion, std::string_view words, std::string_view indent) {
  if (completion == Completion::kEvent) return EventLines(indent);
  const std::string flags = CompgenFlags(completion, words);
  if (flags.empty()) return "";
  std::string lines = fmt::format(
      "{}mapfile -t COMPREPLY < <(compgen -P \"$prefix\" {} -- \"$word\")\n", indent, flags);
  if (completion == Completion::kFile || completion == Completion::kDirectory) {
    lines += fmt::format("{}compopt -o filenames 2> /dev/null || :\n", indent);
  }
  return lines;
}

std::string VerbNames(const Command& command) {
  std::vector<std::string_view> names;
  if (!command.verbs_are_optional) names.push_back("help");
  for (const Verb& verb : command.verbs) names.push_back(verb.name);
  return Joined(names, " ");
}

std::string OperandLines(const Command& command, std::string_view indent) {
  if (command.verbs.empty()) return OfferLines(command.operand_completion, "", indent);
  std::string lines = OfferLines(Completion::kChoice, VerbNames(command), indent);
  if (command.verbs_are_optional) {
    lines +=
        fmt::format("{}mapfile -t -O ${{#COMPREPLY[@]}} COMPREPLY < <(compgen {} -- \"$word\")\n",
                    indent, CompgenFlags(command.operand_completion, ""));
  }
  return lines;
}

std::string ArgumentLines(const Option& option, std::string_view indent) {
  const std::vector<std::string> words = ChoiceWords(option);
  if (words.empty()) return OfferLines(option.completion, "", indent);
  return OfferLines(Completion::kChoice, Joined(words, " "), indent);
}

// Returns the case for an argument that must be in the same word: "--tree=callers".
std::string OptionalArgumentCase(const Option& option, std::string_view indent) {
  const std::string lines = ArgumentLines(option, fmt::format("{}      ", indent));
  if (lines.empty() || option.name.empty()) return "";
  return fmt::format(
      "{0}  --{1})\n"
      "{0}    if [[ $prefix ]]; then\n"
      "{2}"
      "{0}      return\n"
      "{0}    fi ;;\n",
      indent, option.name, lines);
}

// Returns the lines that set COMPREPLY for one command line: an option's argument, an option, or an
// operand.
std::string OptionCases(const Command& command, std::string_view indent) {
  const std::string deeper = fmt::format("{}    ", indent);
  std::string cases;
  std::vector<std::string> words;
  for (const Option& option : OfferedOptions(command)) {
    const std::vector<std::string> spellings = option.spellings();
    words.insert(words.end(), spellings.begin(), spellings.end());
    if (option.takes_argument() && option.argument_is_optional) {
      cases += OptionalArgumentCase(option, indent);
    }
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
// completion. It sets COMPREPLY as readline wants it, so that nothing is left to be cut off.
std::string OtherProgramCase(const Command& command, const Verb& verb, std::string_view function) {
  return fmt::format(
      "      {0})\n"
      "        declare -F _{1}_{0} > /dev/null ||\n"
      "          eval \"$(\"${{COMP_WORDS[0]}}\" {0} --completion bash 2> /dev/null)\"\n"
      "        local -a perftape_program=(\"${{COMP_WORDS[0]}}\" {0})\n"
      "        local -a COMP_WORDS=({2}-{0} \"${{COMP_WORDS[@]:2}}\")\n"
      "        local COMP_CWORD=$((COMP_CWORD - 1))\n"
      "        _{1}_{0}\n"
      "        head=\n"
      "        return ;;\n",
      verb.name, function, command.name);
}

// Returns the completion of the words after a verb.
std::string VerbCases(const Command& command, std::string_view function) {
  if (command.verbs.empty()) return "";
  std::string cases;
  if (!command.verbs_are_optional) {
    std::string names = VerbNames(command);
    for (const Topic& topic : command.topics) names += fmt::format(" {}", topic.name);
    cases = fmt::format("      help)\n{}        return ;;\n",
                        OfferLines(Completion::kChoice, names, "        "));
  }
  for (const Verb& verb : command.verbs) {
    if (verb.command == nullptr) {
      cases += OtherProgramCase(command, verb, function);
      continue;
    }
    cases += fmt::format("      {})\n{}        return ;;\n", verb.name,
                         OptionCases(verb.command(), "        "));
  }
  return fmt::format(
      "  if ((${{#words[@]}} > 2)); then\n"
      "    case ${{words[1]}} in\n"
      "{}"
      "    esac\n"
      "  fi\n",
      cases);
}

// Returns the lines that complete the command line of a command that is run: the operands after the
// options. They use the completion of that command if bash-completion is loaded.
std::string RunCommandLines(const Command& command) {
  if (command.operand_completion != Completion::kCommand) return "";
  return fmt::format(
      "  local i=1\n"
      "  while ((i < ${{#words[@]}} - 1)); do\n"
      "    case ${{words[i]}} in\n"
      "      {}) ((i += 2)) ;;\n"
      "      --) ((i += 1)); break ;;\n"
      "      -*) ((i += 1)) ;;\n"
      "      *) break ;;\n"
      "    esac\n"
      "  done\n"
      "  if ((i < ${{#words[@]}} - 1)); then\n"
      "    head=\n"
      "    if ((${{#words[@]}} == ${{#COMP_WORDS[@]}})) && declare -F _command_offset > /dev/null; "
      "then\n"
      "      _command_offset \"$i\"\n"
      "    else\n"
      "      mapfile -t COMPREPLY < <(compgen -f -- \"$part\")\n"
      "      compopt -o filenames 2> /dev/null || :\n"
      "    fi\n"
      "    return\n"
      "  fi\n",
      Joined(SpellingsWithNextWord(command), "|"));
}

// bash splits --from=folded and sched:sched_switch into three words, unless COMP_WORDBREAKS is
// changed, and replaces only the last one. `words` has them joined; `head` is what bash keeps.
constexpr std::string_view kCompletedWord =
    "  local -a words=() program=(\"${perftape_program[@]:-${COMP_WORDS[0]}}\")\n"
    "  local i part=${COMP_WORDS[COMP_CWORD]}\n"
    "  for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "    if ((i > 1)) && [[ ${COMP_WORDS[i]} == [=:]* || ${words[-1]} == *[=:] ]]; then\n"
    "      words[-1]+=${COMP_WORDS[i]}\n"
    "    else\n"
    "      words+=(\"${COMP_WORDS[i]}\")\n"
    "    fi\n"
    "  done\n"
    "  [[ $part == [=:] ]] && part=\n"
    "  local word=${words[-1]} before=${words[-2]} head prefix=\n"
    "  head=${word%\"$part\"}\n"
    "  if [[ $word == --*=* ]]; then\n"
    "    before=${word%%=*} prefix=${word%%=*}= word=${word#*=}\n"
    "  fi\n";

}  // namespace

std::string BashCompletion(const Command& command) {
  const std::string function = FunctionName(command.name);
  return fmt::format(
      "# bash completion for {0}; made by: {0} --completion bash\n"
      "_{1}_reply() {{\n"
      "{3}"
      "{4}"
      "{5}"
      "}}\n"
      "_{1}() {{\n"
      "{2}"
      "  _{1}_reply\n"
      "  COMPREPLY=(\"${{COMPREPLY[@]#\"$head\"}}\")\n"
      "}}\n"
      "complete -F _{1} {0}\n",
      command.name, function, kCompletedWord, VerbCases(command, function),
      RunCommandLines(command), OptionCases(command, "  "));
}

}  // namespace perftape::cli

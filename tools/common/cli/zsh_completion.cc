// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <vector>

#include "formats/base/text.h"
#include "tools/common/cli/completion.h"

namespace perftape::cli {
namespace {

// Returns `text` with a backslash before each of `special`.
std::string Escaped(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    if (special.contains(c)) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string QuotedForZsh(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + '\'';
}

// Returns the action of zsh's _arguments that offers such arguments.
std::string ActionOf(Completion completion, std::string_view function) {
  switch (completion) {
    case Completion::kNothing:
    case Completion::kChoice:
      return " ";
    case Completion::kFile:
      return "_files";
    case Completion::kDirectory:
      return "_files -/";
    case Completion::kUser:
      return "_users";
    case Completion::kCommand:
      return "_command_names -e";
    case Completion::kProcess:
      return "_pids";
    case Completion::kEvent:
      return fmt::format("_{}_events", function);
  }
  return " ";
}

// Returns ":FORMAT:(folded pprof)".
std::string ArgumentSpec(const Option& option, std::string_view function) {
  if (!option.takes_argument()) return "";
  const std::vector<std::string> words = ChoiceWords(option);
  std::string action = ActionOf(option.completion, function);
  if (!words.empty()) {
    action = fmt::format("({})", Escaped(Joined(words, " "), ":\\"));
  }
  return fmt::format("{}{}:{}", option.argument_is_optional ? "::" : ":",
                     Escaped(option.argument, ":\\[]"), action);
}

// Returns the lines of one option, one for each of its spellings.
std::string OptionSpecs(const Option& option, std::string_view function) {
  const std::vector<std::string> spellings = option.spellings();
  // An option that adds to a list can be given again.
  const std::string others =
      option.into.is_list ? std::string("*") : fmt::format("({})", Joined(spellings, " "));
  std::string specs;
  for (const std::string& spelling : spellings) {
    const bool is_name = spelling.starts_with("--");
    std::string form;
    if (option.takes_next_word()) {
      form = is_name ? "=" : "+";
    } else if (option.takes_argument()) {
      form = is_name ? "=-" : "-";
    }
    specs +=
        fmt::format("    {} \\\n", QuotedForZsh(fmt::format("{}{}{}[{}]{}", others, spelling, form,
                                                            Escaped(ShortHelp(option), "[]\\"),
                                                            ArgumentSpec(option, function))));
  }
  return specs;
}

std::string AllSpecs(const Command& command, std::string_view function) {
  std::string specs;
  for (const Option& option : OfferedOptions(command)) specs += OptionSpecs(option, function);
  return specs;
}

// Returns a call of _arguments for a command without verbs.
std::string PlainCall(const Command& command, std::string_view function) {
  return fmt::format(
      "  _arguments -s -S : \\\n{}    {}\n", AllSpecs(command, function),
      QuotedForZsh(fmt::format("*: :{}", ActionOf(command.operand_completion, function))));
}

std::string Described(std::string_view name, std::string_view summary) {
  return fmt::format("    {}\n", QuotedForZsh(fmt::format("{}:{}", name, Escaped(summary, ":\\"))));
}

// Returns the function that offers the first operand.
std::string FirstOperand(const Command& command, std::string_view function) {
  std::string lines = fmt::format("_{}_verbs() {{\n  local -a verbs=(\n", function);
  for (const Verb& verb : command.verbs) lines += Described(verb.name, verb.summary);
  if (!command.verbs_are_optional) lines += Described("help", "explain a verb");
  lines += "  )\n  _describe -t verbs verb verbs\n";
  if (command.verbs_are_optional) lines += "  _command_names -e\n";
  return lines + "}\n";
}

// The program of the verb is asked once for its completion.
std::string OtherProgramCall(const Command& command, const Verb& verb, std::string_view function) {
  return fmt::format(
      "    {0})\n"
      "      (( $+functions[_{1}_{0}] )) || eval \"$(\"${{program[@]}}\" {0} --completion zsh 2> "
      "/dev/null)\"\n"
      "      local -a perftape_program=(\"${{program[@]}}\" {0})\n"
      "      words[1]={2}-{0}\n"
      "      _{1}_{0} ;;\n",
      verb.name, function, command.name);
}

// Returns the function that completes the operands, of which the first one is a verb.
std::string OperandsAfterVerb(const Command& command, std::string_view function) {
  std::string lines = fmt::format("_{}_operands() {{\n  case $words[1] in\n", function);
  if (!command.verbs_are_optional) {
    lines += "    help)\n      local -a topics=(\n";
    for (const Verb& verb : command.verbs) lines += "    " + Described(verb.name, verb.summary);
    for (const Topic& topic : command.topics) {
      lines += "    " + Described(topic.name, topic.summary);
    }
    lines += "      )\n      _describe -t topics topic topics ;;\n";
  }
  for (const Verb& verb : command.verbs) {
    if (verb.command == nullptr) {
      lines += OtherProgramCall(command, verb, function);
    } else {
      lines += fmt::format("    {})\n{} ;;\n", verb.name, PlainCall(verb.command(), function));
    }
  }
  if (command.verbs_are_optional) lines += "    *) _normal ;;\n";
  return lines + "  esac\n}\n";
}

std::string VerbsCall(const Command& command, std::string_view function) {
  return fmt::format(
      "  _arguments -s -S -A '-*' : \\\n{0}    '(-)1: :_{1}_verbs' \\\n    '*:: :_{1}_operands'\n",
      AllSpecs(command, function), function);
}

// Names may be those of functions in any binary. compadd quotes them.
std::string EventsFunction(std::string_view function) {
  return fmt::format(
      "_{0}_events() {{\n"
      "  local -a names\n"
      "  compset -P '*,'\n"
      "  names=(\"${{(@f)$(\"${{program[@]}}\" list --names \"${{(Q)PREFIX}}*\" 2> "
      "/dev/null)}}\")\n"
      "  compadd -a names\n"
      "}}\n",
      function);
}

}  // namespace

std::string ZshCompletion(const Command& command) {
  const std::string function = FunctionName(command.name);
  const bool has_verbs = !command.verbs.empty();
  return fmt::format(
      "#compdef {0}\n"
      "# zsh completion for {0}; made by: {0} --completion zsh\n"
      "{2}{3}{4}"
      "_{1}() {{\n"
      "  local -a program=(\"${{perftape_program[@]:-${{(Q)words[1]}}}}\")\n"
      "{5}"
      "}}\n"
      "if [[ $funcstack[1] == _{0} ]]; then\n"
      "  _{1} \"$@\"\n"
      "else\n"
      "  compdef _{1} {0}\n"
      "fi\n",
      command.name, function, OffersEvents(command) ? EventsFunction(function) : "",
      has_verbs ? FirstOperand(command, function) : "",
      has_verbs ? OperandsAfterVerb(command, function) : "",
      has_verbs ? VerbsCall(command, function) : PlainCall(command, function));
}

}  // namespace perftape::cli

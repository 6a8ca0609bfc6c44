// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <vector>

#include "formats/base/text.h"
#include "tools/common/cli/completion.h"

namespace perftape::cli {
namespace {

std::string QuotedForFish(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '\'';
}

// Returns the arguments of fish's complete for such arguments of an option or command.
std::string ArgumentsOf(Completion completion, std::string_view function) {
  switch (completion) {
    case Completion::kNothing:
    case Completion::kChoice:
      return "-f";
    case Completion::kFile:
      return "-F";
    case Completion::kDirectory:
      return "-f -a '(__fish_complete_directories)'";
    case Completion::kUser:
      return "-f -a '(__fish_complete_users)'";
    case Completion::kCommand:
      return "-f -a '(__fish_complete_command)'";
    case Completion::kProcess:
      return "-f -a '(__fish_complete_pids)'";
    case Completion::kEvent:
      return fmt::format("-f -a '(__{}_events)'", function);
  }
  return "";
}

// Returns " -s o -l output -r -F" for an option.
std::string OptionArguments(const Option& option, std::string_view function) {
  std::string text;
  if (option.letter != 0) text += fmt::format(" -s {}", option.letter);
  if (!option.name.empty()) text += fmt::format(" -l {}", option.name);
  if (option.takes_next_word()) text += " -r";
  const std::vector<std::string> words = ChoiceWords(option);
  if (!words.empty()) {
    text += fmt::format(" -f -a {}", QuotedForFish(Joined(words, " ")));
  } else if (option.takes_argument()) {
    text += " " + ArgumentsOf(option.completion, function);
  }
  return text + " -d " + QuotedForFish(ShortHelp(option));
}

// Writes the lines of one script.
class Script {
 public:
  explicit Script(const Command& command)
      : command_(command), function_(FunctionName(command.name)) {}

  std::string Write() && {
    Add("# fish completion for {0}; made by: {0} --completion fish\n", command_.name);
    AddOperandsFunction();
    AddEventsFunction();
    if (command_.verbs.empty()) {
      AddOptions(command_, "");
      AddOperands(command_, "");
      return std::move(text_);
    }
    const std::string first = fmt::format("not __{}_operands > /dev/null", function_);
    AddOptions(command_, first);
    AddVerbs(first);
    return std::move(text_);
  }

 private:
  template <class... Values>
  void Add(std::string_view format, const Values&... values) {
    text_ += fmt::format(fmt::runtime(format), values...);
  }

  // The operands before the cursor; fails if there are none.
  void AddOperandsFunction() {
    const std::vector<std::string> skipped = SpellingsWithNextWord(command_);
    Add("function __{}_operands\n"
        "    set -l words (commandline -opc)[2..]\n"
        "    while set -q words[1]\n"
        "        switch $words[1]\n",
        function_);
    if (!skipped.empty()) {
      Add("            case {}\n"
          "                set words $words[3..]\n",
          Joined(skipped, " "));
    }
    Add("            case --\n"
        "                set words $words[2..]\n"
        "                break\n"
        "            case '-*'\n"
        "                set words $words[2..]\n"
        "            case '*'\n"
        "                break\n"
        "        end\n"
        "    end\n"
        "    string join -- \\n $words\n"
        "    set -q words[1]\n"
        "end\n");
  }

  // Names may be those of functions in any binary. fish quotes them.
  void AddEventsFunction() {
    if (!OffersEvents(command_)) return;
    Add("function __{0}_events\n"
        "    set -l program (commandline -opc)[1]\n"
        "    set -q perftape_program; and set program $perftape_program\n"
        "    set -l word (string replace -r -- '^-+[^=]*=' '' (commandline -ct))\n"
        "    set -l list (string match -r -- '^.*,' $word)\n"
        "    set -l last (string replace -r -- '^.*,' '' $word)\n"
        "    for name in ($program list --names \"$last*\" 2> /dev/null)\n"
        "        echo -- \"$list$name\"\n"
        "    end\n"
        "end\n",
        function_);
  }

  // Adds the options of a command, where `condition` holds if there is one.
  void AddOptions(const Command& command, std::string_view condition) {
    for (const Option& option : OfferedOptions(command)) {
      Add("complete -c {}{}{}\n", command_.name, ConditionArgument(condition),
          OptionArguments(option, function_));
    }
  }

  void AddOperands(const Command& command, std::string_view condition) {
    Add("complete -c {}{} {}\n", command_.name, ConditionArgument(condition),
        ArgumentsOf(command.operand_completion, function_));
  }

  static std::string ConditionArgument(std::string_view condition) {
    return condition.empty() ? "" : " -n " + QuotedForFish(condition);
  }

  std::string IsAfter(std::string_view word) const {
    return fmt::format("test (__{}_operands)[1] = {}", function_, word);
  }

  void AddWord(std::string_view condition, std::string_view word, std::string_view summary) {
    Add("complete -c {} -n {} -f -a {} -d {}\n", command_.name, QuotedForFish(condition), word,
        QuotedForFish(summary));
  }

  void AddVerbs(std::string_view first) {
    for (const Verb& verb : command_.verbs) AddWord(first, verb.name, verb.summary);
    if (command_.verbs_are_optional) {
      AddOperands(command_, first);
      AddRunCommand();
    } else {
      AddWord(first, "help", "explain a verb");
      AddHelp();
    }
    for (const Verb& verb : command_.verbs) {
      if (verb.command == nullptr) {
        AddOtherProgram(verb);
        continue;
      }
      AddOptions(verb.command(), IsAfter(verb.name));
      AddOperands(verb.command(), IsAfter(verb.name));
    }
  }

  void AddHelp() {
    const std::string condition = IsAfter("help");
    for (const Verb& verb : command_.verbs) AddWord(condition, verb.name, verb.summary);
    for (const Topic& topic : command_.topics) AddWord(condition, topic.name, topic.summary);
  }

  // The command line of a command that is run is completed by fish as if it stood alone.
  void AddRunCommand() {
    std::string condition = fmt::format("__{}_operands > /dev/null", function_);
    for (const Verb& verb : command_.verbs) {
      condition += fmt::format("; and not {}", IsAfter(verb.name));
    }
    Add("complete -c {} -n {} -f -a '(complete -C (string join \" \" -- (string escape -- "
        "(__{}_operands)) (commandline -ct)))'\n",
        command_.name, QuotedForFish(condition), function_);
  }

  // The program of the verb is asked once for its completion.
  void AddOtherProgram(const Verb& verb) {
    Add("function __{0}_{1}\n"
        "    set -g perftape_program (commandline -opc)[1] {1}\n"
        "    functions -q __{0}_{1}_operands; or $perftape_program --completion fish 2> /dev/null "
        "| source\n"
        "    complete -C (string join \" \" -- {2}-{1} (string escape -- (__{0}_operands)[2..]) "
        "(commandline -ct))\n"
        "    set -e perftape_program\n"
        "end\n"
        "complete -c {2} -n {3} -f -a '(__{0}_{1})'\n",
        function_, verb.name, command_.name, QuotedForFish(IsAfter(verb.name)));
  }

  const Command& command_;
  std::string function_;
  std::string text_;
};

}  // namespace

std::string FishCompletion(const Command& command) {
  return Script(command).Write();
}

}  // namespace perftape::cli

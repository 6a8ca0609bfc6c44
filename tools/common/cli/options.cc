// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/options.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include <boost/program_options.hpp>

#include "formats/base/similar.h"
#include "formats/base/text.h"
#include "tools/common/cli/completion.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/perf_habits.h"
#include "tools/common/cli/values.h"

namespace perftape::cli {
namespace {

namespace po = boost::program_options;

constexpr Choice<VersionForm> kVersionForms[] = {
    {"text", VersionForm::kText, "default"},
    {"json", VersionForm::kJson},
};

constexpr Target kVersionForm = StoreChoice<kVersionForms, &BaseOptions::version>;

// An empty text is that of an argument that was left out.
Status StoreVersionForm(BaseOptions& options, std::string_view spelled, std::string_view text) {
  return kVersionForm.store(options, spelled, text.empty() ? kVersionForms[0].word : text);
}

constexpr Option kCommonRows[] = {
    {.name = "help",
     .letter = 'h',
     .help = "print examples and the most used options, and exit",
     .into = Set<&BaseOptions::help>},
    {.name = "help-all",
     .help = "print all examples and options, and exit",
     .into = Set<&BaseOptions::help_all>},
    {.name = "version",
     .argument = "FORMAT",
     .help = "print the versions of program and libraries; FORMAT is {choices}",
     .argument_is_optional = true,
     .into = {.store = &StoreVersionForm, .offers = kVersionForm.offers}},
    {.name = "completion",
     .argument = "SHELL",
     .help = "print a completion script for SHELL ({choices}) and exit",
     .into = StoreOffered<&ParseText, &OfferedShells, &BaseOptions::completion>},
};
constexpr auto kCommonOptions = Table(InGroup(Group::kOther, kCommonRows));

// Returns ": --duration SECONDS ..." for an option of other tools, or "; did you mean --duration?"
// if one option is similar enough.
std::string Hint(const Command& command, std::string_view word) {
  for (const ForeignOption& foreign : command.foreign) {
    const bool is_it = foreign.name == word || (word.size() == 1 && foreign.letter == word[0]);
    if (is_it) return fmt::format(": {}", foreign.instead);
  }
  std::string_view nearest;
  std::size_t distance = 3;
  const auto consider = [&](const Option& option) {
    const std::size_t its_distance = EditDistance(option.name, word);
    const bool begins_so = (word.size() >= 3 && option.name.starts_with(word)) ||
                           (option.name.size() >= 3 && word.starts_with(option.name));
    if (begins_so || its_distance < distance) {
      nearest = option.name;
      distance = begins_so ? 0 : its_distance;
    }
  };
  for (const Option& option : command.options) consider(option);
  for (const Option& option : CommonOptions(command)) consider(option);
  return nearest.empty() || word.size() < 2 ? "" : fmt::format("; did you mean --{}?", nearest);
}

// Replaces an argument that was left out. No word of a command line can contain it.
constexpr std::string_view kLeftOut("\0", 1);

// Returns the option at the end of a word of options whose argument may be the next word: "--freq",
// "-qF", but not "-F99". Null if there is none.
const Option* LastOption(const Command& command, std::string_view word) {
  if (word.starts_with("--")) {
    const Option* option = FindOption(command, word.substr(2));
    return option != nullptr && option->takes_argument() ? option : nullptr;
  }
  // The rest of the word is the argument of the first letter that takes one.
  for (std::size_t at = 1; at < word.size(); ++at) {
    const Option* option = FindOption(command, word.substr(at, 1));
    if (option == nullptr || !option->takes_argument()) continue;
    return at + 1 == word.size() ? option : nullptr;
  }
  return nullptr;
}

bool IsOptionWord(std::string_view word) {
  return word.starts_with('-') && word != "-";
}

// Returns the words with the names of the options written out.
Result<std::vector<std::string>> WithWholeNames(const Command& command,
                                                std::span<const std::string> words) {
  std::vector<std::string> whole(words.begin(), words.end());
  if (command.habits == Habits::kOwn) return whole;
  for (std::size_t i = 0; i < whole.size() && whole[i] != "--"; ++i) {
    if (!IsOptionWord(whole[i])) {
      if (command.order == Order::kOptionsFirst) break;
      continue;
    }
    TRY_ASSIGN(whole[i], WithWholeName(command, whole[i]));
    const Option* option = LastOption(command, whole[i]);
    if (option != nullptr && option->takes_next_word()) ++i;
  }
  return whole;
}

// Boost would use the next word as the argument of an option whose argument was left out.
void MarkLeftOutArguments(const Command& command, std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (!IsOptionWord(words[i])) continue;
    const Option* option = LastOption(command, words[i]);
    if (option == nullptr) continue;
    if (option->takes_next_word()) {
      ++i;
    } else {
      words[i].append(words[i].starts_with("--") ? "=" : "").append(kLeftOut);
    }
  }
}

// Returns the index of the first operand, or of "--", in a command line whose options come first.
std::size_t FirstOperand(const Command& command, std::span<const std::string> words) {
  std::size_t i = 0;
  while (i < words.size()) {
    const std::string_view word = words[i];
    if (word == "--" || !IsOptionWord(word)) return i;
    ++i;
    const Option* option = LastOption(command, word);
    if (option != nullptr && option->takes_next_word()) ++i;
  }
  return std::min(i, words.size());
}

po::options_description Describe(const Command& command) {
  po::options_description description;
  const auto add = [&](const Option& option) {
    std::string names(option.name);
    if (option.letter != 0) names += std::string{',', option.letter};
    if (option.takes_argument()) {
      description.add_options()(names.c_str(), po::value<std::string>());
    } else {
      description.add_options()(names.c_str(), "");
    }
  };
  for (const Option& option : command.options) add(option);
  for (const Option& option : CommonOptions(command)) add(option);
  for (const std::string& name : NamesThatTakeBack(command)) {
    description.add_options()(name.c_str(), "");
  }
  return description;
}

std::string WithoutDashes(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return std::string(word);
}

// Returns the unknown option in a word: "--x" of "--x=1", "-Z" of "-qZ".
std::string UnknownOptionIn(const Command& command, std::string_view word) {
  if (word.starts_with("--")) return std::string(word.substr(0, word.find('=')));
  const auto is_unknown = [&](char letter) {
    return letter != '-' && FindOption(command, std::string_view(&letter, 1)) == nullptr;
  };
  const auto unknown = std::ranges::find_if(word, is_unknown);
  return unknown == word.end() ? std::string(word) : std::string{'-', *unknown};
}

// Converts Boost's error into a message of perftape.
std::unexpected<Error> UsageError(const Command& command, const po::error& error) {
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    const std::string word = UnknownOptionIn(command, unknown->get_option_name());
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("unknown option {}{}", word, Hint(command, WithoutDashes(word))));
  }
  const auto* syntax = dynamic_cast<const po::invalid_command_line_syntax*>(&error);
  if (syntax == nullptr) return Fail(ErrorCode::kInvalidArgument, error.what());
  const std::string word = WithoutDashes(syntax->get_option_name());
  const Option* option = FindOption(command, word);
  const std::string spelled = option == nullptr ? word : option->spelled();
  if (option != nullptr && option->takes_argument()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} needs {}", spelled, option->argument));
  }
  return Fail(ErrorCode::kInvalidArgument, fmt::format("{} takes no argument", spelled));
}

// One option with its argument, which is empty if it was left out.
struct GivenValue {
  GivenOption option;
  std::string text;
};

struct SplitWords {
  std::vector<GivenValue> values;
  std::vector<std::string> operands;
};

// Returns the option as typed: Boost replaces the letter by the name.
std::string SpelledAs(const po::option& option, const Option& row) {
  const bool is_letter = row.letter != 0 && !option.original_tokens.empty() &&
                         !option.original_tokens.front().starts_with("--");
  return is_letter ? std::string{'-', row.letter} : row.spelled();
}

// Returns the argument, without the blanks before it that perf ignores in "-F 99" as one word.
std::string ArgumentOf(const Command& command, const Option& row, std::string text) {
  const bool is_trimmed = command.habits == Habits::kPerf && row.verdict != Verdict::kOurs &&
                          row.completion == Completion::kNothing;
  if (is_trimmed) text.erase(0, text.find_first_not_of(' '));
  return text;
}

// Adds one option of the command line, or removes those that it takes back.
void AddOption(const Command& command, const po::option& option, SplitWords& parts) {
  const std::string name = WithoutDashes(option.string_key);
  const Option* const row = FindOption(command, name);
  if (row == nullptr) {
    const Option* const taken_back = FindTakenBack(command, name);
    std::erase_if(parts.values,
                  [&](const GivenValue& value) { return value.option.row == taken_back; });
    return;
  }
  const bool has_value = !option.value.empty() && option.value.front() != kLeftOut;
  parts.values.push_back(
      {.option = {.row = row, .spelled = SpelledAs(option, *row)},
       .text = has_value ? ArgumentOf(command, *row, option.value.front()) : ""});
}

Result<SplitWords> Split(const Command& command, std::span<const std::string> given) {
  TRY_ASSIGN(const std::vector<std::string> whole, WithWholeNames(command, given));
  const std::span<const std::string> words = whole;
  const std::size_t split =
      command.order == Order::kOptionsFirst ? FirstOperand(command, words) : words.size();
  std::vector<std::string> options(words.begin(),
                                   words.begin() + static_cast<std::ptrdiff_t>(split));
  MarkLeftOutArguments(command, options);
  std::span<const std::string> rest = words.subspan(split);
  if (!rest.empty() && rest[0] == "--") rest = rest.subspan(1);

  namespace style = po::command_line_style;
  constexpr int kStyle = style::allow_long | style::long_allow_adjacent | style::long_allow_next |
                         style::allow_short | style::allow_dash_for_short |
                         style::short_allow_adjacent | style::short_allow_next |
                         style::allow_sticky;
  SplitWords parts;
  try {
    const po::options_description description = Describe(command);
    const auto found = po::command_line_parser(options).options(description).style(kStyle).run();
    for (const po::option& option : found.options) {
      if (option.position_key >= 0) {
        parts.operands.insert(parts.operands.end(), option.value.begin(), option.value.end());
        continue;
      }
      AddOption(command, option, parts);
    }
  } catch (const po::error& error) {
    return UsageError(command, error);
  }
  parts.operands.insert(parts.operands.end(), rest.begin(), rest.end());
  return parts;
}

Status CheckVerdicts(std::span<const GivenOption> given) {
  for (const GivenOption& option : given) {
    if (option.row->verdict != Verdict::kRefused) continue;
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{} is not supported: {}", option.spelled, option.row->reason));
  }
  return {};
}

Status CheckConflicts(std::span<const GivenOption> given) {
  for (const GivenOption& option : given) {
    for (const std::string_view word : option.row->conflicts) {
      const auto is_it = [&](const GivenOption& other) { return other.row->IsCalled(word); };
      const auto other = std::ranges::find_if(given, is_it);
      if (other == given.end()) continue;
      const bool is_first = &*other > &option;
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} and {} cannot be combined", (is_first ? option : *other).spelled,
                              (is_first ? *other : option).spelled));
    }
  }
  return {};
}

Status CheckRequired(const Command& command, std::span<const GivenOption> given) {
  for (const Option& option : command.options) {
    const auto is_it = [&](const GivenOption& other) { return other.row == &option; };
    if (!option.is_required || std::ranges::any_of(given, is_it)) continue;
    const std::string spelled =
        option.letter == 0 ? option.spelled() : std::string{'-', option.letter};
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("no {} given: use {} {}", option.name, spelled, option.argument));
  }
  return {};
}

}  // namespace

std::string Option::spelled() const {
  return name.empty() ? std::string{'-', letter} : fmt::format("--{}", name);
}

std::vector<std::string> Option::spellings() const {
  std::vector<std::string> spellings;
  if (letter != 0) spellings.push_back({'-', letter});
  if (!name.empty()) spellings.push_back(fmt::format("--{}", name));
  return spellings;
}

std::vector<Offer> Option::offers() const {
  return into.offers == nullptr ? std::vector<Offer>() : into.offers();
}

std::unexpected<Error> UnknownValue(std::string_view spelled, std::string_view text,
                                    std::span<const Offer> offers) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("unknown value '{}' for {}: choose {}", EscapeForTerminal(text), spelled,
                          OffersText(offers, Notes::kHide)));
}

std::string_view HeadingOf(Group group) {
  switch (group) {
    case Group::kService:
      return "Service";
    case Group::kPush:
      return "Push to a receiver";
    case Group::kInput:
      return "Input";
    case Group::kEvents:
      return "What to record";
    case Group::kTargets:
      return "Which programs, users and CPUs";
    case Group::kSampling:
      return "How to record";
    case Group::kContents:
      return "What to show";
    case Group::kSelection:
      return "Which samples";
    case Group::kTime:
      return "Over time";
    case Group::kDiagnosis:
      return "Diagnosis";
    case Group::kComparison:
      return "Comparison";
    case Group::kFormats:
      return "Details of formats";
    case Group::kOutput:
      return "Output";
    case Group::kFiles:
      return "Several files, or the last seconds";
    case Group::kSymbols:
      return "Symbols";
    case Group::kOther:
      return "Other options";
    case Group::kCompatibility:
      return "More options of perf";
  }
  return "";
}

std::span<const Option> CommonOptions(const Command& command) {
  const bool is_verb = command.name.contains(' ');
  return std::span(kCommonOptions).first(is_verb ? 2 : kCommonOptions.size());
}

std::vector<Option> AllOptions(const Command& command) {
  std::vector<Option> all(command.options.begin(), command.options.end());
  const std::span<const Option> common = CommonOptions(command);
  all.insert(all.end(), common.begin(), common.end());
  return all;
}

std::vector<Option> OfferedOptions(const Command& command) {
  std::vector<Option> offered = AllOptions(command);
  std::erase_if(offered, [](const Option& row) { return row.verdict == Verdict::kRefused; });
  return offered;
}

std::vector<std::string> AlreadySoTexts(const BaseOptions& options) {
  std::vector<std::string> texts;
  for (const GivenOption& option : options.given) {
    if (option.row->verdict != Verdict::kAlreadySo) continue;
    texts.push_back(fmt::format("{}: {}", option.spelled, option.row->reason));
  }
  return texts;
}

std::vector<Group> GroupsOf(std::span<const Option> options) {
  std::vector<Group> groups;
  for (const Option& option : options) {
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  }
  return groups;
}

const Option* FindOption(const Command& command, std::string_view word) {
  const auto is_it = [&](const Option& option) { return option.IsCalled(word); };
  for (const std::span<const Option> rows : {command.options, CommonOptions(command)}) {
    const auto found = std::ranges::find_if(rows, is_it);
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

const Option* FindTag(const Command& command, int tag) {
  const auto found = std::ranges::find(command.options, tag, &Option::tag);
  return found == command.options.end() ? nullptr : &*found;
}

Status ParseInto(const Command& command, std::span<const std::string> words, BaseOptions& options) {
  TRY_ASSIGN(const SplitWords split, Split(command, words));
  options.operands = split.operands;
  for (const GivenValue& value : split.values) options.given.push_back(value.option);
  const auto is_common = [&](const GivenValue& value) {
    const std::span<const Option> common = CommonOptions(command);
    return value.option.row >= common.data() && value.option.row < common.data() + common.size();
  };
  const bool only_common = std::ranges::any_of(split.values, is_common);
  if (!only_common) {
    TRY(CheckVerdicts(options.given));
    TRY(CheckConflicts(options.given));
  }
  for (std::size_t i = 0; i < split.values.size(); ++i) {
    const auto& [option, text] = split.values[i];
    if (option.row->into.store == nullptr) continue;
    if (only_common && !is_common(split.values[i])) continue;
    const auto is_same = [&](const GivenValue& later) { return later.option.row == option.row; };
    const bool is_last =
        std::ranges::none_of(split.values.begin() + i + 1, split.values.end(), is_same);
    if (is_last || option.row->into.is_list) {
      TRY(option.row->into.store(options, option.spelled, text));
    }
  }
  return only_common ? Status() : CheckRequired(command, options.given);
}

Result<std::string> OnlyInput(const BaseOptions& options) {
  if (options.operands.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "no input file given: name a file, or - for stdin");
  }
  if (options.operands.size() > 1) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}': only one input file is allowed",
                                                         EscapeForTerminal(options.operands[1])));
  }
  return options.operands.front();
}

Status CheckAppliesTo(const BaseOptions& options, std::string_view selector,
                      std::string_view word) {
  for (const GivenOption& option : options.given) {
    const Words& words = option.row->applies_to;
    if (words.empty() || std::ranges::find(words, word) != words.end()) continue;
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} applies only to {} {}", option.spelled,
                                                         selector, Joined(words, " or ")));
  }
  return {};
}

std::string OffersText(std::span<const Offer> offers, Notes notes) {
  std::string text;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const bool is_last = i + 1 == offers.size();
    if (i != 0) text += is_last ? " or " : ", ";
    text += offers[i].word;
    if (notes == Notes::kShow && !offers[i].note.empty()) {
      text += fmt::format(" ({})", offers[i].note);
    }
  }
  return text;
}

}  // namespace perftape::cli

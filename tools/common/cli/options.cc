// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <boost/program_options.hpp>

#include "tools/common/cli/similar.h"

namespace perftape::cli {
namespace {

namespace po = boost::program_options;

constexpr std::array kCommonOptions = {
    Option{.name = "help", .letter = 'h', .help = "say what the options are, and end"},
    Option{.name = "version", .help = "say the version, and end"},
    Option{.name = "completion",
           .argument = "SHELL",
           .help = "write a completion script for SHELL, and end",
           .completion = Completion::kChoice,
           .choices = "bash"},
};

// ": there is FOO instead" for a word that other tools know; "; did you mean --duration?" where one
// option is near enough.
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

// Stands for an argument that was left out; no word of a command line can hold it.
constexpr std::string_view kLeftOut("\0", 1);

// The option at the end of a word of options that may have its argument in the next word: "--freq",
// "-qF", but not "-F99". Null where there is none.
const Option* LastOption(const Command& command, std::string_view word) {
  if (word.starts_with("--")) {
    const Option* option = FindOption(command, word.substr(2));
    return option != nullptr && option->takes_argument() ? option : nullptr;
  }
  // The first letter that takes an argument takes the rest of the word.
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

// Boost would give the next word to an option whose argument was left out.
void MarkWhatIsLeftOut(const Command& command, std::vector<std::string>& words) {
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

// One is behind the last option of a command line whose options come first.
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
  return description;
}

std::string WithoutDashes(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return std::string(word);
}

// The part of a word that no row of the table is for: "--x" of "--x=1", "-Z" of "-qZ".
std::string UnknownPart(const Command& command, std::string_view word) {
  if (word.starts_with("--")) return std::string(word.substr(0, word.find('=')));
  const auto is_unknown = [&](char letter) {
    return letter != '-' && FindOption(command, std::string_view(&letter, 1)) == nullptr;
  };
  const auto unknown = std::ranges::find_if(word, is_unknown);
  return unknown == word.end() ? std::string(word) : std::string{'-', *unknown};
}

// Boost's complaint in our words.
std::unexpected<Error> UsageError(const Command& command, const po::error& error) {
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    const std::string word = UnknownPart(command, unknown->get_option_name());
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

}  // namespace

std::string Option::spelled() const {
  return name.empty() ? std::string{'-', letter} : fmt::format("--{}", name);
}

std::span<const Option> CommonOptions(const Command& command) {
  const bool is_verb = command.name.contains(' ');
  return std::span(kCommonOptions).first(is_verb ? 1 : kCommonOptions.size());
}

const Option* FindOption(const Command& command, std::string_view word) {
  if (word.empty()) return nullptr;
  const auto is_it = [&](const Option& option) {
    return option.name == word || (word.size() == 1 && option.letter == word[0]);
  };
  for (const std::span<const Option> rows : {command.options, CommonOptions(command)}) {
    const auto found = std::ranges::find_if(rows, is_it);
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

bool Parsed::Has(std::string_view key) const {
  return Count(key) != 0;
}

std::size_t Parsed::Count(std::string_view key) const {
  return static_cast<std::size_t>(std::ranges::count(given_, key, &Given::key));
}

std::optional<std::string_view> Parsed::Value(std::string_view key) const {
  const std::vector<std::string_view> values = Values(key);
  if (values.empty()) return std::nullopt;
  return values.back();
}

std::vector<std::string_view> Parsed::Values(std::string_view key) const {
  std::vector<std::string_view> values;
  for (const Given& given : given_) {
    if (given.key == key) values.push_back(given.value);
  }
  return values;
}

Result<Parsed> Parse(const Command& command, std::span<const std::string> words) {
  Parsed parsed;
  const std::size_t split =
      command.order == Order::kOptionsFirst ? FirstOperand(command, words) : words.size();
  std::vector<std::string> options(words.begin(),
                                   words.begin() + static_cast<std::ptrdiff_t>(split));
  MarkWhatIsLeftOut(command, options);
  std::span<const std::string> rest = words.subspan(split);
  if (!rest.empty() && rest[0] == "--") rest = rest.subspan(1);

  namespace style = po::command_line_style;
  constexpr int kStyle = style::allow_long | style::long_allow_adjacent | style::long_allow_next |
                         style::allow_short | style::allow_dash_for_short |
                         style::short_allow_adjacent | style::short_allow_next |
                         style::allow_sticky;
  try {
    const po::options_description description = Describe(command);
    const auto found = po::command_line_parser(options).options(description).style(kStyle).run();
    for (const po::option& option : found.options) {
      if (option.position_key >= 0) {
        parsed.operands_.insert(parsed.operands_.end(), option.value.begin(), option.value.end());
        continue;
      }
      const Option* row = FindOption(command, WithoutDashes(option.string_key));
      if (row == nullptr) continue;
      const bool has_value = !option.value.empty() && option.value.front() != kLeftOut;
      parsed.given_.push_back(
          {.key = std::string(row->key()), .value = has_value ? option.value.front() : ""});
    }
  } catch (const po::error& error) {
    return UsageError(command, error);
  }
  parsed.operands_.insert(parsed.operands_.end(), rest.begin(), rest.end());
  return parsed;
}

}  // namespace perftape::cli

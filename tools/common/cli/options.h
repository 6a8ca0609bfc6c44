// SPDX-License-Identifier: Apache-2.0
// A tool's command line as one table. Parsing, --help, shell completion and the check of the man
// page all read the same rows, so they cannot disagree.
//
//   constexpr cli::Option kOptions[] = {
//       {.name = "output", .letter = 'o', .argument = "FILE", .help = "where the result goes",
//        .completion = cli::Completion::kFile},
//       {.name = "quiet", .letter = 'q', .help = "errors only"},
//   };
//   TRY_ASSIGN(const cli::Parsed parsed, cli::Parse(kCommand, words));
//   const bool quiet = parsed.Has("quiet");
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::cli {

// What a shell offers for an argument.
enum class Completion : std::uint8_t { kNothing, kFile, kUser, kProcess, kCommand, kChoice };

struct Option {
  std::string_view name = {};      // without the dashes; empty for one that is only a letter
  char letter = 0;                 // 0 for one that is only a name
  std::string_view argument = {};  // "HZ"; empty for a switch
  std::string_view help = {};
  Completion completion = Completion::kNothing;
  std::string_view choices = {};  // for kChoice: "samples period"
  // "--compression-level[=LEVEL]": never the next word. Parsed has an empty value where it is left
  // out, as git and perf let it.
  bool argument_is_optional = false;

  bool takes_argument() const { return !argument.empty(); }
  bool takes_next_word() const { return takes_argument() && !argument_is_optional; }
  // What Parsed knows it by: its name, or its letter where it has none.
  std::string_view key() const { return name.empty() ? std::string_view(&letter, 1) : name; }
  // As a user types it: "--output", "-g".
  std::string spelled() const;
};

// An option that users of similar tools try here. It is still unknown, and no help, completion or
// man page shows it, but the error says what to use instead.
struct ForeignOption {
  std::string_view name = {};
  char letter = 0;
  std::string_view instead = {};  // a sentence, behind "unknown option --time: "
};

// One table of several, in their order.
template <std::size_t... Sizes>
constexpr std::array<Option, (Sizes + ...)> Joined(const Option (&... parts)[Sizes]) {
  std::array<Option, (Sizes + ...)> all;
  auto end = all.begin();
  ((end = std::copy(std::begin(parts), std::end(parts), end)), ...);
  return all;
}

// Where options may stand.
enum class Order : std::uint8_t {
  kMixed,         // anywhere, up to "--"
  kOptionsFirst,  // only before the first operand, which begins a command with options of its own
};

struct Verb;

struct Command {
  std::string_view name;      // "perftape-record"; of a verb "perftape-bundle list"
  std::string_view purpose;   // one line, as in the man page's NAME
  std::string_view operands;  // "[[--] COMMAND [ARGUMENT...]]"
  std::span<const Option> options;
  Order order = Order::kMixed;
  Completion operand_completion = Completion::kFile;
  std::string_view operand_choices = {};  // for kChoice
  std::string_view epilogue = {};         // ends --help: examples
  // Of a tool whose first operand is one of these.
  std::span<const Verb> verbs = {};
  std::span<const ForeignOption> foreign = {};
};

// What a tool can do, with a command line of its own.
struct Verb {
  std::string_view name;     // "list"
  std::string_view summary;  // half a line, for the tool's help
  // Both are null where the verb is a program of its own, "perftape-record" of "perftape".
  const Command& (*command)() = nullptr;         // named "perftape-bundle list"
  int (*main)(int argc, char** argv) = nullptr;  // whose first word is the verb
};

// --help, --version and --completion: every tool has them. Of a verb only the first: the tool
// answers the others.
std::span<const Option> CommonOptions(const Command& command);

// The row of a word without its dashes, of one letter for letters; common options included. Null
// for a word that the command does not know.
const Option* FindOption(const Command& command, std::string_view word);

// The words of a command line, understood. Owns its strings.
class Parsed {
 public:
  bool Has(std::string_view key) const;
  // The last one given: later words overrule earlier ones, as everywhere. Lives as long as this.
  std::optional<std::string_view> Value(std::string_view key) const;
  // All that were given, in their order.
  std::vector<std::string_view> Values(std::string_view key) const;
  // How often a switch was given.
  std::size_t Count(std::string_view key) const;

  const std::vector<std::string>& operands() const { return operands_; }

 private:
  friend Result<Parsed> Parse(const Command& command, std::span<const std::string> words);
  struct Given {
    std::string key;
    std::string value;
  };
  std::vector<Given> given_;
  std::vector<std::string> operands_;
};

// Understands the words behind the program's name: "-F99", "-F 99", "--freq=99", "--freq 99",
// "-qg", "-z3" and "--level=3" but never "-z 3" where the argument is optional, and "--" for "the
// rest are operands". kInvalidArgument, naming the word, for all else.
Result<Parsed> Parse(const Command& command, std::span<const std::string> words);

}  // namespace perftape::cli

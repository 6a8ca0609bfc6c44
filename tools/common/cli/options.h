// SPDX-License-Identifier: Apache-2.0
// A tool's options as one table. Parsing, --help, shell completion and the man page use the same
// rows. A row names the field of the tool's own struct that it sets, so that a misspelt option does
// not compile. To add an option, add a row, a field and the use of the field:
//
//   struct Plan : cli::BaseOptions {
//     std::filesystem::path output;
//     Root root = Root::kComm;
//   };
//   constexpr cli::Choice<Root> kRoots[] = {
//       {"comm", Root::kComm, "default"},
//       {"none", Root::kNone},
//   };
//   constexpr cli::Option kOutputRows[] = {
//       {.name = "output", .letter = 'o', .argument = "FILE", .help = "write to FILE",
//        .completion = cli::Completion::kFile, .into = cli::Store<&Plan::output>},
//       {.name = "root", .argument = "KIND", .help = "begin lines with {choices}", .is_rare = true,
//        .into = cli::StoreChoice<kRoots, &Plan::root>},
//   };
//   constexpr auto kOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kOutputRows));
//   TRY_ASSIGN(const Plan plan, cli::Parse<Plan>(kCommand, words));
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/library_version.h"
#include "formats/base/result.h"
#include "tools/common/cli/target.h"
#include "tools/common/cli/words.h"

namespace perftape::cli {

// The words that a shell completes for an argument. An option with choices always completes these.
enum class Completion : std::uint8_t {
  kNothing,
  kFile,
  kDirectory,
  kUser,
  kProcess,
  kCommand,
  kEvent,  // the events of this machine, which `perftape-record list --names` prints
  kChoice,
};

// What options are for. Help shows the options of a group under one heading.
enum class Group : std::uint8_t {
  kService,
  kPush,
  kInput,
  kEvents,
  kTargets,
  kSampling,
  kContents,
  kSelection,
  kTime,
  kDiagnosis,
  kComparison,
  kFormats,
  kOutput,
  kFiles,
  kSymbols,
  kOther,
  kCompatibility,  // not in the man page by itself, but in its table of perf's options
};

// Returns "What to record".
std::string_view HeadingOf(Group group);

// What an option of perf's program of the same purpose means here.
enum class Verdict : std::uint8_t {
  kOurs,       // perf has no such option
  kDone,       // it works
  kAlreadySo,  // accepted; it asks for what happens without it, too
  kRefused,    // an error, which says why and what to do
};

struct Option {
  std::string_view name = {};      // without the dashes; empty for an option with only a letter
  char letter = 0;                 // 0 for an option with only a name
  std::string_view argument = {};  // "HZ"; empty for a switch
  // A phrase. "{choices}" is replaced by the words of the choices and their notes.
  std::string_view help = {};
  Completion completion = Completion::kNothing;
  // For "--compression-level[=LEVEL]": the argument is never the next word, as in git and perf.
  bool argument_is_optional = false;
  // The names, or letters, of options that this one cannot be combined with. One of the two rows is
  // enough.
  Words conflicts = {};
  // The only values of a selecting option, such as formats, that this option is valid for
  // (CheckAppliesTo); empty for all.
  Words applies_to = {};
  bool is_required = false;
  // The tool finds a row by its tag (FindTag); 0 for none.
  int tag = 0;
  Group group = Group::kOther;  // InGroup sets it
  // Whether most people never need it: not in --help, but in --help-all and the man page.
  bool is_rare = false;
  // Null only for Verdict::kAlreadySo and kRefused.
  Target into = {};
  Verdict verdict = Verdict::kOurs;
  // Why the option changes nothing, or is refused and what to do instead; of one that works, how it
  // differs from perf's. A phrase that begins in lower case.
  std::string_view reason = {};

  // Returns what --help-all says of it.
  constexpr std::string_view summary() const { return help.empty() ? reason : help; }
  constexpr bool takes_argument() const { return !argument.empty(); }
  constexpr bool takes_next_word() const { return takes_argument() && !argument_is_optional; }
  // Returns the name, or the letter of an option without a name.
  constexpr std::string_view key() const {
    return name.empty() ? std::string_view(&letter, 1) : name;
  }
  constexpr bool IsCalled(std::string_view word) const {
    return !word.empty() && (name == word || (word.size() == 1 && letter == word[0]));
  }
  std::vector<Offer> offers() const;
  // Returns "--output" or "-g".
  std::string spelled() const;
  // "-o" and "--output".
  std::vector<std::string> spellings() const;
};

// An option of similar tools. It is an unknown option here, and not in help, completion or man
// page, but the error names the option to use instead.
struct ForeignOption {
  std::string_view name = {};
  char letter = 0;
  std::string_view instead = {};  // a sentence, after "unknown option --time: "
};

// Returns the row as one of an option that perf has, too.
constexpr Option AsInPerf(Option row) {
  row.verdict = Verdict::kDone;
  return row;
}

// Returns the rows with their group. The most used one comes first.
template <std::size_t Size>
consteval std::array<Option, Size> InGroup(Group group, const Option (&rows)[Size]) {
  std::array<Option, Size> all;
  for (std::size_t i = 0; i < Size; ++i) {
    all[i] = rows[i];
    all[i].group = group;
  }
  return all;
}

// Returns rows of options that only perf's users need, with their verdict. They are rare.
template <std::size_t Size>
consteval std::array<Option, Size> OfPerf(Verdict verdict, const Option (&rows)[Size]) {
  std::array<Option, Size> all = InGroup(Group::kCompatibility, rows);
  for (Option& row : all) {
    row.verdict = verdict;
    row.is_rare = true;
  }
  return all;
}

// Joins the rows of one or more groups into one table. Does not compile if two rows have the same
// name or letter, if a conflict names no row, if a row sets nothing, or if one that is refused or
// changes nothing has no reason.
template <std::size_t... Sizes>
consteval std::array<Option, (Sizes + ...)> Table(const std::array<Option, Sizes>&... rows) {
  std::array<Option, (Sizes + ...)> all;
  std::size_t end = 0;
  const auto append = [&](std::span<const Option> some) {
    for (const Option& option : some) all[end++] = option;
  };
  (append(rows), ...);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool sets_nothing =
        all[i].verdict == Verdict::kAlreadySo || all[i].verdict == Verdict::kRefused;
    if (sets_nothing && all[i].reason.empty()) throw "an option has no reason";
    if (!sets_nothing && all[i].into.store == nullptr) throw "an option sets no field";
    for (std::size_t j = 0; j < i; ++j) {
      if (all[i].key() == all[j].key()) throw "two options have the same name";
      if (all[i].letter != 0 && all[i].letter == all[j].letter) throw "two have the same letter";
    }
    for (const std::string_view word : all[i].conflicts) {
      bool is_there = false;
      for (const Option& option : all) is_there |= option.IsCalled(word);
      if (!is_there) throw "a conflict names no option of this table";
    }
  }
  return all;
}

// The names of all rows.
template <const auto& kRows>
struct NamesOf {
  static constexpr auto kNames = [] {
    std::array<std::string_view, std::size(kRows)> names;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = kRows[i].key();
    return names;
  }();
  static constexpr Words kWords = JoinedWords<kNames>::kWords;
};

// Where options may be on the command line.
enum class Order : std::uint8_t {
  kMixed,         // anywhere, up to "--"
  kOptionsFirst,  // only before the first operand, which begins a command with its own options
};

// How the words of a command line are understood.
enum class Habits : std::uint8_t {
  kOwn,
  // As perf does (perf_habits.h), for the options that perf has: "--no-NAME" takes one back, the
  // beginning of a name is enough, and blanks before a number in the same word do not count.
  kPerf,
};

// A command line, and what it does: "record a command".
struct Example {
  std::string_view line;
  std::string_view purpose;
};

// What "help NAME" explains besides the verbs: a section of a man page.
struct Topic {
  std::string_view name;     // "units"
  std::string_view summary;  // a short phrase, for the tool's help
  std::string_view page;     // "perftape.7"
  std::string_view section;  // "UNITS"
};

// A feature of the running kernel, for --version: "BTF".
struct KernelFeature {
  std::string name;
  bool is_there;
};

struct Verb;

struct Command {
  std::string_view name;      // "perftape-record"; for a verb "perftape-bundle list"
  std::string_view purpose;   // one line, as in the man page's NAME
  std::string_view operands;  // "[[--] COMMAND [ARGUMENT...]]"
  std::span<const Option> options;
  Order order = Order::kMixed;
  Completion operand_completion = Completion::kFile;
  // The most useful first: --help has three of them, --help-all has all.
  std::span<const Example> examples = {};
  std::string_view epilogue = {};  // the end of --help: exit statuses
  // The values of the first operand, for a tool with verbs.
  std::span<const Verb> verbs = {};
  // Whether the first operand may also be another word, and "help" is none.
  bool verbs_are_optional = false;
  std::span<const Topic> topics = {};
  std::span<const ForeignOption> foreign = {};
  Habits habits = Habits::kOwn;
  // For --version; null for none.
  std::vector<LibraryVersion> (*libraries)() = nullptr;
  std::vector<KernelFeature> (*kernel_features)() = nullptr;
};

// A subcommand with a command line of its own.
struct Verb {
  std::string_view name;     // "list"
  std::string_view summary;  // a short phrase, for the tool's help
  // Named "perftape-bundle list"; null for a tool of its own, "perftape-record" of "perftape".
  const Command& (*command)() = nullptr;
  // Its first word is the verb. Null also if the tool itself does the work.
  int (*main)(int argc, char** argv) = nullptr;
};

// Returns --help, --help-all, --version and --completion, which every tool has. A verb has only the
// first two.
std::span<const Option> CommonOptions(const Command& command);

// Returns the command's rows, and then the common ones.
std::vector<Option> AllOptions(const Command& command);

// Returns them without those that are refused: what a shell completes.
std::vector<Option> OfferedOptions(const Command& command);

// Returns a line for each given option that changes nothing: "-T: samples always have their time".
std::vector<std::string> AlreadySoTexts(const BaseOptions& options);

// Returns the groups of these options, in the order of their first rows.
std::vector<Group> GroupsOf(std::span<const Option> options);

// Returns the row of a name without dashes, or of a letter, including common options. Null if there
// is none.
const Option* FindOption(const Command& command, std::string_view word);

// Returns the row with this tag, or null.
const Option* FindTag(const Command& command, int tag);

// Parses the words after the program's name: "-F99", "-F 99", "--freq=99", "--freq 99", "-qg",
// "-z3" and "--level=3", but never "-z 3" for an optional argument. All words after "--" are
// operands. Sets the fields of `options` in the order of the words; the last word wins for a field
// with one value. With one of the CommonOptions no other field is set. Fails with
// kInvalidArgument, naming the option, for all other words, and with the reason for an option that
// is refused.
Status ParseInto(const Command& command, std::span<const std::string> words, BaseOptions& options);

// `Options` is the struct that the command's rows set, or is derived from it.
template <class Options>
Result<Options> Parse(const Command& command, std::span<const std::string> words) {
  Options options;
  TRY(ParseInto(command, words, options));
  return options;
}

// Returns the only operand, or the value of -i. Fails with kInvalidArgument if there is none, or
// more than one.
Result<std::string> OnlyInput(const BaseOptions& options);

// Fails with kInvalidArgument if an option was given that does not apply to `word`, the value of
// the option `selector`: "--pipe applies only to --to perf.data".
Status CheckAppliesTo(const BaseOptions& options, std::string_view selector, std::string_view word);

enum class Notes : std::uint8_t { kShow, kHide };

// Returns "comm (default), comm/pid or none".
std::string OffersText(std::span<const Offer> offers, Notes notes);

}  // namespace perftape::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <vector>

#include "formats/base/text.h"
#include "tools/common/cli/help.h"

namespace perftape::cli {
namespace {

// pandoc makes one dash of two, unless the first is escaped.
std::string Bold(std::string_view word) {
  return fmt::format("**{}{}**", word.starts_with("--") ? "\\" : "", word);
}

// "*FROM*,*TO*" of "FROM,TO": capitals stand for values.
std::string WithItalicNames(std::string_view argument) {
  std::string text;
  bool is_in_name = false;
  for (const char c : argument) {
    const bool is_capital = 'A' <= c && c <= 'Z';
    if (is_capital != is_in_name) text += '*';
    is_in_name = is_capital;
    text += c;
  }
  if (is_in_name) text += '*';
  return text;
}

std::string TermOf(const Option& option) {
  std::vector<std::string> spellings = option.spellings();
  for (std::string& spelling : spellings) spelling = Bold(spelling);
  std::string term = Joined(spellings, ", ");
  if (!option.takes_argument()) return term;
  const std::string argument = WithItalicNames(option.argument);
  return term + (option.argument_is_optional ? fmt::format("[={}]", argument) : " " + argument);
}

// The term as code, where nothing needs an escape.
std::string CodeTermOf(const Option& option) {
  std::string term;
  for (const std::string& spelling : option.spellings()) {
    term += fmt::format("{}`{}`", term.empty() ? "" : ", ", spelling);
  }
  return term;
}

std::string_view WordOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOurs:
      return "";
    case Verdict::kDone:
      return "works";
    case Verdict::kAlreadySo:
      return "already so";
    case Verdict::kRefused:
      return "refused";
  }
  return "";
}

// Returns the last column of the table of perf's options. What is quoted becomes code; elsewhere,
// pandoc makes one dash of two.
std::string NoteOf(const Option& option) {
  std::string_view note = option.reason;
  if (note.empty() && option.group == Group::kCompatibility) note = option.help;
  std::string text;
  bool is_code = false;
  for (std::size_t i = 0; i < note.size(); ++i) {
    const bool begins_word = i == 0 || note[i - 1] == ' ';
    if (note[i] == '\'' && (is_code || begins_word)) {
      is_code = !is_code;
      text += '`';
      continue;
    }
    const bool is_marked = note.substr(i).starts_with("--") || note[i] == '*' || note[i] == '|';
    if (is_marked && !is_code) text += '\\';
    text += note[i];
  }
  return text;
}

std::string ChoicesOf(const Option& option) {
  const std::vector<Offer> offers = option.offers();
  std::string text;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const bool is_last = i + 1 == offers.size();
    if (i != 0) text += is_last ? " or " : ", ";
    text += Bold(offers[i].word);
  }
  return text;
}

std::string Capitalized(std::string_view text) {
  std::string capitalized(text);
  if (!capitalized.empty() && 'a' <= capitalized[0] && capitalized[0] <= 'z') {
    capitalized[0] = static_cast<char>(capitalized[0] - 'a' + 'A');
  }
  return capitalized;
}

class Page {
 public:
  explicit Page(const Command& command)
      : name_(command.name), verbs_(command.verbs), topics_(command.topics) {
    if (!topics_.empty()) rows_left_ = verbs_.size() + topics_.size();
    sections_.push_back({.command = command});
    for (const Verb& verb : command.verbs) {
      if (verb.command == nullptr) continue;
      sections_.push_back({.heading = fmt::format("## {}", verb.name), .command = verb.command()});
    }
    section_ = &sections_.front();
  }

  Status AddLine(std::string_view line) {
    ++number_;
    if (line.starts_with('#')) EnterSection(line);
    if (line.starts_with("{-") && line.ends_with('}')) {
      TRY(Describe(line.substr(1, line.size() - 2)));
    } else if (line == "{verbs}" || line == "{topics}") {
      AddRows(line);
    } else if (line == "{compatibility}") {
      AddCompatibility();
    } else {
      AddText(line);
    }
    return {};
  }

  // Fails if an option has no line, or a list is missing.
  Result<std::string> Finish() && {
    if (rows_left_ != 0) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} has no line {{verbs}} or {{topics}}", name_));
    }
    for (const Section& section : sections_) {
      for (const Option& option : AllOptions(section.command)) {
        if (section.described.contains(option.key())) continue;
        if (option.group == Group::kCompatibility && has_compatibility_) continue;
        return Fail(ErrorCode::kInvalidArgument,
                    fmt::format("{} has no line {{{}}}", section.command.name, option.spelled()));
      }
    }
    WriteItems();
    return std::move(text_);
  }

 private:
  // The options of one command.
  struct Section {
    std::string heading = {};  // of a verb's section; empty for the command itself
    const Command& command;
    std::set<std::string_view> described = {};
  };

  // An option line, and the lines below it.
  struct Item {
    Group group;
    std::string text;
  };

  // Writes the items of the section that ends. Those of a chapter are sorted by group, and each of
  // several groups has a heading.
  void WriteItems() {
    const std::vector<Group> groups = GroupsOf(AllOptions(section_->command));
    if (!is_chapter_ || groups.size() < 2) {
      for (const Item& item : items_) text_ += item.text;
      items_.clear();
      return;
    }
    for (const Group group : groups) {
      std::string texts;
      for (const Item& item : items_) {
        if (item.group == group) texts += item.text;
      }
      if (!texts.empty()) text_ += fmt::format("## {}\n\n{}", HeadingOf(group), texts);
    }
    items_.clear();
  }

  void EnterSection(std::string_view heading) {
    WriteItems();
    is_chapter_ = heading.starts_with("# ");
    const auto found = std::ranges::find(sections_, heading, &Section::heading);
    section_ = found == sections_.end() ? &sections_.front() : &*found;
    option_ = nullptr;
  }

  Status Describe(std::string_view spelled) {
    option_ = FindOption(section_->command, spelled.substr(spelled.starts_with("--") ? 2 : 1));
    if (option_ == nullptr || option_->spelled() != spelled) {
      return FailHere(fmt::format("{}: {} has no such option", spelled, section_->command.name));
    }
    if (!section_->described.insert(option_->key()).second) {
      return FailHere(fmt::format("{}: {} has two such lines", spelled, section_->command.name));
    }
    items_.push_back({.group = option_->group, .text = TermOf(*option_) + '\n'});
    return {};
  }

  void AddText(std::string_view line) {
    if (option_ == nullptr) {
      text_.append(line) += '\n';
      return;
    }
    constexpr std::string_view kChoices = "{choices}";
    std::string& text = items_.back().text;
    const std::size_t at = line.find(kChoices);
    text += line.substr(0, at);
    if (at != line.npos) text += ChoicesOf(*option_);
    if (at != line.npos) text += line.substr(at + kChoices.size());
    text += '\n';
  }

  // The options of perf.
  void AddCompatibility() {
    option_ = nullptr;
    has_compatibility_ = true;
    text_ += "| option | verdict | note |\n|-----|--|-------|\n";
    for (const Option& option : sections_.front().command.options) {
      if (option.verdict == Verdict::kOurs) continue;
      text_ += fmt::format("| {} | {} | {} |\n", CodeTermOf(option), WordOf(option.verdict),
                           NoteOf(option));
    }
  }

  // Verbs of a tool with topics are programs, which have pages of their own.
  void AddRows(std::string_view line) {
    option_ = nullptr;
    if (line == "{verbs}") {
      for (const Verb& verb : verbs_) {
        text_ +=
            fmt::format("{}**{}**\n:   {}: **{}-{}**(1).\n", &verb == verbs_.data() ? "" : "\n",
                        verb.name, Capitalized(verb.summary), name_, verb.name);
      }
      rows_left_ -= verbs_.size();
    } else {
      for (const Topic& topic : topics_) {
        text_ += fmt::format("{}**{}**\n:   {}.\n", &topic == topics_.data() ? "" : "\n",
                             topic.name, Capitalized(topic.summary));
      }
      rows_left_ -= topics_.size();
    }
  }

  std::unexpected<Error> FailHere(std::string_view message) const {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("line {}: {}", number_, message));
  }

  std::string_view name_;
  std::span<const Verb> verbs_;
  std::span<const Topic> topics_;
  std::size_t rows_left_ = 0;  // which no line has listed yet
  std::vector<Section> sections_;
  Section* section_ = nullptr;
  const Option* option_ = nullptr;  // that of the last item
  std::vector<Item> items_;
  bool has_compatibility_ = false;
  bool is_chapter_ = false;  // below a heading of the first level
  std::size_t number_ = 0;
  std::string text_;
};

}  // namespace

Result<std::string> ManPage(const Command& command, std::string_view source) {
  Page page(command);
  while (!source.empty()) {
    const std::string_view line = source.substr(0, source.find('\n'));
    source.remove_prefix(std::min(source.size(), line.size() + 1));
    TRY(page.AddLine(line));
  }
  return std::move(page).Finish();
}

}  // namespace perftape::cli

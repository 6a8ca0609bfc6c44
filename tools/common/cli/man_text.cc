// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/man_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "formats/base/text.h"
#include "tools/common/cli/help.h"

namespace perftape::cli {
namespace {

constexpr std::size_t kStep = 4;  // of an indentation in the source

// Removes the first line of `text` and returns it without its end.
std::string_view NextLine(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

// Returns text without the marks of bold, italic and code.
std::string WithoutMarks(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) {
      plain += text[++at];
    } else if (text[at] != '*' && text[at] != '`') {
      plain += text[at];
    }
  }
  return plain;
}

class TextWriter {
 public:
  void AddLine(std::string_view line) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (indent == line.size()) return EndParagraph();
    const bool is_outside = indent == 0;
    if (is_outside && !line.starts_with(':')) is_definition_ = false;
    if (indent >= (is_definition_ ? 2 * kStep : kStep) && paragraph_.empty()) {
      AddExample(line);
    } else if (line.starts_with("## ")) {
      StartParagraph(0, "", line.substr(3));
    } else if (line.starts_with(":   ")) {
      is_definition_ = true;
      StartParagraph(kStep, "", line.substr(kStep));
    } else if (const std::string_view item = line.substr(indent); item.starts_with("* ")) {
      StartParagraph(is_definition_ ? kStep + 2 : 2, "* ", item.substr(2));
    } else if (line.starts_with('|')) {
      AddTableRow(line);
    } else {
      if (paragraph_.empty()) StartParagraph(is_definition_ ? kStep : 0, "", "");
      paragraph_ += fmt::format("{}{}", paragraph_.empty() ? "" : " ", Trimmed(line));
    }
  }

  std::string Finish() && {
    EndParagraph();
    return std::move(text_);
  }

 private:
  // `mark` stands in the columns before `column`.
  void StartParagraph(std::size_t column, std::string_view mark, std::string_view text) {
    EndLines();
    column_ = column;
    mark_ = mark;
    paragraph_ = text;
  }

  // Ends the paragraph, without an empty line.
  void EndLines() {
    if (paragraph_.empty()) return;
    AddPendingBlank();
    std::string lines = Wrapped(WithoutMarks(paragraph_), 0, column_);
    lines.replace(column_ - mark_.size(), mark_.size(), mark_);
    text_ += lines;
    paragraph_.clear();
  }

  void EndParagraph() {
    EndLines();
    is_table_ = false;
    is_after_blank_ = true;
  }

  void AddPendingBlank() {
    if (is_after_blank_ && !text_.empty()) text_ += '\n';
    is_after_blank_ = false;
  }

  void AddExample(std::string_view line) {
    EndLines();
    AddPendingBlank();
    text_ += fmt::format("{}\n", line);
  }

  // The first row is the head, the second one "|---|---|".
  void AddTableRow(std::string_view line) {
    if (line.starts_with("|-")) {
      paragraph_.clear();
      is_table_ = true;
      return;
    }
    line.remove_prefix(1);
    const std::size_t bar = std::min(line.find('|'), line.size());
    StartParagraph(0, "", Trimmed(line.substr(0, bar)));
    if (!is_table_) return;
    const std::string_view second = line.substr(std::min(bar + 1, line.size()));
    StartParagraph(kStep, "", Trimmed(second.substr(0, second.find('|'))));
  }

  std::string text_;
  std::string paragraph_;  // the lines of the current one, joined
  std::string mark_;
  std::size_t column_ = 0;
  bool is_definition_ = false;
  bool is_table_ = false;
  bool is_after_blank_ = false;
};

}  // namespace

std::string_view FindSection(std::string_view page, std::string_view heading) {
  std::string_view rest = page;
  while (!rest.empty()) {
    const std::string_view line = NextLine(rest);
    if (!line.starts_with("# ") || line.substr(2) != heading) continue;
    return rest.substr(0, rest.find("\n# "));
  }
  return {};
}

std::string PlainText(std::string_view markdown) {
  TextWriter writer;
  while (!markdown.empty()) writer.AddLine(NextLine(markdown));
  return std::move(writer).Finish();
}

std::string TitleOf(std::string_view page) {
  constexpr std::string_view kMark = "% ";
  if (!page.starts_with(kMark)) return "";
  page.remove_prefix(kMark.size());
  std::string title(page.substr(0, page.find_first_of(" \n")));
  for (char& c : title) {
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return title;
}

std::string ReferenceChapter(std::string_view page) {
  std::string chapter = fmt::format("# {}\n", TitleOf(page));
  NextLine(page);
  while (!page.empty()) {
    const std::string_view line = NextLine(page);
    if (line.starts_with('#')) {
      chapter += fmt::format("#{}\n", line);
    } else if (page.starts_with(":   ") && !line.empty()) {
      chapter += fmt::format("* {}\\\n", line);  // the backslash ends a line
    } else if (line.starts_with(":   ")) {
      chapter += fmt::format("    {}\n", line.substr(kStep));
    } else {
      chapter += fmt::format("{}\n", line);
    }
  }
  return chapter;
}

}  // namespace perftape::cli

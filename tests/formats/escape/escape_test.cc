// SPDX-License-Identifier: Apache-2.0
// One list of hostile names, written into each kind of output (formats/escape/escape.h).
#include "formats/escape/escape.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/unsafe_text.h"
#include "formats/base/utf8.h"
#include "formats/folded/escape.h"
#include "formats/json/parse.h"
#include "formats/json/string.h"
#include "formats/json/write.h"
#include "formats/script/escape.h"

namespace perftape::escape {
namespace {

std::string Csv(std::string_view name) {
  return CsvCell(CsvText(name));
}

std::string Markup(std::string_view name) {
  std::string out;
  AppendMarkup(out, name);
  return out;
}

std::string Folded(std::string_view name) {
  std::string out;
  folded::AppendLeaf(out, name, folded::CountLike::kEscape);
  return out;
}

// As the name of a file, which has neither blanks nor parentheses.
std::string Script(std::string_view name) {
  std::string out;
  script::AppendEscaped(out, name, " ()");
  return out;
}

std::string Document(std::string_view name) {
  std::string text = json::Text(name, json::Layout::kOneLine);
  text.pop_back();
  return text;
}

std::string Streamed(std::string_view name) {
  std::string out;
  json::AppendString(out, name);
  return out;
}

// A name, and how each output has it. What is not listed is as the comment says.
struct Hostile {
  std::string_view name;
  std::optional<std::string_view> terminal = {};  // the name
  std::optional<std::string_view> csv = {};       // as on a terminal
  std::optional<std::string_view> markdown = {};  // as on a terminal
  std::optional<std::string_view> display = {};   // the name
  std::optional<std::string_view> markup = {};    // as the text for people
  std::optional<std::string_view> metrics = {};   // the name
  std::optional<std::string_view> folded = {};    // the name
  std::optional<std::string_view> script = {};    // the name
  std::optional<std::string_view> document = {};  // the name in quotes
  std::optional<std::string_view> streamed = {};  // as in a document
};

struct Output {
  std::string_view name;
  std::string (*write)(std::string_view);
};

constexpr Output kOutputs[] = {{"terminal", &ForTerminal},  {"csv", &Csv},
                               {"markdown", &MarkdownText}, {"display", &DisplayText},
                               {"markup", &Markup},         {"metrics", &MetricsLabel},
                               {"folded", &Folded},         {"script", &Script},
                               {"document", &Document},     {"streamed", &Streamed}};

// Returns what each of kOutputs has of the name.
std::vector<std::string> OutputsOf(const Hostile& hostile) {
  const std::string_view terminal = hostile.terminal.value_or(hostile.name);
  const std::string_view display = hostile.display.value_or(hostile.name);
  const std::string quoted = '"' + std::string(hostile.name) + '"';
  const std::string_view document = hostile.document.value_or(quoted);
  std::vector<std::string> outputs;
  for (const std::string_view text :
       {terminal, hostile.csv.value_or(terminal), hostile.markdown.value_or(terminal), display,
        hostile.markup.value_or(display), hostile.metrics.value_or(hostile.name),
        hostile.folded.value_or(hostile.name), hostile.script.value_or(hostile.name), document,
        hostile.streamed.value_or(document)}) {
    outputs.emplace_back(text);
  }
  return outputs;
}

const Hostile kHostile[] = {
    {.name = "", .script = "%"},
    {.name = "main"},
    {.name = "std::map<int, char>::at(int const&) const",
     .csv = "\"std::map<int, char>::at(int const&) const\"",
     .markdown = "std::map\\<int, char\\>::at(int const\\&) const",
     .markup = "std::map&lt;int, char&gt;::at(int const&amp;) const",
     .script = "std::map<int,%20char>::at%28int%20const&%29%20const"},
    {.name = "größe-файл-文件-🔥"},
    {.name = "C:\\perf",
     .markdown = "C:\\\\perf",
     .metrics = "C:\\\\perf",
     .document = "\"C:\\\\perf\""},
    {.name = "100%"},
    {.name = "GET /a%20b%2Fc", .script = "GET%20/a%2520b%252Fc"},
    {.name = "say \"hi\", it's",
     .csv = "\"say \"\"hi\"\", it's\"",
     .markup = "say &quot;hi&quot;, it&#39;s",
     .metrics = "say \\\"hi\\\", it's",
     .script = "say%20\"hi\",%20it's",
     .document = "\"say \\\"hi\\\", it's\""},
    {.name = "=1+1", .csv = "'=1+1"},
    {.name = "@SUM(A1)", .csv = "'@SUM(A1)", .script = "@SUM%28A1%29"},
    {.name = "-x", .csv = "'-x"},
    {.name = "+x", .csv = "'+x"},
    {.name = "a;b", .folded = "a%3Bb"},
    {.name = "id 7", .folded = "id%207", .script = "id%207"},
    {.name = "# comm", .markdown = "\\# comm", .folded = "%23 comm", .script = "#%20comm"},
    {.name = "%3B", .folded = "%253B", .script = "%253B"},
    {.name = "%", .script = "%25"},
    {.name = "x|y`z`*_[]<>&#~$",
     .markdown = "x\\|y\\`z\\`\\*\\_\\[\\]\\<\\>\\&\\#\\~\\$",
     .markup = "x|y`z`*_[]&lt;&gt;&amp;#~$"},
    {.name = "</script><img src='x' onerror=\"alert(1)\">",
     .csv = "\"</script><img src='x' onerror=\"\"alert(1)\"\">\"",
     .markdown = "\\</script\\>\\<img src='x' onerror=\"alert(1)\"\\>",
     .markup = "&lt;/script&gt;&lt;img src=&#39;x&#39; onerror=&quot;alert(1)&quot;&gt;",
     .metrics = "</script><img src='x' onerror=\\\"alert(1)\\\">",
     .script = "</script><img%20src='x'%20onerror=\"alert%281%29\">",
     .document = "\"</script><img src='x' onerror=\\\"alert(1)\\\">\""},
    {.name = std::string_view("a\x00"
                              "b",
                              3),
     .terminal = "a\\x00b",
     .markdown = "a\\\\x00b",
     .display = "a\ufffdb",
     .folded = "a%00b",
     .script = "a%00b",
     .document = "\"a\\u0000b\""},
    {.name = "a\nb\rc\td",
     .terminal = "a\\nb\\rc\\td",
     .markdown = "a\\\\nb\\\\rc\\\\td",
     .display = "a\ufffdb\ufffdc\ufffdd",
     .metrics = "a\\nb\rc\td",
     .folded = "a%0Ab%0Dc\td",
     .script = "a%0Ab%0Dc%09d",
     .document = "\"a\\nb\\rc\\td\"",
     .streamed = "\"a\\u000ab\\u000dc\\u0009d\""},
    {.name = "\x1b[2J\x1b]0;owned\x07",
     .terminal = "\\x1b[2J\\x1b]0;owned\\x07",
     .markdown = "\\\\x1b\\[2J\\\\x1b\\]0;owned\\\\x07",
     .display = "\ufffd[2J\ufffd]0;owned\ufffd",
     .folded = "%1B[2J%1B]0%3Bowned%07",
     .script = "%1B[2J%1B]0;owned%07",
     .document = "\"\\u001b[2J\\u001b]0;owned\\u0007\""},
    {.name = "\x7f\x01",
     .terminal = "\\x7f\\x01",
     .markdown = "\\\\x7f\\\\x01",
     .display = "\ufffd\ufffd",
     .folded = "%7F%01",
     .script = "%7F%01",
     .document = "\"\\u007f\\u0001\""},
    {.name = "\xc2\x9b"
             "2J",
     .terminal = "\\xc2\\x9b2J",
     .markdown = "\\\\xc2\\\\x9b2J",
     .display = "\ufffd2J",
     .folded = "%u009B2J",
     .script = "%C2%9B2J",
     .document = "\"\\u009b2J\""},
    {.name = "gpj\u202eexe",
     .terminal = "gpj\\u202eexe",
     .markdown = "gpj\\\\u202eexe",
     .display = "gpj\ufffdexe",
     .folded = "gpj%u202Eexe",
     .script = "gpj%E2%80%AEexe",
     .document = "\"gpj\\u202eexe\""},
    {.name = "\u2028\u2066\u061c",
     .terminal = "\\u2028\\u2066\\u061c",
     .markdown = "\\\\u2028\\\\u2066\\\\u061c",
     .display = "\ufffd\ufffd\ufffd",
     .folded = "%u2028%u2066%u061C",
     .script = "%E2%80%A8%E2%81%A6%D8%9C",
     .document = "\"\\u2028\\u2066\\u061c\""},
    {.name = "\uffff\ufdd0", .display = "\ufffd\ufffd"},
    {.name = "caf\xe9",
     .terminal = "caf\\xe9",
     .markdown = "caf\\\\xe9",
     .display = "caf\ufffd",
     .script = "caf%E9",
     .document = "\"caf\ufffd\"",
     .streamed = "\"caf\\ufffd\""},
    {.name = "a\x9b"
             "2J",
     .terminal = "a\\x9b2J",
     .markdown = "a\\\\x9b2J",
     .display = "a\ufffd2J",
     .folded = "a%x9B2J",
     .script = "a%9B2J",
     .document = "\"a\ufffd2J\"",
     .streamed = "\"a\\ufffd2J\""},
    {.name = "\xff\xfe",
     .terminal = "\\xff\\xfe",
     .markdown = "\\\\xff\\\\xfe",
     .display = "\ufffd\ufffd",
     .script = "%FF%FE",
     .document = "\"\ufffd\ufffd\"",
     .streamed = "\"\\ufffd\\ufffd\""},
    {.name = "\xc0\x9b\xe0\x80\x9b",
     .terminal = "\\xc0\\x9b\\xe0\\x80\\x9b",
     .markdown = "\\\\xc0\\\\x9b\\\\xe0\\\\x80\\\\x9b",
     .display = "\ufffd\ufffd\ufffd\ufffd\ufffd",
     .folded = "\xc0%x9B\xe0%x80%x9B",
     .script = "%C0%9B%E0%80%9B",
     .document = "\"\ufffd\ufffd\ufffd\ufffd\ufffd\"",
     .streamed = "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\""},
    {.name = "\xed\xa0\x80\xf7\xbf\xbf\xbf",
     .terminal = "\\xed\\xa0\\x80\\xf7\\xbf\\xbf\\xbf",
     .markdown = "\\\\xed\\\\xa0\\\\x80\\\\xf7\\\\xbf\\\\xbf\\\\xbf",
     .display = "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd",
     .folded = "\xed\xa0%x80\xf7\xbf\xbf\xbf",
     .script = "%ED%A0%80%F7%BF%BF%BF",
     .document = "\"\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\"",
     .streamed = "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\""},
    {.name = "cut\xe6\x95",
     .terminal = "cut\\xe6\\x95",
     .markdown = "cut\\\\xe6\\\\x95",
     .display = "cut\ufffd\ufffd",
     .folded = "cut\xe6%x95",
     .script = "cut%E6%95",
     .document = "\"cut\ufffd\"",
     .streamed = "\"cut\\ufffd\\ufffd\""},
};

TEST(Escapes, OfEachOutputAreTheseForEachName) {
  for (const Hostile& hostile : kHostile) {
    const std::vector<std::string> outputs = OutputsOf(hostile);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_EQ(kOutputs[i].write(hostile.name), outputs[i])
          << kOutputs[i].name << " of " << ForTerminal(hostile.name);
    }
  }
}

// Returns all names, one after the other: what is escaped does not depend on what is around it.
std::string AllNames() {
  std::string all;
  for (const Hostile& hostile : kHostile) all.append(hostile.name).append(" ");
  return all;
}

// No output has a character that ends a line, reverses the writing direction, or that a terminal
// interprets. A label of metrics is not for a terminal, a tab of folded stacks is no control.
TEST(Escapes, LeaveNothingUnsafe) {
  const std::string all = AllNames();
  for (const Output& output : kOutputs) {
    if (output.write == &MetricsLabel) continue;
    const std::string text = output.write(all);
    for (auto found = FindUnsafe(text); found; found = FindUnsafe(text, found->at + found->size)) {
      const bool is_kept =
          output.write == &Folded && (found->value == '\t' || !IsUnsafe(found->value));
      EXPECT_TRUE(is_kept) << output.name << ": " << ForTerminal(text.substr(found->at));
    }
  }
}

TEST(Escapes, LeaveNothingThatTheOutputInterprets) {
  const std::string all = AllNames();
  EXPECT_EQ(Folded(all).find_first_of(";\n\r"), std::string::npos);
  EXPECT_EQ(Script(all).find_first_of(" ()\n"), std::string::npos);
  EXPECT_EQ(Markup(all).find_first_of("<>\"'"), std::string::npos);
  EXPECT_EQ(MetricsLabel(all).find('\n'), std::string::npos);
  const std::string cell = Csv(all);
  EXPECT_TRUE(cell.starts_with('"') && cell.ends_with('"'));
  const std::string markdown = MarkdownText(all);
  for (std::size_t at = 0; at < markdown.size(); ++at) {
    if (markdown[at] == '\\') {
      ++at;
    } else {
      EXPECT_FALSE(std::string_view("`*_[]<>|&#~$").contains(markdown[at])) << markdown.substr(at);
    }
  }
}

TEST(Escapes, OfFoldedStacksAndScriptsAreUndone) {
  for (const Hostile& hostile : kHostile) {
    EXPECT_EQ(folded::LeafName(Folded(hostile.name)), hostile.name);
    EXPECT_EQ(script::Unescaped(Script(hostile.name)), hostile.name);
  }
  EXPECT_EQ(folded::LeafName(Folded(AllNames())), AllNames());
  EXPECT_EQ(script::Unescaped(Script(AllNames())), AllNames());
}

TEST(Escapes, OfJsonAreReadAsTheSameText) {
  constexpr std::size_t kDepth = 1;
  for (const Hostile& hostile : kHostile) {
    for (const auto& write : {&Document, &Streamed}) {
      const auto read = json::Parse(write(hostile.name), kDepth);
      ASSERT_TRUE(read) << ForTerminal(hostile.name);
      ASSERT_NE(read->AsText(), nullptr);
      EXPECT_EQ(*read->AsText() == hostile.name, IsUtf8(hostile.name)) << ForTerminal(hostile.name);
      EXPECT_TRUE(IsUtf8(*read->AsText()));
    }
  }
}

TEST(Escapes, OfALongNameAreAsLong) {
  const std::string plain(1 << 20, 'a');
  const std::string hostile(1 << 16, '\x1b');
  for (const Output& output : kOutputs) {
    EXPECT_GE(output.write(plain).size(), plain.size()) << output.name;
    EXPECT_LE(output.write(plain).size(), plain.size() + 2) << output.name;
    EXPECT_GE(output.write(hostile).size(), hostile.size()) << output.name;
  }
}

}  // namespace
}  // namespace perftape::escape

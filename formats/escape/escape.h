// SPDX-License-Identifier: Apache-2.0
// How names from files, processes and recordings are written into each kind of output. A name may
// be any bytes. "Unsafe" are the characters of formats/base/unsafe_text.h: controls, line ends and
// marks of bidirectional text; "broken" is a byte that is not UTF-8.
//
//   output          function              unsafe; broken           other
//   terminal        ForTerminal           \n \x1b \u202e; \xff     nothing, no backslash either
//   CSV             CsvText               as for a terminal        ' before = + - @
//                   CsvCell               kept                     quotes if it has , or "
//   Markdown        MarkdownText          as for a terminal        \ before \`*_[]<>|&#~$
//   for people      DisplayText           U+FFFD                   noncharacters: U+FFFD
//   HTML, SVG       AppendMarkup          U+FFFD                   & < > " ' as references
//   metrics         MetricsLabel          \n, no others            \ before \ and "
//   folded          folded::AppendFrame   %1B %u202E; %x9B, if C1  ";", some of "# % 7", no tab
//   perf script     script::AppendEscaped %1B %E2%80%AE; %FF       %, what the field excludes
//   JSON            json::Text            \n \u001b \u202e; U+FFFD \ before \ and "
//   JSON, in pieces json::AppendString    \u001b \u202e; \ufffd    \ before \ and "
//
// Those of folded stacks and perf script are undone by their readers, so they are in the rooms of
// these formats (formats/folded/escape.h, formats/script/escape.h).
//
// One test writes one list of hostile names into all of them: tests/formats/escape/escape_test.cc.
#pragma once

#include <string>
#include <string_view>

namespace perftape::escape {

// Returns `text` with its unsafe characters made visible. Control characters become \t, \n, \r or
// \x1b, and bytes that are not UTF-8 \xff. Bidirectional controls and Unicode's line ends become
// \u202e and the like. All other characters stay, including backslashes.
std::string ForTerminal(std::string_view text);

// Returns a name for a spreadsheet, which would compute a text that begins with '=', '+', '-' or
// '@': such a name has a ' before it.
std::string CsvText(std::string_view name);
// Returns the text as one cell of CSV: in quotes if it has a comma, a quote or a line end.
std::string CsvCell(std::string_view text);

// Returns text that neither Markdown nor HTML interprets.
std::string MarkdownText(std::string_view text);

// Returns valid UTF-8 without unsafe characters and without noncharacters: U+FFFD replaces each of
// them, and each byte that is not UTF-8.
std::string DisplayText(std::string_view text);

// Appends the text with &, <, > and quotes as XML and HTML references, after DisplayText.
void AppendMarkup(std::string& out, std::string_view text);

// Returns the value of a label as Prometheus and OpenMetrics read it between quotes.
std::string MetricsLabel(std::string_view value);

}  // namespace perftape::escape

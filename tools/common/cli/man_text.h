// SPDX-License-Identifier: Apache-2.0
// Sections of man pages as text for a terminal, and whole pages as chapters of a reference.
#pragma once

#include <string>
#include <string_view>

namespace perftape::cli {

// Returns the lines below "# HEADING" in the source of a man page, up to the next heading of this
// level. Empty if there is no such heading.
std::string_view FindSection(std::string_view page, std::string_view heading);

// Returns Markdown of pandoc, as the man pages have it, as text of at most 80 columns: paragraphs,
// lists, definitions, examples, and tables of two columns, whose head is left out. Examples keep
// their lines.
std::string PlainText(std::string_view markdown);

// Returns the title of a page, "perftape-record(1)"; empty if it has none.
std::string TitleOf(std::string_view page);

// Returns a page as a chapter in Markdown of GitHub, which has no definitions: each becomes an
// item. The title is a heading of the first level, sections are of the second.
std::string ReferenceChapter(std::string_view page);

}  // namespace perftape::cli

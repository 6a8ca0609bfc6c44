// SPDX-License-Identifier: Apache-2.0
// What a command says of itself, from its table of options: the texts of --help and --version, its
// completion by a shell, its man page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/base/result.h"
#include "tools/common/cli/options.h"

namespace perftape::cli {

// Returns name and version, and below them the libraries and what the kernel has, as far as the
// command knows them:
//
//   perftape-record 0.1.0
//   libraries: libbpf 1.1, zstd 1.5.4
//   kernel: Linux 6.18.5
//     BTF: yes
//
// As JSON, one object with the keys name, version, libraries and kernel.
std::string VersionText(const Command& command, VersionForm form);

enum class HelpDepth : std::uint8_t {
  kUsual,  // three examples, and no options that are rare
  kAll,
};

// Returns usage, purpose, examples, verbs, the options in groups, and epilogue; at most 80 columns
// wide, except for examples.
std::string HelpText(const Command& command, HelpDepth depth);

// Returns the text that --help or --help-all asks for; empty without them.
std::string RequestedHelp(const Command& command, const BaseOptions& options);

// Returns what a tool with verbs prints without one: purpose, examples, and where the rest is.
std::string BriefText(const Command& command);

// Returns `text` in lines of at most 80 columns, each indented to `column`. The first line begins
// at column `at`; if that is beyond `column`, the text begins in the next line.
std::string Wrapped(std::string_view text, std::size_t at, std::size_t column);

// Returns a script for the shell to source. Fails with kInvalidArgument for shells other than bash.
Result<std::string> CompletionScript(const Command& command, std::string_view shell);

// Returns the man page `source`, in Markdown of pandoc, with its option lines filled in from the
// rows of `command`. A line "{--output}" becomes "**-o**, **\--output** *FILE*", "{-g}" becomes
// "**-g**"; below such a line "{choices}" becomes the words that the option accepts. The options of
// a verb are in the section with its name, "## list". Those below a heading of the first level are
// sorted by group, and each of several groups gets a heading: "## What to record". All others keep
// their order. In the page of a tool with topics, the lines "{verbs}" and "{topics}" become lists
// of them. A line "{compatibility}" becomes a table of the options that perf has, too, and those of
// Group::kCompatibility need no line of their own then. kInvalidArgument, with the line, if it
// names no option of the command; also if an option has no line or two, or a list is missing.
Result<std::string> ManPage(const Command& command, std::string_view source);

}  // namespace perftape::cli

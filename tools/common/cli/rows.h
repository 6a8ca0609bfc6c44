// SPDX-License-Identifier: Apache-2.0
// Rows that several tools have in their tables.
#pragma once

#include "tools/common/cli/options.h"
#include "tools/common/cli/values.h"

namespace perftape::cli {

constexpr Option QuietRow(std::string_view help = "print only errors") {
  return {.name = "quiet", .letter = 'q', .help = help, .into = Set<&BaseOptions::quiet>};
}

constexpr Option VerboseRow(std::string_view help) {
  return {.name = "verbose", .letter = 'v', .help = help, .into = Set<&BaseOptions::verbose>};
}

constexpr Option NoProgressRow() {
  return {.name = "no-progress",
          .help = "show no line of progress on a terminal",
          .is_rare = true,
          .into = Set<&BaseOptions::no_progress>};
}

constexpr Option NoSandboxRow() {
  return {.name = "no-sandbox",
          .help = "do not limit which files and system calls this program can use",
          .is_rare = true,
          .into = Set<&BaseOptions::no_sandbox>};
}

// -i FILE, equivalent to an operand.
constexpr Option InputRow(std::string_view help) {
  return {.name = "input",
          .letter = 'i',
          .argument = "FILE",
          .help = help,
          .completion = Completion::kFile,
          .is_rare = true,
          .into = Store<&BaseOptions::operands>};
}

// -o FILE; sets a std::filesystem::path.
constexpr Option OutputRow(std::string_view help, Target into) {
  return {.name = "output",
          .letter = 'o',
          .argument = "FILE",
          .help = help,
          .completion = Completion::kFile,
          .into = into};
}

constexpr Option ForceRow(Target into, std::string_view help = "replace an existing output file") {
  return {.name = "force", .letter = 'f', .help = help, .into = into};
}

constexpr Option JsonRow(std::string_view help, Target into) {
  return {.name = "json", .help = help, .into = into};
}

constexpr Option ThreadsRow(std::string_view help, Target into) {
  return {.name = "threads",
          .letter = 'j',
          .argument = "N",
          .help = help,
          .is_rare = true,
          .into = into};
}

constexpr Option CompressionRow(std::string_view help, Target into) {
  return {.name = "compression-level",
          .letter = 'z',
          .argument = "LEVEL",
          .help = help,
          .argument_is_optional = true,
          .into = into};
}

}  // namespace perftape::cli

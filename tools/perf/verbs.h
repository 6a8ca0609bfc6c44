// SPDX-License-Identifier: Apache-2.0
// The verbs of perftape-perf: small commands of perf, with its options and its output. Each has a
// file of its name. A new verb is a row of kVerbs in command_line.cc and a file in this folder.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::perf_tool {

// The main functions return the exit status. Their first word is the verb.

// Writes the files of a bundle as `perf archive` does.
const cli::Command& ArchiveCommand();
int ArchiveMain(int argc, char** argv);

// Prints the build ids of the binaries in a recording, or of this kernel.
const cli::Command& BuildIdListCommand();
int BuildIdListMain(int argc, char** argv);

// Compares the shares of symbols in recordings.
const cli::Command& DiffCommand();
int DiffMain(int argc, char** argv);

// Prints the events of a recording.
const cli::Command& EvlistCommand();
int EvlistMain(int argc, char** argv);

// Copies a recording with the build ids of its binaries.
const cli::Command& InjectCommand();
int InjectMain(int argc, char** argv);

// Prints the events that can be recorded here.
const cli::Command& ListCommand();
int ListMain(int argc, char** argv);

// Prints the version of perf that perftape is compatible with.
const cli::Command& VersionCommand();
int VersionMain(int argc, char** argv);

}  // namespace perftape::perf_tool

// SPDX-License-Identifier: Apache-2.0
// The verbs of perftape-bundle. Each has a file of its name. A new verb is a row in verbs.cc and a
// file in this folder.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& BundleCommand();

// The main functions return the exit status. Their first word is the verb.

// Collects the symbols of a recording from this machine.
const cli::Command& CreateCommand();
int CreateMain(int argc, char** argv);

// Prints the manifest and the files of a bundle.
const cli::Command& ListCommand();
int ListMain(int argc, char** argv);

// Checks a bundle, and whether it has all binaries that a recording sampled.
const cli::Command& VerifyCommand();
int VerifyMain(int argc, char** argv);

// Writes a bundle's files into a directory in perf's layout.
const cli::Command& ExtractCommand();
int ExtractMain(int argc, char** argv);

// Removes the files that bundles added to a build-id cache.
const cli::Command& CleanCommand();
int CleanMain(int argc, char** argv);

// Appends a bundle to a perf.data.
const cli::Command& EmbedCommand();
int EmbedMain(int argc, char** argv);

// Removes the bundle from a perf.data.
const cli::Command& StripCommand();
int StripMain(int argc, char** argv);

}  // namespace perftape::bundle_tool

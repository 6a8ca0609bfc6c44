// SPDX-License-Identifier: Apache-2.0
#include "tools/bundle/command.h"

#include "tools/bundle/clean.h"
#include "tools/bundle/create.h"
#include "tools/bundle/embed.h"
#include "tools/bundle/extract.h"
#include "tools/bundle/list.h"
#include "tools/bundle/strip.h"
#include "tools/bundle/verify.h"

namespace perftape::bundle_tool {
namespace {

constexpr cli::Verb kVerbs[] = {
    {"create", "the symbols of what a recording hit, from this machine", &CreateCommand,
     &CreateMain},
    {"list", "what a bundle holds, and what is missing in it", &ListCommand, &ListMain},
    {"verify", "whether it is sound, and has all that a recording hit", &VerifyCommand,
     &VerifyMain},
    {"extract", "its files into ~/.debug, where perf finds them", &ExtractCommand, &ExtractMain},
    {"clean", "remove extracted files from ~/.debug", &CleanCommand, &CleanMain},
    {"embed", "a bundle into a perf.data", &EmbedCommand, &EmbedMain},
    {"strip", "the bundle out of a perf.data", &StripCommand, &StripMain},
};

constexpr cli::Command kCommand = {
    .name = "perftape-bundle",
    .purpose = "Carry with a recording what its symbols need.",
    .operands = "VERB [ARGUMENT...]",
    .options = {},
    .order = cli::Order::kOptionsFirst,
    .operand_completion = cli::Completion::kNothing,
    .epilogue =
        "A BUNDLE is a file of its own, a perf.data with one in it, or a tarball of\n"
        "perf archive.\n",
    .verbs = kVerbs};

}  // namespace

const cli::Command& BundleCommand() {
  return kCommand;
}

}  // namespace perftape::bundle_tool

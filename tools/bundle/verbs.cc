// SPDX-License-Identifier: Apache-2.0
#include "tools/bundle/verbs.h"

#include "formats/base/library_version.h"
#include "formats/bundle/library_versions.h"
#include "formats/elf/library_versions.h"

namespace perftape::bundle_tool {
namespace {

constexpr cli::Verb kVerbs[] = {
    {"create", "collect the symbols of a recording from this machine", &CreateCommand, &CreateMain},
    {"list", "list the files of a bundle and what is missing", &ListCommand, &ListMain},
    {"verify", "check a bundle against its manifest and a recording", &VerifyCommand, &VerifyMain},
    {"extract", "write the files of a bundle to ~/.debug, for perf", &ExtractCommand, &ExtractMain},
    {"clean", "remove extracted files from ~/.debug", &CleanCommand, &CleanMain},
    {"embed", "append a bundle to a perf.data", &EmbedCommand, &EmbedMain},
    {"strip", "remove the bundle from a perf.data", &StripCommand, &StripMain},
};

constexpr cli::Example kExamples[] = {
    {"perftape-bundle verify perf.data", "check whether it has names for all samples"},
    {"perftape-bundle extract perf.data && perf report", "give perf the symbols"},
    {"perftape-bundle create", "collect the symbols of a recording of perf record"},
};

std::vector<LibraryVersion> Libraries() {
  return {ZstdVersion(),      bundle::LibarchiveVersion(), elf::LibelfVersion(),
          elf::LzmaVersion(), elf::LibdeflateVersion(),    bundle::SodiumVersion()};
}

constexpr cli::Command kBundleCommand = {
    .name = "perftape-bundle",
    .purpose = "Manage the symbols that are stored with a recording.",
    .operands = "VERB [ARGUMENT...]",
    .options = {},
    .order = cli::Order::kOptionsFirst,
    .operand_completion = cli::Completion::kNothing,
    .examples = kExamples,
    .epilogue =
        "A BUNDLE is a bundle file, a perf.data with a bundle, or a tarball of perf\n"
        "archive.\n",
    .verbs = kVerbs,
    .libraries = &Libraries,
};

}  // namespace

const cli::Command& BundleCommand() {
  return kBundleCommand;
}

}  // namespace perftape::bundle_tool

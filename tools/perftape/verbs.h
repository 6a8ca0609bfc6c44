// SPDX-License-Identifier: Apache-2.0
// The verbs of perftape. Each is the tool perftape-VERB. PERFTAPE_HAS_SERVE is 1 if perftape-serve
// is built (PERFTAPE_SERVE of CMake).
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::front_tool {

inline constexpr cli::Verb kVerbs[] = {
    {"record", "record where programs spend their time, into a perf.data"},
    {"doctor", "check what can be recorded here, and what is missing for the rest"},
#if PERFTAPE_HAS_SERVE
    {"serve", "record all the time, and answer requests for profiles over HTTP"},
#endif
    {"report", "show where a profile spends its time"},
    {"script", "print the samples of a perf.data as perf script does"},
    {"view", "show a profile in the browser"},
    {"convert", "convert perf.data, folded stacks and pprof into each other"},
    {"inspect", "show the content of a perf.data as text or JSON"},
    {"recover", "write every complete record of a damaged perf.data to a new file"},
    {"symbolize", "add names to the addresses in a profile, from saved symbols"},
    {"perf", "run a command of perf: evlist, buildid-list, archive, diff, list"},
    {"bundle", "manage the symbols that are stored with a recording"},
};

}  // namespace perftape::front_tool

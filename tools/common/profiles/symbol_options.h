// SPDX-License-Identifier: Apache-2.0
// The options of all tools that look up names: where they come from, and how they are shown.
#pragma once

#include "convert/symbolize/symbol_options.h"
#include "formats/base/result.h"
#include "tools/common/cli/options.h"

namespace perftape::cli {

inline constexpr Option kSymbolOptions[] = {
    {.name = "bundle",
     .argument = "FILE",
     .help = "names from this bundle of perftape-bundle or perf archive, besides those that the "
             "recording itself carries",
     .completion = Completion::kFile},
    {.name = "symfs",
     .argument = "DIR",
     .help = "the files of the recording machine lie below DIR, at their paths there",
     .completion = Completion::kFile},
    {.name = "kallsyms",
     .argument = "FILE",
     .help = "names of the kernel, saved from the /proc/kallsyms of the recording machine",
     .completion = Completion::kFile},
    {.name = "vmlinux",
     .argument = "FILE",
     .help = "names of the kernel from its ELF file or its System.map",
     .completion = Completion::kFile},
    {.name = "debug-dir",
     .argument = "DIR",
     .help = "binaries and debug files by build id, laid out as /usr/lib/debug, ~/.debug, or the "
             "caches of debuginfod and pprof; may be given several times",
     .completion = Completion::kFile},
    {.name = "local",
     .help = "names from this machine, as if it had recorded; else only recordings made here since "
             "it was booted get them"},
    {.name = "no-local", .help = "no names from this machine, even if it recorded"},
    {.name = "demangle",
     .argument = "STYLE",
     .help = "names of C++, Rust and D: templates, which is without parameters as in perf report "
             "(default), simple, also without the arguments of templates, full, or none",
     .completion = Completion::kChoice,
     .choices = "templates simple full none"},
    {.name = "no-demangle", .help = "names as the linker knows them"},
    {.name = "no-inline", .help = "no functions that were inlined"},
    {.name = "no-lines", .help = "no lines of sources, nor functions that were inlined"},
    {.name = "show-sources",
     .help = "tell of each binary which file gave the names, or what was tried"},
};

// What they ask for, with the caches of debuginfod and of indexes where the environment has them.
// kInvalidArgument for usage errors.
Result<symbolize::SymbolOptions> SymbolOptionsOf(const Parsed& parsed);

}  // namespace perftape::cli

// SPDX-License-Identifier: Apache-2.0
// The options of all tools that look up names: the sources of names, the form of names, and the
// files that the sources take in a sandbox.
#pragma once

#include <filesystem>
#include <span>

#include "convert/symbolize/symbol_options.h"
#include "tools/common/cli/options.h"
#include "tools/common/sandbox/landlock.h"

namespace perftape::cli {

// The fields that the rows below set. The struct of a tool with these rows derives from it.
struct SymbolPlan : BaseOptions {
  symbolize::SymbolOptions symbol_options;
  bool show_sources = false;
  bool no_lines = false;
};

inline constexpr Choice<symbolize::Demangling> kDemanglings[] = {
    {"templates", symbolize::Demangling::kTemplates, "as in perf report, default"},
    {"simple", symbolize::Demangling::kSimple, "no template arguments"},
    {"full", symbolize::Demangling::kFull, "with parameters"},
    {"none", symbolize::Demangling::kNone},
};

inline constexpr Option kSymbolRows[] = {
    {.name = "debug-dir",
     .argument = "DIR",
     .help = "search DIR for binaries and debug files by build id, in the layout of "
             "/usr/lib/debug, ~/.debug, or the caches of debuginfod and pprof; can be given "
             "several times",
     .completion = Completion::kDirectory,
     .into = Store<&SymbolPlan::symbol_options, &symbolize::SymbolOptions::debug_dirs>},
    {.name = "symfs",
     .argument = "DIR",
     .help = "search the files of the recording machine below DIR, at their paths on that machine",
     .completion = Completion::kDirectory,
     .into = Store<&SymbolPlan::symbol_options, &symbolize::SymbolOptions::symfs>},
    {.name = "bundle",
     .argument = "FILE",
     .help = "use the names in this bundle of perftape-bundle or perf archive, in addition to the "
             "bundle in the recording",
     .completion = Completion::kFile,
     .into = Store<&SymbolPlan::symbol_options, &symbolize::SymbolOptions::bundle>},
    {.name = "show-sources",
     .help = "print, for each binary, the file that gave the names, or each file that was tried",
     .into = Set<&SymbolPlan::show_sources>},
    {.name = "no-local",
     .help = "do not use the files of this machine, even if it made the recording",
     .is_rare = true,
     .into = SetTo<symbolize::LocalSystem::kNever, &SymbolPlan::symbol_options,
                   &symbolize::SymbolOptions::local>},
    {.name = "local",
     .help = "use the files of this machine as if it had made the recording; default: only for "
             "recordings made here since the last boot",
     .conflicts = "no-local",
     .is_rare = true,
     .into = SetTo<symbolize::LocalSystem::kAlways, &SymbolPlan::symbol_options,
                   &symbolize::SymbolOptions::local>},
    {.name = "kallsyms",
     .argument = "FILE",
     .help = "read kernel symbols from FILE, a copy of /proc/kallsyms of the recording machine",
     .completion = Completion::kFile,
     .is_rare = true,
     .into = Store<&SymbolPlan::symbol_options, &symbolize::SymbolOptions::kallsyms>},
    {.name = "vmlinux",
     .argument = "FILE",
     .help = "read kernel symbols from FILE, an ELF file or a System.map",
     .completion = Completion::kFile,
     .is_rare = true,
     .into = Store<&SymbolPlan::symbol_options, &symbolize::SymbolOptions::vmlinux>},
    {.name = "demangle",
     .argument = "STYLE",
     .help = "select the form of C++, Rust and D names: {choices}",
     .conflicts = "no-demangle",
     .is_rare = true,
     .into = StoreChoice<kDemanglings, &SymbolPlan::symbol_options,
                         &symbolize::SymbolOptions::demangling>},
    {.name = "no-demangle",
     .help = "show names as the linker knows them",
     .is_rare = true,
     .into = SetTo<symbolize::Demangling::kNone, &SymbolPlan::symbol_options,
                   &symbolize::SymbolOptions::demangling>},
    {.name = "no-inline",
     .help = "show no inlined functions",
     .is_rare = true,
     .into = SetTo<symbolize::SourceLines::kLines, &SymbolPlan::symbol_options,
                   &symbolize::SymbolOptions::source_lines>},
    {.name = "no-lines",
     .help = "show neither source lines nor inlined functions",
     .is_rare = true,
     .into = Set<&SymbolPlan::no_lines>},
};

// Completes the symbol options after parsing: applies --no-lines, and selects the index cache that
// the environment determines.
void FinishSymbolOptions(SymbolPlan& plan);

// Grants the sources of names that `options` selects for these inputs: the named files and
// directories, the default debug directories and the index cache.
//
// Files of this machine are at any path. So all files become readable if the inputs may use them:
//
//   --local       always
//   --no-local    never
//   neither       if an input is a recording that was made here since the last boot
//                 (symbolize::ProfileOrigin::Machine), or is a pipe, which cannot be examined
//                 before it is read
//
// A confined child process examines the inputs. So no input is parsed outside of a sandbox. It
// expands compressed recordings, which are expanded twice then.
void GrantSymbolSources(const symbolize::SymbolOptions& options,
                        std::span<const std::filesystem::path> inputs, sandbox::FileGrants& grants);

}  // namespace perftape::cli

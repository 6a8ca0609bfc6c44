// SPDX-License-Identifier: Apache-2.0
// The files that looking up names takes in a sandbox.
#pragma once

#include <filesystem>
#include <span>

#include "convert/symbolize/symbol_options.h"
#include "tools/common/sandbox/landlock.h"

namespace perftape::cli {

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

// SPDX-License-Identifier: Apache-2.0
// The member paths of a bundle. Files with a build id have the paths of perf's build-id cache
// (tools/perf/util/build-id.c, build_id_cache__add). Other files have paths of our own, which perf
// does not read.
//
//   usr/bin/ls/BUILDID/elf                    .build-id/aa/bbcc… -> ../../usr/bin/ls/BUILDID
//   [kernel.kallsyms]/BUILDID/kallsyms        [vdso]/BUILDID/vdso
//   no-build-id/usr/bin/ls/elf                perf-map/perf-123.map     jitdump/123/jit-123.dump
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/base/build_id.h"
#include "formats/bundle/manifest.h"

namespace perftape::bundle {

// Returns the name of the member for `file`, from its path, kind, build id and pid. CleanName
// accepts all of these names.
std::string MemberName(const BundledFile& file);

// The link through which perf finds a file by its build id.
struct BuildIdLink {
  std::string name;    // ".build-id/aa/bbcc…"
  std::string target;  // "../../usr/bin/ls/BUILDID"
};
// Returns the link to `member`, which has the build id `id`. The id must not be empty.
BuildIdLink LinkTo(std::string_view member, const BuildId& id);

// Decodes a path of perf's cache into path, kind and build id. Returns nothing for other names.
// perf before 4.7 stored the file itself as PATH/BUILDID.
std::optional<BundledFile> FileAt(std::string_view member);

// Returns `name` as a path below a directory, without "./", empty components and a final slash.
// Returns nothing if it is absolute or empty, or contains "..", a NUL or a name that is too long.
std::optional<std::string> CleanName(std::string_view name);

// Whether a link `name` (clean) to `target` stays below the directory that contains both.
bool StaysInside(std::string_view name, std::string_view target);

}  // namespace perftape::bundle

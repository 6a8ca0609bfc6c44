// SPDX-License-Identifier: Apache-2.0
// The member paths of a bundle: those of perf's build-id cache (tools/perf/util/build-id.c,
// build_id_cache__add), and paths of our own, which perf does not look into, for what has no build
// id.
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

// The name of the member that holds `file`, from its path, kind, build id and pid. Always a name
// that CleanName takes.
std::string MemberName(const BundledFile& file);

// The link by which perf finds what has a build id.
struct BuildIdLink {
  std::string name;    // ".build-id/aa/bbcc…"
  std::string target;  // "../../usr/bin/ls/BUILDID"
};
// That of a member with the build id `id`, which is not empty.
BuildIdLink LinkTo(std::string_view member, const BuildId& id);

// What a path of perf's cache holds, by the path alone: path, kind and build id; nothing for other
// names. perf before 4.7 had the file itself at PATH/BUILDID.
std::optional<BundledFile> FileAt(std::string_view member);

// The name as a path below a directory: without "./", empty parts and the last slash. Nothing where
// it is absolute, has a "..", a NUL or a part that no file system takes, or where nothing is left.
std::optional<std::string> CleanName(std::string_view name);

// Whether a link `name` (clean) to `target` stays below the directory that both are in.
bool StaysInside(std::string_view name, std::string_view target);

}  // namespace perftape::bundle

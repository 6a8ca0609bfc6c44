// SPDX-License-Identifier: Apache-2.0
// What gives names to the running kernel: its symbols, where its modules are, and how to tell it
// from another kernel, or from itself after another boot.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/bundle/manifest.h"

namespace perftape::record {

struct KernelRoots {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
};

// The machine, its kernel and its modules; `files` is left empty, and so is what of the rest cannot
// be read.
bundle::Manifest DescribeSystem(const KernelRoots& roots = {});

// The text of /proc/kallsyms, whose reference symbol goes into `system`. kPermission where it hides
// addresses, else what the file system says.
Result<std::string> ReadKallsyms(const KernelRoots& roots, bundle::Manifest& system);

// The vdso of this process, which all processes of its width have, as it lies in memory; empty
// where there is none.
Bytes VdsoOfThisProcess();

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
// The symbols of the running kernel, the addresses of its modules, and what identifies this kernel
// and this boot.
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

// Returns the machine, its kernel and its modules. `files` stays empty, and so does every field
// that cannot be read.
bundle::Manifest DescribeSystem(const KernelRoots& roots = {});

// Returns the text of /proc/kallsyms and writes its reference symbol into `system`. Fails with
// kPermission if the kernel hides addresses, and with the errors of reading.
Result<std::string> ReadKallsyms(const KernelRoots& roots, bundle::Manifest& system);

// Returns the vdso of this process in memory; empty if it has none. All processes of the same width
// have the same one. The bytes are valid until the process ends.
Bytes VdsoOfThisProcess();

}  // namespace perftape::record

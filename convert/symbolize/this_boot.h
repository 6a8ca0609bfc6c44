// SPDX-License-Identifier: Apache-2.0
// Whether a recording was made on this machine since it was booted, so that what is here now (files
// at their paths, /proc/kallsyms, perf maps) was there then.
//
// The id of the boot decides where it was recorded, as bundles have it. A perf.data does not have
// it. There all of these must hold:
//
//   - it names its host and kernel release, and both are this machine's
//   - the build id of its kernel, where it was recorded, is the running kernel's
//   - its _text was where that of the running kernel is, as far as both are known: with KASLR that
//     is another address at every boot
//   - it was made after this boot: its first sample's wall-clock time, else the time at which the
//     file was last written; what comes through a pipe was made now
//
// A user without the right to see kernel addresses records none, and the rest has to do. So a
// recording of an earlier boot can pass only where the kernel is not moved at boot (or was moved to
// the same address) and the file was copied since; what is taken then is still compared by build
// ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/base/build_id.h"

namespace perftape::symbolize {

// One boot of one machine; empty, or nothing, where it is not known.
struct BootFacts {
  std::string boot_id = {};  // /proc/sys/kernel/random/boot_id
  std::string host = {};     // uname's nodename and release
  std::string kernel_release = {};
  BuildId kernel_build_id = {};
  std::uint64_t kernel_text = 0;               // where _text was
  std::optional<std::int64_t> made_ns = {};    // of a recording: since 1970
  std::optional<std::int64_t> booted_ns = {};  // of this machine: since 1970
};

// What this machine says of itself, as far as the user may know it.
BootFacts FactsOfThisBoot();

// Empty where `recorded` is of the same boot as `here`; else what says that it is not.
std::string DifferenceOfBoots(const BootFacts& recorded, const BootFacts& here);

}  // namespace perftape::symbolize

// SPDX-License-Identifier: Apache-2.0
// Whether a recording was made on this machine in its current boot. Then its files, /proc/kallsyms
// and perf maps are those of the recording.
//
// If both boot ids are known, as in bundles, they decide. A perf.data has no boot id. For a
// perf.data, all of these must be true:
//
//   - it contains host and kernel release, and both are this machine's
//   - the build id of its kernel, if recorded, is the running kernel's
//   - the recorded address of _text is that of the running kernel, if both are known: with KASLR
//     the address differs at every boot
//   - it was made after this boot: by the wall-clock time in CLOCK_DATA, else by the file's
//     modification time; a pipe was made now
//
// A user without the right to see kernel addresses does not record them; then the other checks must
// suffice. So a recording of an earlier boot can pass only if the kernel has the same address and
// the file was copied since. Its symbol files are still compared by build id.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/base/build_id.h"

namespace perftape::symbolize {

// One boot of one machine. Unknown facts are empty.
struct BootFacts {
  std::string boot_id = {};  // /proc/sys/kernel/random/boot_id
  std::string host = {};     // nodename and release of uname
  std::string kernel_release = {};
  BuildId kernel_build_id = {};
  std::uint64_t kernel_text = 0;               // address of _text; 0 if unknown
  std::optional<std::int64_t> made_ns = {};    // time of a recording, since 1970
  std::optional<std::int64_t> booted_ns = {};  // time of this boot, since 1970
};

// Returns the facts of this machine, as far as the user may read them. The first call reads them.
const BootFacts& FactsOfThisBoot();

// Returns why `recorded` is not of the same boot as `here`; empty if it may be.
std::string DifferenceOfBoots(const BootFacts& recorded, const BootFacts& here);

// Whether `recorded` does not say on which machine it was made, such as a recording whose recorder
// was killed, and nothing shows that it was not `here`. Then files of this machine may be used if
// their build id is the recorded one, because the build id alone identifies them.
bool MayBeOfBoot(const BootFacts& recorded, const BootFacts& here);

}  // namespace perftape::symbolize

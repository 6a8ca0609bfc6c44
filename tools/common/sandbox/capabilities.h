// SPDX-License-Identifier: Apache-2.0
// The capabilities of threads and of programs (capabilities(7)).
#pragma once

#include <cstdint>
#include <filesystem>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::sandbox {

// Bit N is the capability with number N in linux/capability.h.
using CapabilitySet = std::uint64_t;

constexpr CapabilitySet Capability(int number) {
  return CapabilitySet{1} << number;
}

struct ThreadCapabilities {
  CapabilitySet effective = 0;
  CapabilitySet permitted = 0;
};

// Fail with kPermission or kIo. Setting also empties the inheritable and ambient sets. A capability
// that is no longer permitted cannot be regained.
Result<ThreadCapabilities> OwnCapabilities();
Status SetOwnCapabilities(const ThreadCapabilities& kept);

// Takes all other capabilities from each thread of the process, also from threads that start
// meanwhile. The kernel can only change those of the calling thread. So each thread does it in the
// handler of a real-time signal (SIGRTMIN), as libpsx of libcap does. System calls that do not
// restart fail with EINTR meanwhile.
//
// Returns when all threads have done it. A thread that does not return from the kernel, for example
// because of a network file system, does it later, before it runs again. Fails with kIo if a thread
// blocks the signal. Not thread-safe; may be called again.
Status KeepInAllThreads(CapabilitySet kept);

// The highest number that the kernel has; 39 (Linux 5.8) if it cannot be read.
int LastCapability();

// Returns the capabilities that are effective when the program starts, because its file grants
// them; 0 if the file has none or is not there.
CapabilitySet FileCapabilities(const std::filesystem::path& program);

// Decodes the extended attribute "security.capability" (linux/capability.h, struct vfs_cap_data and
// vfs_ns_cap_data). Returns 0 for other bytes.
CapabilitySet DecodeFileCapabilities(Bytes attribute);

}  // namespace perftape::sandbox

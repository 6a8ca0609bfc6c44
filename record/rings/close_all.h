// SPDX-License-Identifier: Apache-2.0
// Closes many perf events or links of BPF programs.
#pragma once

#include <vector>

#include "formats/base/file.h"

namespace perftape::record {

// Closes the descriptors on several threads. To close a probe or its link, the kernel waits for an
// RCU grace period of some 0.1 s (perf_event_detach_bpf_prog, uprobe_unregister_sync); those that
// wait at the same time share it.
void CloseAll(std::vector<UniqueFd> descriptors);

}  // namespace perftape::record

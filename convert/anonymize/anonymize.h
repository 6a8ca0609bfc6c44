// SPDX-License-Identifier: Apache-2.0
// Replaces the names in a profile by pseudonyms, so that it can be shared. The stacks, numbers,
// times and addresses stay.
//
//   replaced   names of functions, source files, file names of mappings and build ids, names of
//              threads, keys and texts of labels (the path of a cgroup by component), the host,
//              command lines, and the events and units that are not in public_names.h
//   removed    other comments, and what a pprof says to viewers: regular expressions, a URL
//   stays      events and units that are in public_names.h, line numbers, addresses and offsets,
//              ids of processes and threads, times, numbers in labels, the keys of label_keys.h,
//              the machine, and the numbers of the kernel's and of perf's version
#pragma once

#include <cstdint>

#include "convert/anonymize/pseudonyms.h"
#include "convert/model/profile.h"
#include "convert/model/task_event.h"

namespace perftape::anonymize {

// What happens to functions in "[kernel.kallsyms]". In a perf.data, functions of modules are in
// separate mappings. In folded stacks and in a pprof of another tool, they may be in this one, too.
enum class KernelNames : std::uint8_t { kReplaced, kKept };

// Equal profiles and keys give equal profiles.
convert::Profile Anonymize(const convert::Profile& profile, const NameKey& key,
                           KernelNames kernel_names);

// Replaces the comms by the same words as in an anonymized profile.
void AnonymizeComms(convert::TaskEvents& events, const NameKey& key);

}  // namespace perftape::anonymize

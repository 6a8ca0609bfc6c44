// SPDX-License-Identifier: Apache-2.0
// Replaces the names in a profile by pseudonyms, so that it can be shared. The stacks, numbers,
// times and addresses stay.
//
//   replaced   names of functions but for those of the kernel itself and of the vdso, source files,
//              file names of mappings and build ids, names of threads, keys and texts of labels
//              (the path of a cgroup by component), names of probes, the host, command lines
//   removed    other comments, and what a pprof says to viewers: regular expressions, a URL
//   stays      function names of the kernel (not of modules and BPF programs), events but for
//              probes, units, line numbers, addresses and offsets, ids of processes and threads,
//              times, numbers in labels, the keys of label_keys.h, the machine, and the numbers of
//              the kernel's and of perf's version
#pragma once

#include "convert/anonymize/name_key.h"
#include "convert/model/profile.h"

namespace perftape::anonymize {

// Equal profiles and keys give equal profiles.
convert::Profile Anonymize(const convert::Profile& profile, const NameKey& key);

}  // namespace perftape::anonymize

// SPDX-License-Identifier: Apache-2.0
// Checks whether this machine and this user can record, without loading a BPF program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perftape::record {

// The input of CheckFacts.
struct SystemFacts {
  std::uint64_t capabilities = 0;    // the effective ones, one bit each (linux/capability.h)
  bool has_btf = false;              // /sys/kernel/btf/vmlinux
  std::optional<int> perf_paranoid;  // kernel.perf_event_paranoid; absent: no perf events
  std::optional<int> kptr_restrict;  // kernel.kptr_restrict
  bool locked_down = false;          // lockdown=confidentiality: BPF may not read the kernel

  bool Has(int capability) const { return ((capabilities >> capability) & 1) != 0; }
};

SystemFacts ReadSystemFacts();

// Returns why /proc/kallsyms and /proc/modules show no addresses to this process, and what to do:
// "kernel.kptr_restrict is 2, …"; empty if they should show them (kallsyms_show_value in
// kernel/ksyms_common.c).
std::string WhyAddressesAreHidden(const SystemFacts& facts);
// Returns the same for this process, after it has read zeros there.
std::string HiddenAddressesText();

struct Findings {
  std::vector<std::string> missing;  // requirements; without them nothing can be recorded
  std::vector<std::string> limits;   // restrictions; a recording will be incomplete
};

// Returns one sentence for each finding, with the remedy.
Findings CheckFacts(const SystemFacts& facts);

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
// The configuration that the running kernel was built with.
#pragma once

#include <string>
#include <string_view>

#include "record/machine/requirements.h"

namespace perftape::record {

struct KernelConfig {
  std::string path = {};  // "/proc/config.gz", or /boot/config-RELEASE; empty: none was readable
  std::string text = {};  // lines "CONFIG_KPROBES=y"

  // Returns "y", "m", a number or a text; "n" for an option that is not set. Empty without a text.
  std::string_view ValueOf(std::string_view option) const;
};

// `release` is that of the running kernel.
KernelConfig ReadKernelConfig(std::string_view release);

// Returns the option that the kernel needs for this requirement, "CONFIG_KPROBE_EVENTS"; empty if
// no option decides it.
std::string_view ConfigOptionOf(Requirement requirement);

}  // namespace perftape::record

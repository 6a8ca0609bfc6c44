// SPDX-License-Identifier: Apache-2.0
// A threshold of pressure stall information, which the kernel watches
// (Documentation/accounting/psi.rst, "Monitoring for pressure thresholds").
#pragma once

#include <filesystem>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "record/triggers/trigger_spec.h"

namespace perftape::record {

class PressureWatch {
 public:
  // kNotFound if the kernel has no pressure stall information. kPermission if only root may set
  // thresholds; kInvalidArgument if the kernel refuses this one.
  static Result<PressureWatch> Open(const PressureCondition& condition,
                                    const std::filesystem::path& directory = "/proc/pressure");

  // Returns whether the threshold was exceeded since the last call. The kernel reports it at most
  // once in each window.
  bool WasExceeded() const;

 private:
  explicit PressureWatch(UniqueFd file) : file_(std::move(file)) {}

  UniqueFd file_;  // the threshold exists as long as it is open
};

}  // namespace perftape::record

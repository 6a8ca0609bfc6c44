// SPDX-License-Identifier: Apache-2.0
// The limits of a given version of perf. It rejects a file that exceeds them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/perfdata/abi.h"
#include "formats/perfdata/attr.h"

namespace perftape::rewrite {

struct ReaderLimits {
  std::string_view version;               // "6.1", the value of --compat
  std::uint32_t attr_size;                // the largest one that is accepted
  perfdata::RecordType last_kernel_type;  // perf report fails at types above it
  perfdata::RecordType last_tool_type;
  perfdata::FeatureBit last_feature;  // perf ignores higher ones, and perf inject fails at them
  std::uint64_t branch_sample_type;   // the bits whose fields are known
  std::uint64_t flags;                // AttrFlags that are known; it rejects others as reserved

  bool Knows(perfdata::RecordType type) const;
  bool Knows(perfdata::FeatureBit bit) const;
  // Returns the attribute reduced to what this version accepts: its size, its flags and the fields
  // of its samples.
  perfdata::EventAttr Reduced(const perfdata::EventAttr& attr) const;
};

// All known versions, oldest first.
std::span<const ReaderLimits> AllReaderLimits();

// Returns the limits of a version, or null.
const ReaderLimits* FindReaderLimits(std::string_view version);

}  // namespace perftape::rewrite

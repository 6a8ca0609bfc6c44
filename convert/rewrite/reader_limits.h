// SPDX-License-Identifier: Apache-2.0
// What a given version of perf can read. It rejects a file that has more.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/perfdata/abi.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/transcode.h"

namespace perftape::rewrite {

struct ReaderLimits {
  std::string_view version;               // "6.1", as --compat takes it
  std::uint32_t attr_size;                // the largest that is accepted
  perfdata::RecordType last_kernel_type;  // types beyond it end the report
  perfdata::RecordType last_tool_type;    //
  perfdata::FeatureBit last_feature;      // what follows is of no use, and ends perf inject
  std::uint64_t branch_sample_type;       // the bits whose fields are known
  perfdata::DeferredChains deferred_chains;

  bool Knows(perfdata::RecordType type) const;
  bool Knows(perfdata::FeatureBit bit) const;
  // The attribute as this reader takes it: its size and the fields of its samples.
  perfdata::EventAttr Reduced(const perfdata::EventAttr& attr) const;
};

// All that are known, oldest first.
std::span<const ReaderLimits> AllReaderLimits();

// The limits of a version, or null.
const ReaderLimits* FindReaderLimits(std::string_view version);

}  // namespace perftape::rewrite

// SPDX-License-Identifier: Apache-2.0
// The names that perf shows for the threads and the dsos of samples.
#pragma once

#include <cstdint>
#include <string>

#include "formats/perfdata/address_space.h"
#include "formats/perfdata/kernel_names.h"
#include "formats/perfdata/reader.h"

namespace perftape::records {

// Returns the name of a thread as perf shows it. `recorded` is the name from a record; null if
// there was none.
std::string CommName(std::uint32_t tid, const std::string* recorded);

class DsoNames {
 public:
  // Copies what it needs from the reader.
  explicit DsoNames(const perfdata::Reader& reader);

  // Reads a BUILD_ID record, which a pipe has instead of the feature section. Ignores other
  // records.
  void Apply(const perfdata::RecordView& record);

  // Returns "ls", "[kernel.kallsyms]", "perf-7.map" for memory that can only contain JIT code of
  // process 7, or "[unknown]" for null (nothing is mapped).
  std::string NameOf(const perfdata::Dso* dso, std::uint32_t pid) const;

 private:
  perfdata::KernelNames kernel_names_;
};

// Returns whether a dso is memory without a file that may contain JIT code. perf looks up its
// symbols in a file of that process, and shows the name of that file.
bool HoldsGeneratedCode(const perfdata::Dso& dso);

}  // namespace perftape::records

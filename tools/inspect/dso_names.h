// SPDX-License-Identifier: Apache-2.0
// The names that perf shows for what is mapped.
#pragma once

#include <cstdint>
#include <string>

#include "formats/perfdata/address_space.h"
#include "formats/perfdata/kernel_names.h"
#include "formats/perfdata/reader.h"

namespace perftape::inspect {

class DsoNames {
 public:
  // Takes what it needs of the reader.
  explicit DsoNames(const perfdata::Reader& reader);

  // Takes a BUILD_ID record, which a pipe has in place of the file's table; others tell it nothing.
  void Apply(const perfdata::RecordView& record);

  // "ls", "[kernel.kallsyms]", "perf-7.map" for memory that only generated code of process 7 can be
  // in, "[unknown]" where nothing is mapped (null).
  std::string NameOf(const perfdata::Dso* dso, std::uint32_t pid) const;

 private:
  perfdata::KernelNames kernel_names_;
};

// Memory without a file, in which just-in-time compiled code may be: perf looks for its symbols in
// a file of that process, and shows that file's name.
bool HoldsGeneratedCode(const perfdata::Dso& dso);

}  // namespace perftape::inspect

// SPDX-License-Identifier: Apache-2.0
// The names that perf shows for the kernel and its modules. perf reads them from the build-id
// table, before it reads any mapping. It uses the entries with the kernel's cpu mode
// (tools/perf/util/header.c, __event_process_build_id; machine.c,
// machine__process_kernel_mmap_event and machine__findnew_module_dso).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "formats/perfdata/address_space.h"
#include "formats/perfdata/mapping_name.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

class KernelNames {
 public:
  // Adds an entry of the table or a BUILD_ID record. Call it in their order.
  void Add(CpuMode mode, std::string_view filename);

  // The name of a Dso of Processes. For the kernel: "[kernel.kallsyms]", or the first listed file
  // that is not a module ("/boot/vmlinux-6.1"). For a module: the listed file, or "[nf_tables]".
  // For all others: the path.
  std::string NameOf(const Dso& dso) const;
  // The name of the kernel itself.
  const std::string& kernel() const { return kernel_; }

 private:
  std::string kernel_{kKernelMappingName};
  bool has_kernel_ = false;
  std::map<std::string, std::string, std::less<>> modules_;  // "nf_tables" -> file name
};

}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
// The names that perf shows for the kernel and its modules. perf takes them from the build-id
// table, which it reads before any mapping, if the entry has the kernel's cpu mode
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
  // An entry of the table, or a BUILD_ID record, in their order.
  void Add(CpuMode mode, std::string_view filename);

  // Of what Processes maps in the kernel: "[kernel.kallsyms]", or the first listed file that is no
  // module ("/boot/vmlinux-6.1"); for a module the listed file, or "[nf_tables]". The path of
  // everything else.
  std::string NameOf(const Dso& dso) const;
  // The kernel's own.
  const std::string& kernel() const { return kernel_; }

 private:
  std::string kernel_{kKernelMappingName};
  bool has_kernel_ = false;
  std::map<std::string, std::string, std::less<>> modules_;  // "nf_tables" -> file name
};

}  // namespace perftape::perfdata

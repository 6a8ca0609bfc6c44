// SPDX-License-Identifier: Apache-2.0
#include "convert/import/pprof_tables.h"

#include <gtest/gtest.h>

namespace perftape::convert {
namespace {

TEST(TypeOfMapping, DetectsTheKernelByItsNames) {
  for (const std::string_view name :
       {"[kernel.kallsyms]", "[kernel.kallsyms]_text", "[guest.kernel.kallsyms.77]", "[nf_tables]",
        "[kernel]", "/lib/modules/6.1/nf_tables.ko", "nf_tables.ko.xz", "/boot/vmlinux-6.1"}) {
    EXPECT_EQ(TypeOfMapping(name, 0), MappingType::kKernel) << name;
  }
}

TEST(TypeOfMapping, AssignsTheRestToProcesses) {
  for (const std::string_view name :
       {"", "/usr/bin/ls", "/usr/lib/x.kops", "//anon", "[vdso]", "[vdso32]", "[heap]", "[stack]",
        "[stack:12]", "[anon:malloc]", "[folded]", "[unknown]", "/tmp/perf-7.map"}) {
    EXPECT_EQ(TypeOfMapping(name, 0x1000), MappingType::kUser) << name;
  }
}

TEST(TypeOfMapping, DetectsKernelAddresses) {
  EXPECT_EQ(TypeOfMapping("bpf_prog_6deef7357e7b4530", 0xffff'ffff'c000'0000),
            MappingType::kKernel);
  EXPECT_EQ(TypeOfMapping("[vsyscall]", 0xffff'ffff'ff60'0000), MappingType::kUser);
}

}  // namespace
}  // namespace perftape::convert

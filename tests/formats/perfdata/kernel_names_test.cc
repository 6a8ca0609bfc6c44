// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/kernel_names.h"

#include <gtest/gtest.h>

namespace perftape::perfdata {
namespace {

Dso Kernel(std::string path) {
  return {.path = std::move(path), .build_id = {}, .is_kernel = true, .symbol = {}};
}

constexpr char kVmlinux[] = "/usr/lib/debug/boot/vmlinux-6.1";
constexpr char kModule[] = "/lib/modules/6.1/kernel/net/nf-tables.ko.xz";

TEST(KernelNames, OfTheKernelIsTheFirstListedFileThatIsNoModule) {
  KernelNames names;
  EXPECT_EQ(names.NameOf(Kernel("[kernel.kallsyms]")), "[kernel.kallsyms]");
  names.Add(CpuMode::kKernel, kModule);
  names.Add(CpuMode::kKernel, kVmlinux);
  names.Add(CpuMode::kKernel, "/boot/vmlinux-6.0");
  EXPECT_EQ(names.NameOf(Kernel("[kernel.kallsyms]")), kVmlinux);
}

TEST(KernelNames, OfTheKernelStaysWhereItIsListedByItFirst) {
  KernelNames names;
  names.Add(CpuMode::kKernel, "[kernel.kallsyms]_text");
  names.Add(CpuMode::kKernel, kVmlinux);
  EXPECT_EQ(names.NameOf(Kernel("[kernel.kallsyms]")), "[kernel.kallsyms]");
}

TEST(KernelNames, IgnoresEntriesWithoutKernelMode) {
  KernelNames names;
  names.Add(CpuMode::kUser, kVmlinux);
  names.Add(CpuMode::kUser, kModule);
  EXPECT_EQ(names.NameOf(Kernel("[kernel.kallsyms]")), "[kernel.kallsyms]");
  EXPECT_EQ(names.NameOf(Kernel(kModule)), "[nf_tables]");
}

TEST(KernelNames, OfAModuleIsTheListedFileHoweverItWasMapped) {
  KernelNames names;
  EXPECT_EQ(names.NameOf(Kernel(kModule)), "[nf_tables]");
  names.Add(CpuMode::kKernel, kModule);
  EXPECT_EQ(names.NameOf(Kernel(kModule)), kModule);
  EXPECT_EQ(names.NameOf(Kernel("[nf_tables]")), kModule);
}

TEST(KernelNames, LeavesAllOthersAsTheyAre) {
  KernelNames names;
  names.Add(CpuMode::kKernel, kVmlinux);
  Dso program = Kernel("bpf_prog_6deef7357e7b4530");
  program.symbol = program.path;
  EXPECT_EQ(names.NameOf(program), program.path);
  Dso user = Kernel("/srv/nf-tables.ko");
  user.is_kernel = false;
  EXPECT_EQ(names.NameOf(user), user.path);
}

}  // namespace
}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/mapping_name.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace perftape::perfdata {
namespace {

using Names = std::initializer_list<const char*>;

void ExpectSource(MappingSource source, Names names) {
  for (const char* name : names) EXPECT_EQ(SourceOf(name), source) << name;
}

TEST(SourceOf, DetectsFiles) {
  ExpectSource(MappingSource::kFile, {"/usr/bin/ls", "/usr/bin/ls (deleted)", "ls",
                                      "/usr/lib/x.kops", "/tmp/perf-12.mapper", "/tmp/jit-7.dump"});
}

TEST(SourceOf, DetectsEachNameOfTheKernel) {
  ExpectSource(MappingSource::kKernel,
               {"[kernel.kallsyms]", "[kernel.kallsyms]_text", "[kernel.kallsyms]_stext",
                "[kernel]", "[kernel.vmlinux]", "[kernel.kcore]", "vmlinux", "/boot/vmlinux-6.1",
                "/usr/lib/debug/boot/vmlinux-6.1"});
  ExpectSource(MappingSource::kGuestKernel, {"[guest.kernel.kallsyms]", "[guest.kernel.kallsyms.7]",
                                             "[guest.kernel.kallsyms]_text"});
}

// tools/perf/util/dso.c, __kmod_path__parse.
TEST(SourceOf, DetectsModules) {
  ExpectSource(MappingSource::kModule, {"[nf_tables]", "[aaa.bbb]", "nf_tables.ko.xz", "/x/a.ko",
                                        "/x/a.ko.gz", "/x/a.ko.zst", "/usr/lib/debug/a.ko.debug",
                                        "/lib/modules/6.1/kernel/net/nf-tables.ko.xz"});
}

// An extension that only begins with ".ko" does not count, and the last ".ko" counts.
TEST(SourceOf, DetectsModulesByTheLastExtension) {
  ExpectSource(MappingSource::kFile, {"/x/a.kops", "/x/a.ko.so", "/x/.ko", "/x/a.ko.d/b"});
  EXPECT_EQ(ModuleNameOf("/x/a.ko.ko"), "a.ko");
}

// romfs, jitterentropy_rng and kernel_x begin with names of process or kernel memory.
TEST(SourceOf, ComparesWholeWordsInBrackets) {
  ExpectSource(MappingSource::kModule, {"[romfs]", "[jitterentropy_rng]", "[stackdepot]",
                                        "[kernel_x]", "[guest_x]", "[heap_x]", "[anonymous]"});
  ExpectSource(MappingSource::kSpecial,
               {"[rom]", "[jit]", "[vsyscall]", "[vvar]", "[vvar_vclock]", "[vectors]", "[sigpage]",
                "[uprobes]", "[unknown]", "[folded]", "[]"});
}

TEST(SourceOf, DetectsTheVdsoOfEachAbi) {
  ExpectSource(MappingSource::kVdso, {"[vdso]", "[vdso32]", "[vdsox32]"});
}

TEST(SourceOf, DetectsAnonymousMemory) {
  ExpectSource(MappingSource::kNone, {""});
  ExpectSource(MappingSource::kAnonymous,
               {"//anon", "/dev/zero", "/dev/zero (deleted)", "/anon_hugepage (deleted)"});
  ExpectSource(MappingSource::kNamedAnonymous, {"[anon:v8]", "[anon]", "[anon_shmem:queue]"});
  ExpectSource(MappingSource::kAnonymousInode,
               {"anon_inode:[perf_event]", "anon_inode:[io_uring]"});
  ExpectSource(MappingSource::kMemfd, {"/memfd:doublemapper (deleted)"});
  ExpectSource(MappingSource::kSysvSegment, {"/SYSV00000000 (deleted)"});
  ExpectSource(MappingSource::kHeap, {"[heap]"});
  ExpectSource(MappingSource::kStack, {"[stack]", "[stack:12]"});
  ExpectSource(MappingSource::kPerfMap, {"/tmp/perf-12.map", "perf-12.map"});
}

// kernel/events/core.c, perf_event_mmap_event.
TEST(SourceOf, DetectsFilesWithoutAReportedName) {
  ExpectSource(MappingSource::kUnnamedFile, {"//toolong", "//enomem"});
}

TEST(SourceOf, DistinguishesDevicesFromSharedMemory) {
  ExpectSource(MappingSource::kDevice, {"/dev/dri/card0", "/dev/nvidia0"});
  ExpectSource(MappingSource::kFile, {"/dev/shm/plugin.so"});
}

TEST(MayHoldJitCode, IsMemoryWithoutAFile) {
  for (const char* name :
       {"", "//anon", "[heap]", "[stack]", "[anon:v8]", "/memfd:jit (deleted)",
        "/memfd:doublemapper (deleted)", "/dev/zero (deleted)", "/anon_hugepage (deleted)",
        "/SYSV00000000 (deleted)", "/tmp/perf-12.map", "anon_inode:[perf_event]"}) {
    EXPECT_TRUE(MayHoldJitCode(name)) << name;
  }
  for (const char* name : {"/usr/bin/node", "[vdso]", "/tmp/perf-12.mapper", "/tmp/perf-.map",
                           "/dev/dri/card0", "//toolong", "[unknown]", "[nf_tables]"}) {
    EXPECT_FALSE(MayHoldJitCode(name)) << name;
  }
}

TEST(IsIdentifiedByAddress, IsMemoryWithAName) {
  for (const char* name : {"//anon", "[heap]", "/memfd:jit (deleted)", "/dev/zero (deleted)",
                           "/SYSV00000000 (deleted)", "[anon:v8]"}) {
    EXPECT_TRUE(IsIdentifiedByAddress(name)) << name;
  }
  for (const char* name : {"", "/usr/bin/node", "/dev/shm/plugin.so", "[vdso]"}) {
    EXPECT_FALSE(IsIdentifiedByAddress(name)) << name;
  }
}

TEST(MayHoldElfFile, IsAMemfd) {
  EXPECT_TRUE(MayHoldElfFile("/memfd:runc_cloned:/proc/self/exe (deleted)"));
  for (const char* name : {"", "//anon", "/dev/zero (deleted)", "/usr/bin/node"}) {
    EXPECT_FALSE(MayHoldElfFile(name)) << name;
  }
}

// tools/perf/util/map.h, is_anon_memory and is_no_dso_memory.
TEST(IsPerfMapMemory, MatchesPerfsRule) {
  for (const char* name : {"//anon", "/dev/zero (deleted)", "/anon_hugepage (deleted)", "[heap]",
                           "[stack]", "[stack:7]", "/SYSV00000000 (deleted)"}) {
    EXPECT_TRUE(IsPerfMapMemory(name)) << name;
  }
  for (const char* name : {"", "/memfd:x (deleted)", "[anon:v8]", "anon_inode:[perf_event]",
                           "/tmp/perf-7.map", "/usr/bin/node", "[vdso]"}) {
    EXPECT_FALSE(IsPerfMapMemory(name)) << name;
  }
}

TEST(IsFilePath, IsOnlyWhereAFileWithSymbolsMayBe) {
  for (const char* name : {"/usr/bin/ls", "/usr/bin/ls (deleted)", "/srv/nf-tables.ko",
                           "/boot/vmlinux-6.1", "/dev/shm/plugin.so", "/tmp/perf-7.map"}) {
    EXPECT_TRUE(IsFilePath(name)) << name;
  }
  for (const char* name :
       {"", "ls", "[vdso]", "[heap]", "[nf_tables]", "//anon", "//toolong", "/dev/zero (deleted)",
        "/dev/dri/card0", "/SYSV00000000 (deleted)", "/memfd:x (deleted)",
        "/anon_hugepage (deleted)", "anon_inode:[io_uring]"}) {
    EXPECT_FALSE(IsFilePath(name)) << name;
  }
}

TEST(ModuleNameOf, IsAsProcModulesHasIt) {
  EXPECT_EQ(ModuleNameOf("[nls_cp437]"), "nls_cp437");
  EXPECT_EQ(ModuleNameOf("kernel/fs/nls/nls-cp437.ko"), "nls_cp437");
  EXPECT_EQ(ModuleNameOf("/lib/modules/6.1/kernel/fs/nls/nls-cp437.ko.zst"), "nls_cp437");
  EXPECT_EQ(ModuleNameOf("/lib/modules/6.1/kernel/fs/nls/nls-cp437.ko.xz"), "nls_cp437");
  EXPECT_EQ(ModuleNameOf("[aaa.bbb]"), "aaa.bbb");
}

TEST(ModuleNameOf, IsEmptyForAllOthers) {
  for (const char* name : {"", "[kernel.kallsyms]_text", "[guest.kernel.kallsyms]", "[vdso]",
                           "[vsyscall]", "/usr/lib/x.kops", "/boot/vmlinux-6.1", "//anon"}) {
    EXPECT_EQ(ModuleNameOf(name), "") << name;
  }
}

TEST(PidOfPerfMap, IsTheNumberInItsName) {
  EXPECT_EQ(PidOfPerfMap("/tmp/perf-123.map"), 123u);
  EXPECT_EQ(PidOfPerfMap("/tmp/perf-.map"), std::nullopt);
  EXPECT_EQ(PidOfPerfMap("/tmp/perf-12x.map"), std::nullopt);
  EXPECT_EQ(PidOfPerfMap("/tmp/perf-99999999999.map"), std::nullopt);
}

TEST(IsJitDumpPath, GoesByTheNameThatCompilersGiveTheirDumps) {
  EXPECT_TRUE(IsJitDumpPath("/tmp/jit-123.dump"));
  EXPECT_TRUE(IsJitDumpPath("/home/u/.debug/jit/java-jit-1/jit-123.dump"));
  EXPECT_FALSE(IsJitDumpPath("/tmp/jit-.dump"));
  EXPECT_FALSE(IsJitDumpPath("/tmp/jit-12a.dump"));
  EXPECT_FALSE(IsJitDumpPath("/tmp/jit-12.dump.old"));
  EXPECT_FALSE(IsJitDumpPath("jit-12.dump"));  // jit_detect() requires a '/'
  EXPECT_FALSE(IsJitDumpPath(""));
}

TEST(WithoutDeleted, RemovesWhatTheKernelAppends) {
  EXPECT_EQ(WithoutDeleted("/usr/bin/ls (deleted)"), "/usr/bin/ls");
  EXPECT_EQ(WithoutDeleted("/usr/bin/ls"), "/usr/bin/ls");
}

}  // namespace
}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/write_bundle.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "formats/bundle/bundle.h"
#include "formats/bundle/content_hash.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/symbols.h"
#include "tests/record/symbols/machine_dir.h"
#include "tests/support/matchers.h"
#include "tests/support/sparse_elf.h"

namespace perftape::record {
namespace {

using bundle::FileKind;
using bundle::Kept;
using testing::ElementsAre;
using testing::IsEmpty;

const BuildId kId = BuildId::From(AsBytes("0123456789abcdefghij"));

class WriteBundleTest : public testing::Test {
 protected:
  bundle::Bundle Write(BundleDepth depth = BundleDepth::kSymbols) {
    auto summary = WriteBundle({.files = files_, .jit = {}, .next = next_}, depth,
                               machine_.Writer(), machine_.kernel());
    if (!summary) throw std::runtime_error(summary.error().message);
    summary_ = *std::move(summary);
    auto opened = bundle::Bundle::Open(machine_.dir / "bundle");
    if (!opened) throw std::runtime_error(opened.error().message);
    return *std::move(opened);
  }
  void AddSmallElf() {
    machine_.dir.Write("x", SmallElf("0123456789abcdefghij"));
    files_.Add("/bin/x", kId, machine_.Open("x"));
  }

  MachineDir machine_;
  HitFiles files_{8};
  BundleSummary summary_;
  NextBundle next_ = NextBundle::kNone;
};

TEST_F(WriteBundleTest, HoldsSlimCopiesThatNameTheSame) {
  AddSmallElf();
  const bundle::Bundle bundle = Write();
  ASSERT_EQ(bundle.manifest().files.size(), 1u);
  const bundle::BundledFile& file = bundle.manifest().files[0];
  EXPECT_EQ(file.path, "/bin/x");
  EXPECT_EQ(file.kept, Kept::kSymbols);
  EXPECT_EQ(file.size, std::filesystem::file_size(machine_.dir / "x"));
  const auto bytes = bundle.Find(kId, FileKind::kElf);
  ASSERT_TRUE(bytes);
  EXPECT_LT(bytes->size(), file.size);
  const auto image = elf::ElfFile::FromBytes(*bytes);
  ASSERT_TRUE(image);
  const elf::SymbolTable symbols = elf::SymbolTable::Read(*image);
  ASSERT_NE(symbols.Find(ImageAddress{0x401104}), nullptr);
  EXPECT_EQ(symbols.Find(ImageAddress{0x401104})->name, "spin");
}

TEST_F(WriteBundleTest, UsesSlimCopiesAgainForTheNextBundle) {
  AddSmallElf();
  next_ = NextBundle::kFollows;
  Write();
  ASSERT_EQ(files_.binaries()[0]->copies.size(), 1u);
  // Another copy would be made of this.
  files_.binaries()[0]->file = UniqueFd();
  const bundle::Bundle bundle = Write();
  EXPECT_EQ(bundle.manifest().files[0].kept, Kept::kSymbols);
  EXPECT_TRUE(bundle.Find(kId, FileKind::kElf));
  EXPECT_EQ(files_.binaries()[0]->copies.size(), 1u);
}

TEST_F(WriteBundleTest, HoldsWholeFilesWhereTheyAreAskedFor) {
  AddSmallElf();
  const bundle::Bundle bundle = Write(BundleDepth::kWhole);
  const auto bytes = bundle.Find(kId, FileKind::kElf);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->size(), std::filesystem::file_size(machine_.dir / "x"));
  EXPECT_EQ(bundle.manifest().files[0].kept, Kept::kWhole);
}

// A stripped binary at `path`, and its debug file, which is found by its name.
struct Stripped {
  std::string path;
  explicit Stripped(const MachineDir& machine) : path(machine.dir / "bin/x") {
    ElfBuilder binary;
    binary.AddSection({.name = ".gnu_debuglink", .contents = std::string("x.debug\0....", 12)});
    binary.SetBuildId("0123456789abcdefghij");
    machine.dir.Write("bin/x", binary.Build());
    ElfBuilder debug;
    const auto text = debug.AddSection({.name = ".text",
                                        .type = SHT_NOBITS,
                                        .flags = SHF_ALLOC | SHF_EXECINSTR,
                                        .address = 0x401000,
                                        .size = 0x200});
    debug.AddSection({.name = ".debug_info", .size = 0x1000, .contents = "who wrote it"});
    debug.AddSymbol({.name = "hidden", .value = 0x401100, .size = 0x40, .section = text});
    debug.SetBuildId("0123456789abcdefghij");
    machine.dir.Write("bin/.debug/x.debug", debug.Build());
  }
};

TEST_F(WriteBundleTest, HoldsTheNamesOfAStrippedBinaryBesideItButNotItsDwarf) {
  const Stripped stripped(machine_);
  files_.Add(stripped.path, kId, machine_.Open("bin/x"));
  const bundle::Bundle bundle = Write();
  ASSERT_EQ(bundle.manifest().files.size(), 2u);
  const bundle::BundledFile &image = bundle.manifest().files[0],
                            &debug = bundle.manifest().files[1];
  EXPECT_EQ(debug.kind, FileKind::kDebug);
  EXPECT_EQ(debug.path, stripped.path);
  EXPECT_EQ(debug.kept, Kept::kSymbols);
  // perf expects DIRECTORY/debug beside DIRECTORY/elf.
  EXPECT_EQ(std::filesystem::path(debug.member).parent_path(),
            std::filesystem::path(image.member).parent_path());
  EXPECT_EQ(std::filesystem::path(debug.member).filename(), "debug");

  const Bytes bytes = bundle.Find(kId, FileKind::kDebug).value();
  EXPECT_THAT(AsText(bytes), testing::Not(testing::HasSubstr("who wrote it")));
  const elf::ElfFile file = elf::ElfFile::FromBytes(bytes).value();
  const elf::SymbolTable symbols = elf::SymbolTable::Read(file);
  ASSERT_NE(symbols.Find(ImageAddress{0x401104}), nullptr);
  EXPECT_EQ(symbols.Find(ImageAddress{0x401104})->name, "hidden");
}

TEST_F(WriteBundleTest, HoldsTheWholeDebugFileWhereDwarfIsAskedFor) {
  const Stripped stripped(machine_);
  files_.Add(stripped.path, kId, machine_.Open("bin/x"));
  const bundle::Bundle bundle = Write(BundleDepth::kDebug);
  EXPECT_EQ(bundle.Find(kId, FileKind::kDebug).value().size(),
            std::filesystem::file_size(machine_.dir / "bin/.debug/x.debug"));
}

TEST_F(WriteBundleTest, HoldsNoDebugFileOfABinaryThatHasItsSymbols) {
  const Stripped stripped(machine_);
  machine_.dir.Write("bin/x", SmallElf("0123456789abcdefghij"));
  files_.Add(stripped.path, kId, machine_.Open("bin/x"));
  EXPECT_EQ(Write().manifest().files.size(), 1u);
}

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST_F(WriteBundleTest, ReportsAndOmitsAHugeSymbolTable) {
  WriteSparseElf(machine_.dir, "x", SmallElf("0123456789abcdefghij"), SHT_SYMTAB, 3 * kGiB);
  files_.Add("/bin/x", kId, machine_.Open("x"));
  const bundle::Bundle bundle = Write();
  ASSERT_EQ(bundle.manifest().files.size(), 1u);
  EXPECT_EQ(bundle.manifest().files[0].kept, Kept::kNothing);
  EXPECT_THAT(bundle.manifest().files[0].missing,
              testing::EndsWith("bytes, more than the limit of 1073741824"));
  EXPECT_THAT(summary_.missing, ElementsAre(testing::StartsWith("/bin/x: of 32")));
}

// A file that is not ELF would be kept whole.
TEST_F(WriteBundleTest, LeavesOutAnyFileOfGigabytes) {
  std::filesystem::resize_file(machine_.dir.Write("x", "no ELF file"), 3 * kGiB);
  files_.Add("/bin/x", kId, machine_.Open("x"));
  EXPECT_EQ(Write().manifest().files[0].missing,
            "of 3221225472 bytes, more than the limit of 1073741824");
}

TEST_F(WriteBundleTest, LeavesOutPerfMapsAndJitdumpsOfGigabytes) {
  std::vector<JitFile> jit;
  const auto add = [&](FileKind kind, const char* name, std::uint64_t size) {
    std::filesystem::resize_file(machine_.dir.Write(name, "401000 10 compiled\n"), size);
    jit.push_back(
        {.about = {.path = name, .kind = kind, .pid = 7, .kept = Kept::kWhole, .size = size},
         .file = machine_.Open(name)});
  };
  add(FileKind::kPerfMap, "perf-7.map", 16 * kGiB);
  add(FileKind::kJitDump, "jit-7.dump", 2 * kGiB);
  add(FileKind::kPerfMap, "perf-8.map", 100);
  const auto summary = WriteBundle({.files = files_, .jit = std::move(jit)}, BundleDepth::kWhole,
                                   machine_.Writer(), machine_.kernel());
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->files, 1u);
  EXPECT_THAT(summary->missing,
              ElementsAre("perf-7.map: of 17179869184 bytes, more than the limit of 268435456",
                          "jit-7.dump: of 2147483648 bytes, more than the limit of 1073741824"));
}

// Zeros compress to almost nothing, but readers must not refuse the bundle.
TEST_F(WriteBundleTest, AcceptsATableOfZeros) {
  WriteSparseElf(machine_.dir, "x", SmallElf("0123456789abcdefghij"), SHT_SYMTAB, kGiB / 8);
  files_.Add("/bin/x", kId, machine_.Open("x"));
  EXPECT_EQ(Write().manifest().files[0].kept, Kept::kSymbols);
}

TEST_F(WriteBundleTest, DescribesTheSystemAndItsModules) {
  const bundle::Bundle bundle = Write();
  const bundle::Manifest& system = bundle.manifest();
  EXPECT_EQ(system.boot_id, "11111111-2222-3333-4444-555555555555");
  EXPECT_EQ(system.kernel_build_id, BuildId::From(AsBytes(kKernelId)));
  EXPECT_EQ(system.reference_symbol, "_text");
  EXPECT_EQ(system.reference_address, 0xffffffff81000000u);
  ASSERT_EQ(system.modules.size(), 1u);
  EXPECT_EQ(system.modules[0].name, "m");
  EXPECT_EQ(system.modules[0].address, 0xffffffffc0000000u);
  EXPECT_EQ(system.modules[0].size, 4096u);
  EXPECT_EQ(system.modules[0].build_id, BuildId::From(AsBytes("module-0123456789abc")));
}

TEST_F(WriteBundleTest, HoldsTheKernelsSymbolsWhereItWasHit) {
  EXPECT_FALSE(Write().Find(BuildId::From(AsBytes(kKernelId)), FileKind::kKallsyms));
  files_.AddKernel();
  const bundle::Bundle bundle = Write();
  const auto kallsyms = bundle.Find(BuildId::From(AsBytes(kKernelId)), FileKind::kKallsyms);
  ASSERT_TRUE(kallsyms);
  EXPECT_TRUE(AsText(*kallsyms).starts_with("ffffffff81000000 T _text\n"));
}

TEST_F(WriteBundleTest, ReportsHiddenKernelAddresses) {
  machine_.dir.Write("proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T startup\n");
  files_.AddKernel();
  const bundle::Bundle bundle = Write();
  ASSERT_EQ(bundle.manifest().files.size(), 1u);
  EXPECT_THAT(bundle.manifest().files[0].missing, testing::HasSubstr("hides addresses"));
  EXPECT_THAT(summary_.missing, ElementsAre(testing::StartsWith("[kernel.kallsyms]: ")));
}

TEST_F(WriteBundleTest, HoldsTheVdsoOfThisProcess) {
  if (VdsoOfThisProcess().empty()) GTEST_SKIP() << "this process has no vdso";
  files_.AddVdso();
  const bundle::Bundle bundle = Write();
  ASSERT_EQ(bundle.manifest().files.size(), 1u);
  const auto bytes = bundle.Find(bundle.manifest().files[0].member);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(AsText(*bytes), AsText(VdsoOfThisProcess()));
}

TEST_F(WriteBundleTest, ListsMissingFilesWithReasons) {
  files_.AddMissing(FileKind::kElf, "/bin/gone", kId, "gone before it could be opened");
  const bundle::Bundle bundle = Write();
  ASSERT_EQ(bundle.manifest().files.size(), 1u);
  EXPECT_EQ(bundle.manifest().files[0].missing, "gone before it could be opened");
  EXPECT_THAT(summary_.missing, ElementsAre("/bin/gone: gone before it could be opened"));
  EXPECT_EQ(summary_.files, 0u);
}

// The hash of a file in the machine's directory, as sha256sum prints it.
std::string HashOf(const MachineDir& machine, const char* name) {
  return bundle::ContentHash(AsBytes(*ReadWholeFile(machine.dir / name)));
}

TEST_F(WriteBundleTest, IdentifiesFilesWithoutBuildIdByContentAndNumber) {
  AddSmallElf();
  const FileNumber number{.device = 1, .inode = 2};
  machine_.dir.Write("bare", SmallElf(""));
  files_.Add("/bin/bare", {}, machine_.Open("bare"), number);
  const bundle::Bundle bundle = Write();
  ASSERT_EQ(bundle.manifest().files.size(), 2u);
  EXPECT_EQ(bundle.manifest().files[0].content, "") << "a build id identifies it";
  const bundle::BundledFile& bare = bundle.manifest().files[1];
  EXPECT_EQ(bare.content, HashOf(machine_, "bare"));
  EXPECT_EQ(bare.number, number);
  EXPECT_EQ(bare.kept, Kept::kSymbols);
}

// A file without a build id whose content is not that of SmallElf.
std::vector<std::byte> OtherElf() {
  ElfBuilder elf;
  elf.AddSection({.name = ".other", .contents = "x"});
  return elf.Build();
}

TEST_F(WriteBundleTest, HoldsEqualFilesWithoutBuildIdOnce) {
  machine_.dir.Write("x", SmallElf(""));
  machine_.dir.Write("other", OtherElf());
  files_.Add("/bin/x", {}, machine_.Open("x"), {.device = 1, .inode = 2});
  files_.Add("/bin/x", {}, machine_.Open("x"), {.device = 9, .inode = 2});
  files_.Add("/bin/x", {}, machine_.Open("other"), {.device = 9, .inode = 3});
  const bundle::Bundle bundle = Write();
  const auto& files = bundle.manifest().files;
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].member, "no-build-id/bin/x/elf");
  EXPECT_EQ(files[1].member, files[0].member);
  EXPECT_EQ(files[1].kept, Kept::kSymbols);
  EXPECT_EQ(files[1].number, (FileNumber{.device = 9, .inode = 2}));
  EXPECT_NE(files[2].member, files[0].member);
  EXPECT_EQ(summary_.files, 3u);
}

TEST_F(WriteBundleTest, LeavesOutAFileWithoutBuildIdThatWasChangedInPlace) {
  const std::string path = machine_.dir.Write("x", SmallElf(""));
  files_.Add("/bin/x", {}, machine_.Open("x"));
  const timespec later[] = {{}, {.tv_sec = 1, .tv_nsec = 0}};  // the time of a write to it
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), later, 0), 0);
  const bundle::Bundle bundle = Write();
  EXPECT_EQ(bundle.manifest().files[0].kept, Kept::kNothing);
  EXPECT_THAT(summary_.missing, ElementsAre("/bin/x: changed in place since it was first sampled"));
}

}  // namespace
}  // namespace perftape::record

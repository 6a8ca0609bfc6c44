// SPDX-License-Identifier: Apache-2.0
#include "record/probes/explain_missing.h"

#include <gmock/gmock.h>

#include "record/probes/probed_binary.h"
#include "tests/support/elf_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A program that needs `library`, which is beside it, and imports a::play() from it.
class ExplainMissingTest : public testing::Test {
 protected:
  std::filesystem::path WriteProgram(const std::string& library) const {
    std::string strings("\0", 1);
    const auto add = [&](const std::string& text) {
      const std::uint64_t offset = strings.size();
      strings += text + '\0';
      return offset;
    };
    const std::uint64_t words[] = {DT_NEEDED, add(library), DT_RUNPATH, add("$ORIGIN"), DT_NULL, 0};
    ElfBuilder elf(ET_DYN);
    const auto table = elf.AddSection({.name = ".dynstr", .type = SHT_STRTAB, .contents = strings});
    elf.AddSection({.name = ".dynamic",
                    .type = SHT_DYNAMIC,
                    .contents = std::string(reinterpret_cast<const char*>(words), sizeof words),
                    .link = table});
    elf.AddDynamicSymbol({.name = "_ZN1a4playEv", .section = SHN_UNDEF});
    return dir_.Write("program", elf.Build());
  }

  std::filesystem::path WriteLibrary(const char* name) const {
    ElfBuilder elf(ET_DYN);
    const auto text = elf.AddSection({.name = ".text",
                                      .flags = SHF_ALLOC | SHF_EXECINSTR,
                                      .address = 0x1000,
                                      .size = 0x100,
                                      .offset = 0x1000});
    elf.AddSegment({.offset = 0x1000, .address = 0x1000, .size = 0x100});
    for (const char* symbol : {"_ZN1a4playEv", "unused_here"}) {
      elf.AddDynamicSymbol({.name = symbol, .value = 0x1000, .size = 8, .section = text});
    }
    return dir_.Write(name, elf.Build());
  }

  static std::string Explain(const std::filesystem::path& path, std::string_view name) {
    return ExplainMissing(ProbedBinary::Open(path).value(), name);
  }

  TempDir dir_;
};

TEST_F(ExplainMissingTest, NamesTheLibraryOfAnImport) {
  const std::string library = WriteLibrary("libplay.so.1");
  const std::filesystem::path program = WriteProgram("libplay.so.1");
  for (const std::string name : {"_ZN1a4playEv", "a::play()", "a::play"}) {
    EXPECT_THAT(Explain(program, name), HasSubstr("which imports it from " + library + ": probe " +
                                                  library + ":" + name + " instead"));
  }
  EXPECT_THAT(Explain(program, "unused_here"), HasSubstr("which loads it with " + library));
}

TEST_F(ExplainMissingTest, ReportsAnImportOfAMissingLibrary) {
  EXPECT_THAT(Explain(WriteProgram("libplay.so.1"), "a::play"),
              HasSubstr("imports it from a library that was not found here"));
}

TEST_F(ExplainMissingTest, FollowsWhatGlibcMoved) {
  const std::string libc = WriteLibrary("libc.so.6");
  const std::filesystem::path stub = WriteLibrary("libpthread.so.0");
  EXPECT_THAT(Explain(stub, "absent"), HasSubstr("no function 'absent' in "));
  const std::filesystem::path program = dir_ / "libdl.so.2";
  std::filesystem::rename(WriteProgram("none.so"), program);
  EXPECT_THAT(Explain(program, "unused_here"),
              HasSubstr("since glibc 2.34 it is in libc; probe " + libc + ":unused_here instead"));
}

TEST_F(ExplainMissingTest, SuggestsQualifiedNames) {
  EXPECT_THAT(Explain(WriteLibrary("libplay.so.1"), "play"), HasSubstr("did you mean a::play()?"));
}

TEST(DescribeScript, NamesTheInterpreter) {
  const TempDir dir;
  EXPECT_THAT(DescribeScript(dir.Write("a", "#!/bin/sh -e\ntrue\n")).value(),
              AllOf(HasSubstr("is a script"), HasSubstr("its interpreter, /bin/sh")));
  EXPECT_THAT(DescribeScript(dir.Write("b", "#! /usr/bin/env -S A=b no-such-program -u\n")).value(),
              HasSubstr("its interpreter, no-such-program"));
  for (const char* text : {"", "#!", "#!\n/bin/sh", "true\n"}) {
    EXPECT_FALSE(DescribeScript(dir.Write("c", text))) << text;
  }
  EXPECT_FALSE(DescribeScript(dir / "none"));
}

TEST(NoteOnMovedLibrary, IsForTheLibrariesThatLibcReplaced) {
  for (const char* name : {"libpthread", "libpthread.so.0", "libdl.so", "libpthread-2.31.so"}) {
    EXPECT_THAT(NoteOnMovedLibrary(name), HasSubstr("glibc 2.34")) << name;
  }
  for (const char* name : {"libc", "libdlx", "libm.so.6", ""}) {
    EXPECT_EQ(NoteOnMovedLibrary(name), "") << name;
  }
}

}  // namespace
}  // namespace perftape::record

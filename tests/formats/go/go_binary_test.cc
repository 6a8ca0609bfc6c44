// SPDX-License-Identifier: Apache-2.0
// Builds programs with this machine's Go and compares our names with those of the programs'
// runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>

#include "formats/elf/elf_file.h"
#include "formats/elf/slim.h"
#include "formats/elf/symbols.h"
#include "formats/go/pc_line_table.h"
#include "tests/support/temp_dir.h"

namespace perftape::go {
namespace {

// Prints "NAME FILE:LINE" of the innermost function for each address that it reads.
constexpr char kProgram[] = R"(package main

import ("bufio"; "fmt"; "os"; "runtime"; "strconv")

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		pc, _ := strconv.ParseUint(in.Text(), 16, 64)
		frame, _ := runtime.CallersFrames([]uintptr{uintptr(pc + 1)}).Next()
		fmt.Printf("%s %s:%d\n", frame.Function, frame.File, frame.Line)
	}
}
)";

int Shell(const std::string& command) {
  return std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe): tests have one thread
}

bool HasGo() {
  return Shell("go version >/dev/null 2>&1") == 0;
}

void Build(const TempDir& directory, const std::string& flags, const std::string& output) {
  directory.Write("main.go", kProgram);
  directory.Write("go.mod", "module example.com/names\ngo 1.18\n");
  const std::string at = directory.path().string();
  const std::string command = "cd " + at + " && GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local" +
                              " GOCACHE=" + at + "/cache CGO_ENABLED=0 go build " + flags + " -o " +
                              output + " . >build.log 2>&1";
  ASSERT_EQ(Shell(command), 0) << std::ifstream(directory / "build.log").rdbuf();
}

TEST(GoBinary, ResolvesEveryInstructionAsItsStrippedFileDoes) {
  if (!HasGo()) GTEST_SKIP() << "go is not installed";
  const TempDir directory;
  Build(directory, "-ldflags='-s -w'", "stripped");
  const auto file = elf::ElfFile::Open(directory / "stripped");
  ASSERT_TRUE(file);
  const auto table = PcLineTable::Read(*file);
  ASSERT_TRUE(table) << table.error().message;

  // The program looks one byte behind the address, so the last instruction of a function is
  // skipped.
  std::ofstream addresses(directory / "in");
  std::vector<std::string> ours;
  for (std::uint64_t i = 0; i < table->functions(); ++i) {
    const std::uint64_t entry = table->entry(i).value;
    const std::uint64_t end = table->entry(i + 1).value;
    for (std::uint64_t at = entry; at + 1 < end; at += 1 + (end - entry) / 3) {
      const std::vector<GoFrame> frames = table->Find({at});
      ASSERT_FALSE(frames.empty());
      if (frames[0].file.empty()) continue;  // padding
      std::ostringstream text;
      text << frames[0].function << ' ' << frames[0].file << ':' << frames[0].line;
      ours.push_back(text.str());
      addresses << std::hex << at << '\n';
    }
  }
  addresses.close();
  const std::string at = directory.path().string();
  ASSERT_EQ(Shell(at + "/stripped <" + at + "/in >" + at + "/out"), 0);
  std::ifstream output(directory / "out");
  std::size_t different = 0;
  for (const std::string& mine : ours) {
    std::string theirs;
    std::getline(output, theirs);
    // The runtime treats the first name of its table as empty.
    if (theirs != mine && !theirs.starts_with(' ')) {
      if (++different < 5) ADD_FAILURE() << "ours: " << mine << "\ntheirs: " << theirs;
    }
  }
  EXPECT_GT(ours.size(), 3000U);
  EXPECT_EQ(different, 0U);
}

TEST(GoBinary, KeepsItsNamesInACopyOfWhatIsRead) {
  if (!HasGo()) GTEST_SKIP() << "go is not installed";
  const TempDir directory;
  Build(directory, "-ldflags='-s -w'", "stripped");
  const auto file = elf::ElfFile::Open(directory / "stripped");
  ASSERT_TRUE(file);
  const auto table = PcLineTable::Read(*file);
  ASSERT_TRUE(table) << table.error().message;
  const std::vector<elf::FileRange> ranges = table->RangesRead();
  const auto slim = elf::SlimCopy(*file, {.also = ranges});
  ASSERT_TRUE(slim);
  const auto slim_file = elf::ElfFile::FromBytes(*slim);
  ASSERT_TRUE(slim_file);
  const auto slim_table = PcLineTable::Read(*slim_file);
  ASSERT_TRUE(slim_table) << slim_table.error().message;
  std::size_t inlined = 0;
  for (std::uint64_t i = 0; i < table->functions(); ++i) {
    const ImageAddress middle{table->entry(i).value / 2 + table->entry(i + 1).value / 2};
    const std::vector<GoFrame> whole = table->Find(middle), kept = slim_table->Find(middle);
    ASSERT_EQ(whole.size(), kept.size());
    if (whole.size() > 1) ++inlined;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      EXPECT_EQ(whole[at].function, kept[at].function);
      EXPECT_EQ(whole[at].file, kept[at].file);
      EXPECT_EQ(whole[at].line, kept[at].line);
    }
  }
  EXPECT_GT(inlined, 50U);
}

TEST(GoBinary, HasTheNamesOfItsSymbolTable) {
  if (!HasGo()) GTEST_SKIP() << "go is not installed";
  const TempDir directory;
  Build(directory, "", "whole");
  const auto file = elf::ElfFile::Open(directory / "whole");
  ASSERT_TRUE(file);
  const auto table = PcLineTable::Read(*file);
  ASSERT_TRUE(table) << table.error().message;
  const elf::SymbolTable symbols = elf::SymbolTable::Read(*file);
  std::size_t others = 0;
  for (std::uint64_t i = 0; i < table->functions(); ++i) {
    const std::vector<GoFrame> frames = table->Find(table->entry(i));
    const elf::Symbol* symbol = symbols.Find(table->entry(i));
    ASSERT_NE(symbol, nullptr);
    ASSERT_FALSE(frames.empty());
    // Symbols of assembly end with a calling convention, and those of generic functions have types.
    const std::string_view name = symbol->name.substr(0, symbol->name.rfind(".abi0"));
    const bool is_generic = frames.back().function.find("[...]") != std::string_view::npos;
    if (name != frames.back().function && !is_generic) ++others;
  }
  EXPECT_EQ(others, 0U);
}

}  // namespace
}  // namespace perftape::go

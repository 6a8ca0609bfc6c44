// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/symbols.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "formats/elf/expand.h"
#include "tests/support/elf_builder.h"
#include "tests/support/sparse_elf.h"
#include "tests/support/xz.h"

namespace perftape::elf {
namespace {

constexpr std::uint64_t kText = 0x401000;

// Reads the table of an ELF file with one code section from 0x401000 to 0x402000.
class SymbolTableTest : public testing::Test {
 protected:
  ElfBuilder::Symbol At(std::uint64_t value, std::string name, std::uint64_t size) const {
    return {.name = std::move(name), .value = value, .size = size, .section = text_};
  }

  const SymbolTable& Read() {
    image_ = elf_.Build();
    file_.emplace(ElfFile::FromBytes(image_).value());
    return table_.emplace(SymbolTable::Read(*file_));
  }

  static std::string Find(const SymbolTable& table, std::uint64_t address) {
    const Symbol* symbol = table.Find({address});
    return symbol == nullptr ? "(none)" : std::string(symbol->name);
  }

  ElfBuilder elf_;
  std::uint16_t text_ = elf_.AddSection({.name = ".text",
                                         .flags = SHF_ALLOC | SHF_EXECINSTR,
                                         .address = kText,
                                         .size = 0x1000,
                                         .offset = 0x1000});

 private:
  std::vector<std::byte> image_;
  std::optional<ElfFile> file_;
  std::optional<SymbolTable> table_;
};

TEST_F(SymbolTableTest, FindsAFunctionFromItsFirstToItsLastByte) {
  elf_.AddSymbol(At(kText + 0x10, "work", 0x20));
  const SymbolTable& table = Read();
  EXPECT_EQ(Find(table, kText + 0x0f), "(none)");
  EXPECT_EQ(Find(table, kText + 0x10), "work");
  EXPECT_EQ(Find(table, kText + 0x2f), "work");
  EXPECT_EQ(Find(table, kText + 0x30), "(none)");
}

TEST_F(SymbolTableTest, MergesTheDynamicTableWithTheFullOne) {
  elf_.AddSymbol(At(kText, "local", 0x10));
  elf_.AddDynamicSymbol(At(kText + 0x10, "exported", 0x10));
  const SymbolTable& table = Read();
  EXPECT_EQ(Find(table, kText), "local");
  EXPECT_EQ(Find(table, kText + 0x10), "exported");
}

TEST_F(SymbolTableTest, ExtendsASymbolWithoutSizeToTheNext) {
  elf_.AddSymbol(At(kText, "start", 0));
  elf_.AddSymbol(At(kText + 0x100, "next", 0x10));
  const SymbolTable& table = Read();
  EXPECT_EQ(Find(table, kText + 0xff), "start");
  EXPECT_EQ(Find(table, kText + 0x110), "(none)");
}

TEST_F(SymbolTableTest, ExtendsTheLastSymbolWithoutSizeToTheEndOfItsSection) {
  const std::uint16_t other = elf_.AddSection(
      {.name = ".fini", .flags = SHF_ALLOC | SHF_EXECINSTR, .address = 0x403000, .size = 0x10});
  elf_.AddSymbol(At(kText + 0xf00, "last", 0));
  elf_.AddSymbol({.name = "_fini", .value = 0x403000, .size = 0, .section = other});
  const SymbolTable& table = Read();
  EXPECT_EQ(Find(table, kText + 0xfff), "last");
  EXPECT_EQ(Find(table, kText + 0x1000), "(none)");
  EXPECT_EQ(Find(table, 0x40300f), "_fini");
}

TEST_F(SymbolTableTest, LeavesOutALabelInsideAFunction) {
  elf_.AddSymbol(At(kText, "work", 0x40));
  elf_.AddSymbol(At(kText + 0x10, "local_label", 0));
  elf_.AddSymbol(At(kText + 0x18, "inner", 0x8));
  elf_.AddSymbol(At(kText + 0x40, "behind", 0));
  const SymbolTable& table = Read();
  EXPECT_EQ(Find(table, kText + 0x10), "work");
  EXPECT_EQ(Find(table, kText + 0x17), "work");
  EXPECT_EQ(Find(table, kText + 0x18), "inner");
  EXPECT_EQ(Find(table, kText + 0x20), "work");
  EXPECT_EQ(Find(table, kText + 0x40), "behind");
}

TEST_F(SymbolTableTest, KeepsLabelsOfCodeWithoutSizes) {
  elf_.AddSymbol(At(kText, "first", 0));
  elf_.AddSymbol(At(kText + 0x10, "second", 0));
  EXPECT_EQ(Find(Read(), kText + 0xf), "first");
  EXPECT_EQ(Find(Read(), kText + 0x10), "second");
}

TEST_F(SymbolTableTest, PrefersAGlobalAliasOverAWeakOne) {
  ElfBuilder::Symbol weak = At(kText, "a_longer_weak_name", 0x10);
  weak.binding = STB_WEAK;
  elf_.AddSymbol(weak);
  elf_.AddSymbol(At(kText, "global", 0x10));
  EXPECT_EQ(Find(Read(), kText), "global");
}

TEST_F(SymbolTableTest, PrefersALocalAliasOverAWeakOneAndAGlobalOverBoth) {
  ElfBuilder::Symbol weak = At(kText, "weak", 0x10), local = At(kText, "local", 0x10);
  weak.binding = STB_WEAK;
  local.binding = STB_LOCAL;
  elf_.AddSymbol(weak);
  elf_.AddSymbol(local);
  EXPECT_EQ(Find(Read(), kText), "local");
  elf_.AddSymbol(At(kText, "g", 0x10));
  EXPECT_EQ(Find(Read(), kText), "g");
}

TEST_F(SymbolTableTest, PrefersFewerLeadingUnderscoresThenTheLongerName) {
  elf_.AddSymbol(At(kText, "__read_nocancel_long", 0x10));
  elf_.AddSymbol(At(kText, "_read_long", 0x10));
  elf_.AddSymbol(At(kText, "read", 0x10));
  elf_.AddSymbol(At(kText, "pread", 0x10));
  EXPECT_EQ(Find(Read(), kText), "pread");
}

TEST_F(SymbolTableTest, PrefersAnAliasWithASize) {
  elf_.AddSymbol(At(kText, "sized", 0x10));
  ElfBuilder::Symbol label = At(kText, "a_label_with_long_name", 0);
  label.type = STT_NOTYPE;
  elf_.AddSymbol(label);
  elf_.AddSymbol(At(kText + 0x10, "next", 0x10));
  EXPECT_EQ(Find(Read(), kText), "sized");
}

TEST_F(SymbolTableTest, StripsVersions) {
  elf_.AddSymbol(At(kText, "memcpy@@GLIBC_2.14", 0x10));
  elf_.AddSymbol(At(kText + 0x10, "memcpy@GLIBC_2.2.5", 0x10));
  const SymbolTable& table = Read();
  EXPECT_EQ(Find(table, kText), "memcpy");
  EXPECT_EQ(Find(table, kText + 0x10), "memcpy");
}

TEST_F(SymbolTableTest, KeepsAnAtSignThatIsPartOfTheName) {
  const std::string names[] = {"*Shop::Cart(UInt64)@Shop::Cart(T)#fib<Int32>:Int64",
                               "~procProc(Nil)@src/app.cr:12", "_start@8", "@GLIBC_2.14", "f@"};
  std::uint64_t at = kText;
  for (const std::string& name : names) {
    elf_.AddSymbol(At(at, name, 0x10));
    at += 0x10;
  }
  const SymbolTable& table = Read();
  at = kText;
  for (const std::string& name : names) {
    EXPECT_EQ(Find(table, at), name);
    at += 0x10;
  }
}

TEST_F(SymbolTableTest, LeavesOutWhatNamesNoCode) {
  const std::uint16_t data = elf_.AddSection(
      {.name = ".data", .flags = SHF_ALLOC | SHF_WRITE, .address = 0x404000, .size = 0x100});
  const std::uint16_t warning =
      elf_.AddSection({.name = ".gnu.warning.gets", .address = 0x405000, .size = 0x100});
  elf_.AddSymbol(
      {.name = "object", .value = 0x404000, .size = 8, .section = data, .type = STT_OBJECT});
  elf_.AddSymbol({.name = "label", .value = 0x404010, .section = data, .type = STT_NOTYPE});
  elf_.AddSymbol({.name = "unloaded", .value = 0x405000, .size = 8, .section = warning});
  elf_.AddSymbol({.name = "undefined", .value = kText, .size = 8, .section = SHN_UNDEF});
  elf_.AddSymbol({.name = "absolute", .value = kText, .size = 8, .section = SHN_ABS});
  elf_.AddSymbol({.name = "file.c", .value = kText, .section = text_, .type = STT_FILE});
  ElfBuilder::Symbol hidden = At(kText, "hidden_label", 0);
  hidden.type = STT_NOTYPE;
  hidden.visibility = STV_HIDDEN;
  elf_.AddSymbol(hidden);
  const SymbolTable& table = Read();
  EXPECT_TRUE(table.symbols().empty());
  EXPECT_EQ(table.damaged(), 0U);
}

TEST_F(SymbolTableTest, KeepsLabelsInCodeAndIndirectFunctions) {
  ElfBuilder::Symbol label = At(kText, "asm_loop", 0), ifunc = At(kText + 0x20, "strlen", 0x10);
  label.type = STT_NOTYPE;
  ifunc.type = STT_GNU_IFUNC;
  elf_.AddSymbol(label);
  elf_.AddSymbol(ifunc);
  const SymbolTable& table = Read();
  EXPECT_EQ(Find(table, kText + 0x1f), "asm_loop");
  EXPECT_EQ(Find(table, kText + 0x20), "strlen");
}

TEST_F(SymbolTableTest, ReturnsToTheOuterFunctionBehindANestedOne) {
  elf_.AddSymbol(At(kText, "outer", 0x100));
  elf_.AddSymbol(At(kText + 0x20, "inner", 0x10));
  elf_.AddSymbol(At(kText + 0x28, "innermost", 0x8));
  elf_.AddSymbol(At(kText + 0xf0, "overlapping", 0x20));
  const SymbolTable& table = Read();
  EXPECT_EQ(Find(table, kText + 0x1f), "outer");
  EXPECT_EQ(Find(table, kText + 0x20), "inner");
  EXPECT_EQ(Find(table, kText + 0x28), "innermost");
  EXPECT_EQ(Find(table, kText + 0x30), "outer");
  EXPECT_EQ(Find(table, kText + 0xf0), "overlapping");
  EXPECT_EQ(Find(table, kText + 0x10f), "overlapping");
  EXPECT_EQ(Find(table, kText + 0x110), "(none)");
}

TEST_F(SymbolTableTest, DoesNotReachBeyondTheSectionHoweverLargeASizeIs) {
  elf_.AddSymbol(At(kText + 0x10, "endless", ~std::uint64_t{0}));
  const SymbolTable& table = Read();
  EXPECT_EQ(Find(table, kText + 0xfff), "endless");
  EXPECT_EQ(Find(table, kText + 0x1000), "(none)");
}

TEST_F(SymbolTableTest, CountsSymbolsOfSectionsThatAreNotThere) {
  elf_.AddSymbol({.name = "lost", .value = kText, .size = 8, .section = 99});
  elf_.AddSymbol(At(kText, "kept", 0x10));
  const SymbolTable& table = Read();
  EXPECT_EQ(table.damaged(), 1U);
  EXPECT_EQ(Find(table, kText), "kept");
}

TEST_F(SymbolTableTest, IsEmptyForAStrippedFile) {
  const SymbolTable& table = Read();
  EXPECT_TRUE(table.symbols().empty());
  EXPECT_EQ(table.Find({kText}), nullptr);
}

TEST(SymbolTable, UsesTheDebugFileOfAStrippedFile) {
  ElfBuilder debug;
  const std::uint16_t text = debug.AddSection({.name = ".text",
                                               .type = SHT_NOBITS,
                                               .flags = SHF_ALLOC | SHF_EXECINSTR,
                                               .address = kText,
                                               .size = 0x1000});
  debug.AddSymbol({.name = "static_function", .value = kText, .size = 8, .section = text});
  const std::vector<std::byte> debug_image = debug.Build(), image = SmallElf("");
  const auto debug_file = ElfFile::FromBytes(debug_image), file = ElfFile::FromBytes(image);
  ASSERT_TRUE(debug_file && file);
  const SymbolTable table = SymbolTable::Read(*file, *debug_file);
  EXPECT_EQ(table.Find({kText})->name, "static_function");
  EXPECT_EQ(table.Find({0x401100})->name, "spin");
}

// As distributions strip programs: .dynsym has one function, .gnu_debugdata the other.
std::vector<std::byte> WithMiniDebugInfo(const std::string& mini_debug_info) {
  ElfBuilder elf;
  const std::uint16_t text = elf.AddSection({.name = ".text",
                                             .flags = SHF_ALLOC | SHF_EXECINSTR,
                                             .address = kText,
                                             .size = 0x1000,
                                             .offset = 0x1000});
  elf.AddDynamicSymbol({.name = "exported", .value = kText, .size = 8, .section = text});
  elf.AddSection({.name = ".gnu_debugdata", .contents = mini_debug_info});
  return elf.Build();
}

TEST(SymbolTable, AddsTheNamesOfMiniDebugInfoToThoseOfTheDynamicTable) {
  ElfBuilder embedded;
  const std::uint16_t text = embedded.AddSection({.name = ".text",
                                                  .type = SHT_NOBITS,
                                                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                                                  .address = kText,
                                                  .size = 0x1000});
  embedded.AddSymbol({.name = "static_one", .value = kText + 8, .size = 8, .section = text});
  const std::vector<std::byte> embedded_image = embedded.Build();
  const std::vector<std::byte> image = WithMiniDebugInfo(Xz(std::string(AsText(embedded_image))));
  const auto file = ElfFile::FromBytes(image);
  ASSERT_TRUE(file);
  SymbolTable read = SymbolTable::Read(*file);
  const SymbolTable table = std::move(read);
  EXPECT_EQ(table.Find({kText})->name, "exported");
  EXPECT_EQ(table.Find({kText + 8})->name, "static_one");
}

TEST(SymbolTable, DoesWithoutMiniDebugInfoThatIsDamaged) {
  for (const std::string& damaged : {std::string(), std::string("no xz"), Xz("no ELF file")}) {
    const std::vector<std::byte> image = WithMiniDebugInfo(damaged);
    const auto file = ElfFile::FromBytes(image);
    ASSERT_TRUE(file);
    EXPECT_EQ(SymbolTable::Read(*file).symbols().size(), 1U);
  }
}

TEST(ExpandXz, StopsAtItsLimit) {
  const std::string plain(100'000, 'x');
  const std::string compressed = Xz(plain);
  const std::uint64_t dictionary = std::uint64_t{16} << 20;
  EXPECT_EQ(ExpandXz(AsBytes(compressed), dictionary).value().size(), plain.size());
  EXPECT_EQ(ExpandXz(AsBytes(compressed), 99'999).error().code, ErrorCode::kUnsupported);
  const auto cut = ExpandXz(AsBytes(compressed).first(compressed.size() - 1), dictionary);
  EXPECT_EQ(cut.error().code, ErrorCode::kCorrupt);
}

// A function's symbol has the address of its descriptor, in data: { entry, toc, environment }.
TEST(SymbolTable, GoesThroughTheDescriptorsOf64BitPowerPc) {
  ElfBuilder elf(ET_EXEC, EM_PPC64);
  elf.AddSection({.name = ".text",
                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                  .address = kText,
                  .size = 0x1000,
                  .offset = 0x1000});
  const std::uint64_t descriptor[] = {kText + 0x40, 0x500000, 0};
  const std::uint16_t descriptors = elf.AddSection(
      {.name = ".opd",
       .flags = SHF_ALLOC | SHF_WRITE,
       .address = 0x410000,
       .contents = std::string(reinterpret_cast<const char*>(descriptor), sizeof descriptor)});
  elf.AddSymbol({.name = "work", .value = 0x410000, .size = 0x20, .section = descriptors});
  elf.AddSymbol({.name = "beyond", .value = 0x410100, .size = 0x20, .section = descriptors});
  const std::vector<std::byte> image = elf.Build();
  const auto file = ElfFile::FromBytes(image);
  ASSERT_TRUE(file);
  const SymbolTable table = SymbolTable::Read(*file);
  ASSERT_EQ(table.symbols().size(), 1U);
  EXPECT_EQ(table.Find({kText + 0x5f})->name, "work");
}

TEST(SymbolTable, LeavesOutTheMarksOfArmAndRiscv) {
  for (const int machine : {EM_ARM, EM_AARCH64, EM_RISCV, EM_X86_64}) {
    ElfBuilder elf(ET_EXEC, static_cast<std::uint16_t>(machine));
    const std::uint16_t text = elf.AddSection({.name = ".text",
                                               .flags = SHF_ALLOC | SHF_EXECINSTR,
                                               .address = kText,
                                               .size = 0x1000,
                                               .offset = 0x1000});
    std::uint64_t address = kText;
    for (const char* name : {"$a", "$d.7", "$x", "$xrv64i2p1", ".L0", "$total", "work"}) {
      elf.AddSymbol({.name = name, .value = address += 8, .section = text, .type = STT_NOTYPE});
    }
    const std::vector<std::byte> image = elf.Build();
    const auto file = ElfFile::FromBytes(image);
    ASSERT_TRUE(file);
    const std::size_t kept = machine == EM_X86_64 ? 7 : machine == EM_RISCV ? 2 : 4;
    EXPECT_EQ(SymbolTable::Read(*file).symbols().size(), kept) << machine;
  }
}

TEST(SymbolTable, ClearsTheThumbBit) {
  ElfBuilder elf(ET_EXEC, EM_ARM);
  const std::uint16_t text = elf.AddSection({.name = ".text",
                                             .flags = SHF_ALLOC | SHF_EXECINSTR,
                                             .address = kText,
                                             .size = 0x1000,
                                             .offset = 0x1000});
  elf.AddSymbol({.name = "work", .value = kText + 0x11, .size = 4, .section = text});
  const std::vector<std::byte> image = elf.Build();
  const auto file = ElfFile::FromBytes(image);
  ASSERT_TRUE(file);
  EXPECT_EQ(SymbolTable::Read(*file).Find({kText + 0x10})->name, "work");
}

// Many symbols, far apart and close together, test all ways of sorting and finding.
TEST_F(SymbolTableTest, FindsEachOfManySymbolsInWhateverOrderTheyCome) {
  const std::uint16_t far = elf_.AddSection({.name = ".far",
                                             .flags = SHF_ALLOC | SHF_EXECINSTR,
                                             .address = 0x7fff'0000'0000,
                                             .size = 0x10000});
  const auto offset = [](std::uint64_t i) { return i * 37 % 256 * 16; };
  for (std::uint64_t i = 0; i < 700; ++i) {
    elf_.AddSymbol(
        {.name = "far", .value = 0x7fff'0000'0000 + offset(i), .size = 3, .section = far});
    elf_.AddSymbol(At(kText + offset(i), "near", 3));
  }
  const SymbolTable& table = Read();
  for (std::uint64_t at = 0; at < 0x1000; ++at) {
    const bool is_named = at % 16 < 3;
    EXPECT_EQ(Find(table, kText + at), is_named ? "near" : "(none)") << at;
    EXPECT_EQ(Find(table, 0x7fff'0000'0000 + at), is_named ? "far" : "(none)") << at;
  }
  EXPECT_EQ(Find(table, 0x7fff'0001'0000), "(none)");
  EXPECT_EQ(Find(table, ~std::uint64_t{0}), "(none)");
}

TEST(SymbolTable, ReadsWhatIsLeftWhereverTheFileIsCut) {
  const std::vector<std::byte> image = SmallElf("an id");
  for (std::size_t size = 0; size < image.size(); ++size) {
    // In a buffer of its exact size, so that a sanitizer detects reads behind it.
    const std::vector<std::byte> cut(image.begin(), image.begin() + static_cast<long>(size));
    const auto file = ElfFile::FromBytes(cut);
    if (!file) continue;
    EXPECT_LE(SymbolTable::Read(*file).symbols().size(), 1U) << size;
  }
}

TEST(SymbolTable, SurvivesAnyWrongByte) {
  std::vector<std::byte> image = SmallElf("an id");
  for (std::size_t at = 0; at < image.size(); ++at) {
    if (at >= 0x200 && at < 0x1200) continue;  // zeros, and code, which is never read
    for (const std::byte flip : {std::byte{0xff}, std::byte{0x80}, std::byte{1}}) {
      image[at] ^= flip;
      if (const auto file = ElfFile::FromBytes(image)) {
        const SymbolTable table = SymbolTable::Read(*file);
        for (const Symbol& symbol : table.symbols()) {
          EXPECT_EQ(table.Find(symbol.start), &symbol) << at;
        }
      }
      image[at] ^= flip;
    }
  }
}

std::string OutputOf(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char buffer[4096];
  while (pipe && fgets(buffer, sizeof buffer, pipe.get()) != nullptr) text += buffer;
  return text;
}

TEST(SymbolTable, FindsEveryFunctionThatNmLists) {
  const std::string listing =
      OutputOf("nm --defined-only --format=sysv /proc/" + std::to_string(getpid()) + "/exe 2>&1");
  if (listing.find("FUNC|") == std::string::npos) GTEST_SKIP() << "no nm here: " << listing;

  const auto file = ElfFile::Open("/proc/self/exe");
  ASSERT_TRUE(file) << file.error().message;
  const SymbolTable table = SymbolTable::Read(*file);
  int compared = 0;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    std::uint64_t start = 0, size = 0;
    std::erase(line, ' ');
    // Name, value, class, type, size.
    const std::string values = line.substr(std::min(line.find('|'), line.size()));
    if (sscanf(values.c_str(), "|%lx|%*c|FUNC|%lx|", &start, &size) != 2 || size == 0) continue;
    ++compared;
    const Symbol* symbol = table.Find({start});
    ASSERT_NE(symbol, nullptr) << line;
    EXPECT_EQ(symbol->start, ImageAddress{start}) << line;
    EXPECT_EQ(table.Find({start + size - 1}), symbol) << line;
  }
  EXPECT_GT(compared, 100);
}

TEST(SymbolTableLimit, LeavesOutATableOfGigabytesAndReadsTheOthers) {
  ElfBuilder elf;
  const auto text = elf.AddSection(
      {.name = ".text", .flags = SHF_ALLOC | SHF_EXECINSTR, .address = kText, .size = 0x100});
  elf.AddSymbol({.name = "hidden", .value = kText, .size = 0x10, .section = text});
  elf.AddDynamicSymbol({.name = "shown", .value = kText + 0x20, .size = 0x10, .section = text});
  const TempDir dir;
  constexpr std::uint64_t kSize = std::uint64_t{3} << 30;
  const auto path = WriteSparseElf(dir, "x", elf.Build(), SHT_SYMTAB, kSize);
  const ElfFile file = ElfFile::Open(path).value();
  const SymbolTable table = SymbolTable::Read(file);
  EXPECT_EQ(table.left_out(), kSize);
  EXPECT_NE(table.Find({kText + 0x20}), nullptr);
}

TEST(SymbolTableLimit, LeavesOutNothingOfOrdinaryFiles) {
  const auto image = SmallElf("0123456789");
  EXPECT_EQ(SymbolTable::Read(ElfFile::FromBytes(image).value()).left_out(), 0u);
}

}  // namespace
}  // namespace perftape::elf

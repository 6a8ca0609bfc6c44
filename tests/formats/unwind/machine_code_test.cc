// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/machine_code.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "tests/support/elf_builder.h"

namespace perftape::unwind {
namespace {

using namespace std::string_literals;

Bytes BytesOf(const std::string& code) {
  return std::as_bytes(std::span(code));
}

// A call that ends after eight bytes.
bool IsCall(const std::string& instruction) {
  const std::string code = std::string(kCallBytes - instruction.size(), '\x90') + instruction;
  return EndsWithCall(Machine::kX86_64, BytesOf(code));
}

TEST(MachineCode, RecognizesPadding) {
  for (const std::string& padding :
       {"\xcc\xcc"s, "\x90"s, "\x66\x90"s, "\x0f\x1f\x00"s, "\x0f\x1f\x40\x00"s,
        "\x0f\x1f\x44\x00\x00"s, "\x66\x0f\x1f\x44\x00\x00"s, "\x0f\x1f\x80\x00\x00\x00\x00"s,
        "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00"s,
        "\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00\x90"s,
        "\x0f\x1f\x84\x00\x00"s}) {  // the next function begins before its end
    EXPECT_TRUE(IsPadding(Machine::kX86_64, BytesOf(padding))) << padding.size();
  }
  for (const std::string& code : {""s, "\x00"s, "\xc3"s, "\x90\x48\x85\xc0"s, "\x0f\x05"s, "\x66"s,
                                  "\x0f"s, "\x0f\x1f\x08"s}) {
    EXPECT_FALSE(IsPadding(Machine::kX86_64, BytesOf(code))) << code.size();
  }
  EXPECT_TRUE(IsPadding(Machine::kAArch64, BytesOf("\x1f\x20\x03\xd5"s)));
  EXPECT_FALSE(IsPadding(Machine::kAArch64, BytesOf("\x1f\x20\x03"s)));
  EXPECT_FALSE(IsPadding(Machine::kAArch64, BytesOf("\xc0\x03\x5f\xd6"s)));
}

TEST(MachineCode, RecognizesANewStackPointer) {
  for (const std::string& code :
       {"\x48\x89\xdc"s, "\x4c\x89\xe4"s, "\x4c\x89\xfc\xc3"s, "\xf3\x0f\x1e\xfa\x48\x89\xdc"s}) {
    EXPECT_TRUE(BeginsWithStackPointer(BytesOf(code))) << code.size();
  }
  // From the frame pointer and an argument, to another register, in 32 bits, from memory, later.
  for (const std::string& code :
       {""s, "\x48\x89"s, "\x48\x89\xec"s, "\x48\x89\xfc"s, "\x48\x89\xd8"s, "\x89\xdc\xc3"s,
        "\x48\x8b\x27"s, "\x90\x48\x89\xdc"s}) {
    EXPECT_FALSE(BeginsWithStackPointer(BytesOf(code))) << code.size();
  }
}

TEST(MachineCode, RecognizesCallsOfX86) {
  for (const std::string& call :
       {"\xe8\x01\x02\x03\x04"s, "\xff\xd0"s, "\x41\xff\xd4"s, "\xff\x10"s, "\xff\x50\x08"s,
        "\xff\x14\xc3"s, "\xff\x54\x24\x08"s, "\xff\x15\x01\x02\x03\x04"s,
        "\xff\x90\x01\x02\x03\x04"s, "\xff\x94\x24\x01\x02\x03\x04"s,
        "\xff\x14\xc5\x01\x02\x03\x04"s}) {
    EXPECT_TRUE(IsCall(call)) << call.size();
  }
  for (const std::string& other :
       {"\xff\xe0"s, "\xff\x25\x01\x02\x03\x04"s, "\xe9\x01\x02\x03\x04"s, "\xc3"s,
        "\xff\x14\xc5\x01"s, "\xff\x90\x01\x02"s, "\xff\xd8"s, "\xff\x15\x01\x02\x03"s}) {
    EXPECT_FALSE(IsCall(other)) << other.size();
  }
  EXPECT_FALSE(EndsWithCall(Machine::kX86_64, BytesOf("\xe8\x01\x02\x03\x04"s)));
}

TEST(MachineCode, RecognizesCallsOfArm64) {
  const auto is_call = [](const std::string& word) {
    return EndsWithCall(Machine::kAArch64, BytesOf("\x1f\x20\x03\xd5"s + word));
  };
  EXPECT_TRUE(is_call("\x10\x00\x00\x94"s));   // bl
  EXPECT_TRUE(is_call("\x00\x02\x3f\xd6"s));   // blr x16
  EXPECT_TRUE(is_call("\x1f\x09\x3f\xd6"s));   // blraaz x8
  EXPECT_FALSE(is_call("\x00\x02\x1f\xd6"s));  // br x16
  EXPECT_FALSE(is_call("\xc0\x03\x5f\xd6"s));  // ret
}

TEST(MachineCode, ReadsTheCodeOfAFile) {
  ElfBuilder elf;
  elf.AddSegment({.offset = 0x1000, .address = 0x401000, .size = 0x1000});
  elf.AddSection({.name = ".text",
                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                  .address = 0x401010,
                  .contents = "abcdef",
                  .offset = 0x1010});
  elf.AddSection({.name = ".lost",
                  .type = SHT_NOBITS,
                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                  .address = 0x401100,
                  .size = 16,
                  .offset = 0x1012});
  const std::vector<std::byte> image = elf.Build();
  const auto file = elf::ElfFile::FromBytes(image);
  ASSERT_TRUE(file);
  const auto code = [&](std::uint64_t address, std::uint64_t size) {
    const Bytes bytes = CodeBytes(*file, ImageAddress{address}, size);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  EXPECT_EQ(code(0x401010, 6), "abcdef");
  EXPECT_EQ(code(0x401012, 2), "cd");
  EXPECT_EQ(code(0x401012, 5), "");
  EXPECT_EQ(code(0x40100f, 2), "");
  EXPECT_EQ(code(0x401100, 4), "");  // a slim copy
  EXPECT_EQ(code(0x401010, ~std::uint64_t{0}), "");
}

}  // namespace
}  // namespace perftape::unwind

// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/x86_instruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/support/machine_code.h"

namespace perftape::unwind {
namespace {

using Type = X86Instruction::Type;

std::optional<X86Instruction> Decode(std::string_view hex) {
  const std::string bytes = MachineCode(hex);
  return DecodeX86(AsBytes(bytes));
}

// Behind the instruction there is another one.
int SizeOf(std::string_view hex) {
  const std::string bytes = MachineCode(hex) + std::string(15, '\x90');
  const auto instruction = DecodeX86(AsBytes(bytes));
  return instruction ? instruction->size : 0;
}

TEST(X86Instruction, HasTheSizeThatObjdumpTells) {
  for (const std::string_view hex : {"90",
                                     "c3",
                                     "f3 c3",
                                     "c2 08 00",
                                     "0f 1f 44 00 00",
                                     "66 2e 0f 1f 84 00 00 00 00 00",
                                     "f3 0f 1e fa",
                                     "48 89 e5",
                                     "48 8b 44 24 08",
                                     "48 8b 04 25 00 00 00 00",
                                     "48 8d 05 10 00 00 00",
                                     "48 8d 84 c8 00 01 00 00",
                                     "48 b8 01 02 03 04 05 06 07 08",
                                     "66 b8 01 02",
                                     "48 69 c0 e8 03 00 00",
                                     "48 6b c0 0a",
                                     "f7 c7 01 00 00 00",
                                     "f6 c3 01",
                                     "f7 d8",
                                     "0f 84 00 01 00 00",
                                     "75 fb",
                                     "e8 00 00 00 00",
                                     "ff 15 00 00 00 00",
                                     "0f b6 c0",
                                     "0f ba e0 05",
                                     "48 0f a4 c2 04",
                                     "f2 0f 10 44 24 08",
                                     "66 0f 70 c0 4e",
                                     "0f c6 c0 00",
                                     "66 0f 38 00 c1",
                                     "66 0f 3a 0f c1 08",
                                     "c5 f8 77",
                                     "c5 fd 6f 06",
                                     "c4 e2 7d 58 00",
                                     "c4 e3 7d 18 c1 01",
                                     "c5 f9 70 c0 4e",
                                     "62 f1 fd 48 6f 06",
                                     "62 f2 fd 48 19 40 01",
                                     "62 f3 fd 48 1b c1 01",
                                     "c4 e2 fb f6 c1",
                                     "f0 48 0f b1 0f",
                                     "64 48 8b 04 25 28 00 00 00",
                                     "d9 ee",
                                     "dd 44 24 08",
                                     "0f 05",
                                     "0f a2",
                                     "48 0f c8",
                                     "48 a1 00 00 00 00 00 00 00 00"}) {
    EXPECT_EQ(SizeOf(hex), static_cast<int>(MachineCode(hex).size())) << hex;
  }
}

TEST(X86Instruction, ChangesTheStackPointer) {
  const auto value_of = [](std::string_view hex, Type type) {
    const auto instruction = Decode(hex);
    EXPECT_TRUE(instruction) << hex;
    EXPECT_EQ(instruction->type, type) << hex;
    return instruction->value;
  };
  EXPECT_EQ(value_of("48 83 ec 28", Type::kAddToSp), -0x28);
  EXPECT_EQ(value_of("48 81 ec 00 01 00 00", Type::kAddToSp), -0x100);
  EXPECT_EQ(value_of("48 83 c4 28", Type::kAddToSp), 0x28);
  EXPECT_EQ(value_of("48 8d 64 24 f8", Type::kAddToSp), -8);
  EXPECT_EQ(value_of("48 8d 65 d8", Type::kSpFromFp), -0x28);
  EXPECT_EQ(value_of("48 89 ec", Type::kSpFromFp), 0);
  EXPECT_EQ(value_of("48 89 e5", Type::kFpFromSp), 0);
  EXPECT_EQ(value_of("48 8b ec", Type::kFpFromSp), 0);
  EXPECT_EQ(value_of("48 8d 6c 24 10", Type::kFpFromSp), 0x10);
  EXPECT_EQ(value_of("48 83 e4 e0", Type::kAlignSp), 0);
  EXPECT_EQ(value_of("48 29 c4", Type::kAlignSp), 0);
  EXPECT_EQ(value_of("48 89 6c 24 20", Type::kSaveFp), 0x20);
  EXPECT_EQ(value_of("48 8b 6c 24 20", Type::kRestoreFp), 0x20);
}

TEST(X86Instruction, PushesAndPops) {
  EXPECT_EQ(Decode("55")->reg, kX86Fp);
  EXPECT_EQ(Decode("41 55")->reg, 13);
  for (const char* hex : {"53", "6a 01", "68 00 00 00 00", "ff 75 08", "9c", "ff 34 24"}) {
    EXPECT_EQ(Decode(hex)->type, Type::kPush) << hex;
  }
  for (const char* hex : {"5b", "41 5c", "9d", "8f 00"}) {
    EXPECT_EQ(Decode(hex)->type, Type::kPop) << hex;
  }
}

TEST(X86Instruction, GoesOnElsewhere) {
  EXPECT_EQ(Decode("75 fb")->type, Type::kJumpIf);
  EXPECT_EQ(Decode("75 fb")->target, -3);
  EXPECT_EQ(Decode("eb 10")->type, Type::kJump);
  EXPECT_EQ(Decode("e9 00 01 00 00")->target, 0x105);
  EXPECT_EQ(Decode("e8 00 01 00 00")->type, Type::kCall);
  EXPECT_EQ(Decode("ff d0")->type, Type::kCall);
  EXPECT_EQ(Decode("ff d0")->target, 0);
  EXPECT_EQ(Decode("ff e0")->type, Type::kIndirectJump);
  EXPECT_EQ(Decode("ff 24 c5 00 00 00 00")->type, Type::kIndirectJump);
  EXPECT_EQ(Decode("c2 08 00")->type, Type::kReturnAndPop);
  EXPECT_EQ(Decode("0f 0b")->type, Type::kTrap);
  EXPECT_EQ(Decode("f4")->type, Type::kHalt);
}

TEST(X86Instruction, StoresToTheStack) {
  for (const char* hex : {"48 89 44 24 40", "c7 44 24 40 01 00 00 00", "0f 29 44 24 40",
                          "f3 0f 7f 44 24 40", "c5 f9 7f 44 24 40"}) {
    EXPECT_EQ(Decode(hex)->type, Type::kStoreAtSp) << hex;
    EXPECT_EQ(Decode(hex)->value, 0x40) << hex;
  }
  // A load, a store with an index, and one to other memory.
  for (const char* hex : {"48 8b 44 24 40", "89 44 84 40", "48 89 47 40"}) {
    EXPECT_EQ(Decode(hex)->type, Type::kOther) << hex;
  }
}

TEST(X86Instruction, ChangesTheFramePointer) {
  for (const char* hex : {"31 ed", "48 ff c5", "48 89 c5", "bd 00 00 00 00", "48 8b 2e",
                          "48 0f 44 e8", "48 8d 2d 00 00 00 00"}) {
    EXPECT_EQ(Decode(hex)->type, Type::kChangesFp) << hex;
  }
  // ch, a comparison, a store, and registers of vectors
  for (const char* hex : {"88 cd", "48 39 c5", "48 89 28", "0f 28 e9", "c5 fc 28 e0", "48 85 ed"}) {
    EXPECT_EQ(Decode(hex)->type, Type::kOther) << hex;
  }
}

TEST(X86Instruction, IsUnknownIfItSetsTheStackPointerOtherwise) {
  for (const char* hex :
       {"48 89 c4", "48 8b 67 30", "5c", "48 94", "83 ec 08", "48 c7 c4 00 00 00 00", "48 8d 20",
        "48 d1 e4", "c8 10 00 00", "cb", "66 50", "06", "62"}) {
    EXPECT_FALSE(Decode(hex)) << hex;
  }
}

TEST(X86Instruction, IsUnknownIfItIsCut) {
  const std::string bytes = MachineCode("64 48 8b 04 25 28 00 00 00");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeX86(AsBytes(std::string_view(bytes).substr(0, size))));
  }
  EXPECT_FALSE(Decode("66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90"));
}

}  // namespace
}  // namespace perftape::unwind

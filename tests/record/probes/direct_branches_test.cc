// SPDX-License-Identifier: Apache-2.0
#include "record/probes/direct_branches.h"

#include <elf.h>
#include <gmock/gmock.h>

#include <string>

namespace perftape::record {
namespace {

using namespace std::string_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(DirectBranches, OfX86CountFromTheNextInstruction) {
  const std::string code = "\x90\xe8\x0a\0\0\0\xe9\xf0\xff\xff\xff"s;
  EXPECT_THAT(DirectBranches(AsBytes(code), 0x1000, EM_X86_64), ElementsAre(0x1010, 0xffb));
}

TEST(DirectBranches, OfArm64CountInstructions) {
  const std::string code = "\x1f\x20\x03\xd5\x03\0\0\x94\xff\xff\xff\x17"s;
  EXPECT_THAT(DirectBranches(AsBytes(code), 0x1000, EM_AARCH64), ElementsAre(0x1010, 0x1004));
}

TEST(DirectBranches, EndWithTheCode) {
  const std::string code = "\xe8\x0a\0\0\0"s;
  for (std::size_t size = 0; size < code.size(); ++size) {
    EXPECT_THAT(DirectBranches(AsBytes(code).first(size), 0x1000, EM_X86_64), IsEmpty());
  }
  EXPECT_THAT(DirectBranches(AsBytes(code), 0x1000, EM_X86_64), Contains(0x100f));
  EXPECT_THAT(DirectBranches(AsBytes(code), 0x1000, EM_RISCV), IsEmpty());
}

}  // namespace
}  // namespace perftape::record

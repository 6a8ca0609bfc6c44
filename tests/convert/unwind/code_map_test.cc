// SPDX-License-Identifier: Apache-2.0
#include "convert/unwind/code_map.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace perftape::offline_unwind {
namespace {

using unwind::CfaRule;
using unwind::FramesBy;

constexpr std::uint64_t kLoaded = 0x7f0000000000;

unwind::Rule RuleWithOffset(std::int32_t cfa_offset) {
  unwind::Rule rule;
  rule.cfa_offset = cfa_offset;
  rule.cfa = CfaRule::kStackPointer;
  return rule;
}

// A binary whose code has one rule from `code` on, and another one 0x10 bytes later.
class CodeMapTest : public testing::Test {
 protected:
  void SetBinary(ImageAddress code, std::vector<elf::Segment> segments) {
    binary_.frames_by = FramesBy::kTable;
    binary_.table = unwind::Table(unwind::Machine::kX86_64, code, rows_, rules_, nullptr);
    binary_.segments = std::move(segments);
  }

  // The CFA's offset by the rule for an address, or 0 without a rule.
  std::int32_t OffsetAt(CodeMap& code, std::uint64_t address) {
    FoundCode found;
    code.Find(
        {address}, [this](const perfdata::Dso&) -> const BinaryTable& { return binary_; }, cache_,
        found);
    return found.code.rule == nullptr ? 0 : found.code.rule->cfa_offset;
  }

  const std::vector<unwind::Row> rows_ = {{.pc = 0, .rule = 0}, {.pc = 0x10, .rule = 1}};
  const std::vector<unwind::Rule> rules_ = {RuleWithOffset(8), RuleWithOffset(16)};
  const perfdata::Dso dso_ = {.path = "/bin/app", .build_id = {}, .symbol = {}};
  BinaryTable binary_;
  unwind::RuleCache cache_;
};

TEST_F(CodeMapTest, UsesTheSegmentThatIsMapped) {
  const elf::Segment data = {
      .offset = {0}, .address = {0x400000}, .size = 0x800, .executable = false};
  const elf::Segment text = {
      .offset = {0x1000}, .address = {0x401000}, .size = 0x500, .executable = true};
  SetBinary({0x401000}, {data, text});
  const perfdata::Region region = {
      .start = kLoaded, .end = kLoaded + 0x1000, .page_offset = 0x1000, .dso = &dso_};
  CodeMap code({&region, 1}, nullptr);
  EXPECT_EQ(OffsetAt(code, kLoaded + 0xf), 8);
  EXPECT_EQ(OffsetAt(code, kLoaded + 0x10), 16);
  EXPECT_EQ(OffsetAt(code, kLoaded - 1), 0);
  EXPECT_EQ(OffsetAt(code, kLoaded + 0x1000), 0);
}

// mold and lld do not align segments in the file. The page with the first code also has the end of
// the read-only data, and is mapped a second time.
TEST_F(CodeMapTest, PrefersCodeInAPageOfSeveralSegments) {
  const elf::Segment data = {.offset = {0}, .address = {0}, .size = 0x800, .executable = false};
  const elf::Segment text = {
      .offset = {0x800}, .address = {0x1800}, .size = 0x500, .executable = true};
  const elf::Segment relro = {
      .offset = {0xd00}, .address = {0x2d00}, .size = 0x200, .executable = false};
  SetBinary({0x1800}, {data, text, relro});
  const perfdata::Region region = {
      .start = kLoaded, .end = kLoaded + 0x1000, .page_offset = 0, .dso = &dso_};
  CodeMap code({&region, 1}, nullptr);
  EXPECT_EQ(OffsetAt(code, kLoaded + 0x800), 8);
  EXPECT_EQ(OffsetAt(code, kLoaded + 0x810), 16);
  EXPECT_EQ(OffsetAt(code, kLoaded + 0x7ff), 0);
}

// perf saves the memory of the vdso, whose addresses begin at 0.
TEST_F(CodeMapTest, CountsFromTheStartOfAVdso) {
  SetBinary({0x700}, {});
  const perfdata::Region region = {
      .start = kLoaded, .end = kLoaded + 0x2000, .page_offset = 0, .dso = &dso_};
  CodeMap code({&region, 1}, nullptr);
  EXPECT_EQ(OffsetAt(code, kLoaded + 0x700), 8);
  EXPECT_EQ(OffsetAt(code, kLoaded + 0x710), 16);
}

// The same address in another process is in another place of the binary.
TEST_F(CodeMapTest, KeepsProcessesApart) {
  SetBinary({0x100}, {});
  const perfdata::Region one = {
      .start = kLoaded, .end = kLoaded + 0x1000, .page_offset = 0, .dso = &dso_};
  perfdata::Region other = one;
  other.start -= 0x10;
  CodeMap first({&one, 1}, nullptr), second({&other, 1}, nullptr);
  EXPECT_EQ(OffsetAt(first, kLoaded + 0x100), 8);
  EXPECT_EQ(OffsetAt(second, kLoaded + 0x100), 16);
  EXPECT_EQ(OffsetAt(first, kLoaded + 0x100), 8);
}

}  // namespace
}  // namespace perftape::offline_unwind

// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/generated_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/formats/unwind/table_text.h"
#include "tests/support/frame_builder.h"

namespace perftape::unwind {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::uint64_t kText = FrameBuilder::kText, kFrames = FrameBuilder::kSection;

// sub $40,%rsp; ...
std::string Frames(std::uint64_t size) {
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({}), kText, size,
                  Instructions(DW_CFA_advance_loc + 4, DW_CFA_def_cfa_offset, 48));
  return frames.contents();
}

std::vector<std::pair<std::uint64_t, std::string>> Rows(
    std::span<const GeneratedFunction> functions) {
  return RowsOf(BuildTable(Machine::kX86_64, std::endian::little, functions));
}

// The same frames serve any address: they count from their own.
TEST(GeneratedCode, HasTheRowsOfEachFunction) {
  const std::string frames = Frames(0x20);
  const GeneratedFunction functions[] = {
      {.start = kText, .size = 0x20, .eh_frame = AsBytes(frames), .eh_frame_address = kFrames},
      {.start = kText + 0x5000,
       .size = 0x20,
       .eh_frame = AsBytes(frames),
       .eh_frame_address = kFrames + 0x5000}};
  EXPECT_THAT(Rows(functions),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 4, "sp+48 ra-8"),
                          Pair(kText + 0x20, "none"), Pair(kText + 0x5000, "sp+8 ra-8"),
                          Pair(kText + 0x5004, "sp+48 ra-8"), Pair(kText + 0x5020, "none")));
}

TEST(GeneratedCode, HasRulesForItsFunctionOnly) {
  const std::string frames = Frames(0x20);
  GeneratedFunction function = {
      .start = kText, .size = 8, .eh_frame = AsBytes(frames), .eh_frame_address = kFrames};
  EXPECT_THAT(Rows(std::span(&function, 1)),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 4, "sp+48 ra-8"),
                          Pair(kText + 8, "none")));
  function.eh_frame_address += 0x100;  // they describe other addresses
  EXPECT_THAT(Rows(std::span(&function, 1)), IsEmpty());
}

TEST(GeneratedCode, HasTheLatestCodeIfThatIsFirst) {
  const std::string frames = Frames(0x20);
  const GeneratedFunction functions[] = {
      {.start = kText, .size = 4, .eh_frame = AsBytes(frames), .eh_frame_address = kFrames},
      {.start = kText, .size = 0x20, .eh_frame = AsBytes(frames), .eh_frame_address = kFrames}};
  EXPECT_THAT(Rows(functions), ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 4, "sp+48 ra-8"),
                                           Pair(kText + 0x20, "none")));
}

TEST(GeneratedCode, IsSafeWithCutFrames) {
  const std::string frames = Frames(0x20);
  for (std::size_t size = 0; size < frames.size(); ++size) {
    const GeneratedFunction function = {
        .start = kText,
        .size = 0x20,
        .eh_frame = AsBytes(std::string_view(frames).substr(0, size)),
        .eh_frame_address = kFrames};
    EXPECT_THAT(Rows(std::span(&function, 1)), IsEmpty()) << size;
  }
}

}  // namespace
}  // namespace perftape::unwind

// SPDX-License-Identifier: Apache-2.0
#include "formats/base/packed_data.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/zstd_frame.h"

namespace perftape {
namespace {

std::string_view TextOf(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(PackedData, ExpandsToWhatWasPacked) {
  const std::string text = std::string(100000, 'a') + "end";
  const std::vector<std::byte> frame = ZstdFrame(std::as_bytes(std::span(text)));
  const PackedData packed = {TextOf(frame), text.size()};
  EXPECT_EQ(UnpackText(packed), text);
}

TEST(PackedData, ExpandsToFewerBytesIfTheFrameIsDamaged) {
  const std::string text(100000, 'a');
  std::vector<std::byte> frame = ZstdFrame(std::as_bytes(std::span(text)));
  EXPECT_LT(UnpackText({TextOf(frame).substr(0, 4), text.size()}).size(), text.size());
  frame[0] ^= std::byte{1};
  EXPECT_EQ(UnpackText({TextOf(frame), text.size()}), "");
}

}  // namespace
}  // namespace perftape

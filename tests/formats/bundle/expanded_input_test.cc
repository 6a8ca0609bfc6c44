// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/expanded_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "formats/bundle/archive_reader.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::bundle {
namespace {

using testing::HasSubstr;

constexpr std::string_view kText = "main;f 1\nmain;g 2\n";

// kText, as these programs compress it.
struct Sample {
  std::string_view name, hex;
};
constexpr Sample kSamples[] = {
    {"gzip", "1f8b0800000000000203cb4dccccb34e5330e4ca0531d2158cb8002b3315b812000000"},
    {"bzip2",
     "425a6839314159265359477f1ccf000007590000104000300821a32000212a6980d08069a6877ab9"
     "108c34d11c2ee48a70a1208efe399e"},
    {"xz",
     "fd377a585a0000016922de360200210116000000742fe5a30100116d61696e3b6620310a6d61696e"
     "3b6720320a0000002b3315b8000126124747e1109042990d010000000001595a"},
    {"zstd", "28b52ffd04589100006d61696e3b6620310a6d61696e3b6720320a1183442c"}};

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

TEST(OpenExpanded, GivesWhatIsCompressedUnderTheNameOfTheFile) {
  const TempDir directory;
  for (const auto& [name, hex] : kSamples) {
    const std::string compressed = FromHex(hex);
    EXPECT_EQ(CompressionOf(AsBytes(compressed)), name);
    directory.Write("in", compressed);
    Result<Input> input = OpenExpanded(directory / "in");
    ASSERT_THAT(input, IsOk()) << name;
    EXPECT_EQ(AsText(input->beginning()), kText);
    EXPECT_EQ(AsText(input->All().value()), kText);
    EXPECT_EQ(input->name(), (directory / "in").native());
  }
}

TEST(OpenExpanded, LeavesOtherFilesAsTheyAre) {
  const TempDir directory;
  for (const std::string_view text : {"main;f 1\n", "BZh9;f 1\n", "BZh", ""}) {
    EXPECT_EQ(CompressionOf(AsBytes(text)), "");
    directory.Write("in", text);
    EXPECT_EQ(AsText(OpenExpanded(directory / "in").value().beginning()), text);
  }
}

TEST(OpenExpanded, GivesNothingOfWhatIsCompressedNothing) {
  const TempDir directory;
  directory.Write("in", FromHex("1f8b080000000000020303000000000000000000"));
  const Result<Input> input = OpenExpanded(directory / "in");
  ASSERT_THAT(input, IsOk());
  EXPECT_TRUE(input->beginning().empty());
}

TEST(OpenExpanded, ReportsFileAndOffsetOfACut) {
  const TempDir directory;
  for (const auto& [name, hex] : kSamples) {
    const std::string compressed = FromHex(hex);
    directory.Write("in", compressed.substr(0, compressed.size() - 12));
    const Result<Input> input = OpenExpanded(directory / "in");
    EXPECT_THAT(input, FailsWith(ErrorCode::kTruncated, HasSubstr("at 0x"))) << name;
    EXPECT_THAT(input.error().message, HasSubstr((directory / "in").native()));
  }
}

TEST(ExpandBeginning, GivesTheFirstBytesOfWholeAndDamagedFiles) {
  for (const auto& [name, hex] : kSamples) {
    const std::string compressed = FromHex(hex);
    EXPECT_EQ(AsText(ExpandBeginning(AsBytes(compressed), 6)), kText.substr(0, 6)) << name;
    EXPECT_EQ(AsText(ExpandBeginning(AsBytes(compressed), 100)), kText) << name;
    for (std::size_t size = 0; size < compressed.size(); ++size) {
      const std::string cut = compressed.substr(0, size);
      const std::vector<std::byte> bytes = ExpandBeginning(AsBytes(cut), 100);
      // A beginning that names no compression is returned as it is.
      const bool is_expanded = kText.starts_with(AsText(bytes)) || cut.starts_with(AsText(bytes));
      EXPECT_TRUE(is_expanded) << name << size;
    }
  }
}

TEST(Expand, RefusesWhatGrowsTooFar) {
  // RFC 8878: a frame of eight blocks, each 128 KiB of the same byte.
  std::string bomb = FromHex("28b52ffd0038");
  for (int i = 0; i < 8; ++i) bomb += FromHex(i == 7 ? "03001078" : "02001078");
  const UnpackLimits limits = {.always = 1 << 10, .ratio = 100};
  EXPECT_THAT(Expand(AsBytes(bomb), limits),
              FailsWith(ErrorCode::kUnsupported, HasSubstr("expands to more than the limit of")));
  EXPECT_THAT(Expand(AsBytes(bomb), {}), IsOk());
}

}  // namespace
}  // namespace perftape::bundle

// SPDX-License-Identifier: Apache-2.0
// Reads the feature sections of other people's recordings, and writes them again with equal bytes.
// Sections of the other byte order are converted to this machine's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "formats/base/file.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/reader.h"
#include "tests/support/corpus.h"
#include "tests/support/matchers.h"

namespace perftape::perfdata {
namespace {

std::vector<std::filesystem::path> Recordings() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(CorpusDirectory() / "perfdata")) {
    if (entry.path().string().ends_with(".perf.data")) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

std::vector<std::byte> Encoded(const FeatureValue& value) {
  std::vector<std::byte> bytes;
  EncodeFeature(value, bytes);
  return bytes;
}

// Calls `visit` with each recording's path and reader, and each feature's bit and section.
template <class Visitor>
void ForEachFeature(Visitor visit) {
  for (const std::filesystem::path& path : Recordings()) {
    const MappedFile file = MappedFile::Open(path).value();
    const Reader reader = Reader::FromBytes(file.bytes()).value();
    for (const auto& [bit, section] : reader.features()) {
      visit(path.stem().stem().string(), reader, bit, section);
    }
  }
}

class FeatureCorpus : public testing::Test {
 protected:
  void SetUp() override {
    if (CorpusDirectory().empty()) GTEST_SKIP() << kNoCorpus;
  }
};

// Their writers pad names to 8 bytes; perf pads to 64.
const std::set<std::string> kPaddedOtherwise = {
    "x86_64-k3.3-lbr-9k",
    "x86_64-k5.17-mem-weight-struct-data-src",
    "x86_64-k5.6-ro-sample",
};
// perf inject rewrote the build ids, padded to 8.
const std::set<std::string> kBuildIdsPaddedOtherwise = {
    "x86_64-k6.12-lbr-callgraph-attr136",
    "x86_64-k6.16-sleep-attr136",
};

// Adds to the entries of BUILD_ID what older perf omitted: bit 15 of misc and the size byte (since
// Linux 5.12), and zeros after the name. Removes the type that only simpleperf writes.
std::vector<std::byte> AsPerfWritesThemNow(Bytes section) {
  std::vector<std::byte> entries(section.begin(), section.end());
  for (std::size_t at = 0; at < entries.size();) {
    const auto misc = LoadFixed<std::uint16_t>(&entries[at + 4], std::endian::native);
    const auto size = LoadFixed<std::uint16_t>(&entries[at + 6], std::endian::native);
    entries[at] = std::byte{0};
    if ((misc & kMiscBuildIdSize) == 0) {
      entries[at + 5] |= std::byte{0x80};
      entries[at + 32] = std::byte{20};
    }
    std::fill_n(&entries[at + 33], 3, std::byte{0});
    const std::span name = std::span(entries).subspan(at + 36, size - 36U);
    std::fill(std::ranges::find(name, std::byte{0}), name.end(), std::byte{0});
    at += size;
  }
  return entries;
}

TEST_F(FeatureCorpus, IsWrittenAgainAsItWas) {
  std::size_t sections = 0;
  ForEachFeature([&](const std::string& name, const Reader& reader, FeatureBit bit, Bytes section) {
    if (reader.order() != std::endian::native || kPaddedOtherwise.contains(name)) return;
    const std::optional<FeatureValue> value = reader.DecodedFeature(bit);
    ASSERT_TRUE(value) << name << ' ' << FeatureName(bit);
    std::vector<std::byte> expected(section.begin(), section.end());
    if (bit == FeatureBit::kBuildId) {
      if (kBuildIdsPaddedOtherwise.contains(name)) return;
      expected = AsPerfWritesThemNow(section);
    }
    EXPECT_TRUE(Encoded(*value) == expected) << name << ' ' << FeatureName(bit);
    ++sections;
  });
  EXPECT_GE(sections, 800U);
}

}  // namespace
}  // namespace perftape::perfdata

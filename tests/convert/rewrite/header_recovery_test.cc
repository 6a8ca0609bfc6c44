// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/header_recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/convert/rewrite/recovered.h"

namespace perftape::rewrite {
namespace {

using perfdata::FeatureBit;
using perfdata::FileHeader;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

FileHeader HeaderOf(Bytes file) {
  std::vector<std::string> problems;
  return perfdata::ReadFileHeader(file, std::endian::native, problems).value();
}

class FeatureTableTest : public testing::Test {
 protected:
  std::optional<FeatureTable> Find(std::uint64_t expected) const {
    const FileHeader header = HeaderOf(file_);
    return FindFeatureTable(file_, header, std::endian::native, expected, header.data.offset);
  }
  std::uint64_t end() const {
    const FileHeader header = HeaderOf(file_);
    return header.data.offset + header.data.size;
  }

  std::vector<std::byte> file_ = SmallRecording().Build();
};

TEST_F(FeatureTableTest, IsReadAtTheOffsetInTheHeader) {
  const auto table = Find(end());
  ASSERT_TRUE(table);
  EXPECT_EQ(table->offset, end());
  EXPECT_THAT(table->sections, ElementsAre(Key(FeatureBit::kHostname), Key(FeatureBit::kNrCpus),
                                           Key(FeatureBit::kCmdline)));
  EXPECT_THAT(table->lost, IsEmpty());
}

TEST_F(FeatureTableTest, IsFoundDespiteAWrongOffset) {
  for (const std::uint64_t expected :
       {end() - 8, end() + 8, end() - 1, std::uint64_t{file_.size()} + 1, ~std::uint64_t{0}}) {
    const auto table = Find(expected);
    ASSERT_TRUE(table) << expected;
    EXPECT_EQ(table->offset, end()) << expected;
  }
}

TEST_F(FeatureTableTest, IsNotFoundWhereThereIsNone) {
  file_.resize(end());
  EXPECT_FALSE(Find(end()));
  EXPECT_FALSE(Find(end() - 8));
}

TEST_F(FeatureTableTest, NamesTheFeaturesThatAreCutOff) {
  const std::uint64_t table_at = end();
  file_.resize(file_.size() - 1);
  const auto table = Find(table_at);
  ASSERT_TRUE(table);
  EXPECT_THAT(table->lost, ElementsAre(FeatureBit::kCmdline));
}

// Bits that were set by damage have no entries: the first entry has the offset of the end of the
// table.
TEST_F(FeatureTableTest, DropsTheHighestOfTooManyBits) {
  const std::uint64_t table_at = end();
  file_[72 + 7] = std::byte{0x10};   // bit 60
  file_[72 + 25] = std::byte{0x01};  // bit 200
  const auto table = Find(table_at);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->sections.size(), 3U);
  EXPECT_THAT(table->lost, ElementsAre(static_cast<FeatureBit>(60), static_cast<FeatureBit>(200)));
}

}  // namespace
}  // namespace perftape::rewrite

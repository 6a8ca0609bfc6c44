// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/recovered_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/convert/rewrite/recovered.h"
#include "tests/support/matchers.h"

namespace perftape::rewrite {
namespace {

using perfdata::Container;
using perfdata::FeatureBit;
using perfdata::PerfDataBuilder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(RecoveredLayout, OfAGoodFileNeedsNoCorrection) {
  const PerfDataBuilder builder = SmallRecording();
  const std::vector<std::byte> file = builder.Build();
  const Result<RecoveredLayout> layout = RecoverLayout(file);
  ASSERT_THAT(layout, IsOk());
  EXPECT_THAT(layout->corrections, IsEmpty());
  EXPECT_THAT(layout->lost_features, IsEmpty());
  EXPECT_EQ(layout->unclaimed_from, file.size());
  EXPECT_EQ(AsText(layout->stream), AsText(builder.records()));
}

// EVENT_DESC fits the records better than a table without sample fields.
TEST(RecoveredLayout, ChoosesTheAttributesThatFitTheRecords) {
  PerfDataBuilder builder = SmallRecording();
  perfdata::EventDesc description;
  const perfdata::Reader good = builder.Open();
  description.events.assign(good.events().all().begin(), good.events().all().end());
  builder.AddFeature(FeatureBit::kEventDesc, description);
  std::vector<std::byte> file = builder.Build();
  const auto attrs = LoadFixed<std::uint64_t>(file.data() + 24, std::endian::native);
  const auto entry = LoadFixed<std::uint64_t>(file.data() + 16, std::endian::native);
  for (const std::uint64_t at : {attrs, attrs + entry}) {
    std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(at) + 24, 8, std::byte{0});
  }
  const Result<RecoveredLayout> layout = RecoverLayout(file);
  ASSERT_THAT(layout, IsOk());
  EXPECT_EQ(layout->attributes_from, AttributesFrom::kEventDesc);
  EXPECT_THAT(layout->corrections, ElementsAre(HasSubstr("EVENT_DESC")));
}

TEST(RecoveredLayout, UsesIdsOfEventDesc) {
  PerfDataBuilder builder;
  builder.AddEvent({.ids = {101, 102}});
  AddRecords(builder);
  perfdata::EventDesc description;
  const perfdata::Reader good = builder.Open();
  description.events.assign(good.events().all().begin(), good.events().all().end());
  builder.AddFeature(FeatureBit::kEventDesc, description);
  std::vector<std::byte> file = builder.Build();
  const auto attrs = LoadFixed<std::uint64_t>(file.data() + 24, std::endian::native);
  file[attrs + perfdata::EventAttr::kSize + 7] = std::byte{0x7f};  // the section of its ids
  const Result<RecoveredLayout> layout = RecoverLayout(file);
  ASSERT_THAT(layout, IsOk());
  EXPECT_THAT(layout->events[0].ids, ElementsAre(101, 102));
}

TEST(RecoveredLayout, ListsEachEventOfAPipeOnce) {
  const PerfDataBuilder builder = SmallRecording(Container::kPipe);
  std::vector<std::byte> file = builder.Build();
  const Records head = RecordsOf(Bytes(file).subspan(16));
  for (const std::string& record : {head[0], head[1]}) {
    file.insert(file.end(), AsBytes(record).begin(), AsBytes(record).end());
  }
  const Result<RecoveredLayout> layout = RecoverLayout(file);
  ASSERT_THAT(layout, IsOk());
  EXPECT_EQ(layout->events.size(), 2U);
  EXPECT_THAT(layout->corrections, Contains(HasSubstr("ATTR repeats an event")));
}

TEST(RecoveredLayout, OfAPipeFindsAttributesAtItsEnd) {
  const PerfDataBuilder builder = SmallRecording(Container::kPipe);
  std::vector<std::byte> file = builder.Build();
  const Records head = RecordsOf(Bytes(file).subspan(16));
  const std::string attrs = head[0] + head[1];
  file.erase(file.begin() + 16, file.begin() + 16 + static_cast<std::ptrdiff_t>(attrs.size()));
  file.insert(file.end(), AsBytes(attrs).begin(), AsBytes(attrs).end());
  const Result<RecoveredLayout> layout = RecoverLayout(file);
  ASSERT_THAT(layout, IsOk());
  EXPECT_EQ(layout->events.size(), 2U);
  EXPECT_EQ(layout->attributes_from, AttributesFrom::kRecords);
}

TEST(RecoveredLayout, GuessesAttributeSizesInAPipe) {
  const PerfDataBuilder builder = SmallRecording(Container::kPipe);
  for (const std::uint32_t size : {0U, 60000U}) {
    std::vector<std::byte> file = builder.Build();
    std::memcpy(file.data() + 16 + 8 + 4, &size, sizeof size);
    const Result<RecoveredLayout> layout = RecoverLayout(file);
    ASSERT_THAT(layout, IsOk());
    EXPECT_THAT(layout->events[0].ids, ElementsAre(101, 102)) << size;
    EXPECT_THAT(layout->corrections, Contains(HasSubstr("ATTR"))) << size;
  }
}

TEST(RecoveredLayout, TrustsTheHeaderOverTheMagicsByteOrder) {
  std::vector<std::byte> file = SmallRecording().Build();
  std::reverse(file.begin(), file.begin() + 8);
  const Result<RecoveredLayout> layout = RecoverLayout(file);
  ASSERT_THAT(layout, IsOk());
  EXPECT_EQ(layout->order, std::endian::native);
  EXPECT_THAT(layout->corrections, ElementsAre(HasSubstr("the byte order of the magic")));
}

}  // namespace
}  // namespace perftape::rewrite

// SPDX-License-Identifier: Apache-2.0
#include "formats/pprof/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/pprof_reader.h"

namespace perftape::pprof {
namespace {

using testing::ElementsAre;

Profile Written(Writer writer) {
  const Result<std::vector<std::byte>> file = std::move(writer).Finish();
  return ReadProfile(file.value()).value();
}

TEST(Writer, KeepsEachTextOnce) {
  Writer writer;
  EXPECT_EQ(writer.Text(""), 0);
  EXPECT_EQ(writer.Text("cpu"), 1);
  EXPECT_EQ(writer.Text("nanoseconds"), 2);
  EXPECT_EQ(writer.Text("cpu"), 1);
  EXPECT_THAT(Written(std::move(writer)).string_table, ElementsAre("", "cpu", "nanoseconds"));
}

TEST(Writer, GivesTextsThatBecomeEqualOneIndex) {
  Writer writer;
  const StringIndex replaced = writer.Text("x\xff");
  EXPECT_EQ(writer.Text("x\xfe"), replaced);
  EXPECT_EQ(writer.Text("x\xef\xbf\xbd"), replaced);
  EXPECT_THAT(Written(std::move(writer)).string_table, ElementsAre("", "x\xef\xbf\xbd"));
}

TEST(Writer, WritesMessagesInWhateverOrder) {
  Writer writer;
  writer.Add(Sample{.location_ids = {1}, .values = {5}});
  writer.Add(Location{.id = 1, .mapping_id = 1, .address = 0x10, .lines = {{.function_id = 1}}});
  writer.Add(Function{.id = 1, .name = writer.Text("main")});
  writer.Add(Mapping{.id = 1, .memory_limit = 0x1000, .filename = writer.Text("/bin/x")});
  writer.Add(Header{.sample_types = {{writer.Text("samples"), writer.Text("count")}}});
  const Profile profile = Written(std::move(writer));
  EXPECT_THAT(profile.samples[0].values, ElementsAre(5));
  EXPECT_EQ(profile.string_table[static_cast<std::size_t>(profile.functions[0].name)], "main");
  EXPECT_EQ(profile.mappings[0].memory_limit, 0x1000U);
  EXPECT_EQ(profile.header.sample_types.size(), 1U);
}

TEST(Writer, KeepsValuesThatAreZero) {
  Writer writer;
  writer.Add(Header{.sample_types = {{}, {}}});
  writer.Add(Sample{.values = {0, 0}});
  EXPECT_THAT(Written(std::move(writer)).samples[0].values, ElementsAre(0, 0));
}

TEST(Writer, MakesEqualFilesOfEqualProfiles) {
  const auto write = [] {
    Writer writer;
    writer.Add(Header{.sample_types = {{writer.Text("cpu"), 0}}});
    return std::move(writer).Finish().value();
  };
  EXPECT_EQ(write(), write());
}

}  // namespace
}  // namespace perftape::pprof

// SPDX-License-Identifier: Apache-2.0
#include "convert/histogram/histogram.h"

#include <gmock/gmock.h>

#include <string_view>

namespace perftape::histogram {
namespace {

using testing::ElementsAre;

class HistogramTest : public testing::Test {
 protected:
  Frame FrameOf(std::string_view function) {
    const std::uint32_t name = names_.texts.Add(function);
    return {.dso = names_.texts.Add("app"),
            .symbol = names_.symbols.Add({.name = name, .dso = 0, .start = name}),
            .address = name};
  }
  Hit HitOf(std::string_view comm, std::vector<std::string_view> functions, std::uint64_t period) {
    Hit hit{.comm = names_.texts.Add(comm)};
    hit.amounts = {.period = period, .samples = 1};
    hit.leaf = FrameOf(functions.front());
    for (const std::string_view function : functions) hit.chain.push_back(FrameOf(function));
    return hit;
  }
  static const Key* KeyOf(std::string_view word) { return *FindKey("--sort", word); }
  std::vector<std::string> Lines(const Histogram& histogram, const Settings& settings) const {
    std::vector<std::string> lines;
    for (const auto& entry : histogram.entries()) {
      std::string line =
          std::to_string(entry->total.period) + " " + std::to_string(entry->self.period);
      for (const Key* key : settings.text_keys()) line += " " + key->text(entry->hit, names_, {});
      lines.push_back(line);
    }
    return lines;
  }

  NameTable names_;
};

TEST_F(HistogramTest, AddsUpByKeysAndSortsTiesByName) {
  const Settings settings{.sort = {KeyOf("overhead"), KeyOf("comm")},
                          .columns = {KeyOf("overhead"), KeyOf("comm")}};
  Histogram histogram(settings, names_);
  for (const char* comm : {"b", "a", "c", "a", "b"}) {
    Hit hit = HitOf(comm, {"f"}, 1);
    histogram.Add(hit);
  }
  histogram.Sort();
  EXPECT_THAT(Lines(histogram, settings), ElementsAre("2 2 a", "2 2 b", "1 1 c"));
  EXPECT_EQ(histogram.samples(), 5U);
}

TEST_F(HistogramTest, CountsARecursiveFunctionOnce) {
  const Settings settings{.sort = {KeyOf("overhead_children"), KeyOf("sym")},
                          .columns = {KeyOf("sym")},
                          .adds_callees = true,
                          .chain_mode = ChainMode::kGraph,
                          .chain_order = ChainOrder::kCaller};
  Histogram histogram(settings, names_);
  Hit hit = HitOf("app", {"leaf", "f", "f", "main"}, 3);
  histogram.Add(hit);
  histogram.Sort();
  // Callers come first among equals.
  EXPECT_THAT(Lines(histogram, settings), ElementsAre("3 3 [.] leaf", "3 0 [.] main", "3 0 [.] f"));
  EXPECT_EQ(hit.chain.size(), 4U);
}

TEST_F(HistogramTest, AFrameWithoutMappingHasTheLevelOfTheFrameBefore) {
  const Settings settings{.sort = {KeyOf("overhead_children"), KeyOf("sym")},
                          .columns = {KeyOf("sym")},
                          .adds_callees = true};
  Histogram histogram(settings, names_);
  Hit hit = HitOf("app", {"leaf"}, 3);
  hit.leaf.level = hit.chain[0].level = 'k';
  hit.chain.push_back({.address = 0x20});
  histogram.Add(hit);
  histogram.Sort();
  EXPECT_THAT(Lines(histogram, settings),
              testing::UnorderedElementsAre("3 3 [k] leaf", "3 0 [k] 0x0000000000000020"));
}

TEST_F(HistogramTest, PutsEntriesOfAKeyBelowThoseOfTheKeyBefore) {
  const Settings settings{.sort = {KeyOf("overhead"), KeyOf("comm"), KeyOf("sym")},
                          .columns = {KeyOf("overhead"), KeyOf("comm"), KeyOf("sym")},
                          .is_hierarchy = true};
  Histogram histogram(settings, names_);
  for (const char* function : {"f", "g", "g"}) {
    Hit hit = HitOf("app", {function}, 1);
    histogram.Add(hit);
  }
  histogram.Sort();
  ASSERT_EQ(histogram.entries().size(), 1U);
  const Entry& comm = *histogram.entries()[0];
  EXPECT_EQ(comm.self.period, 3U);
  ASSERT_EQ(comm.children.size(), 2U);
  EXPECT_EQ(comm.children[0]->self.period, 2U);
}

TEST_F(HistogramTest, CountsFilteredSamplesOnlyInAllSamples) {
  const Settings settings{.sort = {KeyOf("comm")}, .columns = {KeyOf("comm")}};
  Histogram histogram(settings, names_);
  histogram.AddFiltered(7);
  EXPECT_EQ(histogram.samples(), 0U);
  EXPECT_EQ(histogram.all_samples(), 1U);
  EXPECT_EQ(histogram.all_periods(), 7U);
}

}  // namespace
}  // namespace perftape::histogram

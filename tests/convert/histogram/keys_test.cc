// SPDX-License-Identifier: Apache-2.0
#include "convert/histogram/keys.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"

namespace perftape::histogram {
namespace {

using testing::HasSubstr;

TEST(FindKey, AcceptsBeginningsInTheOrderOfPerf) {
  EXPECT_EQ((*FindKey("--sort", "sym"))->word, "symbol");
  EXPECT_EQ((*FindKey("--sort", "COMM"))->word, "comm");
  EXPECT_EQ((*FindKey("--sort", "p"))->word, "pid");
  EXPECT_EQ((*FindKey("--fields", "over"))->word, "overhead");
}

TEST(FindKey, RefusesWithAReason) {
  EXPECT_THAT(FindKey("--sort", "nosuch"),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("choose from pid, comm, dso")));
  EXPECT_THAT(FindKey("--sort", "symbol_from"),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("perftape-inspect")));
  EXPECT_THAT(FindKey("--sort", ""), FailsWith(ErrorCode::kInvalidArgument, testing::_));
}

TEST(Keys, EachHasAValueOrAReason) {
  for (const Key& key : Keys()) {
    const bool is_text = key.identity != nullptr && key.order != nullptr && key.text != nullptr;
    const bool is_number = key.is_number() && key.amount != nullptr;
    EXPECT_EQ(is_text + is_number + !key.refusal.empty(), 1) << key.word;
  }
}

TEST(Keys, ShowAddressesWithoutAFunction) {
  NameTable names;
  Hit hit{.leaf = {.address = 0x1677}};
  const Key& symbol = **FindKey("--sort", "symbol");
  EXPECT_EQ(symbol.text(hit, names, {}), "[.] 0x0000000000001677");
  hit.leaf.address = 0;
  EXPECT_EQ(symbol.text(hit, names, {}), "[.] 0000000000000000");
  EXPECT_EQ((*FindKey("--sort", "dso"))->text(hit, names, {}), "[unknown]");
}

TEST(Keys, ShowTimesAsPerfDoes) {
  const Hit hit{.time_ns = 15'800'000'001};
  const Key& time = **FindKey("--sort", "time");
  EXPECT_EQ(time.text(hit, {}, {}), "15.800000");
  EXPECT_EQ(time.text(hit, {}, {.nanoseconds = true}), "15.800000001");
}

}  // namespace
}  // namespace perftape::histogram

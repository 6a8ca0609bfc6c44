// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/demangle.h"

#include <gtest/gtest.h>

namespace perftape {
namespace {

TEST(Demangle, ReadsCppAsPerfDoesWithoutParameters) {
  EXPECT_EQ(Demangle("_ZN4Tape4playEi"), "Tape::play");
  EXPECT_EQ(Demangle("_ZNKSt6vectorIiSaIiEE4sizeEv"),
            "std::vector<int, std::allocator<int> >::size");
}

TEST(Demangle, ReadsRustOfBothManglings) {
  EXPECT_EQ(Demangle("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
  EXPECT_EQ(Demangle("_RNvCs15kBYyAo9fc_7mycrate3foo"), "mycrate::foo");
}

TEST(Demangle, CountsClonesAsTheFunction) {
  EXPECT_EQ(Demangle("_ZN4Tape4playEi.cold"), "Tape::play");
}

TEST(Demangle, LeavesOtherNamesAlone) {
  for (const char* name :
       {"", "main", "_start", "_Z", "_R", "_Zebra", "_ZN4Tape", "__libc_start"}) {
    EXPECT_EQ(Demangle(name), name);
  }
}

// f<pair<int, int>, pair<that, that>, pair<that, that>, …>: each argument is a pair of the one
// before with itself.
std::string Doubled(int times) {
  std::string name = "_Z1fISt4pairIiiE";
  for (int i = 0; i < times; ++i) {
    const std::string last = std::string("S") + "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i] + "_";
    name += "S0_I" + last + last + "E";
  }
  return name + "EvT_";
}

TEST(Demangle, LeavesANameThatStandsForGigabytesAlone) {
  EXPECT_EQ(Demangle(Doubled(1)),
            "f<std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int> > >");
  EXPECT_EQ(Demangle(Doubled(30)), Doubled(30));
  EXPECT_EQ(Demangle("_ZN4Tape4playEi"), "Tape::play");
}

}  // namespace
}  // namespace perftape

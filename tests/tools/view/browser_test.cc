// SPDX-License-Identifier: Apache-2.0
#include "tools/view/browser.h"

#include <gtest/gtest.h>

namespace perftape::view_tool {
namespace {

TEST(AddressOf, EscapesWhatAnAddressMustNotContain) {
  EXPECT_EQ(AddressOf("/tmp/perf.data.html"), "file:///tmp/perf.data.html");
  EXPECT_EQ(AddressOf("/a b/#1?.html"), "file:///a%20b/%231%3F.html");
  EXPECT_EQ(AddressOf("/\xc3\xa4"), "file:///%C3%A4");
}

}  // namespace
}  // namespace perftape::view_tool

// SPDX-License-Identifier: Apache-2.0
#include "record/events/value_names.h"

#include <gmock/gmock.h>

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kFormat =
    "ID: 7\n\tfield:int reason;\toffset:8;\tsize:4;\tsigned:1;\n"
    "\nprint fmt: \"%s %s %s\", __print_symbolic(REC->reasons, { 1, \"ANOTHER\" }), "
    "__print_symbolic(REC->reason, { 2, \"NOT_SPECIFIED\" }, { -1, \"ERROR\" }, "
    "{ TCP_LISTEN, \"LISTEN\" }, { 0x10UL, \"SIXTEEN\" }), "
    "(REC->flags & ~3) ? __print_flags((REC->flags & ~3), \"|\", { (1UL << 3), \"SHIFTED\" }, "
    "{ 4, \"FOUR\" }) : \"none\"\n";

TEST(ValueNamesOf, ReadsTheNumbersOfSymbols) {
  EXPECT_THAT(ValueNamesOf(kFormat, "reason"),
              ElementsAre(ValueName{"NOT_SPECIFIED", 2}, ValueName{"ERROR", ~0ULL, true},
                          ValueName{"SIXTEEN", 16}));
  EXPECT_THAT(ValueNamesOf(kFormat, "reasons"), ElementsAre(ValueName{"ANOTHER", 1}));
}

TEST(ValueNamesOf, ReadsTheNumbersOfFlags) {
  EXPECT_THAT(ValueNamesOf(kFormat, "flags"), ElementsAre(ValueName{"FOUR", 4}));
}

TEST(ValueNamesOf, HasNoneForOtherFields) {
  EXPECT_THAT(ValueNamesOf(kFormat, "reas"), IsEmpty());
  EXPECT_THAT(ValueNamesOf("ID: 7\n", "reason"), IsEmpty());
}

TEST(ValueNamesOf, ReadsWhatIsCutAnywhere) {
  for (std::size_t size = 0; size < kFormat.size(); ++size) {
    EXPECT_LE(ValueNamesOf(kFormat.substr(0, size), "reason").size(), 3U);
  }
}

}  // namespace
}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "tools/report/path_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/convert/export/profile_maker.h"

namespace perftape::report_tool {
namespace {

using convert::ProfileMaker;
using testing::ElementsAre;

class PathNamesTest : public testing::Test {
 protected:
  // Returns the own functions of a stack, outermost first.
  std::vector<std::string> OwnFunctions(std::initializer_list<convert::LocationId> frames) {
    made_.builder.Add(convert::Sample{.stack = made_.Calls(frames),
                                      .thread = made_.Runs("app", 1, 1),
                                      .event = made_.Counts("cycles"),
                                      .count = 1,
                                      .period = 1});
    const convert::Profile profile = made_.Make();
    const PathNames names(profile);
    const convert::StackId stack = profile.samples().front().stack;
    std::vector<std::string> functions;
    for (const std::string_view name : names.OwnFunctions(stack)) functions.emplace_back(name);
    EXPECT_EQ(names.InnermostOwn(stack), functions.empty() ? "" : functions.back());
    return functions;
  }

  convert::LocationId App(std::string_view name) { return made_.Frame(app_, ++offset_, {name}); }
  convert::LocationId Libc(std::string_view name) { return made_.Frame(libc_, ++offset_, {name}); }
  convert::LocationId Kernel(std::string_view name) {
    return made_.Frame(kernel_, ++offset_, {name});
  }

  ProfileMaker made_;
  std::uint64_t offset_ = 0;
  convert::MappingId app_ = made_.Map("/usr/bin/app", convert::MappingType::kUser);
  convert::MappingId libc_ = made_.Map("/lib/libc.so.6", convert::MappingType::kUser);
  convert::MappingId kernel_ = made_.Map("[kernel.kallsyms]", convert::MappingType::kKernel);
};

TEST_F(PathNamesTest, AreThoseOfTheProgram) {
  EXPECT_THAT(OwnFunctions({App("_start"), Libc("__libc_start_main"), App("main"), App("handle"),
                            Libc("read"), Kernel("ksys_read")}),
              ElementsAre("main", "handle"));
}

TEST_F(PathNamesTest, AreTheInnermostOneOfALibraryIfTheProgramHasNone) {
  EXPECT_THAT(OwnFunctions({App("_start"), Libc("fread"), Libc("read"), Kernel("ksys_read")}),
              ElementsAre("read"));
}

TEST_F(PathNamesTest, AreTheProgramIfNoFunctionHasAName) {
  EXPECT_THAT(OwnFunctions({App("_start"), Libc("__libc_start_call_main"), made_.Frame(app_, 99)}),
              ElementsAre("[app]"));
}

TEST_F(PathNamesTest, AreNoneOfTheKernel) {
  EXPECT_THAT(OwnFunctions({Kernel("kthread"), Kernel("worker_thread")}), ElementsAre());
}

TEST(ChainOf, HasTheLastNames) {
  EXPECT_EQ(ChainOf({"a", "b", "c"}, 2), "b;c");
  EXPECT_EQ(ChainOf({"a"}, 2), "a");
  EXPECT_EQ(ChainOf({}, 2), "");
}

}  // namespace
}  // namespace perftape::report_tool

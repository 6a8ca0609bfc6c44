// SPDX-License-Identifier: Apache-2.0
#include "formats/perf_map/jit_runtimes.h"

#include <gmock/gmock.h>

#include <string_view>

namespace perftape::perf_map {
namespace {

std::string_view NameOf(std::string_view path_or_comm) {
  const JitRuntime* const runtime = FindJitRuntime(path_or_comm);
  return runtime == nullptr ? "" : runtime->name;
}

TEST(FindJitRuntime, KnowsBinariesWithVersions) {
  EXPECT_EQ(NameOf("/usr/bin/node"), "Node.js");
  EXPECT_EQ(NameOf("/usr/lib/jvm/java-17/lib/server/libjvm.so"), "Java");
  EXPECT_EQ(NameOf("/usr/sbin/php-fpm8.2"), "PHP");
  EXPECT_EQ(NameOf("/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2"), "Ruby");
  EXPECT_EQ(NameOf("/usr/bin/python3.11"), "Python");
  EXPECT_EQ(NameOf("/usr/lib/x86_64-linux-gnu/libluajit-5.1.so.2"), "LuaJIT");
  EXPECT_EQ(NameOf("/usr/share/dotnet/shared/libcoreclr.so"), ".NET");
  EXPECT_EQ(NameOf("/usr/bin/mono-sgen"), "Mono");
}

TEST(FindJitRuntime, KnowsThreads) {
  EXPECT_EQ(NameOf("beam.smp"), "Erlang");
  EXPECT_EQ(NameOf("java"), "Java");
}

TEST(FindJitRuntime, IsNothingForOtherPrograms) {
  for (const char* other : {"/usr/bin/nodejsgate", "/bin/monolith", "/usr/bin/javac", "", "/",
                            "/usr/lib/node/addon.node", "phpstorm"}) {
    EXPECT_EQ(NameOf(other), "") << other;
  }
}

TEST(NamingAdvice, NamesEachSwitch) {
  EXPECT_THAT(NamingAdvice({FindJitRuntime("node"), FindJitRuntime("php")}),
              testing::AllOf(testing::HasSubstr("perf map or jitdump"),
                             testing::HasSubstr("with node --perf-basic-prof, or php -d")));
  EXPECT_THAT(NamingAdvice({}), testing::HasSubstr("perftape(7)"));
}

}  // namespace
}  // namespace perftape::perf_map

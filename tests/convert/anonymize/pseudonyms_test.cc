// SPDX-License-Identifier: Apache-2.0
#include "convert/anonymize/pseudonyms.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"

namespace perftape::anonymize {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

const NameKey& Key() {
  static const NameKey key = NameKey::FromSecret(AsBytes("0123456789abcdef")).value();
  return key;
}

TEST(NameKey, NeedsASecretThatCannotBeGuessed) {
  EXPECT_THAT(NameKey::FromSecret(AsBytes("0123456789abcde")),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("15 bytes")));
  EXPECT_THAT(NameKey::FromSecret(AsBytes(std::string(4096, 'x'))), IsOk());
}

// BLAKE2b with the key BLAKE2b-256("0123456789abcdef") of "\x02" "fn" "main", as Python's hashlib
// computes it. The words of a key must be the same in later versions.
TEST(Pseudonyms, AreTheKeyedHashesOfBlake2b) {
  EXPECT_EQ(Pseudonyms(Key()).Word("fn", "main"), "fn_fedab4dacee8");
}

TEST(Pseudonyms, DependOnNameKindAndKey) {
  const Pseudonyms words(Key());
  EXPECT_THAT(words.Word("fn", "main"), MatchesRegex("fn_[0-9a-f]{12}"));
  EXPECT_EQ(words.Word("fn", "main"), words.Word("fn", "main"));
  EXPECT_NE(words.Word("fn", "main"), words.Word("fn", "main2"));
  EXPECT_NE(words.Word("fn", "main").substr(3), words.Word("xy", "main").substr(3));
  const NameKey other = NameKey::FromSecret(AsBytes("0123456789abcdeF")).value();
  EXPECT_NE(words.Word("fn", "main"), Pseudonyms(other).Word("fn", "main"));
  EXPECT_EQ(words.Word("fn", ""), "");
}

TEST(Pseudonyms, OfPathsKeepTheirShape) {
  const Pseudonyms words(Key());
  EXPECT_THAT(words.Path("/usr/lib/x.so"),
              MatchesRegex("/p_[0-9a-f]{12}/p_[0-9a-f]{12}/p_[0-9a-f]{12}"));
  EXPECT_EQ(words.Path("/usr/bin").substr(0, 15), words.Path("/usr/lib").substr(0, 15));
  EXPECT_EQ(words.Path("/opt/app (deleted)"), words.Path("/opt/app") + " (deleted)");
  EXPECT_THAT(words.Path("../a//b/"), MatchesRegex("p_[0-9a-f]{12}/p_[^/]*//p_[^/]*/"));
  EXPECT_EQ(words.Path(""), "");
  EXPECT_EQ(words.Path("/"), "/");
}

TEST(Pseudonyms, LeaveTheNamesOfTheKernelAndOfMemoryWithoutAFile) {
  const Pseudonyms words(Key());
  for (const std::string_view name :
       {"", "[kernel.kallsyms]", "[guest.kernel.kallsyms]", "[vdso]", "[heap]", "[stack]", "//anon",
        "[vsyscall]", "[unknown]", "/tmp/perf-42.map"}) {
    EXPECT_EQ(words.MappingName(name), name);
  }
  EXPECT_EQ(words.MappingName("[kernel.kallsyms]_text"), "[kernel.kallsyms]");
  EXPECT_EQ(words.MappingName("/boot/vmlinux-6.1-acme"), "[kernel.kallsyms]");
  EXPECT_EQ(words.MappingName("/home/acme/perf-42.map"), "/tmp/perf-42.map");
}

TEST(Pseudonyms, HideWhatFollowsAKnownName) {
  const Pseudonyms words(Key());
  for (const std::string_view name :
       {"[acme]", "/lib/modules/6.1/acme.ko.xz", "[anon:acme]", "anon_inode:[acme]",
        "/memfd:acme (deleted)", "//acme", "/dev/acme", "/dev/zero acme", "/SYSV0 acme",
        "[heap acme]", "[stack acme]", "[vsyscall acme]", "[vdso acme]", "[kernel.acme]",
        "[guest.kernel.acme]", "/usr/lib/acme", "acme"}) {
    EXPECT_THAT(words.MappingName(name), Not(HasSubstr("acme")));
  }
}

TEST(Pseudonyms, OfFramesWithoutANameAreThoseOfTheirFile) {
  const Pseudonyms words(Key());
  EXPECT_EQ(words.FunctionName("[unknown]"), "[unknown]");
  EXPECT_EQ(words.FunctionName("[vdso]"), "[vdso]");
  EXPECT_THAT(words.Path("/usr/lib/libc.so.6") + "]",
              EndsWith(words.FunctionName("[libc.so.6]").substr(1)));
  EXPECT_THAT(words.FunctionName("operator[]"), MatchesRegex("fn_[0-9a-f]{12}"));
}

TEST(Pseudonyms, OfBuildIdsHaveTheirSize) {
  const Pseudonyms words(Key());
  const std::string sha1(40, 'a');
  EXPECT_THAT(words.BuildId(sha1), MatchesRegex("[0-9a-f]{40}"));
  EXPECT_NE(words.BuildId(sha1), sha1);
  EXPECT_EQ(words.BuildId("0123456789abcdef").size(), 16);
  EXPECT_EQ(words.BuildId(""), "");
}

TEST(Pseudonyms, LeaveEventsThatTheKernelPerfAndPprofHave) {
  const Pseudonyms words(Key());
  for (const std::string_view name :
       {"cycles", "cpu-clock:u", "cycles:ppp", "sched:sched_switch", "syscalls:sys_enter_openat",
        "alloc_space", "latency", "L1-dcache-load-misses", "offcpu-time", "raw 0x1c2",
        "tracepoint:47"}) {
    EXPECT_EQ(words.EventName(name), name);
  }
  for (const std::string_view name :
       {"probe_acme:work", "acme:work", "probe:do_sys_open", "sdt_acme:hit", "requests",
        "uprobe:/usr/bin/acme:work", "usdt:acme:hit", "cpu/config=1,name=acme/", "cycles:acme",
        "L1-dcache-acme", "sched:Acme::Work", "raw acme", "tracepoint:acme"}) {
    EXPECT_THAT(words.EventName(name), MatchesRegex("event_[0-9a-f]{12}"));
  }
  EXPECT_EQ(words.EventName(""), "");
}

TEST(Pseudonyms, LeaveUnitsOfTimesSizesAndCounts) {
  const Pseudonyms words(Key());
  for (const std::string_view unit : {"", "nanoseconds", "bytes", "count"}) {
    EXPECT_EQ(words.UnitName(unit), unit);
  }
  EXPECT_THAT(words.UnitName("orders"), MatchesRegex("unit_[0-9a-f]{12}"));
}

TEST(Pseudonyms, OfCommentsHideHostAndCommand) {
  const Pseudonyms words(Key());
  EXPECT_EQ(words.Comment("arch: x86_64"), "arch: x86_64");
  EXPECT_EQ(words.Comment("os release: 6.1.0-18-acme"), "os release: 6.1.0");
  EXPECT_EQ(words.Comment("os release: acme"), "");
  EXPECT_EQ(words.Comment("perf version: 6.1.acme"), "perf version: 6.1");
  EXPECT_THAT(words.Comment("hostname: acme"), MatchesRegex("hostname: host_[0-9a-f]{12}"));
  EXPECT_THAT(words.Comment("command line: perf  record -a"),
              MatchesRegex("command line: arg_[0-9a-f]{12} arg_[0-9a-f]{12} arg_[0-9a-f]{12}"));
  EXPECT_EQ(words.Comment("built by acme"), "");
}

}  // namespace
}  // namespace perftape::anonymize

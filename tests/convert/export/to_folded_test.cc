// SPDX-License-Identifier: Apache-2.0
#include "convert/export/to_folded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/convert/export/profile_maker.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

std::string Folded(const Profile& profile, const FoldedOptions& options = {}) {
  const TempDir directory;
  OutputFile out = OutputFile::Create(directory / "out.folded").value();
  EXPECT_TRUE(WriteFolded(profile, options, out));
  EXPECT_TRUE(std::move(out).Commit());
  return ReadWholeFile(directory / "out.folded").value();
}

TEST(WriteFolded, PutsTheCommBelowTheStack) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "f"}), made.Runs("app"), made.Counts("cycles"), 3);
  EXPECT_EQ(Folded(made.Make()), "app;main;f 3\n");
}

TEST(WriteFolded, LeavesTheCommOutWhenAsked) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main"}), made.Runs("a"), cycles, 3);
  made.Hit(made.Calls({"main"}), made.Runs("b"), cycles, 4);
  EXPECT_EQ(Folded(made.Make(), {.root = folded::Root::kNone}), "main 7\n");
}

TEST(WriteFolded, SortsLines) {
  ProfileMaker made;
  const ThreadId app = made.Runs("app");
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main", "z"}), app, cycles, 1);
  made.Hit(made.Calls({"main"}), app, cycles, 2);
  made.Hit(made.Calls({"main", "a", "x"}), app, cycles, 3);
  EXPECT_EQ(Folded(made.Make()), "app;main 2\napp;main;a;x 3\napp;main;z 1\n");
}

TEST(WriteFolded, JoinsWhatIsWrittenAlike) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const MappingId app = made.Map("/bin/app");
  made.Hit(made.Calls({made.Frame(app, 0x10, {"f"})}), made.Runs("app", 1, 1), cycles, 1);
  made.Hit(made.Calls({made.Frame(app, 0x20, {"f"})}), made.Runs("app", 2, 2), cycles, 2);
  EXPECT_EQ(Folded(made.Make()), "app;f 3\n");
}

TEST(WriteFolded, JoinsAnInlinedCallWithARealOneOfTheSameNames) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const ThreadId thread = made.Runs("app");
  const MappingId app = made.Map("/bin/app");
  made.Hit(made.Calls({made.Frame(app, 0x10, {"inner", "outer"})}), thread, cycles, 1);
  made.Hit(made.Calls({"outer", "inner"}), thread, cycles, 2);
  EXPECT_EQ(Folded(made.Make()), "app;outer;inner 3\n");
}

TEST(WriteFolded, NamesTheFileOfAFrameWithoutName) {
  ProfileMaker made;
  const StackId stack = made.Calls(
      {made.Frame(made.Map("/usr/lib/libc.so.6"), 0x10), made.Frame(MappingId{}, 0xdead),
       made.Frame(made.Map("[vdso]"), 0x10), made.Frame(made.Map("/bin/x"), 0x10, {""})});
  made.Hit(stack, made.Runs("app"), made.Counts("cycles"), 1);
  EXPECT_EQ(Folded(made.Make()), "app;[libc.so.6];[unknown];[vdso];[x] 1\n");
}

TEST(WriteFolded, MarksKernelFramesWhenAsked) {
  ProfileMaker made;
  const MappingId kernel = made.Map("[kernel.kallsyms]", MappingKind::kKernel);
  made.Hit(made.Calls({made.Frame("main"), made.Frame(kernel, 0x10, {"do_syscall_64"}),
                       made.Frame(kernel, 0x20)}),
           made.Runs("app"), made.Counts("cycles"), 1);
  const Profile profile = made.Make();
  EXPECT_EQ(Folded(profile), "app;main;do_syscall_64;[kernel.kallsyms] 1\n");
  EXPECT_EQ(Folded(profile, {.mark_kernel = true}),
            "app;main;do_syscall_64_[k];[kernel.kallsyms]_[k] 1\n");
}

TEST(WriteFolded, CountsPeriodsWhenAsked) {
  ProfileMaker made;
  made.Hit(made.Calls({"main"}), made.Runs("app"), made.Counts("cycles"), 3, 3000);
  made.Hit(made.Calls({"idle"}), made.Runs("app"), made.Counts("cycles"), 1, 0);
  EXPECT_EQ(Folded(made.Make(), {.value = FoldedValue::kPeriod}), "app;main 3000\n");
}

TEST(WriteFolded, WritesTheFirstEventThatWasSampled) {
  ProfileMaker made;
  made.Counts("dummy");
  const EventId cycles = made.Counts("cycles");
  const EventId faults = made.Counts("faults");
  made.Hit(made.Calls({"f"}), made.Runs("app"), faults, 5);
  made.Hit(made.Calls({"f"}), made.Runs("app"), cycles, 2);
  const Profile profile = made.Make();
  EXPECT_EQ(FirstSampledEvent(profile), cycles);
  EXPECT_EQ(Folded(profile), "app;f 2\n");
  EXPECT_EQ(Folded(profile, {.event = faults}), "app;f 5\n");
}

TEST(WriteFolded, ChangesWhatTheFormatCannotHold) {
  ProfileMaker made;
  made.Hit(made.Calls({"a;b", "line\nend", "id 7"}), made.Runs("my app"), made.Counts("cycles"), 1);
  EXPECT_EQ(Folded(made.Make()), "my app;a:b;line end;id 7_ 1\n");
}

TEST(WriteFolded, KeepsSamplesWithoutFrames) {
  ProfileMaker made;
  made.Hit({}, made.Runs("app"), made.Counts("cycles"), 2);
  const Profile profile = made.Make();
  EXPECT_EQ(Folded(profile), "app 2\n");
  EXPECT_EQ(Folded(profile, {.root = folded::Root::kNone}), "[unknown] 2\n");
}

TEST(WriteFolded, StopsSumsAtTheLargestNumber) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"f"}), made.Runs("app", 1, 1), cycles,
           std::numeric_limits<std::int64_t>::max());
  made.Hit(made.Calls({"f"}), made.Runs("app", 1, 2), cycles, 2);
  EXPECT_EQ(Folded(made.Make()), "app;f 9223372036854775807\n");
}

TEST(WriteFolded, WritesNothingOfAnEmptyProfile) {
  EXPECT_EQ(Folded(Profile()), "");
}

}  // namespace
}  // namespace perftape

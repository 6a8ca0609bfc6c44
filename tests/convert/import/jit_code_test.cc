// SPDX-License-Identifier: Apache-2.0
#include "convert/import/jit_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "convert/import/from_perfdata.h"
#include "tests/support/bytes_input.h"
#include "tests/support/jitdump_builder.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"
#include "tests/support/profile_check.h"

namespace perftape::convert {
namespace {

using perfdata::PerfDataBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::uint64_t kCode = 0x7f0000001000;

// A recording on CLOCK_MONOTONIC of a process 7 that has anonymous memory at kCode and maps its
// jitdump.
class Recording {
 public:
  explicit Recording(std::uint64_t flags = perfdata::kSampleIdAll | perfdata::kUseClockid) {
    file_.AddEvent({.flags = flags});
    file_.AddMmap(
        {.pid = 7, .tid = 7, .start = kCode, .length = 0x10000, .path = "//anon", .time = 2});
    file_.AddMmap({.pid = 7, .tid = 7, .start = 0x10000, .path = "/tmp/jit-7.dump", .time = 3});
  }
  PerfDataBuilder& file() { return file_; }
  void AddSample(std::uint64_t time, std::uint64_t ip) {
    file_.AddSample({.ip = ip, .pid = 7, .tid = 7, .time = time});
  }

  // Returns the locations of samples, as "NAME FILE:LINE in MAPPING count".
  std::vector<std::string> Import(const JitDumpBuilder& dump, std::string_view directory = "/tmp") {
    std::vector<std::byte> bytes = file_.Build();
    SetClock(bytes);
    ImportOptions options;
    options.find_jit_dump = [&](const std::string& path, std::uint32_t pid) {
      asked_.push_back(path + " of " + std::to_string(pid));
      if (directory != "/tmp") return Result<JitDumpBytes>(Fail(ErrorCode::kNotFound, "not there"));
      return Result<JitDumpBytes>(JitDumpBytes{.bytes = dump.bytes(), .keeper = {}});
    };
    BytesInput input(bytes);
    const auto profile = ReadPerfData(input, options, report_);
    if (!profile) throw std::runtime_error(profile.error().message);
    EXPECT_THAT(Validate(*profile), IsOk());
    std::vector<std::string> shown;
    for (const Sample& sample : profile->samples()) {
      const Location& leaf = (*profile)[(*profile)[sample.stack].leaf];
      std::string text = "?";
      if (!leaf.lines.empty()) {
        const Function& function = (*profile)[leaf.lines[0].function];
        text = std::string(profile->text(function.name)) + " " +
               std::string(profile->text(function.filename)) + ":" +
               std::to_string(leaf.lines[0].number);
        symbol_offsets_.insert(leaf.symbol_offset);
      }
      const Mapping& mapping = (*profile)[leaf.mapping];
      shown.push_back(text + " in " + std::string(profile->text(mapping.filename)) + " " +
                      std::to_string(sample.count));
    }
    return shown;
  }
  const ImportReport& report() const { return report_; }
  const std::vector<std::string>& asked() const { return asked_; }
  const std::set<std::optional<std::uint64_t>>& symbol_offsets() const { return symbol_offsets_; }

 private:
  // Sets the clock id, which the builder leaves 0, in the only attribute. The file header has its
  // offset.
  static void SetClock(std::vector<std::byte>& bytes) {
    constexpr std::size_t kAttributes = 24, kClockid = 92;
    const auto attribute = LoadFixed<std::uint64_t>(&bytes[kAttributes], std::endian::native);
    bytes[attribute + kClockid] = std::byte{1};
  }

  PerfDataBuilder file_;
  ImportReport report_;
  std::vector<std::string> asked_;
  std::set<std::optional<std::uint64_t>> symbol_offsets_;
};

JitDumpBuilder TwoInOnePlace() {
  JitDumpBuilder dump;
  dump.AddLoad({.time = 10, .address = kCode, .size = 0x40, .index = 1, .name = "first"});
  dump.AddLoad({.time = 20, .address = kCode, .size = 0x40, .index = 2, .name = "second"});
  return dump;
}

TEST(JitCode, NamesASampleByWhatWasThereAtItsTime) {
  Recording recording;
  recording.AddSample(5, kCode + 8);
  recording.AddSample(15, kCode + 8);
  recording.AddSample(16, kCode + 8);
  recording.AddSample(25, kCode + 8);
  recording.AddSample(26, kCode + 0x48);
  EXPECT_THAT(recording.Import(TwoInOnePlace()),
              UnorderedElementsAre("? in //anon 1", "first :0 in /tmp/jit-7.dump 2",
                                   "second :0 in /tmp/jit-7.dump 1", "? in //anon 1"));
  EXPECT_EQ(recording.report().jit_dumps, 1U);
  EXPECT_EQ(recording.report().jit_functions, 2U);
  EXPECT_THAT(recording.asked(), ElementsAre("/tmp/jit-7.dump of 7"));
  EXPECT_THAT(recording.symbol_offsets(), ElementsAre(8));
}

TEST(JitCode, NamesSamplesThatPrecedeOlderOnes) {
  Recording recording;
  recording.AddSample(25, kCode);
  recording.AddSample(15, kCode);
  EXPECT_THAT(
      recording.Import(TwoInOnePlace()),
      UnorderedElementsAre("first :0 in /tmp/jit-7.dump 1", "second :0 in /tmp/jit-7.dump 1"));
}

TEST(JitCode, StaysWhereMemoryWithoutAFileIsMappedOverIt) {
  Recording recording;
  recording.file().AddMmap(
      {.pid = 7, .tid = 7, .start = kCode, .length = 0x1000, .path = "//anon", .time = 12});
  recording.AddSample(15, kCode);
  EXPECT_THAT(recording.Import(TwoInOnePlace()), ElementsAre("first :0 in /tmp/jit-7.dump 1"));
}

TEST(JitCode, IsGoneWhereAFileIsMappedOverIt) {
  Recording recording;
  recording.file().AddMmap(
      {.pid = 7, .tid = 7, .start = kCode, .length = 0x1000, .path = "/lib/a.so", .time = 12});
  recording.AddSample(15, kCode);
  EXPECT_THAT(recording.Import(TwoInOnePlace()), ElementsAre("? in /lib/a.so 1"));
}

TEST(JitCode, IsGoneAfterExec) {
  Recording recording;
  recording.file().AddComm(
      {.pid = 7, .tid = 7, .comm = "other", .time = 12, .misc = perfdata::kMiscCommExec});
  recording.AddSample(15, kCode);
  EXPECT_THAT(recording.Import(TwoInOnePlace()), ElementsAre("? in  1"));
}

TEST(JitCode, IsInheritedByAForkedProcess) {
  Recording recording;
  recording.file().AddFork({.pid = 8, .ppid = 7, .tid = 8, .ptid = 7, .time = 12});
  recording.file().AddSample({.ip = kCode, .pid = 8, .tid = 8, .time = 15});
  EXPECT_THAT(recording.Import(TwoInOnePlace()), ElementsAre("first :0 in /tmp/jit-7.dump 1"));
}

TEST(JitCode, HasLinesButNotThoseOfOtherFiles) {
  JitDumpBuilder dump;
  dump.AddLines(
      kCode,
      {{kCode, 3, 1, "/a.js"}, {kCode + 8, 4, 1, "/a.js"}, {kCode + 16, 99, 1, "/inlined.js"}});
  dump.AddLoad({.time = 10, .address = kCode, .size = 0x40, .index = 1, .name = "f"});
  Recording recording;
  recording.AddSample(15, kCode + 9);
  recording.AddSample(16, kCode + 17);
  EXPECT_THAT(recording.Import(dump), UnorderedElementsAre("f /a.js:4 in /tmp/jit-7.dump 1",
                                                           "f /a.js:0 in /tmp/jit-7.dump 1"));
}

TEST(JitCode, IsNotUsedOnAnotherClock) {
  Recording recording(perfdata::kSampleIdAll);
  recording.AddSample(15, kCode);
  EXPECT_THAT(recording.Import(TwoInOnePlace()), ElementsAre("? in //anon 1"));
  EXPECT_THAT(recording.report().notes, ElementsAre(HasSubstr("perf record -k mono")));
  EXPECT_THAT(recording.asked(), IsEmpty());
}

TEST(JitCode, ReportsAMissingDump) {
  Recording recording;
  recording.AddSample(15, kCode);
  EXPECT_THAT(recording.Import(TwoInOnePlace(), "nowhere"), ElementsAre("? in //anon 1"));
  EXPECT_THAT(recording.report().notes, ElementsAre("not there"));
}

}  // namespace
}  // namespace perftape::convert

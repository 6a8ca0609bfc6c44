// SPDX-License-Identifier: Apache-2.0
#include "record/events/plan_probes.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <string>

#include "record/events/event_list.h"
#include "tests/support/elf_builder.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Word(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string TickNote(std::uint64_t location) {
  return ElfNote("stapsdt\0"s, 3, Word(location) + Word(0) + Word(0x403000) + "app\0tick\0\0"s);
}

// A program with functions at file offset = address - 0x400000, and one USDT probe in two places.
class PlanProbesTest : public testing::Test {
 protected:
  void SetUp() override {
    ElfBuilder elf;
    const auto text = elf.AddSection({.name = ".text",
                                      .flags = SHF_ALLOC | SHF_EXECINSTR,
                                      .address = 0x401000,
                                      .size = 0x400,
                                      .contents = "\x55",
                                      .offset = 0x1000});
    elf.AddSection({.name = ".probes",
                    .flags = SHF_ALLOC | SHF_WRITE,
                    .address = 0x403000,
                    .size = 16,
                    .offset = 0x3000});
    elf.AddSection({.name = ".note.stapsdt",
                    .type = SHT_NOTE,
                    .contents = TickNote(0x401010) + TickNote(0x401110)});
    elf.AddSegment({.offset = 0x1000, .address = 0x401000, .size = 0x400});
    elf.AddSegment({.offset = 0x3000, .address = 0x403000, .size = 16, .flags = PF_R | PF_W});
    elf.AddSymbol({.name = "allocate", .value = 0x401000, .size = 0x40, .section = text});
    elf.AddSymbol({.name = "__allocate", .value = 0x401000, .size = 0x40, .section = text});
    elf.AddSymbol({.name = "_ZN2ns4sortEi", .value = 0x401100, .size = 0x40, .section = text});
    for (const std::uint64_t value : {0x401200, 0x401240}) {
      elf.AddSymbol(
          {.name = "helper", .value = value, .size = 0x40, .section = text, .binding = STB_LOCAL});
    }
    elf.AddSymbol({.name = "chosen",
                   .value = 0x401300,
                   .size = 0x40,
                   .section = text,
                   .type = STT_GNU_IFUNC});
    elf.AddSymbol({.name = "chosen_fast", .value = 0x401340, .size = 0x40, .section = text});
    path_ = root_.path() / "program";
    const std::vector<std::byte> image = elf.Build();
    ASSERT_TRUE(WriteFile(image));
  }

  bool WriteFile(const std::vector<std::byte>& image) const {
    std::FILE* file = std::fopen(path_.c_str(), "wb");
    const bool is_written = std::fwrite(image.data(), 1, image.size(), file) == image.size();
    return std::fclose(file) == 0 && is_written;
  }

  // `probe` is "uprobe:@:f": @ is the program.
  Result<std::vector<PlannedEvent>> Plan(std::string probe) const {
    return PlanProbes(ParseEvents(WithPath(std::move(probe))).value().front(), machine_);
  }

  std::string WithPath(std::string probe) const {
    const std::size_t at = probe.find('@');
    return at == std::string::npos ? probe : probe.replace(at, 1, path_.string());
  }

  std::vector<std::uint64_t> OffsetsOf(std::string probe) const {
    const Result<std::vector<PlannedEvent>> events = Plan(std::move(probe));
    if (!events || events->size() != 1) return {};
    std::vector<std::uint64_t> offsets;
    for (const ProbeLocation& location : events->front().locations) {
      EXPECT_EQ(location.target, path_.string());
      offsets.push_back(location.offset);
    }
    return offsets;
  }

  std::string ErrorOf(std::string probe) const {
    const Result<std::vector<PlannedEvent>> events = Plan(std::move(probe));
    return events ? "" : events.error().message;
  }

  TempDir root_;
  std::filesystem::path path_;
  EventMachine machine_{.tracefs = {},
                        .try_to_open = {},
                        .check_probe_kind = [](ProbeKind) { return Status(); },
                        .try_to_probe = [](const ProbeLocation&) { return Status(); },
                        .kernel_functions =
                            [] {
                              return Result<std::vector<std::string>>({"vfs_read", "vfs_write"});
                            }};
};

TEST_F(PlanProbesTest, AFunctionIsAnOffsetInTheFile) {
  EXPECT_THAT(OffsetsOf("uprobe:@:allocate"), ElementsAre(0x1000));
  EXPECT_THAT(OffsetsOf("uprobe:@:allocate+0x3f"), ElementsAre(0x103f));
  EXPECT_THAT(OffsetsOf("uretprobe:@:allocate"), ElementsAre(0x1000));
}

TEST_F(PlanProbesTest, TheEventHasTheNameWithThePathAndItsSettings) {
  const PlannedEvent event = Plan("uprobe:@:allocate/every=7/").value().front();
  EXPECT_EQ(event.name, "uprobe:" + path_.string() + ":allocate");
  EXPECT_EQ(event.cause, SampleCause::kProbe);
  EXPECT_EQ(event.settings.every, 7U);
  EXPECT_EQ(event.settings.flags, WIRE_AT_ENTRY | WIRE_PUSHES_FP);
  EXPECT_EQ(event.attr.config, perfdata::kSoftwareBpfOutput);
  EXPECT_EQ(event.attr.sample_period, 7U);
}

TEST_F(PlanProbesTest, OnlyTheEntryOfAFunctionHasItsReturnAddressOnTop) {
  EXPECT_EQ(Plan("uprobe:@:helper").value().front().settings.flags, WIRE_AT_ENTRY);
  EXPECT_EQ(Plan("uprobe:@:allocate+1").value().front().settings.flags, 0);
  EXPECT_EQ(Plan("uretprobe:@:allocate").value().front().settings.flags, 0);
  EXPECT_EQ(Plan("usdt:@:app:tick").value().front().settings.flags, 0);
}

TEST_F(PlanProbesTest, AllFunctionsOfANameAreOneEvent) {
  EXPECT_THAT(OffsetsOf("uprobe:@:helper"), ElementsAre(0x1200, 0x1240));
}

TEST_F(PlanProbesTest, CppNamesAreMangledOrReadable) {
  for (const char* name : {"_ZN2ns4sortEi", "ns::sort", "ns::sort(int)"}) {
    EXPECT_THAT(OffsetsOf(std::string("uprobe:@:") + name), ElementsAre(0x1100)) << name;
  }
}

TEST_F(PlanProbesTest, AUsdtProbeHasAllItsLocationsAndTheSemaphore) {
  EXPECT_THAT(OffsetsOf("usdt:@:app:tick"), ElementsAre(0x1010, 0x1110));
  EXPECT_EQ(Plan("usdt:@:app:tick").value().front().locations.front().semaphore_offset, 0x3000U);
  EXPECT_THAT(OffsetsOf("usdt:@:*:t*"), ElementsAre(0x1010, 0x1110));
}

TEST_F(PlanProbesTest, AGlobHasOneNameForEachAddress) {
  std::vector<std::string> names;
  const std::vector<PlannedEvent> events = Plan("uprobe:@:*[ae]*").value();
  for (const PlannedEvent& event : events) {
    names.push_back(event.name.substr(event.name.rfind(':') + 1));
  }
  EXPECT_THAT(names, ElementsAre("allocate", "chosen_fast", "helper"));
}

TEST_F(PlanProbesTest, KernelFunctionsMustBeThere) {
  const PlannedEvent event = Plan("kprobe:vfs_read+4").value().front();
  EXPECT_EQ(event.name, "kprobe:vfs_read+0x4");
  EXPECT_EQ(event.locations.front().target, "vfs_read");
  EXPECT_EQ(Plan("kprobe:vfs_*").value().size(), 2U);
  EXPECT_THAT(ErrorOf("kprobe:vfs_raed"), HasSubstr("did you mean vfs_read?"));
}

TEST_F(PlanProbesTest, MessagesNameTheFileAndWhatIsNear) {
  EXPECT_THAT(ErrorOf("uprobe:@:alocate"),
              AllOf(HasSubstr("no function 'alocate' in " + path_.string()),
                    HasSubstr("did you mean allocate?")));
  EXPECT_THAT(ErrorOf("usdt:@:app:tok"), HasSubstr("no USDT probe 'app:tok' in"));
  EXPECT_THAT(ErrorOf("uprobe:@:allocate+0x40"), HasSubstr("has 64 bytes"));
  EXPECT_THAT(ErrorOf("uprobe:@:chosen"),
              AllOf(HasSubstr("IFUNC"), HasSubstr("such as chosen_fast")));
  EXPECT_THAT(ErrorOf("uprobe:@:allocate/freq=9/"), HasSubstr("a probe has no frequency"));
  EXPECT_THAT(ErrorOf("uprobe:@:allocate/if=a==1/"), HasSubstr("a probe has no fields"));
  EXPECT_THAT(ErrorOf("uprobe:/etc/hostname:main"), HasSubstr("/etc/hostname"));
}

TEST_F(PlanProbesTest, AReturnProbeOfGoIsRefusedWithTheRemedy) {
  ElfBuilder elf;
  const auto text = elf.AddSection({.name = ".text",
                                    .flags = SHF_ALLOC | SHF_EXECINSTR,
                                    .address = 0x401000,
                                    .size = 0x400,
                                    .offset = 0x1000});
  elf.AddSection({.name = ".note.go.buildid", .type = SHT_NOTE, .contents = "id"});
  elf.AddSegment({.offset = 0x1000, .address = 0x401000, .size = 0x400});
  elf.AddSymbol({.name = "main.work", .value = 0x401000, .size = 0x40, .section = text});
  ASSERT_TRUE(WriteFile(elf.Build()));
  for (const char* probe : {"uretprobe:@:main.work", "uretprobe:@:main.*"}) {
    EXPECT_THAT(ErrorOf(probe), AllOf(HasSubstr("is a Go function"),
                                      HasSubstr("uprobe:" + path_.string() + ":main.work")));
  }
  EXPECT_FALSE(ListEvents(WithPath("uretprobe:@:main"), machine_));
  EXPECT_THAT(OffsetsOf("uprobe:@:main.work"), ElementsAre(0x1000));
}

TEST_F(PlanProbesTest, TheListHasWhatMatches) {
  const Result<std::vector<ListedEvent>> events = ListEvents(WithPath("uprobe:@:alloc"), machine_);
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 1U);
  EXPECT_EQ(events->front().name, WithPath("uprobe:@:allocate"));
  EXPECT_THAT(ListEvents(WithPath("usdt:@:*"), machine_).value().front().name,
              HasSubstr(":app:tick"));
  EXPECT_FALSE(ListEvents("uprobe:/no/such:f", machine_));
}

TEST_F(PlanProbesTest, AKernelWithoutThemIsTold) {
  machine_.check_probe_kind = [](ProbeKind) -> Status {
    return Fail(ErrorCode::kUnsupported, "no such probes");
  };
  EXPECT_THAT(Plan("uprobe:@:allocate"), FailsWith(ErrorCode::kUnsupported));
}

TEST_F(PlanProbesTest, WhatCannotBePlacedIsSkippedIfThatIsAllowed) {
  machine_.try_to_probe = [](const ProbeLocation& location) -> Status {
    if (location.offset != 0x1000) return {};
    return Fail(ErrorCode::kUnsupported, "not there");
  };
  const std::vector<EventSpec> specs = ParseEvents(WithPath("uprobe:@:[ah]*")).value();
  const Result<EventPlan> plan = PlanEvents(specs, Frequency{99}, MissingEvents::kSkip, machine_);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->events.size(), 1U);
  EXPECT_THAT(plan->warnings, ElementsAre(HasSubstr("not there: not recorded")));
  const std::vector<EventSpec> only = ParseEvents(WithPath("uprobe:@:allocate")).value();
  EXPECT_FALSE(PlanEvents(only, Frequency{99}, MissingEvents::kSkip, machine_));
}

}  // namespace
}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "convert/anonymize/anonymize.h"

#include <gmock/gmock.h>

#include "convert/anonymize/pseudonyms.h"
#include "convert/model/label_keys.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/convert/profile_lines.h"
#include "tests/support/profile_check.h"

namespace perftape::anonymize {
namespace {

using convert::EventId;
using convert::Label;
using convert::LocationId;
using convert::MappingId;
using convert::MappingType;
using convert::Profile;
using convert::ProfileMaker;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const NameKey& Key() {
  static const NameKey key = NameKey::FromSecret(AsBytes("0123456789abcdef")).value();
  return key;
}

std::string Fn(std::string_view name) {
  return Pseudonyms(Key()).FunctionName(name);
}
std::string Comm(std::string_view name) {
  return Pseudonyms(Key()).Word("c", name);
}

TEST(Anonymize, ReplacesNamesAndKeepsStacksAndNumbers) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const LocationId main = made.Frame(made.Map("/bin/acme"), 1, {"main"});
  const LocationId work = made.Frame(made.Map("/lib/libacme.so"), 2, {"inlined", "work"});
  const LocationId unnamed = made.Frame(made.Map("/lib/other.so"), 0x123);
  made.Hit(made.Calls({main, work}), made.Runs("acme", 10, 11), cycles, 5, 500);
  made.Hit(made.Calls({main, unnamed}), made.Runs("acme", 10, 12), cycles, 3, 300);
  const Profile profile = Anonymize(made.Make(), Key(), KernelNames::kReplaced);
  EXPECT_TRUE(Validate(profile));
  EXPECT_THAT(convert::SampleLines(profile),
              testing::UnorderedElementsAre(
                  fmt::format("cycles {}/10 {};{};{} 5:500", Comm("acme"), Fn("main"), Fn("work"),
                              Fn("inlined")),
                  fmt::format("cycles {}/10 {};123 3:300", Comm("acme"), Fn("main"))));
  for (const std::string_view text : profile.texts()) EXPECT_THAT(text, Not(HasSubstr("acme")));
}

TEST(Anonymize, KeepsFunctionsOfTheKernelOnRequestButNotOfModulesAndBpfPrograms) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const MappingId kernel = made.Map("[kernel.kallsyms]", MappingType::kKernel);
  const LocationId read = made.Frame(kernel, 1, {"sys_read"});
  const LocationId program = made.Frame(kernel, 2, {"bpf_prog_6deef7357e7b4530_acme"});
  const LocationId module = made.Frame(made.Map("[acme]", MappingType::kKernel), 3, {"sys_read"});
  const LocationId user = made.Frame(made.Map("/home/acme/vmlinux-tool"), 4, {"sys_read"});
  made.Hit(made.Calls({read, program, module, user}), {}, cycles, 1, 1);
  const Profile profile = made.Make();
  const auto stack = [](std::string_view first) {
    return fmt::format("cycles {};{};{};{} 1:1", first, Fn("bpf_prog_6deef7357e7b4530_acme"),
                       Fn("sys_read"), Fn("sys_read"));
  };
  EXPECT_THAT(convert::SampleLines(Anonymize(profile, Key(), KernelNames::kKept)),
              ElementsAre(stack("sys_read")));
  EXPECT_THAT(convert::SampleLines(Anonymize(profile, Key(), KernelNames::kReplaced)),
              ElementsAre(stack(Fn("sys_read"))));
}

TEST(Anonymize, ReplacesKeysAndTextsOfLabels) {
  ProfileMaker made;
  const auto text = [&](std::string_view name) { return made.builder.Add(name); };
  const Label labels[] = {
      {.key = text("customer"), .text = text("acme")},
      {.key = text("bytes"), .number = 64, .unit = text("bytes")},
      {.key = text(convert::kCpuLabel), .number = 3},
      {.key = text(convert::kCgroupLabel), .text = text("/acme/web")},
      {.key = text(convert::kCommLabel), .text = text("acme")},
      {.key = text(convert::kWokenLabel), .text = text("acme")},
      {.key = text(convert::kWokenTidLabel), .number = 8, .unit = text(convert::kWokenTidLabel)}};
  made.builder.Add(convert::Sample{.stack = made.Calls({"f"}),
                                   .event = made.CountsPlainly("space"),
                                   .labels = made.builder.Add(labels),
                                   .period = 7});
  const Profile profile = Anonymize(made.Make(), Key(), KernelNames::kReplaced);
  const Pseudonyms words(Key());
  std::vector<std::string> found;
  for (const Label& label : profile[profile.samples()[0].labels]) {
    found.push_back(fmt::format("{}={}{}{}", profile.text(label.key), profile.text(label.text),
                                label.number, profile.text(label.unit)));
  }
  EXPECT_THAT(found, testing::UnorderedElementsAre(
                         words.Word("key", "customer") + "=" + words.Word("text", "acme") + "0",
                         words.Word("key", "bytes") + "=64bytes", "cpu=3",
                         "cgroup=" + words.Path("/acme/web") + "0", "comm=" + Comm("acme") + "0",
                         "woken=" + Comm("acme") + "0", "woken_tid=8woken_tid"));
}

TEST(Anonymize, ReplacesSourceFilesAndBuildIds) {
  ProfileMaker made;
  const MappingId app = made.builder.Add(convert::Mapping{.filename = made.builder.Add("/acme"),
                                                          .build_id = made.builder.Add("0a0b0c0d"),
                                                          .start = 0x1000,
                                                          .limit = 0x2000});
  const convert::Line line = {
      .function = made.builder.Add(convert::Function{.name = made.builder.Add("f"),
                                                     .system_name = made.builder.Add("_Z4acmev"),
                                                     .filename = made.builder.Add("/src/acme.cc"),
                                                     .start_line = 3}),
      .column = 2,
      .number = 7};
  const LocationId frame = made.builder.Add(
      convert::Location{.mapping = app, .offset = {1}, .lines = std::span(&line, 1)});
  made.Hit(made.Calls({frame}), {}, made.Counts("cycles"), 1, 1);
  const Profile profile = Anonymize(made.Make(), Key(), KernelNames::kReplaced);
  const convert::Line& copy = profile.locations()[0].lines[0];
  const convert::Function& function = profile[copy.function];
  const Pseudonyms words(Key());
  EXPECT_EQ(profile.text(function.filename), words.Path("/src/acme.cc"));
  EXPECT_EQ(profile.text(function.system_name), Fn("_Z4acmev"));
  EXPECT_EQ(function.start_line, 3);
  EXPECT_EQ(copy.number, 7);
  EXPECT_EQ(copy.column, 2);
  EXPECT_EQ(profile.text(profile.mappings()[1].build_id), words.BuildId("0a0b0c0d"));
  EXPECT_THAT(profile.texts(), Not(Contains("0a0b0c0d")));
}

TEST(Anonymize, ReplacesTheCommsOfTaskEvents) {
  convert::TaskEvents events = {{.type = convert::TaskEvent::Type::kExec, .comm = "acme"},
                                {.type = convert::TaskEvent::Type::kExit}};
  AnonymizeComms(events, Key());
  EXPECT_EQ(events[0].comm, Comm("acme"));
  EXPECT_EQ(events[1].comm, "");
}

TEST(Anonymize, ReplacesHostAndCommandAndRemovesWhatCannotBeReplaced) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), {}, made.Counts("cycles"), 1, 1);
  made.builder.SetMetadata({.start_time_ns = 5,
                            .duration_ns = 6,
                            .comments = {"hostname: acme", "arch: x86_64", "built by acme"},
                            .drop_frames = "acme.*",
                            .keep_frames = "acme",
                            .doc_url = "https://acme.example",
                            .default_value = "cycles"});
  const convert::Metadata metadata =
      Anonymize(made.Make(), Key(), KernelNames::kReplaced).metadata();
  EXPECT_THAT(metadata.comments,
              ElementsAre(Pseudonyms(Key()).Comment("hostname: acme"), "arch: x86_64"));
  EXPECT_EQ(metadata.drop_frames + metadata.keep_frames + metadata.doc_url, "");
  EXPECT_EQ(metadata.default_value, "cycles");
  EXPECT_EQ(metadata.start_time_ns, 5);
  EXPECT_EQ(metadata.duration_ns, 6);
}

}  // namespace
}  // namespace perftape::anonymize

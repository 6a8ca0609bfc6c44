// SPDX-License-Identifier: Apache-2.0
// Makes a file that breaks no rule, for a test to change, and checks it.
//
//   PerfDataBuilder file = GoodFile();
//   file.AddHeaderOnly({.type = static_cast<RecordType>(63)});
//   EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("record-type-unknown"));
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "formats/perfdata/validate/validate.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {

inline constexpr std::string_view kBinary = "/bin/app";

// Returns a file with an event, features, COMM and a MMAP2 with build id. It has no samples:
// AddGoodSample adds one.
inline PerfDataBuilder GoodFile(const std::vector<EventOptions>& events = {{}},
                                Container container = Container::kFile) {
  PerfDataBuilder file(container);
  for (const EventOptions& event : events) file.AddEvent(event);
  file.AddFeature(FeatureBit::kHostname, TextFeature{"host"});
  file.AddFeature(FeatureBit::kOsRelease, TextFeature{"6.1.0"});
  file.AddFeature(FeatureBit::kVersion, TextFeature{"6.1"});
  file.AddFeature(FeatureBit::kArch, TextFeature{"x86_64"});
  file.AddFeature(FeatureBit::kNrCpus, NrCpus{.available = 2, .online = 2});
  file.AddFeature(FeatureBit::kCmdline, Cmdline{{"perf", "record"}});
  file.AddFeature(FeatureBit::kEventDesc, file.Description());
  file.AddComm({.pid = 7, .tid = 7, .comm = "app", .time = 1});
  file.AddMmap({.pid = 7,
                .tid = 7,
                .start = 0x400000,
                .path = kBinary,
                .build_id = *BuildId::FromHex("00112233445566778899aabbccddeeff00112233"),
                .time = 2});
  return file;
}

// Adds a sample of the good file's process, with further `fields`.
inline void AddGoodSample(PerfDataBuilder& file, SampleOptions fields = {}) {
  fields.pid = fields.tid = 7;
  if (fields.ip == 0) fields.ip = 0x400100;
  if (fields.time == 0) fields.time = 1000;
  file.AddSample(fields);
}

inline Report Judge(Bytes file) {
  return Validate(Reader::FromBytes(file).value());
}
inline Report Judge(PerfDataBuilder& file) {
  return Validate(file.Open());
}

// Returns the names of the rules that the file breaks, in the table's order.
inline std::vector<std::string> RulesOf(const Report& report) {
  std::vector<std::string> names;
  for (const RuleInfo& info : AllRules()) {
    if (report.tally(info.rule).count > 0) names.emplace_back(info.name);
  }
  return names;
}

// Overwrites a number in the file.
template <class Number>
void Put(std::vector<std::byte>& file, std::uint64_t offset, Number number) {
  std::memcpy(file.data() + offset, &number, sizeof number);
}
template <class Number>
Number Get(const std::vector<std::byte>& file, std::uint64_t offset) {
  return LoadFixed<Number>(file.data() + offset, std::endian::native);
}

}  // namespace perftape::perfdata

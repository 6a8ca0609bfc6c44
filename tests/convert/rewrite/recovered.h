// SPDX-License-Identifier: Apache-2.0
// Walks a damaged file for tests: its records, one by one, and the stretches without records.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "convert/rewrite/record_walk.h"
#include "convert/rewrite/recovered_layout.h"
#include "formats/base/bytes.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::rewrite {

// Each record's bytes as text, which is easy to compare and print.
using Records = std::vector<std::string>;

struct Recovered {
  Records records;
  std::vector<Stretch> dropped;
  std::vector<std::string> guesses;
};

// Walks all of `stream` in the format of `events`.
inline Recovered Walk(Bytes stream, const perfdata::EventTable& events, std::uint64_t offset = 0) {
  Recovered recovered;
  const RecordVisitor visitor = {
      .record = [&](const FoundRecord& found) -> Result<Onward> {
        recovered.records.emplace_back(AsText(found.whole));
        return Onward::kGoOn;
      },
      .dropped = [&](const Stretch& stretch) { recovered.dropped.push_back(stretch); },
      .guessed = [&](const std::string& guess) { recovered.guesses.push_back(guess); }};
  RecordWalk walk(events, std::endian::native, visitor);
  if (const Status walked = walk.Run(stream, offset); !walked) {
    throw std::runtime_error(walked.error().message);
  }
  return recovered;
}

// Walks the records of a whole file; empty if its layout cannot be found.
inline Recovered RecoverRecords(Bytes file) {
  const Result<RecoveredLayout> layout = RecoverLayout(file);
  if (!layout) return {};
  return Walk(layout->stream, layout->events, layout->stream_offset);
}

// Returns the records of an undamaged stream.
inline Records RecordsOf(Bytes stream) {
  Records records;
  while (stream.size() >= sizeof(perfdata::RecordHeader)) {
    perfdata::RecordHeader header = {};
    std::memcpy(&header, stream.data(), sizeof header);
    records.emplace_back(AsText(stream.first(header.size)));
    stream = stream.subspan(header.size);
  }
  return records;
}

inline std::string NameOf(const std::string& record) {
  perfdata::RecordHeader header = {};
  std::memcpy(&header, record.data(), sizeof header);
  return perfdata::RecordName(header.type);
}

// Adds a recording of two processes with most types of records; some 40. `file` has its events.
inline void AddRecords(perfdata::PerfDataBuilder& file) {
  using namespace perfdata;
  file.AddFeature(FeatureBit::kHostname, TextFeature{"builder"});
  file.AddFeature(FeatureBit::kCmdline, Cmdline{{"perftape-record", "--", "app"}});
  file.AddFeature(FeatureBit::kNrCpus, NrCpus{.available = 2, .online = 2});
  for (std::uint32_t pid = 7; pid < 9; ++pid) {
    const std::uint64_t start = pid * 1000;
    file.AddComm({.pid = pid, .tid = pid, .comm = "worker", .time = start});
    file.AddMmap(
        {.pid = pid, .tid = pid, .start = 0x400000, .path = "/bin/worker", .time = start + 1});
    file.AddMmap(
        {.pid = pid, .tid = pid, .start = 0x7f0000, .path = "/lib/lib.so", .time = start + 2});
    file.AddFork({.pid = pid, .ppid = pid, .tid = pid + 100, .ptid = pid, .time = start + 3});
    for (std::uint64_t i = 0; i < 12; ++i) {
      std::vector<std::uint64_t> chain = {kContextUser};
      for (std::uint64_t frame = 0; frame <= i % 4; ++frame) chain.push_back(0x400100 + frame);
      file.AddSample({.ip = 0x400100 + i,
                      .pid = pid,
                      .tid = pid,
                      .time = start + 10 + i,
                      .cpu = 1,
                      .callchain = std::move(chain),
                      .event = i % 3 == 0 ? file.events() - 1 : 0});
    }
    file.AddLost(3, start + 30);
    file.AddExit({.pid = pid, .ppid = 1, .tid = pid, .ptid = 1, .time = start + 31});
    file.AddLostSamples(2, start + 32);
    file.AddRound();
  }
}

inline perfdata::PerfDataBuilder SmallRecording(
    perfdata::Container container = perfdata::Container::kFile) {
  perfdata::PerfDataBuilder file(container);
  file.AddEvent({.name = "cpu-clock", .ids = {101, 102}});
  file.AddEvent({.name = "faults", .config = 2, .ids = {201, 202}});
  AddRecords(file);
  return file;
}

// Returns the same with one event whose records have neither time nor id, so they are hard to
// detect.
inline perfdata::PerfDataBuilder BareRecording() {
  perfdata::PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kIp | perfdata::kTid | perfdata::kPeriod, .flags = 0});
  AddRecords(file);
  return file;
}

}  // namespace perftape::rewrite

// SPDX-License-Identifier: Apache-2.0
// Makes a perf.data in memory, record by record, so that a test shows its input. It does not use
// perfdata::Writer, which has its own tests.
//
//   PerfDataBuilder file;
//   file.AddEvent({.name = "cycles", .sample_type = kIp | kTid});
//   file.AddComm({.pid = 7, .tid = 7, .comm = "worker"});
//   file.AddSample({.ip = 0x401136, .pid = 7, .tid = 7});
//   RecordCursor cursor = file.Open().records();
#pragma once

#include <cstdint>
#include <list>
#include <string_view>
#include <vector>

#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// The attributes of an event. The defaults are those of perftape-record.
struct EventOptions {
  std::string_view name = "cpu-clock";
  std::uint32_t type = kTypeSoftware;
  std::uint64_t config = kSoftwareCpuClock;
  std::uint64_t sample_period = 1;
  std::uint64_t sample_type = kIdentifier | kIp | kTid | kTime | kCpu | kPeriod | kCallchain;
  std::uint64_t read_format = 0;
  std::uint64_t flags = kSampleIdAll;
  std::vector<std::uint64_t> ids = {};         // if empty, one is made: 101, 102, ...
  std::uint32_t attr_size = EventAttr::kSize;  // the same for all events of a file
};

// The trailer has the process and time of the record. `event` is the index of the event whose
// format and id the record has.
struct CommOptions {
  std::uint32_t pid = 0, tid = 0;
  std::string_view comm = {};
  std::uint64_t time = 0;
  std::uint16_t misc = 0;  // kMiscCommExec
  std::size_t event = 0;
};
struct MmapOptions {  // a MMAP2
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t start = 0, length = 0x1000, page_offset = 0;
  std::string_view path = {};
  BuildId build_id = {};  // if not empty, it replaces device and inode
  CpuMode mode = CpuMode::kUser;
  std::uint64_t time = 0;
  std::size_t event = 0;
  std::uint32_t device_major = 0, device_minor = 0;
  std::uint64_t inode = 0;
};
struct TaskOptions {  // FORK and EXIT
  std::uint32_t pid = 0, ppid = 0, tid = 0, ptid = 0;
  std::uint64_t time = 0;
  std::uint16_t misc = 0;  // kMiscForkExec
  std::size_t event = 0;
};
struct SampleOptions {
  std::uint64_t ip = 0;
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t time = 0;
  std::uint32_t cpu = 0;
  std::uint64_t period = 1;
  std::vector<std::uint64_t> callchain = {};  // leaf first, with context markers
  CpuMode mode = CpuMode::kUser;
  std::size_t event = 0;
  std::vector<std::byte> raw = {};
  std::uint64_t addr = 0;
};
struct HeaderOnly {
  RecordType type = {};
  std::uint16_t misc = 0;
  std::uint16_t size = 8;
};

class PerfDataBuilder {
 public:
  explicit PerfDataBuilder(Container container = Container::kFile) : container_(container) {}

  // Adds an event. Call it before adding records of the event.
  void AddEvent(const EventOptions& options = {});
  void AddFeature(FeatureBit bit, FeatureValue value);

  void AddComm(const CommOptions& options);
  void AddMmap(const MmapOptions& options);
  void AddFork(const TaskOptions& options);
  void AddExit(const TaskOptions& options);
  void AddSample(const SampleOptions& options);
  void AddLost(std::uint64_t count, std::uint64_t time = 0);
  void AddLostSamples(std::uint64_t count, std::uint64_t time = 0, std::uint16_t misc = 0);
  void AddKsymbol(const Ksymbol& symbol, std::uint64_t time = 0);
  void AddBuildId(std::string_view path, const BuildId& id, CpuMode mode = CpuMode::kUser);
  void AddRound();  // FINISHED_ROUND

  // Adds any other record, in the format of the first event.
  template <class Record>
  void Add(const Record& record, const SampleId& trailer = {}, std::uint16_t misc = 0) {
    Check(Encode(record, trailer, format(0), misc, records_));
  }
  // Adds a record header without a body; its size may be wrong.
  void AddHeaderOnly(const HeaderOnly& header);
  // Adds bytes that may be no record.
  void AddRaw(Bytes bytes) { records_.insert(records_.end(), bytes.begin(), bytes.end()); }

  const SampleFormat& format(std::size_t event) const { return events_.at(event).format; }
  std::size_t events() const { return events_.size(); }
  // Returns the feature EVENT_DESC for the events so far.
  EventDesc Description() const { return {events_}; }
  Bytes records() const { return records_; }  // so far, without header and features

  // Returns the whole file.
  std::vector<std::byte> Build() const;
  // Returns a reader of the current file. Its bytes live as long as the builder, so
  // `file.Open().records()` is valid. Throws std::runtime_error if the file does not open, which
  // fails the test.
  Reader Open();

 private:
  // Throws std::runtime_error: encoding fails only if a test passes a value that no record can
  // hold.
  static void Check(const Status& status);
  SampleId TrailerOf(std::size_t event, std::uint32_t pid, std::uint32_t tid,
                     std::uint64_t time) const;
  std::vector<std::byte> BuildFile() const;
  std::vector<std::byte> BuildPipe() const;

  Container container_;
  std::vector<Event> events_;
  std::vector<Feature> features_;
  std::vector<std::byte> records_;
  std::list<std::vector<std::byte>> opened_;
};

}  // namespace perftape::perfdata

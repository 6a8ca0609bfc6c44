// SPDX-License-Identifier: Apache-2.0
// The code that just-in-time compilers made while a recording ran. Such a process maps the dump
// that it writes, executable and for no other reason than that the recording tells of it; the dump
// tells what was where and when, in times of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "formats/jitdump/jitdump.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/record.h"

namespace perftape::convert {

class ProcessHistory;

class JitCode {
 public:
  // What one process has written.
  struct Dump {
    std::uint32_t pid = 0;
    std::uint64_t start = 0;  // where it was mapped
    perfdata::Dso dso;
    std::shared_ptr<const void> keeper;  // of the bytes that `code` has views of
    std::uint64_t size = 0;
    jitdump::JitDump code;
    bool has_lines = false;

    // All of the dump as one range, of the dso that `region` is of.
    perfdata::Region WholeOf(const perfdata::Region& region) const {
      return {.start = start, .end = start + size, .page_offset = 0, .dso = region.dso};
    }
  };

  // Looks whether a MMAP or MMAP2 is of a dump.
  void Meet(const perfdata::RecordView& record, const perfdata::SampleFormat& format);
  // Tells `history` of all code in the dumps that were met and can be used; the other dumps are
  // notes of the report. The history has views of this, also when this is moved.
  void TellOf(const perfdata::EventTable& events, const JitDumpFinder& find,
              ProcessHistory& history, ImportReport& report);

  // By Dso::dump.
  const std::deque<Dump>& dumps() const { return dumps_; }

 private:
  struct Met {
    std::uint32_t pid = 0;
    std::uint64_t start = 0;
    std::string path;
  };
  void Meet(std::uint32_t pid, std::uint64_t start, std::string_view path);
  Status Tell(const Met& met, const JitDumpFinder& find, ProcessHistory& history,
              ImportReport& report);

  std::vector<Met> met_;
  std::deque<Dump> dumps_;
  std::uint64_t bytes_read_ = 0;  // of all dumps
};

}  // namespace perftape::convert

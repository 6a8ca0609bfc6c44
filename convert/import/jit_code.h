// SPDX-License-Identifier: Apache-2.0
// The code that just-in-time compilers made during a recording. A process with such a compiler
// writes a jitdump and maps it as executable, so that the recording has a MMAP record of it. The
// jitdump describes which code was at which address from which time on, on CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/unwind/code_map.h"
#include "formats/jitdump/jitdump.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/record.h"
#include "formats/unwind/table.h"

namespace perftape::convert {

class ProcessHistory;

class JitCode {
 public:
  // The jitdump of one process.
  struct Dump {
    std::uint32_t pid = 0;
    std::uint64_t start = 0;  // the address at which it was mapped
    perfdata::Dso dso;
    std::shared_ptr<const void> keeper;  // owns the bytes that `code` has views of
    std::uint64_t size = 0;
    jitdump::JitDump code;
    bool has_lines = false;
    unwind::Table table = {};  // by the offsets in the dump; empty before ReadRules

    // The whole dump as one region, with the dso of `region`.
    perfdata::Region WholeOf(const perfdata::Region& region) const {
      return {.start = start, .end = start + size, .page_offset = 0, .dso = region.dso};
    }
  };

  // Stores the file of a MMAP or MMAP2 record if it is a jitdump.
  void Note(const perfdata::RecordView& record, const perfdata::SampleFormat& format);
  // Reads the stored jitdumps, and adds their code to `history`. `report` gets a note for each one
  // that cannot be used. The history keeps views of this object, which stay valid when it is moved.
  void AddTo(const perfdata::EventTable& events, const JitDumpFinder& find, ProcessHistory& history,
             ImportReport& report);

  // Reads how the code is unwound on the processor of the recording. The processor is needed
  // because CPython 3.13 leaves it out of the header of its jitdump. `history` is the one of AddTo,
  // and finished.
  void ReadRules(const ProcessHistory& history, unwind::Machine machine);

  // Empty before ReadRules, and if no jitdump describes how its code is unwound.
  const offline_unwind::CompiledRules& rules() const { return rules_; }

  // Indexed by Dso::dump.
  const std::deque<Dump>& dumps() const { return dumps_; }

 private:
  struct MappedDump {
    std::uint32_t pid = 0;
    std::uint64_t start = 0;
    std::string path;
  };
  void Note(std::uint32_t pid, std::uint64_t start, std::string_view path);
  Status AddDump(const MappedDump& mapped, const JitDumpFinder& find, ProcessHistory& history,
                 ImportReport& report);

  std::vector<MappedDump> mapped_;
  std::deque<Dump> dumps_;
  offline_unwind::CompiledRules rules_;
  std::uint64_t bytes_read_ = 0;  // sum of all dumps
};

}  // namespace perftape::convert

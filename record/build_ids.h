// SPDX-License-Identifier: Apache-2.0
// The build ids of what is hit: a binary's is read when a sample first has a frame in it, while the
// process lives and the file is where it was, and goes into the stream at once, so that a recording
// that is killed has it too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/features.h"

namespace perftape {

struct BuildIdRoots {
  std::filesystem::path root = "/";  // for files of processes that are gone
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
};

// What became of the binaries that were hit; each is counted once.
struct BuildIdCounts {
  std::uint64_t found = 0;
  std::uint64_t absent = 0;       // the binary has no build id
  std::uint64_t replaced = 0;     // under its name there is another file by now
  std::uint64_t unreachable = 0;  // the file could not be opened or read
};

// Follows all mappings of the recording. Not thread-safe.
class BuildIdCollector {
 public:
  explicit BuildIdCollector(const perfdata::SampleFormat& format, BuildIdRoots roots = {});

  // Takes whole records, all of the recording in time order, and appends a HEADER_BUILD_ID record
  // to `out` for each binary that one of these samples hit as the first. Damaged records are passed
  // over. A sample whose frames were all seen before costs one look into a table for each.
  Status Observe(Bytes records, std::vector<std::byte>& out);

  // All that were found, in the order of their first hit: the BUILD_ID feature.
  const perfdata::BuildIds& all() const { return all_; }

  // As things stand: what could not be read may be found in another process later.
  BuildIdCounts counts() const;

 private:
  enum class Outcome : std::uint8_t { kFound, kAbsent, kReplaced, kUnreachable };
  struct Binary {
    Outcome outcome = Outcome::kUnreachable;
    unsigned attempts = 0;
    std::uint32_t last_pid = 0;
  };
  struct SeenFrame {
    std::uint64_t generation = 0;
    std::uint64_t place = 0;  // page of a user frame, address of a kernel frame
  };
  struct Attempt {
    Outcome outcome = Outcome::kUnreachable;
    BuildId build_id;
  };

  Status ObserveSample(const perfdata::RecordView& record, std::vector<std::byte>& out);
  // Whether this place of this state of an address space is new; it is not, from then on.
  bool IsNew(std::uint64_t generation, std::uint64_t place);
  Status Hit(std::uint32_t pid, const perfdata::Region& region, std::vector<std::byte>& out);
  // Adds to all(), and to `out` as a record, what is not there yet.
  Status Announce(const perfdata::BuildIdEntry& entry, std::vector<std::byte>& out);

  Attempt Read(std::uint32_t pid, const perfdata::Region& region) const;
  Attempt ReadKernel(const perfdata::Dso& dso) const;
  Attempt ReadFile(std::uint32_t pid, const perfdata::Region& region) const;
  Attempt ReadFileAt(const std::filesystem::path& path, const perfdata::Dso& dso) const;

  perfdata::SampleFormat format_;
  BuildIdRoots roots_;
  perfdata::Processes processes_;
  std::unordered_map<const perfdata::Dso*, Binary> binaries_;
  std::vector<SeenFrame> seen_;
  perfdata::BuildIds all_;
};

}  // namespace perftape

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
#include "record/hit_regions.h"
#include "record/symbols/hit_files.h"
#include "record/symbols/jit_files.h"

namespace perftape::record {

struct BuildIdRoots {
  std::filesystem::path root = "/";  // for files of processes that are gone
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
};

// What became of the binaries that were hit; each is counted once.
struct BuildIdCounts {
  std::uint64_t found = 0;
  std::uint64_t absent = 0;       // the binary has no build id
  std::uint64_t replaced = 0;     // under its name there is another file
  std::uint64_t unreachable = 0;  // the file could not be opened or read
};

// Where what is hit is kept at hand, for a bundle of its symbols. Null: nowhere.
struct HitKeepers {
  HitFiles* files = nullptr;
  JitFiles* jit = nullptr;
};

// Follows all mappings of the recording. Not thread-safe.
class BuildIdCollector {
 public:
  // The keepers must outlive it.
  explicit BuildIdCollector(const perfdata::SampleFormat& format, BuildIdRoots roots = {},
                            HitKeepers keepers = {});

  // Takes whole records, all of the recording in time order, and appends a HEADER_BUILD_ID record
  // to `out` for each binary that one of these samples hit as the first. Damaged records are passed
  // over. A sample whose frames were all seen before costs one look into a table for each.
  Status Observe(Bytes records, std::vector<std::byte>& out);
  // The same for one record that is decoded already.
  Status Observe(const perfdata::RecordView& record, std::vector<std::byte>& out);

  // All that were found, in the order of their first hit: the BUILD_ID feature.
  const perfdata::BuildIds& all() const { return all_; }

  // As things stand: what could not be read may be found in another process later.
  BuildIdCounts counts() const;

  // Tells the keeper of files, if there is one, of the binaries that could not be had. Call it
  // once, when all was observed.
  void KeepMissing() const;

 private:
  enum class Outcome : std::uint8_t {
    kFound,
    kAbsent,
    kReplaced,         // its process has another file under that name now
    kProcessEnded,     // and there is no such file in the recorder's own root
    kReplacedOutside,  // the same, but there is another
    kUnreachable,
  };
  struct Binary {
    Outcome outcome = Outcome::kUnreachable;
    unsigned attempts = 0;
    std::uint32_t last_pid = 0;
  };
  struct Attempt {
    Outcome outcome = Outcome::kUnreachable;
    BuildId build_id;
    UniqueFd file = {};  // that it was read from, where there may be symbols in it
  };

  void ObserveMapping(const perfdata::RecordView& record);
  Status Hit(std::uint32_t pid, const perfdata::Region& region, std::vector<std::byte>& out);
  // Anonymous memory, the kernel, the vdso: known without a file.
  void KeepOthers(std::uint32_t pid, const perfdata::Region& region) const;
  // Adds to all(), and to `out` as a record, what is not there yet.
  Status Announce(const perfdata::BuildIdEntry& entry, std::vector<std::byte>& out);

  Attempt Read(std::uint32_t pid, const perfdata::Region& region) const;
  Attempt ReadKernel(const perfdata::Dso& dso) const;
  Attempt ReadFile(std::uint32_t pid, const perfdata::Region& region) const;
  Attempt ReadFileAt(const std::filesystem::path& path, const perfdata::Dso& dso) const;

  perfdata::SampleFormat format_;
  BuildIdRoots roots_;
  HitKeepers keepers_;
  HitRegions regions_;
  std::unordered_map<const perfdata::Dso*, Binary> binaries_;
  perfdata::BuildIds all_;
};

}  // namespace perftape::record

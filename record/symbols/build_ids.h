// SPDX-License-Identifier: Apache-2.0
// Reads the build id of each binary that a sample hits. It is read at the first hit, while the
// process and its files still exist. It is written at once, so that a killed recording has it, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/features.h"
#include "record/machine/growth_watch.h"
#include "record/rings/sample_formats.h"
#include "record/symbols/binary_sink.h"
#include "record/symbols/hit_files.h"
#include "record/symbols/hit_regions.h"
#include "record/symbols/jit_files.h"
#include "record/symbols/others_files.h"

namespace perftape::record {

struct BuildIdRoots {
  std::filesystem::path root = "/";  // for files of processes that have ended
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
  std::shared_ptr<OthersFiles> files = std::make_shared<OthersFiles>();  // opens binaries
  BinarySink on_binary = {};  // called at the first sample in each; may be empty
  bool reads_ids = true;      // false: nothing is read, and there are no build ids
};

// The owners of sampled files for a bundle. Null: no files are kept.
struct HitKeepers {
  HitFiles* files = nullptr;
  JitFiles* jit = nullptr;
};

// Follows all mappings of the recording. Not thread-safe.
class BuildIdCollector {
 public:
  // The keepers must outlive this object.
  explicit BuildIdCollector(SampleFormats formats, BuildIdRoots roots = {},
                            HitKeepers keepers = {});

  // Call it with all records of the recording, whole and in time order. Appends a HEADER_BUILD_ID
  // record to `out` for each binary that is hit for the first time. Ignores damaged records.
  Status Observe(Bytes records, std::vector<std::byte>& out);
  // The same for one record that is decoded already.
  Status Observe(const perfdata::RecordView& record, std::vector<std::byte>& out);

  // Whether build ids are read. If not, the file has no feature BUILD_ID.
  bool reads_ids() const { return roots_.reads_ids; }
  // All build ids that were found, in the order of the first hits: the BUILD_ID feature.
  const perfdata::BuildIds& all() const { return all_; }

  // The next records are those of the next file of a rotating recording: each binary that they hit
  // is announced and kept again.
  // `initial_state` is that of the file; its jitdumps are kept.
  Status StartFile(HitKeepers keepers, Bytes initial_state);

  // Whether it is time for ForgetUnused.
  bool HasGrown() const { return growth_.IsDue(regions_.processes().size()); }
  // Forgets the binaries that no process maps and that were not hit since StartFile, except those
  // in `kept`.
  void ForgetUnused(std::span<const perfdata::Dso* const> kept);

  // The binaries that were hit since StartFile. After the next StartFile they live until
  // ForgetUnused.
  const std::vector<const perfdata::Dso*>& hit() const { return hit_; }
  // Returns the build ids of some of them.
  perfdata::BuildIds BuildIdsOf(std::span<const perfdata::Dso* const> hit) const;

  // Adds the binaries that could not be read to the kept files, if files are kept. Call it once,
  // after all records of a file.
  void KeepMissing() const;
  // Adds those of `hit` that could not be read to `files`.
  void AddMissing(std::span<const perfdata::Dso* const> hit, HitFiles& files) const;

 private:
  enum class Outcome : std::uint8_t {
    kFound,
    kAbsent,
    kReplaced,         // the process has another file of this name now
    kProcessEnded,     // and the root of the recorder has no such file
    kReplacedOutside,  // the process has ended, and that root has another file
    kNoAnswer,         // its file system did not answer in time
    kUnreachable,
  };
  struct Binary {
    Outcome outcome = Outcome::kUnreachable;
    unsigned attempts = 0;
    std::uint32_t last_pid = 0;
    BuildId build_id = {};
    bool is_in_file = false;  // hit since StartFile
    bool had_file = false;    // `file` of the attempt was open
    bool is_done = false;     // further hits change nothing, until StartFile
  };
  struct Attempt {
    Outcome outcome = Outcome::kUnreachable;
    BuildId build_id;
    UniqueFd file = {};  // the file of the build id, if it may have symbols
  };

  void ObserveMapping(const perfdata::RecordView& record);
  Status Hit(std::uint32_t pid, const perfdata::Region& region, std::vector<std::byte>& out);
  // A binary whose file is known is hit for the first time in a file.
  Status HitAgain(std::uint32_t pid, const perfdata::Region& region, const Binary& binary,
                  std::vector<std::byte>& out);
  // Keeps anonymous memory, the kernel and the vdso, which have no file.
  void KeepOthers(std::uint32_t pid, const perfdata::Region& region) const;
  static perfdata::BuildIdEntry EntryOf(const perfdata::Dso& dso, const BuildId& build_id);
  // Adds a new build id to all(), and to `out` as a record.
  Status Announce(const perfdata::BuildIdEntry& entry, std::vector<std::byte>& out);

  Attempt Read(std::uint32_t pid, const perfdata::Region& region) const;
  Attempt ReadKernel(const perfdata::Dso& dso) const;
  Attempt ReadFile(std::uint32_t pid, const perfdata::Region& region) const;
  Attempt ReadFileAt(std::uint32_t pid, const std::filesystem::path& path,
                     const perfdata::Dso& dso) const;

  SampleFormats formats_;
  BuildIdRoots roots_;
  HitKeepers keepers_;
  HitRegions regions_;
  std::unordered_map<const perfdata::Dso*, Binary> binaries_;
  std::vector<const perfdata::Dso*> hit_;
  GrowthWatch growth_{4096};  // of what regions_ has
  perfdata::BuildIds all_;
};

}  // namespace perftape::record

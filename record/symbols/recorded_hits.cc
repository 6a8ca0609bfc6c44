// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/recorded_hits.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "formats/base/duration.h"
#include "formats/base/regular_file.h"
#include "formats/elf/build_id.h"
#include "formats/perfdata/mapping_name.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/rounds.h"
#include "record/symbols/file_request.h"
#include "record/symbols/hit_regions.h"

namespace perftape::record {
namespace {

using perfdata::Dso;
using perfdata::Region;

using BuildIdsByPath = std::map<std::string, BuildId, std::less<>>;

// The kernel may be listed under its file name: "/boot/vmlinux-6.1".
void AddKernel(perfdata::CpuMode mode, std::string_view filename, const BuildId& build_id,
               BuildIdsByPath& ids) {
  if (mode != perfdata::CpuMode::kKernel || !perfdata::ModuleNameOf(filename).empty()) return;
  ids.try_emplace(std::string(perfdata::kKernelMappingName), build_id);
}

BuildIdsByPath BuildIdTable(const perfdata::Reader& reader) {
  BuildIdsByPath ids;
  const auto value = reader.DecodedFeature(perfdata::FeatureBit::kBuildId);
  const auto* table = value ? std::get_if<perfdata::BuildIds>(&*value) : nullptr;
  if (table == nullptr) return ids;
  for (const auto& entry : table->entries) {
    ids.try_emplace(entry.filename, entry.build_id);
    AddKernel(entry.mode, entry.filename, entry.build_id, ids);
  }
  return ids;
}

// The dsos that were hit, each once, in the order of the first hits.
struct Hits {
  std::vector<const Dso*> dsos;
  std::optional<std::uint64_t> kernel_reference;  // address of its reference symbol
  HitRegions regions;                             // owns the dsos
};

Status CollectHits(const perfdata::Reader& reader, BuildIdsByPath& ids, Hits& hits, JitFiles& jit) {
  std::set<const Dso*> seen;
  const auto hit = [&](std::uint32_t pid, const Region& region) -> Status {
    const Dso& dso = *region.dso;
    if (!dso.symbol.empty()) return {};
    if (!dso.is_kernel && perfdata::MayHoldJitCode(dso.path)) jit.Hit(pid);
    if (dso.is_kernel && dso.path == perfdata::kKernelMappingName)
      hits.kernel_reference = region.page_offset;
    if (seen.insert(&dso).second) hits.dsos.push_back(&dso);
    return {};
  };
  perfdata::InTimeOrder in_order(reader.records(), reader.events());
  while (true) {
    TRY_ASSIGN(const std::optional<perfdata::RecordView> record, in_order.Next());
    if (!record) return {};
    const perfdata::Event* const event = in_order.event();
    const perfdata::SampleFormat format =
        event == nullptr ? perfdata::SampleFormat{} : event->format;
    TRY(hits.regions.Observe(*record, format, hit));
    if (record->type == perfdata::RecordType::kHeaderBuildId) {
      const auto entry = perfdata::Decode<perfdata::HeaderBuildId>(*record, {});
      if (!entry) continue;
      ids.try_emplace(std::string(entry->filename), entry->build_id);
      AddKernel(record->cpumode(), entry->filename, entry->build_id, ids);
    }
    if (record->type != perfdata::RecordType::kMmap2) continue;
    const auto map = perfdata::Decode<perfdata::Mmap2>(*record, format);
    if (!map || !perfdata::IsJitDumpPath(map->filename)) continue;
    const Region* region = hits.regions.processes().UserSpace(map->pid).Find(map->start);
    if (region != nullptr) jit.Mapped(map->pid, *region);
  }
}

BuildId IdOf(const Dso& dso, const BuildIdsByPath& ids) {
  if (!dso.build_id.empty()) return dso.build_id;
  const auto found = ids.find(dso.path);
  return found == ids.end() ? BuildId{} : found->second;
}

// Returns the time of the first sample, since 1970, of a recording that was made on `host`. Nothing
// if it was not, or does not say so.
std::optional<std::int64_t> BeganOn(const std::string& host, const perfdata::Reader& reader) {
  const auto clock_value = reader.DecodedFeature(perfdata::FeatureBit::kClockData);
  const auto times_value = reader.DecodedFeature(perfdata::FeatureBit::kSampleTime);
  const auto* clock = clock_value ? std::get_if<perfdata::ClockData>(&*clock_value) : nullptr;
  const auto* times = times_value ? std::get_if<perfdata::SampleTime>(&*times_value) : nullptr;
  if (clock == nullptr || times == nullptr || host.empty() ||
      reader.text(perfdata::FeatureBit::kHostname) != host) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(clock->wall_ns - clock->clockid_ns + times->first_ns);
}

class Finder {
 public:
  Finder(const RecordedRoots& roots, std::optional<std::int64_t> began_ns, HitFiles& files)
      : roots_(roots), began_ns_(began_ns), files_(files) {}

  void Find(const Dso& dso, const BuildId& build_id) {
    if (build_id.empty()) return FindByPath(dso);
    const std::filesystem::path recorded_path = PathBelowRoot(dso);
    const std::string id = build_id.hex();
    std::vector<std::filesystem::path> candidates = {recorded_path};
    for (const std::filesystem::path& cache : roots_.caches) {
      const std::filesystem::path entry = cache / ".build-id" / id.substr(0, 2) / id.substr(2);
      // perf before 4.7 linked to the file itself.
      candidates.insert(candidates.end(), {entry / "elf", entry, cache / id / "executable"});
    }
    bool has_other = false;
    std::string reason = "not found";
    for (const std::filesystem::path& candidate : candidates) {
      Result<UniqueFd> file = OpenRegularFile(candidate);
      if (!file) {
        // In a cache a missing or different file is normal. Only the recorded path gives a reason.
        const bool is_recorded_path = candidate == candidates.front();
        const Error& error = file.error();
        if (is_recorded_path && error.code != ErrorCode::kNotFound) {
          reason = error.message.substr(candidate.native().size() + 2);  // without "PATH: "
        }
        continue;
      }
      const Result<BuildId> found = elf::ReadBuildId(file->get());
      if (found && found->Matches(build_id)) {
        return files_.Add(dso.path, build_id, *std::move(file));
      }
      has_other = has_other || found.has_value();
    }
    Miss(dso, build_id, has_other ? "replaced by another build" : std::move(reason));
  }

  void FindVdso(const BuildId& build_id) {
    const BuildId own = elf::BuildIdOf(VdsoOfThisProcess()).value_or(BuildId{});
    if (!own.empty() && own.Matches(build_id)) return files_.AddVdso();
    files_.AddMissing(bundle::FileKind::kVdso, perfdata::kVdsoMappingName, build_id,
                      build_id.empty() ? "the recording has no build id for it"
                                       : "this kernel has another, or it is of 32-bit processes");
  }

 private:
  std::filesystem::path PathBelowRoot(const Dso& dso) const {
    std::string_view path = perfdata::WithoutDeleted(dso.path);
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    return roots_.root / path;
  }

  // For a binary of which no build id was recorded.
  void FindByPath(const Dso& dso) {
    Result<UniqueFd> file = OpenRegularFile(PathBelowRoot(dso));
    if (!file) return Miss(dso, {}, "not found");
    if (roots_.unidentified == Unidentified::kUseIfUnchanged) {
      std::string reason = WhyUncertain(dso, file->get());
      if (!reason.empty()) return Miss(dso, {}, std::move(reason));
    }
    const Result<BuildId> found = elf::ReadBuildId(file->get());
    if (found && !found->empty()) {
      return Miss(dso, {}, "the file has a build id, but the recording has none for it");
    }
    files_.Add(dso.path, {}, *std::move(file), {.device = dso.device, .inode = dso.inode});
  }

  // Returns why an open file without a build id may not be the recorded one; empty if it is.
  std::string WhyUncertain(const Dso& dso, int file) const {
    struct stat status = {};
    if (dso.inode == 0 || !began_ns_ || ::fstat(file, &status) != 0) {
      return "the recording has no build id for it";
    }
    if (!IsFileOf(dso, file)) return "replaced by another file";
    const std::int64_t changed_ns =
        std::int64_t{status.st_ctim.tv_sec} * kNsPerSecond + status.st_ctim.tv_nsec;
    if (changed_ns < *began_ns_) return {};
    return "the recording has no build id for it, and it was changed since";
  }

  void Miss(const Dso& dso, const BuildId& build_id, std::string reason) {
    files_.AddMissing(bundle::FileKind::kElf, dso.path, build_id, std::move(reason));
  }

  const RecordedRoots& roots_;
  std::optional<std::int64_t> began_ns_;  // the first sample, if it was on this machine
  HitFiles& files_;
};

// Returns the system that the recording describes.
bundle::Manifest RecordedSystem(const perfdata::Reader& reader, const BuildId& kernel) {
  bundle::Manifest system;
  system.perftape_version = PERFTAPE_VERSION;
  system.host = reader.text(perfdata::FeatureBit::kHostname);
  system.kernel_release = reader.text(perfdata::FeatureBit::kOsRelease);
  system.machine = reader.text(perfdata::FeatureBit::kArch);
  system.kernel_build_id = kernel;
  return system;
}

// Returns why the running kernel is not the recorded one; empty if it is.
std::string OtherKernel(const perfdata::Reader& reader, const RecordedRoots& roots,
                        const BuildId& recorded, std::uint64_t reference) {
  bundle::Manifest now = DescribeSystem(roots.kernel);
  if (!recorded.empty() && !recorded.Matches(now.kernel_build_id)) {
    return "another kernel is running now, by its build id";
  }
  if (recorded.empty() && reader.text(perfdata::FeatureBit::kOsRelease) != now.kernel_release) {
    return "another kernel is running now, by its release";
  }
  const Result<std::string> kallsyms = ReadKallsyms(roots.kernel, now);
  if (!kallsyms) return kallsyms.error().message;
  if (now.reference_address != reference) return "the machine was rebooted since";
  return {};
}

}  // namespace

Result<std::optional<bundle::Manifest>> CollectRecordedHits(const perfdata::Reader& reader,
                                                            const RecordedRoots& roots,
                                                            HitFiles& files, JitFiles& jit) {
  jit.SetLives(perfdata::ReadProcessLives(reader));
  BuildIdsByPath ids = BuildIdTable(reader);
  Hits hits;
  TRY(CollectHits(reader, ids, hits, jit));
  Finder finder(roots, BeganOn(DescribeSystem(roots.kernel).host, reader), files);
  for (const Dso* dso : hits.dsos) {
    if (dso->is_kernel) continue;
    const BuildId build_id = IdOf(*dso, ids);
    if (dso->path == perfdata::kVdsoMappingName) {
      finder.FindVdso(build_id);
    } else if (perfdata::IsFilePath(dso->path)) {
      finder.Find(*dso, build_id);
    }
  }
  const auto kernel_id = ids.find(perfdata::kKernelMappingName);
  const BuildId kernel = kernel_id == ids.end() ? BuildId{} : kernel_id->second;
  if (!hits.kernel_reference) return RecordedSystem(reader, kernel);
  std::string other = OtherKernel(reader, roots, kernel, *hits.kernel_reference);
  if (other.empty()) {
    files.AddKernel();
    return std::nullopt;
  }
  files.AddMissing(bundle::FileKind::kKallsyms, perfdata::kKernelMappingName, kernel,
                   std::move(other));
  return RecordedSystem(reader, kernel);
}

}  // namespace perftape::record

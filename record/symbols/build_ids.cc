// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/build_ids.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/file_number.h"
#include "formats/elf/build_id.h"
#include "formats/perfdata/mapping_name.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"
#include "record/machine/kernel_maps.h"
#include "record/symbols/file_request.h"
#include "record/symbols/kernel_symbols.h"

namespace perftape::record {
namespace {

using perfdata::CpuMode;
using perfdata::Dso;
using perfdata::Region;

constexpr unsigned kMostAttempts = 3;  // each with another process

bool Contains(const perfdata::BuildIds& ids, const perfdata::BuildIdEntry& entry) {
  return std::ranges::any_of(ids.entries, [&](const perfdata::BuildIdEntry& other) {
    return other.filename == entry.filename && other.build_id == entry.build_id;
  });
}

// Returns whether a build id can be read for this name.
bool NamesAFile(std::string_view name) {
  return perfdata::IsFilePath(name) || perfdata::MayHoldElfFile(name);
}

FileNumber NumberOf(const Dso& dso) {
  return {.device = dso.device, .inode = dso.inode};
}

// The end of the addresses of 32-bit processes. Their vdso differs from that of this process.
constexpr std::uint64_t kEndOf32Bit = std::uint64_t{1} << 32;

}  // namespace

BuildIdCollector::BuildIdCollector(SampleFormats formats, BuildIdRoots roots, HitKeepers keepers)
    : formats_(std::move(formats)), roots_(std::move(roots)), keepers_(keepers) {}

Status BuildIdCollector::Observe(Bytes records, std::vector<std::byte>& out) {
  perfdata::RecordCursor cursor(records, 0, std::endian::native);
  while (true) {
    TRY_ASSIGN(const std::optional<perfdata::RecordView> record, cursor.Next());
    if (!record) return {};
    TRY(Observe(*record, out));
  }
}

Status BuildIdCollector::Observe(const perfdata::RecordView& record, std::vector<std::byte>& out) {
  const auto hit = [&](std::uint32_t pid, const Region& region) { return Hit(pid, region, out); };
  TRY(regions_.Observe(record, formats_.Of(record), hit));
  if (keepers_.jit != nullptr) ObserveMapping(record);
  return {};
}

void BuildIdCollector::ObserveMapping(const perfdata::RecordView& record) {
  if (record.type != perfdata::RecordType::kMmap2) return;
  const Result<perfdata::Mmap2> map =
      perfdata::Decode<perfdata::Mmap2>(record, formats_.Of(record));
  if (!map || !perfdata::IsJitDumpPath(map->filename)) return;
  const Region* const region = regions_.processes().UserSpace(map->pid).Find(map->start);
  if (region != nullptr) keepers_.jit->Mapped(map->pid, *region);
}

Status BuildIdCollector::Hit(std::uint32_t pid, const Region& region, std::vector<std::byte>& out) {
  if (!roots_.reads_ids) return {};
  const Dso& dso = *region.dso;
  const auto known = binaries_.find(&dso);
  if (known != binaries_.end() && known->second.is_done) return {};
  if (!dso.symbol.empty()) return {};  // a BPF program or a trampoline, which is in no file
  KeepOthers(pid, region);
  const bool is_file =
      dso.is_kernel || dso.path == perfdata::kVdsoMappingName || NamesAFile(dso.path);
  if (!is_file && dso.build_id.empty()) return {};

  Binary& binary = binaries_[&dso];
  const bool is_first_in_file = !std::exchange(binary.is_in_file, true);
  if (is_first_in_file) hit_.push_back(&dso);
  if (binary.attempts > 0) {
    const bool is_settled = binary.outcome == Outcome::kFound || binary.outcome == Outcome::kAbsent;
    binary.is_done = is_settled && (dso.is_kernel ||
                                    perfdata::SourceOf(dso.path) == perfdata::MappingSource::kFile);
    if (is_settled && is_first_in_file) return HitAgain(pid, region, binary, out);
    if (is_settled || binary.attempts == kMostAttempts || binary.last_pid == pid) return {};
  }
  ++binary.attempts;
  binary.last_pid = pid;
  Attempt attempt = Read(pid, region);
  binary.outcome = attempt.outcome;
  binary.build_id = attempt.build_id;
  binary.had_file = static_cast<bool>(attempt.file);
  if (roots_.on_binary && attempt.file && !attempt.build_id.empty())
    roots_.on_binary(dso.path, attempt.build_id, attempt.file.get());
  if (keepers_.files != nullptr && attempt.file) {
    keepers_.files->Add(dso.path, attempt.build_id, std::move(attempt.file), NumberOf(dso));
  }
  if (attempt.outcome != Outcome::kFound) return {};
  return Announce(EntryOf(dso, attempt.build_id), out);
}

perfdata::BuildIdEntry BuildIdCollector::EntryOf(const Dso& dso, const BuildId& build_id) {
  return {.mode = dso.is_kernel ? CpuMode::kKernel : CpuMode::kUser,
          .build_id = build_id,
          .filename = dso.path};
}

Status BuildIdCollector::StartFile(HitKeepers keepers, Bytes initial_state) {
  keepers_ = keepers;
  all_ = {};
  for (const Dso* dso : hit_) {
    Binary& binary = binaries_[dso];
    binary.is_in_file = binary.is_done = false;
  }
  hit_.clear();
  regions_.ForgetSeen();
  if (keepers_.jit == nullptr) return {};
  perfdata::RecordCursor cursor(initial_state, 0, std::endian::native);
  while (true) {
    TRY_ASSIGN(const std::optional<perfdata::RecordView> record, cursor.Next());
    if (!record) return {};
    ObserveMapping(*record);
  }
}

void BuildIdCollector::ForgetUnused(std::span<const Dso* const> kept) {
  std::unordered_set<const Dso*> used(kept.begin(), kept.end());
  used.insert(hit_.begin(), hit_.end());
  regions_.ForgetUnused([&](const Dso& dso) { return used.contains(&dso); });
  used.merge(regions_.processes().MappedDsos());
  std::erase_if(binaries_, [&](const auto& entry) { return !used.contains(entry.first); });
  growth_.Restart(regions_.processes().size());
}

// If nothing has kept the file open since, it is opened again. It must be the same.
Status BuildIdCollector::HitAgain(std::uint32_t pid, const Region& region, const Binary& binary,
                                  std::vector<std::byte>& out) {
  const Dso& dso = *region.dso;
  if (keepers_.files != nullptr && binary.had_file &&
      !keepers_.files->AddAgain(dso.path, binary.build_id, NumberOf(dso))) {
    Attempt again = Read(pid, region);
    if (again.file && again.build_id == binary.build_id) {
      keepers_.files->Add(dso.path, again.build_id, std::move(again.file), NumberOf(dso));
    } else {
      keepers_.files->AddMissing(bundle::FileKind::kElf, dso.path, binary.build_id,
                                 "its process ended before it could be opened again");
    }
  }
  return binary.build_id.empty() ? Status() : Announce(EntryOf(dso, binary.build_id), out);
}

perfdata::BuildIds BuildIdCollector::BuildIdsOf(std::span<const Dso* const> hit) const {
  perfdata::BuildIds ids;
  for (const Dso* dso : hit) {
    const auto binary = binaries_.find(dso);
    if (binary == binaries_.end() || binary->second.build_id.empty()) continue;
    perfdata::BuildIdEntry entry = EntryOf(*dso, binary->second.build_id);
    if (!Contains(ids, entry)) ids.entries.push_back(std::move(entry));
  }
  return ids;
}

void BuildIdCollector::KeepOthers(std::uint32_t pid, const Region& region) const {
  const Dso& dso = *region.dso;
  if (keepers_.jit != nullptr && !dso.is_kernel && perfdata::MayHoldJitCode(dso.path))
    keepers_.jit->Hit(pid);
  if (keepers_.files == nullptr) return;
  if (dso.is_kernel) keepers_.files->AddKernel();
  if (dso.path == perfdata::kVdsoMappingName && region.start >= kEndOf32Bit)
    keepers_.files->AddVdso();
}

void BuildIdCollector::KeepMissing() const {
  if (keepers_.files != nullptr) AddMissing(hit_, *keepers_.files);
}

void BuildIdCollector::AddMissing(std::span<const Dso* const> hit, HitFiles& files) const {
  const auto reason_of = [](const Dso& dso, Outcome outcome) -> std::string_view {
    switch (outcome) {
      case Outcome::kFound:
      case Outcome::kAbsent:
        return "";
      case Outcome::kReplaced:
        return "replaced by another file before it could be opened";
      case Outcome::kProcessEnded:
        return "its process ended before it could be opened";
      case Outcome::kReplacedOutside:
        return "its process ended before it could be opened, and its name here belongs to another "
               "file: it was in a container, or was replaced";
      case Outcome::kNoAnswer:
        return "its file system did not answer in time";
      case Outcome::kUnreachable:
        break;
    }
    return dso.path == perfdata::kVdsoMappingName
               ? "of 32-bit processes; this one has another"
               : "could not be opened: it was deleted, or its process cannot be accessed";
  };
  struct Missing {
    std::string_view reason;
    FileNumber number;
  };
  std::map<std::string_view, Missing> missing;
  for (const Dso* dso : hit) {
    const auto binary = binaries_.find(dso);
    const std::string_view reason =
        binary == binaries_.end() ? "" : reason_of(*dso, binary->second.outcome);
    if (dso->is_kernel || reason.empty()) continue;
    const Outcome outcome = binary->second.outcome;
    const bool is_replaced = outcome == Outcome::kReplaced || outcome == Outcome::kReplacedOutside;
    missing.emplace(dso->path, Missing{reason, is_replaced ? NumberOf(*dso) : FileNumber{}});
  }
  for (const auto& [path, why] : missing) {
    const bundle::FileKind kind =
        path == perfdata::kVdsoMappingName ? bundle::FileKind::kVdso : bundle::FileKind::kElf;
    files.AddMissing(kind, path, {}, std::string(why.reason), why.number);
  }
}

Status BuildIdCollector::Announce(const perfdata::BuildIdEntry& entry,
                                  std::vector<std::byte>& out) {
  // A file may be mapped under several device numbers. Readers identify it by its name.
  if (Contains(all_, entry)) return {};
  all_.entries.push_back(entry);
  const perfdata::HeaderBuildId record{.build_id = entry.build_id, .filename = entry.filename};
  const auto misc = static_cast<std::uint16_t>(MiscOf(entry.mode) | perfdata::kMiscBuildIdSize);
  return perfdata::Encode(record, misc, out);
}

BuildIdCollector::Attempt BuildIdCollector::Read(std::uint32_t pid, const Region& region) const {
  const Dso& dso = *region.dso;
  if (!dso.build_id.empty()) return {Outcome::kFound, dso.build_id};
  if (dso.is_kernel) return ReadKernel(dso);
  if (dso.path != perfdata::kVdsoMappingName) return ReadFile(pid, region);
  if (region.start < kEndOf32Bit) return {Outcome::kUnreachable, {}};
  const BuildId build_id = elf::BuildIdOf(VdsoOfThisProcess()).value_or(BuildId{});
  return {build_id.empty() ? Outcome::kAbsent : Outcome::kFound, build_id};
}

BuildIdCollector::Attempt BuildIdCollector::ReadKernel(const Dso& dso) const {
  const bool is_module = dso.path != perfdata::kKernelMappingName;
  const Result<std::string> notes =
      ReadWholeFile(is_module ? roots_.sys / "module" / perfdata::ModuleNameOf(dso.path) /
                                    "notes/.note.gnu.build-id"
                              : roots_.sys / "kernel/notes");
  if (!notes) return {Outcome::kUnreachable, {}};
  const BuildId build_id = elf::BuildIdFromNotes(AsBytes(*notes));
  return {build_id.empty() ? Outcome::kAbsent : Outcome::kFound, build_id};
}

// map_files leads to the mapped file itself, even if it was deleted or is in a container, but needs
// CAP_CHECKPOINT_RESTORE or root privileges. root resolves paths as the process sees them.
BuildIdCollector::Attempt BuildIdCollector::ReadFile(std::uint32_t pid,
                                                     const Region& region) const {
  const std::filesystem::path process = roots_.proc / std::to_string(pid);
  std::string_view name = perfdata::WithoutDeleted(region.dso->path);
  name.remove_prefix(1);  // with "/" operator/ would ignore its left operand

  const auto is_settled = [](const Attempt& attempt) {
    return attempt.outcome == Outcome::kFound || attempt.outcome == Outcome::kAbsent;
  };
  bool is_replaced = false;
  for (const std::filesystem::path& path :
       {process / "map_files" / MapFileName(region), process / "root" / name}) {
    Attempt attempt = ReadFileAt(pid, path, *region.dso);
    if (is_settled(attempt) || attempt.outcome == Outcome::kNoAnswer) return attempt;
    is_replaced = is_replaced || attempt.outcome == Outcome::kReplaced;
  }
  // The root of a process that has ended is unknown. It may have been the recorder's root.
  Attempt outside = ReadFileAt(pid, roots_.root / name, *region.dso);
  if (is_settled(outside) || outside.outcome == Outcome::kNoAnswer) return outside;
  if (is_replaced) return {Outcome::kReplaced, {}};
  std::error_code ignored;
  if (std::filesystem::exists(process, ignored)) return {Outcome::kUnreachable, {}};
  const bool is_another = outside.outcome == Outcome::kReplaced;
  return {is_another ? Outcome::kReplacedOutside : Outcome::kProcessEnded, {}};
}

BuildIdCollector::Attempt BuildIdCollector::ReadFileAt(std::uint32_t pid,
                                                       const std::filesystem::path& path,
                                                       const Dso& dso) const {
  OpenedFile opened = roots_.files->OpenMapped(pid, path, dso);
  switch (opened.outcome) {
    case FileOutcome::kOpened:
      break;
    case FileOutcome::kReplaced:
      return {Outcome::kReplaced, {}};
    case FileOutcome::kNotRegular:
    case FileOutcome::kTooLarge:
      return {Outcome::kAbsent, {}};
    case FileOutcome::kNoAnswer:
      return {Outcome::kNoAnswer, {}};
    case FileOutcome::kUnreachable:
      return {Outcome::kUnreachable, {}};
  }
  const Result<BuildId> build_id = elf::ReadBuildId(opened.file.get());
  // An executable mapping of a file that is not ELF has no build id.
  const bool is_other_format = !build_id && build_id.error().code != ErrorCode::kIo;
  if (!build_id && !is_other_format) return {Outcome::kUnreachable, {}};
  if (!build_id) return {Outcome::kAbsent, {}};
  return {build_id->empty() ? Outcome::kAbsent : Outcome::kFound, *build_id,
          std::move(opened.file)};
}

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "convert/records/binary_list.h"

#include <fmt/core.h>

#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

#include "formats/perfdata/address_space.h"
#include "formats/perfdata/kernel_names.h"
#include "formats/perfdata/mapping_name.h"
#include "formats/perfdata/rounds.h"

namespace perftape::records {
namespace {

using perfdata::RecordType;
using perfdata::RecordView;

class BinaryLister {
 public:
  explicit BinaryLister(const perfdata::Reader& reader) {
    const auto feature = reader.DecodedFeature(perfdata::FeatureBit::kBuildId);
    if (!feature) return;
    const auto* const ids = std::get_if<perfdata::BuildIds>(&*feature);
    if (ids == nullptr) return;
    for (const perfdata::BuildIdEntry& entry : ids->entries) {
      AddId(entry.mode, entry.filename, entry.build_id);
    }
  }

  void Apply(const RecordView& record, const perfdata::SampleFormat& format);
  void AddSample(const RecordView& record, const perfdata::SampleFormat& format);

  std::vector<ListedBinary> Finish() && { return std::move(binaries_); }

 private:
  void AddId(perfdata::CpuMode mode, std::string_view filename, const BuildId& id) {
    kernel_names_.Add(mode, filename);
    BinaryOf(std::string(filename)).build_id = id;
  }

  ListedBinary& BinaryOf(const std::string& path) {
    const auto [found, is_new] = by_path_.try_emplace(path, binaries_.size());
    if (is_new) binaries_.push_back({.path = path});
    return binaries_[found->second];
  }

  // Returns the name that perf shows for a mapping of the process.
  std::string NameOf(const perfdata::Dso& dso, std::uint32_t pid) const {
    if (perfdata::IsPerfMapMemory(dso.path)) return fmt::format("/tmp/perf-{}.map", pid);
    std::string name = kernel_names_.NameOf(dso);
    // perf shows the file of a module, if a mapping has its path.
    return perfdata::IsFilePath(dso.path) && !perfdata::IsFilePath(name) ? dso.path : name;
  }

  // Adds the binary of a mapping that was just applied.
  void AddMapping(std::uint32_t pid, perfdata::CpuMode mode, std::uint64_t start);

  perfdata::Processes processes_;
  perfdata::KernelNames kernel_names_;
  std::vector<ListedBinary> binaries_;
  std::unordered_map<std::string, std::size_t> by_path_;  // indexes of binaries_
};

void BinaryLister::AddMapping(std::uint32_t pid, perfdata::CpuMode mode, std::uint64_t start) {
  const perfdata::Region* const region = processes_.Find(pid, mode, start);
  if (region == nullptr || region->dso == nullptr) return;
  ListedBinary& binary = BinaryOf(NameOf(*region->dso, pid));
  if (binary.build_id.empty()) binary.build_id = region->dso->build_id;
}

void BinaryLister::Apply(const RecordView& record, const perfdata::SampleFormat& format) {
  processes_.Apply(record, format);
  if (record.type == RecordType::kMmap) {
    if (const auto mmap = perfdata::Decode<perfdata::Mmap>(record, format)) {
      AddMapping(mmap->pid, record.cpumode(), mmap->start);
    }
  } else if (record.type == RecordType::kMmap2) {
    if (const auto mmap = perfdata::Decode<perfdata::Mmap2>(record, format)) {
      AddMapping(mmap->pid, record.cpumode(), mmap->start);
    }
  } else if (record.type == RecordType::kHeaderBuildId) {
    const auto id = perfdata::Decode<perfdata::HeaderBuildId>(record, format);
    if (id) AddId(record.cpumode(), id->filename, id->build_id);
  }
}

void BinaryLister::AddSample(const RecordView& record, const perfdata::SampleFormat& format) {
  const auto sample = perfdata::RecoverSample(record, format);
  if (!sample) return;
  const perfdata::Region* const region = processes_.Find(sample->pid, record.cpumode(), sample->ip);
  if (region == nullptr || region->dso == nullptr) return;
  BinaryOf(NameOf(*region->dso, sample->pid)).is_sampled = true;
}

}  // namespace

Result<std::vector<ListedBinary>> ListBinaries(const perfdata::Reader& reader, BinaryScan scan) {
  BinaryLister lister(reader);
  if (scan == BinaryScan::kFeature) return std::move(lister).Finish();
  perfdata::InTimeOrder records(reader.records(), reader.events());
  while (true) {
    TRY_ASSIGN(const std::optional<RecordView> record, records.Next());
    if (!record) return std::move(lister).Finish();
    const perfdata::Event* const event = records.event();
    if (event == nullptr) continue;
    if (record->type == RecordType::kSample) {
      lister.AddSample(*record, event->format);
    } else {
      lister.Apply(*record, event->format);
    }
  }
}

}  // namespace perftape::records

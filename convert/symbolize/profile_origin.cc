// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/profile_origin.h"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "convert/symbolize/this_boot.h"
#include "formats/base/duration.h"
#include "formats/bundle/embedding.h"
#include "formats/bundle/recording_notes.h"
#include "formats/perfdata/mapping_name.h"
#include "formats/perfdata/reader.h"

namespace perftape::symbolize {
namespace {

using perfdata::FeatureBit;

// Finds the kernel in the records before the first sample. perf and perftape-record write it at the
// start. The record of its build id may follow: perf inject and perftape-record write it before the
// first sample of the kernel. A recording that ended early, or is from a pipe, has no other.
class KernelSearch {
 public:
  // Whether a sample is the last record to look at.
  bool EndsAt(const perfdata::RecordView& sample) const {
    const bool lacks_build_id = kernel_.reference_address != 0 && kernel_.build_id.empty();
    return !lacks_build_id || sample.cpumode() != perfdata::CpuMode::kUser;
  }

  void AddRecord(const perfdata::RecordView& record, const perfdata::SampleFormat& format) {
    switch (record.type) {
      case perfdata::RecordType::kMmap:
        if (const auto mmap = perfdata::Decode<perfdata::Mmap>(record, format)) {
          AddMapping(mmap->filename, mmap->start, mmap->length, mmap->page_offset);
        }
        break;
      case perfdata::RecordType::kMmap2:
        if (const auto mmap = perfdata::Decode<perfdata::Mmap2>(record, format)) {
          const bool has_build_id = (record.misc & perfdata::kMiscMmapBuildId) != 0;
          if (has_build_id) SetBuildId(mmap->filename, mmap->build_id);
          AddMapping(mmap->filename, mmap->start, mmap->length, mmap->page_offset);
        }
        break;
      case perfdata::RecordType::kHeaderBuildId:
        if (const auto id = perfdata::Decode<perfdata::HeaderBuildId>(record, {})) {
          SetBuildId(id->filename, id->build_id);
        }
        break;
      default:
        break;
    }
  }

  void SetBuildId(std::string_view filename, const BuildId& build_id) {
    if (perfdata::SourceOf(filename) == perfdata::MappingSource::kKernel) {
      kernel_.build_id = build_id;
    }
  }

  RecordedKernel Finish() && {
    std::ranges::sort(kernel_.modules);
    return std::move(kernel_);
  }

 private:
  void AddMapping(std::string_view filename, std::uint64_t start, std::uint64_t length,
                  std::uint64_t page_offset) {
    const std::uint64_t limit =
        length > ~std::uint64_t{0} - start ? ~std::uint64_t{0} : start + length;
    if (filename.starts_with(perfdata::kKernelMappingName)) {
      if (kernel_.reference_address != 0) return;
      kernel_.reference = filename.substr(perfdata::kKernelMappingName.size());
      kernel_.reference_address = page_offset;
      kernel_.limit = limit;
    } else if (std::string module = perfdata::ModuleNameOf(filename); !module.empty()) {
      kernel_.modules.push_back({std::move(module), start, limit});
    }
  }

  RecordedKernel kernel_;
};

RecordedKernel ReadKernel(const perfdata::Reader& reader) {
  KernelSearch search;
  if (const auto value = reader.DecodedFeature(FeatureBit::kBuildId)) {
    for (const auto& entry : std::get<perfdata::BuildIds>(*value).entries) {
      const bool is_named_so = entry.filename.starts_with(perfdata::kKernelMappingName);
      if (is_named_so || entry.mode == perfdata::CpuMode::kKernel) {
        search.SetBuildId(entry.filename, entry.build_id);
      }
    }
  }
  perfdata::RecordCursor cursor = reader.records();
  bool is_start = true;  // no sample yet
  while (cursor.Step()) {
    const perfdata::RecordView& record = cursor.record();
    const bool is_build_id = record.type == perfdata::RecordType::kHeaderBuildId;
    if (record.type == perfdata::RecordType::kSample) {
      if (search.EndsAt(record)) break;
      is_start = false;
    } else if (is_build_id || (is_start && record.cpumode() != perfdata::CpuMode::kUser)) {
      search.AddRecord(record, reader.events()[0].format);
    }
  }
  return std::move(search).Finish();
}

// Returns the time of the recording, on the wall clock, for BootFacts.
std::optional<std::int64_t> WhenMade(const perfdata::Reader& reader, const Input& input) {
  if (const auto value = reader.DecodedFeature(FeatureBit::kClockData)) {
    return static_cast<std::int64_t>(std::get<perfdata::ClockData>(*value).wall_ns);
  }
  struct stat status = {};
  const std::filesystem::path file = input.is_directory() ? input.path() / "data" : input.path();
  if (file.empty() || stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return std::int64_t{status.st_mtim.tv_sec} * kNsPerSecond + status.st_mtim.tv_nsec;
}

ProfileOrigin::Machine ReadMachine(const perfdata::Reader& reader, const Input& input) {
  ProfileOrigin::Machine machine = {.kernel_release = reader.text(FeatureBit::kOsRelease),
                                    .kernel = ReadKernel(reader)};
  const bool knows_text = machine.kernel.reference == "_text";
  const BootFacts recorded = {.host = reader.text(FeatureBit::kHostname),
                              .kernel_release = machine.kernel_release,
                              .kernel_build_id = machine.kernel.build_id,
                              .kernel_text = knows_text ? machine.kernel.reference_address : 0,
                              .made_ns = WhenMade(reader, input)};
  machine.other_than_here = DifferenceOfBoots(recorded, FactsOfThisBoot());
  machine.may_be_here = MayBeOfBoot(recorded, FactsOfThisBoot());
  return machine;
}

bool HasBundle(Input& input) {
  if (input.is_directory() || bundle::IsPipeForm(input.beginning())) return false;
  const auto bytes = input.All();
  if (!bytes) return false;
  const auto extent = bundle::FindEmbedded(*bytes);
  if (!extent) return true;
  return *extent && !bundle::HasOnlyNotes(*bytes, **extent);
}

}  // namespace

RecordedKernel KernelOf(const convert::Profile& profile) {
  RecordedKernel kernel;
  for (const convert::Mapping& mapping : profile.mappings()) {
    const std::string_view filename = profile.text(mapping.filename);
    if (mapping.type != convert::MappingType::kKernel) continue;
    if (std::string module = perfdata::ModuleNameOf(filename); !module.empty()) {
      kernel.modules.push_back({std::move(module), mapping.start, mapping.limit});
    }
    if (perfdata::SourceOf(filename) != perfdata::MappingSource::kKernel) continue;
    if (const auto id = BuildId::FromHex(profile.text(mapping.build_id))) kernel.build_id = *id;
    // Mappings of modules may have split the kernel's mapping. Its first piece has the reference
    // address.
    const bool is_first =
        kernel.reference_address == 0 || mapping.file_offset < kernel.reference_address;
    if (mapping.file_offset != 0 && is_first) {
      kernel.reference = filename.starts_with(perfdata::kKernelMappingName)
                             ? filename.substr(perfdata::kKernelMappingName.size())
                             : std::string_view();
      kernel.reference_address = mapping.file_offset;
    }
  }
  std::ranges::sort(kernel.modules);
  return kernel;
}

ProfileOrigin::ProfileOrigin(Input& input)
    : kallsyms_(perfdata::KallsymsOf(input)), input_(&input) {
  has_bundle_ = may_open_bundle_ = HasBundle(input);
  const auto reader = perfdata::Reader::Open(input);
  if (!reader) return;
  machine_ = ReadMachine(*reader, input);
  has_simpleperf_ =
      reader->feature(FeatureBit::kSimpleperfFile) || reader->feature(FeatureBit::kSimpleperfFile2);
}

std::shared_ptr<const simpleperf::RecordedSymbols> ProfileOrigin::SimpleperfSymbols() {
  if (!has_simpleperf_ || simpleperf_) return simpleperf_;
  simpleperf::RecordedSymbols symbols;
  if (const auto reader = perfdata::Reader::Open(*input_)) {
    if (const auto files = reader->feature(FeatureBit::kSimpleperfFile)) {
      symbols = simpleperf::ReadFileFeature(*files);
    } else if (const auto messages = reader->feature(FeatureBit::kSimpleperfFile2)) {
      symbols = simpleperf::ReadFile2Feature(*messages);
    }
  }
  simpleperf_ = std::make_shared<const simpleperf::RecordedSymbols>(std::move(symbols));
  return simpleperf_;
}

void ProfileOrigin::LearnLives(std::span<const std::uint32_t> pids) {
  if (input_ == nullptr || pids.empty() || !machine_.other_than_here.empty()) return;
  if (!lives_) {
    lives_.emplace();
    const auto reader = perfdata::Reader::Open(*input_);
    if (reader) lives_ = perfdata::ReadProcessLives(*reader);
  }
  for (const std::uint32_t pid : pids) {
    if (const auto life = lives_->find(pid); life != lives_->end()) machine_.lives.insert(*life);
  }
}

std::shared_ptr<const bundle::Bundle> ProfileOrigin::OwnBundle() {
  if (!std::exchange(may_open_bundle_, false)) return bundle_;
  auto opened = bundle::Bundle::OpenEmbedded(*input_);
  if (!opened) {
    bundle_problem_ = std::move(opened).error().message;
    return nullptr;
  }
  if (!*opened) return nullptr;
  bundle_ = std::make_shared<const bundle::Bundle>(**std::move(opened));
  const bundle::Manifest& manifest = bundle_->manifest();
  if (!manifest.boot_id.empty()) {
    machine_.other_than_here = DifferenceOfBoots({.boot_id = manifest.boot_id}, FactsOfThisBoot());
    machine_.may_be_here = false;
  }
  return bundle_;
}

std::vector<SharedBundle> RecordingSources::Bundles() {
  std::vector<SharedBundle> bundles;
  if (auto own = origin_.OwnBundle()) bundles.push_back(std::move(own));
  if (given_) bundles.push_back(given_);
  return bundles;
}

std::string RecordingSources::not_local() const {
  switch (options_.local) {
    case LocalSystem::kAlways:
      return {};
    case LocalSystem::kNever:
      return "not asked";
    case LocalSystem::kSameBoot:
      break;
  }
  return origin_.machine().other_than_here;
}

std::string RecordingSources::not_local_by_build_id() const {
  const bool is_unnamed = options_.local == LocalSystem::kSameBoot && origin_.machine().may_be_here;
  return is_unnamed ? std::string() : not_local();
}

JitSearchPath RecordingSources::MakeJitSearchPath() {
  std::vector<SharedBundle> bundles = Bundles();  // before not_local(), which it may change
  return {.bundles = std::move(bundles),
          .symfs = options_.symfs,
          .not_local = not_local(),
          .lives = origin_.machine().lives};
}

}  // namespace perftape::symbolize

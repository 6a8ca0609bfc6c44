// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/embed_symbols.h"

#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/output_file.h"
#include "formats/bundle/bundle.h"
#include "formats/bundle/bundle_writer.h"
#include "formats/bundle/embedding.h"
#include "formats/elf/elf_file.h"
#include "formats/go/slim_copy.h"

namespace perftape::symbolize {
namespace {

using bundle::BundledFile;
using bundle::FileKind;
using bundle::Kept;

constexpr int kCompressionLevel = 3;

Result<Bytes> WhatCanCarry(Input& perf_data) {
  const auto refuse = [&](std::string_view form) {
    return Fail(
        ErrorCode::kUnsupported,
        perf_data.name() + ": a recording in the form of a " + std::string(form) +
            " cannot contain a bundle; perftape-convert -o FILE.data converts it to a file");
  };
  if (perf_data.is_directory()) return refuse("directory");
  TRY_ASSIGN(const Bytes bytes, perf_data.All());
  if (bundle::IsPipeForm(bytes)) return refuse("pipe");
  return bytes;
}

class Filling {
 public:
  static Result<Filling> Begin() {
    TRY_ASSIGN(UniqueFd fd, CreateUnlinked());
    UniqueFd for_writer = Duplicate(fd.get());
    if (!for_writer) return FailErrno("dup", errno);
    TRY_ASSIGN(bundle::BundleWriter writer,
               bundle::BundleWriter::Create(std::move(for_writer), kCompressionLevel));
    return Filling(std::move(fd), std::move(writer));
  }

  Status AddAll(const bundle::Bundle& old) {
    for (const BundledFile& file : old.manifest().files) {
      const auto bytes = old.Find(file.member);
      if (!bytes) {
        // It says that what is at the path is another file.
        if (file.number.is_known()) writer_.AddMissing(file);
      } else if (writer_.AddSame(file) != nullptr) {
        ++files_;
      } else {
        TRY(Add(file, *bytes));
      }
    }
    return {};
  }

  Status Add(const SymbolFile& file, std::optional<Bytes> bytes) {
    BundledFile about{.path = file.path, .kind = file.kind, .build_id = file.build_id};
    if (has_.contains({about.build_id, about.kind})) return {};
    if (!bytes) {
      missing_.insert(about.path + " " + about.build_id.hex());
      about.missing = "not found when perftape looked for symbols";
      writer_.AddMissing(std::move(about));
      return {};
    }
    about.size = bytes->size();
    about.kept = Kept::kWhole;
    const bool is_binary = file.kind == FileKind::kElf || file.kind == FileKind::kDebug;
    const auto image = is_binary ? std::optional(elf::ElfFile::FromBytes(*bytes)) : std::nullopt;
    if (!image || !*image) return Add(std::move(about), *bytes);
    const auto slim = go::SlimCopy(**image, elf::SlimDwarf::kDrop);
    if (!slim) return Add(std::move(about), *bytes);
    about.kept = Kept::kSymbols;
    return Add(std::move(about), *slim);
  }

  // Returns the archive, in a file without a name.
  Result<MappedFile> Finish(bundle::Manifest manifest, EmbedReport& report) && {
    report.files = files_;
    report.not_found.assign(missing_.begin(), missing_.end());
    TRY_ASSIGN(report.bytes, std::move(writer_).Finish(std::move(manifest)));
    return MappedFile::FromFd(fd_.get(), "bundle");
  }

 private:
  Filling(UniqueFd fd, bundle::BundleWriter writer)
      : fd_(std::move(fd)), writer_(std::move(writer)) {}

  Status Add(BundledFile about, Bytes bytes) {
    if (!about.build_id.empty()) has_.insert({about.build_id, about.kind});
    ++files_;
    return writer_.Add(std::move(about), bytes);
  }

  UniqueFd fd_;
  bundle::BundleWriter writer_;
  std::set<std::pair<BuildId, FileKind>> has_;
  std::set<std::string> missing_;
  std::uint64_t files_ = 0;
};

// For a recording without a bundle: contains only what its records contain.
bundle::Manifest ManifestOf(const ProfileOrigin::Machine& machine) {
  return {.perftape_version = PERFTAPE_VERSION,
          .kernel_release = machine.kernel_release,
          .kernel_build_id = machine.kernel.build_id,
          .reference_symbol = machine.kernel.reference,
          .reference_address = machine.kernel.reference_address};
}

}  // namespace

Result<EmbedReport> EmbedSymbols(Input& perf_data, const convert::Profile& profile,
                                 SymbolSources& sources, const std::filesystem::path& output,
                                 IfExists if_exists) {
  TRY_ASSIGN(const Bytes bytes, WhatCanCarry(perf_data));
  TRY_ASSIGN(Filling filling, Filling::Begin());
  ProfileOrigin origin(perf_data);
  const auto old = origin.OwnBundle();
  if (old) TRY(filling.AddAll(*old));
  TRY(sources.Collect(profile, origin, [&](const SymbolFile& file, std::optional<Bytes> found) {
    return filling.Add(file, found);
  }));
  EmbedReport report;
  TRY_ASSIGN(
      const MappedFile archive,
      std::move(filling).Finish(old ? old->manifest() : ManifestOf(origin.machine()), report));

  const Bytes recorded = bundle::WithoutEmbedded(bytes);
  TRY_ASSIGN(OutputFile out, OutputFile::Create(output, if_exists, Readers::kOwner));
  TRY(out.Write(recorded));
  TRY(out.Write(archive.bytes()));
  TRY(out.Write(bundle::EncodeFooter({.offset = recorded.size(), .size = archive.bytes().size()})));
  TRY(std::move(out).Commit());
  return report;
}

}  // namespace perftape::symbolize

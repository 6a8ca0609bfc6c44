// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/kernel_files.h"

#include <optional>
#include <system_error>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/symbol_limits.h"
#include "formats/elf/build_id.h"
#include "formats/elf/stored_file.h"

namespace perftape::symbolize {
namespace {

Result<std::shared_ptr<const KernelTable>> ReadTableIn(const bundle::Bundle& bundle,
                                                       const BuildId& build_id) {
  const bundle::Manifest& manifest = bundle.manifest();
  std::optional<Bytes> bytes;
  BuildId id = build_id;
  if (!id.empty()) bytes = bundle.Find(id, bundle::FileKind::kKallsyms);
  std::string missing;
  for (const bundle::BundledFile& file : manifest.files) {
    if (bytes || file.kind != bundle::FileKind::kKallsyms) continue;
    bytes = bundle.Find(file.member);
    id = file.build_id.empty() ? manifest.kernel_build_id : file.build_id;
    missing = file.missing;
  }
  if (!bytes) return Fail(ErrorCode::kNotFound, missing.empty() ? "not there" : missing);
  if (bytes->size() > symbol_limits::kKallsyms) {
    return Fail(ErrorCode::kUnsupported,
                "kallsyms " + MoreThanIsRead(bytes->size(), symbol_limits::kKallsyms));
  }
  TRY_ASSIGN(kallsyms::Kallsyms symbols, kallsyms::Kallsyms::Parse(std::string(AsText(*bytes))));
  return std::make_shared<const KernelTable>("bundle: [kernel.kallsyms]", std::move(symbols), id,
                                             manifest.modules);
}

}  // namespace

BuildId RunningKernelBuildId() {
  const auto notes = ReadWholeFile("/sys/kernel/notes");
  return notes ? elf::BuildIdFromNotes(AsBytes(*notes)) : BuildId{};
}

Status KernelFiles::CheckGiven() {
  for (const std::filesystem::path& path : {options_.kallsyms, options_.vmlinux}) {
    if (path.empty()) continue;
    if (path == options_.vmlinux && VmlinuxAt(path)) continue;
    const auto table = TableAt(path, {});
    if (!table) return Fail(table.error());
  }
  return {};
}

Result<std::shared_ptr<const KernelTable>> KernelFiles::TableAt(const std::filesystem::path& path,
                                                                const BuildId& build_id) {
  const auto known = tables_.find(path.native());
  if (known != tables_.end()) return known->second;
  auto ahead = ahead_.extract(path.native());
  Table table = ahead.empty() ? ReadTable(path, build_id) : ahead.mapped().get();
  return tables_.emplace(path.native(), std::move(table)).first->second;
}

void KernelFiles::ReadAhead(const std::filesystem::path& path, const BuildId& build_id) {
  if (tables_.contains(path.native()) || ahead_.contains(path.native())) return;
  try {
    ahead_.emplace(path.native(), std::async(std::launch::async, [this, path, build_id] {
                     return ReadTable(path, build_id);
                   }));
  } catch (const std::system_error&) {
    // The system has no more threads. TableAt reads it.
  }
}

KernelFiles::Table KernelFiles::ReadTable(const std::filesystem::path& path,
                                          const BuildId& build_id) const {
  // A path that the user named may be a pipe: <(zcat kallsyms.gz).
  const bool is_given = path == options_.kallsyms || path == options_.vmlinux;
  TRY_ASSIGN(auto symbols,
             is_given ? kallsyms::Kallsyms::Read(path) : kallsyms::Kallsyms::ReadRegular(path));
  const BuildId id = path == kRunningKallsyms ? RunningKernelBuildId() : build_id;
  return std::make_shared<const KernelTable>(path.native(), std::move(symbols), id);
}

Result<std::shared_ptr<ElfBinary>> KernelFiles::VmlinuxAt(const std::filesystem::path& path) {
  const auto known = vmlinuxes_.find(path.native());
  if (known != vmlinuxes_.end()) return known->second;
  Result<std::shared_ptr<ElfBinary>> vmlinux;
  if (auto image = elf::ElfFile::Open(elf::StoredPath(path))) {
    DebugFile file;
    file.image = *std::move(image);
    file.source = path.native();
    vmlinux = std::make_shared<ElfBinary>(std::move(file), options_);
  } else {
    vmlinux = Fail(std::move(image).error());
  }
  return vmlinuxes_.emplace(path.native(), std::move(vmlinux)).first->second;
}

Result<std::shared_ptr<const KernelTable>> KernelFiles::TableIn(const bundle::Bundle& bundle,
                                                                const BuildId& build_id) {
  TRY_ASSIGN(auto table, ReadTableIn(bundle, build_id));
  if (!build_id.empty()) bundled_.emplace(build_id, table);
  return table;
}

std::shared_ptr<const KernelTable> KernelFiles::BundledTable(const BuildId& build_id) const {
  const auto known = build_id.empty() ? bundled_.end() : bundled_.find(build_id);
  return known == bundled_.end() ? nullptr : known->second;
}

}  // namespace perftape::symbolize

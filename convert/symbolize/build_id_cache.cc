// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/build_id_cache.h"

#include <system_error>

#include "formats/base/output_file.h"
#include "formats/bundle/layout.h"

namespace perftape::symbolize {
namespace {

namespace fs = std::filesystem;

Status MakeDirectories(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return FailErrno(directory.native(), error.value());
  return {};
}

}  // namespace

Status BuildIdCache::Add(const SymbolFile& entry, std::optional<Bytes> bytes) {
  const std::string member =
      bundle::MemberName({.path = entry.path, .kind = entry.kind, .build_id = entry.build_id});
  if (!seen_.insert(member).second) return {};
  std::error_code error;
  if (fs::exists(directory_ / member, error)) {
    ++report_.there;
  } else if (!bytes) {
    report_.not_found.push_back(entry.path + " " + entry.build_id.hex());
    return {};
  } else {
    TRY(Write(member, entry, *bytes));
    ++report_.copied;
  }
  return {};
}

Status BuildIdCache::Write(const fs::path& member, const SymbolFile& entry, Bytes bytes) {
  const fs::path file = directory_ / member;
  TRY(MakeDirectories(file.parent_path()));
  TRY_ASSIGN(OutputFile out, OutputFile::Create(file, IfExists::kReplace));
  TRY(out.Write(bytes));
  TRY(std::move(out).Commit());
  const bundle::BuildIdLink link = bundle::LinkTo(member.native(), entry.build_id);
  const fs::path name = directory_ / link.name;
  TRY(MakeDirectories(name.parent_path()));
  std::error_code error;
  fs::create_symlink(link.target, name, error);
  if (error && error != std::errc::file_exists) return FailErrno(name.native(), error.value());
  return {};
}

}  // namespace perftape::symbolize

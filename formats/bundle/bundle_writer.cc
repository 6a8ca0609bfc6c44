// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/bundle_writer.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "formats/bundle/archive_writer.h"
#include "formats/bundle/layout.h"
#include "formats/bundle/marker.h"

namespace perftape::bundle {

struct BundleWriter::Archive {
  ArchiveWriter tar;
  std::vector<BundledFile> files;
  std::set<std::string, std::less<>> names;  // of members and links
  std::set<std::pair<std::array<std::uint8_t, 20>, FileKind>> added;

  // Returns `name`, with a number appended if the name is in use.
  std::string Unused(const std::string& name) const {
    std::string unused = name;
    for (int number = 2; names.contains(unused); ++number) {
      unused = name + "." + std::to_string(number);
    }
    return unused;
  }
};

BundleWriter::BundleWriter(std::unique_ptr<Archive> archive) : archive_(std::move(archive)) {}
BundleWriter::BundleWriter(BundleWriter&&) noexcept = default;
BundleWriter& BundleWriter::operator=(BundleWriter&&) noexcept = default;
BundleWriter::~BundleWriter() = default;

Result<BundleWriter> BundleWriter::Create(UniqueFd fd, int level) {
  lseek(fd.get(), 0, SEEK_END);  // fails for a pipe, harmlessly
  TRY_ASSIGN(ArchiveWriter tar, ArchiveWriter::Create(std::move(fd), level));
  return BundleWriter(std::make_unique<Archive>(std::move(tar)));
}

Status BundleWriter::Add(BundledFile file, Bytes content) {
  const bool has_id = !file.build_id.empty();
  if (has_id && !archive_->added.emplace(file.build_id.bytes, file.kind).second) return {};
  file.member = archive_->Unused(MemberName(file));
  file.missing.clear();
  TRY(archive_->tar.AddFile(file.member, content));
  TRY(archive_->tar.AddFile(MarkerOf(file.member), AsBytes(MarkerText(content.size()))));
  archive_->names.insert(file.member);
  const bool is_in_cache = FileAt(file.member).has_value();
  if (has_id && is_in_cache) {
    const BuildIdLink link = LinkTo(file.member, file.build_id);
    if (archive_->names.insert(link.name).second) {
      TRY(archive_->tar.AddLink(link.name, link.target));
    }
  }
  archive_->files.push_back(std::move(file));
  return {};
}

const BundledFile* BundleWriter::AddSame(const BundledFile& file) {
  if (file.content.empty() || !file.build_id.empty()) return nullptr;
  const auto same = std::ranges::find_if(archive_->files, [&](const BundledFile& added) {
    return added.kind == file.kind && added.content == file.content && added.build_id.empty();
  });
  if (same == archive_->files.end()) return nullptr;
  BundledFile added = *same;
  added.path = file.path;
  added.number = file.number;
  return &archive_->files.emplace_back(std::move(added));
}

void BundleWriter::AddMissing(BundledFile file) {
  file.kept = Kept::kNothing;
  file.member.clear();
  archive_->files.push_back(std::move(file));
}

Status BundleWriter::AddNotes(const RecordingNotes& notes) {
  return archive_->tar.AddFile(std::string(kNotesName), AsBytes(EncodeNotes(notes)));
}

Result<std::uint64_t> BundleWriter::Finish(Manifest manifest) && {
  manifest.files = std::move(archive_->files);
  TRY(archive_->tar.AddFile(std::string(kManifestName), AsBytes(EncodeManifest(manifest))));
  return std::move(archive_->tar).Finish();
}

}  // namespace perftape::bundle

// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/bundle.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/bundle/embedding.h"
#include "formats/bundle/layout.h"
#include "formats/bundle/recording_notes.h"

namespace perftape::bundle {

struct Bundle::Contents {
  UnpackedArchive archive;
  Manifest manifest;
  // Files only. The keys are views of the members' names.
  std::map<std::string_view, const UnpackedMember*> by_name;
  std::map<std::pair<std::array<std::uint8_t, 20>, FileKind>, const UnpackedMember*> by_id;
};

namespace {

// `perf archive --all` packs the recording and its symbols.tar.bz2 into another tar.
constexpr std::string_view kInnerArchive = "symbols.tar.bz2";

// The manifest of a `perf archive`, which contains none.
Manifest ManifestOf(std::span<const UnpackedMember> members) {
  Manifest manifest;
  for (const UnpackedMember& member : members) {
    auto file = member.is_link() ? std::nullopt : FileAt(member.name);
    if (!file) continue;
    file->size = member.size;
    file->member = member.name;
    manifest.files.push_back(*std::move(file));
  }
  return manifest;
}

// The archive inside that of `perf archive --all`. Null for other archives.
const UnpackedMember* InnerArchive(std::span<const UnpackedMember> members) {
  const auto is_inner = [](const UnpackedMember& member) {
    return member.name.ends_with(kInnerArchive) && !member.is_link();
  };
  const auto found = std::ranges::find_if(members, is_inner);
  return members.size() > 2 || found == members.end() ? nullptr : &*found;
}

}  // namespace

Bundle::Bundle(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
Bundle::Bundle(Bundle&&) noexcept = default;
Bundle& Bundle::operator=(Bundle&&) noexcept = default;
Bundle::~Bundle() = default;

Result<Bundle> Bundle::Open(const std::filesystem::path& path, const UnpackLimits& limits) {
  TRY_ASSIGN(Input input, Input::Open(path));
  TRY_ASSIGN(const Bytes bytes, input.All());
  if (!IsPerfData(bytes)) return FromBytes(bytes, limits);
  TRY_ASSIGN(std::optional<Bundle> embedded, OpenEmbedded(input, limits));
  if (!embedded) return Fail(ErrorCode::kNotFound, "this perf.data contains no bundle");
  return *std::move(embedded);
}

Result<std::optional<Bundle>> Bundle::OpenEmbedded(Input& input, const UnpackLimits& limits) {
  if (input.is_directory() || IsPipeForm(input.beginning())) return std::nullopt;
  TRY_ASSIGN(const Bytes bytes, input.All());
  TRY_ASSIGN(const std::optional<Extent> extent, FindEmbedded(bytes));
  if (!extent) return std::nullopt;
  auto bundle = FromBytes(bytes.subspan(extent->offset, extent->size), limits);
  if (!bundle && bundle.error().code == ErrorCode::kCorrupt && HasOnlyNotes(bytes, *extent)) {
    return std::nullopt;
  }
  if (!bundle) return Fail(InContext("embedded bundle", std::move(bundle).error()));
  return *std::move(bundle);
}

Result<Bundle> Bundle::FromBytes(Bytes archive, const UnpackLimits& limits) {
  TRY_ASSIGN(UnpackedArchive unpacked, Unpack(archive, limits));
  if (const UnpackedMember* inner = InnerArchive(unpacked.members)) {
    TRY_ASSIGN(unpacked, Unpack(unpacked.BytesOf(*inner), limits));
  }
  auto contents = std::make_unique<Contents>(std::move(unpacked));
  for (const UnpackedMember& member : contents->archive.members) {
    if (!member.is_link()) contents->by_name.emplace(member.name, &member);
  }
  TRY_ASSIGN(contents->manifest, ReadManifest(*contents));
  for (const BundledFile& file : contents->manifest.files) {
    const auto member = contents->by_name.find(file.member);
    if (file.build_id.empty() || member == contents->by_name.end()) continue;
    contents->by_id.emplace(std::pair(file.build_id.bytes, file.kind), member->second);
  }
  return Bundle(std::move(contents));
}

Result<Manifest> Bundle::ReadManifest(const Contents& contents) {
  if (const auto found = contents.by_name.find(kManifestName); found != contents.by_name.end()) {
    return DecodeManifest(AsText(contents.archive.BytesOf(*found->second)));
  }
  Manifest manifest = ManifestOf(contents.archive.members);
  if (!manifest.files.empty()) return manifest;
  return Fail(ErrorCode::kCorrupt, "archive: has neither a " + std::string(kManifestName) +
                                       " nor files by their build id: it is not a bundle");
}

const Manifest& Bundle::manifest() const {
  return contents_->manifest;
}

std::span<const UnpackedMember> Bundle::members() const {
  return contents_->archive.members;
}

const PassedOver& Bundle::passed_over() const {
  return contents_->archive.passed_over;
}

Bytes Bundle::BytesOf(const UnpackedMember& member) const {
  return contents_->archive.BytesOf(member);
}

std::optional<Bytes> Bundle::Find(std::string_view member) const {
  const auto found = contents_->by_name.find(member);
  if (found == contents_->by_name.end()) return {};
  return BytesOf(*found->second);
}

std::optional<Bytes> Bundle::Find(const BuildId& build_id, FileKind kind) const {
  const auto found = contents_->by_id.find(std::pair(build_id.bytes, kind));
  if (build_id.empty() || found == contents_->by_id.end()) return {};
  return BytesOf(*found->second);
}

}  // namespace perftape::bundle

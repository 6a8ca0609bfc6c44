// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/recording_bundle.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "formats/bundle/embedding.h"

namespace perftape::record {
namespace {

// The fastest level of zstd, because the user waits for the end of the recording.
constexpr int kCompressionLevel = 1;

// Whether the disk of the file has less than `reserved` bytes for others.
Status CheckReserved(int file, std::uint64_t reserved) {
  struct statvfs status = {};
  if (reserved == 0 || fstatvfs(file, &status) != 0) return {};
  if (std::uint64_t{status.f_bavail} * status.f_frsize >= reserved) return {};
  return Fail(ErrorCode::kIo, "the disk has no room for symbols in addition to --reserve-space");
}

}  // namespace

RecordingBundle::RecordingBundle(BundleRequest request)
    : request_(std::move(request)),
      files_(std::make_unique<HitFiles>(RoomForOpenFiles())),
      jit_(std::make_unique<JitFiles>("/proc", "/", WallClockNs(), request_.others)) {}

Result<RecordingBundle> RecordingBundle::Prepare(const BundleRequest& request) {
  RecordingBundle prepared(request);
  if (prepared.is_separate_file()) {
    TRY_ASSIGN(OutputFile file, OutputFile::Create(request.file, IfExists::kReplace,
                                                   Readers::kOwner, OldFile::kKeep));
    prepared.separate_file_.emplace(std::move(file));
  }
  return prepared;
}

RecordingBundle RecordingBundle::NextFile() {
  next_ = NextBundle::kFollows;
  RecordingBundle next(request_);
  *next.files_ = files_->NextFile();
  return next;
}

Result<BundleSummary> RecordingBundle::Write(int recording, std::string_view name,
                                             const bundle::RecordingNotes& notes) && {
  return is_separate_file() ? WriteSeparateFile(notes) : AppendTo(recording, name, notes);
}

Result<BundleSummary> RecordingBundle::WriteTo(UniqueFd fd, const bundle::RecordingNotes& notes) {
  TRY_ASSIGN(bundle::BundleWriter writer,
             bundle::BundleWriter::Create(std::move(fd), kCompressionLevel));
  TRY(writer.AddNotes(notes));
  return WriteBundle({.files = *files_,
                      .jit = std::move(*jit_).ReleaseFiles(),
                      .next = next_,
                      .others = request_.others.get()},
                     request_.depth, std::move(writer));
}

Result<BundleSummary> RecordingBundle::WriteSeparateFile(const bundle::RecordingNotes& notes) {
  TRY_ASSIGN(UniqueFd fd, separate_file_->Duplicate());
  TRY_ASSIGN(const UniqueFd written, separate_file_->Duplicate());
  TRY_ASSIGN(BundleSummary summary, WriteTo(std::move(fd), notes));
  TRY(CheckReserved(written.get(), request_.reserved_space));
  TRY(std::move(*separate_file_).Commit());
  return summary;
}

Result<BundleSummary> RecordingBundle::AppendTo(int recording, std::string_view name,
                                                const bundle::RecordingNotes& notes) {
  BundleSummary summary;
  Status embedded = bundle::EmbedWith(recording, [&](UniqueFd end) -> Status {
    TRY_ASSIGN(summary, WriteTo(std::move(end), notes));
    // After an error, EmbedWith removes what was appended.
    return CheckReserved(recording, request_.reserved_space);
  });
  if (!embedded) return Fail(InContext(name, std::move(embedded).error()));
  summary.is_in_recording = true;
  return summary;
}

Status AppendNotes(int recording, std::string_view name, const bundle::RecordingNotes& notes) {
  Status embedded = bundle::EmbedWith(
      recording, [&](UniqueFd end) { return WriteNotesArchive(std::move(end), notes); });
  if (!embedded) return Fail(InContext(name, std::move(embedded).error()));
  return {};
}

}  // namespace perftape::record

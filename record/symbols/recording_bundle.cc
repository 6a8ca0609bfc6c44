// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/recording_bundle.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "formats/bundle/embedding.h"

namespace perftape::record {
namespace {

// The fastest level of zstd, because the user waits for the end of the recording.
constexpr int kCompressionLevel = 1;

// Appends the archive that `write` writes. If that fails, restores the recording: a bundle without
// its footer cannot be read.
template <class Value, class Write>
Result<Value> Embed(int recording, std::string_view name, Write write) {
  struct stat before = {};
  if (::fstat(recording, &before) != 0) return FailErrno(name, errno);
  const auto embed = [&]() -> Result<Value> {
    TRY_ASSIGN(const std::uint64_t offset, bundle::BeginEmbedding(recording));
    UniqueFd copy(::fcntl(recording, F_DUPFD_CLOEXEC, 0));
    if (!copy) return FailErrno("duplicating its descriptor", errno);
    Result<Value> written = write(std::move(copy));
    if (written) TRY(bundle::EndEmbedding(recording, offset));
    return written;
  };
  Result<Value> embedded = embed();
  if (embedded) return embedded;
  if (::ftruncate(recording, before.st_size) != 0) return FailErrno(name, errno);
  return Fail(InContext(name, std::move(embedded).error()));
}

}  // namespace

RecordingBundle::RecordingBundle(BundleRequest request)
    : request_(std::move(request)),
      files_(std::make_unique<HitFiles>(RoomForOpenFiles())),
      jit_(std::make_unique<JitFiles>("/proc", "/")) {}

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
  return WriteBundle({.files = *files_, .jit = std::move(*jit_).ReleaseFiles(), .next = next_},
                     request_.depth, std::move(writer));
}

Result<BundleSummary> RecordingBundle::WriteSeparateFile(const bundle::RecordingNotes& notes) {
  TRY_ASSIGN(UniqueFd fd, separate_file_->Duplicate());
  TRY_ASSIGN(BundleSummary summary, WriteTo(std::move(fd), notes));
  TRY(std::move(*separate_file_).Commit());
  return summary;
}

Result<BundleSummary> RecordingBundle::AppendTo(int recording, std::string_view name,
                                                const bundle::RecordingNotes& notes) {
  return Embed<BundleSummary>(recording, name,
                              [&](UniqueFd fd) { return WriteTo(std::move(fd), notes); });
}

Status AppendNotes(int recording, std::string_view name, const bundle::RecordingNotes& notes) {
  return Embed<void>(recording, name,
                     [&](UniqueFd fd) { return WriteNotesArchive(std::move(fd), notes); });
}

}  // namespace perftape::record

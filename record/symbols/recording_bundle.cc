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

Result<BundleSummary> RecordingBundle::Write(int recording, std::string_view name) && {
  return is_separate_file() ? WriteSeparateFile() : AppendTo(recording, name);
}

Result<BundleSummary> RecordingBundle::WriteTo(UniqueFd fd) {
  TRY_ASSIGN(bundle::BundleWriter writer,
             bundle::BundleWriter::Create(std::move(fd), kCompressionLevel));
  return WriteBundle({.files = *files_, .jit = std::move(*jit_).ReleaseFiles(), .next = next_},
                     request_.depth, std::move(writer));
}

Result<BundleSummary> RecordingBundle::WriteSeparateFile() {
  TRY_ASSIGN(UniqueFd fd, separate_file_->Duplicate());
  TRY_ASSIGN(BundleSummary summary, WriteTo(std::move(fd)));
  TRY(std::move(*separate_file_).Commit());
  return summary;
}

Result<BundleSummary> RecordingBundle::AppendTo(int recording, std::string_view name) {
  struct stat before = {};
  if (::fstat(recording, &before) != 0) return FailErrno(name, errno);
  const auto embed = [&]() -> Result<BundleSummary> {
    TRY_ASSIGN(const std::uint64_t offset, bundle::BeginEmbedding(recording));
    UniqueFd copy(::fcntl(recording, F_DUPFD_CLOEXEC, 0));
    if (!copy) return FailErrno("duplicating its descriptor", errno);
    TRY_ASSIGN(BundleSummary summary, WriteTo(std::move(copy)));
    TRY(bundle::EndEmbedding(recording, offset));
    return summary;
  };
  Result<BundleSummary> summary = embed();
  if (summary) return summary;
  // A bundle without its footer cannot be read.
  if (::ftruncate(recording, before.st_size) != 0) return FailErrno(name, errno);
  return Fail(InContext(name, std::move(summary).error()));
}

}  // namespace perftape::record

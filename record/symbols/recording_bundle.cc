// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/recording_bundle.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "formats/bundle/embedding.h"

namespace perftape {
namespace {

// Of zstd: the fastest, since the end of the recording waits for it.
constexpr int kCompressionLevel = 1;

}  // namespace

RecordingBundle::RecordingBundle(BundleRequest request)
    : request_(std::move(request)),
      files_(std::make_unique<HitFiles>(RoomForOpenFiles())),
      jit_(std::make_unique<JitFiles>("/proc", "/")) {}

Result<RecordingBundle> RecordingBundle::Prepare(const BundleRequest& request) {
  RecordingBundle prepared(request);
  if (request.place == BundleRequest::Place::kAside) {
    TRY_ASSIGN(BundleFile file, BundleFile::Create(request.file));
    prepared.aside_.emplace(std::move(file));
  }
  return prepared;
}

Result<BundleSummary> RecordingBundle::Write(const std::filesystem::path& recording) && {
  return request_.place == BundleRequest::Place::kAside ? WriteAside() : WriteInto(recording);
}

Result<BundleSummary> RecordingBundle::WriteTo(UniqueFd fd) {
  TRY_ASSIGN(bundle::BundleWriter writer,
             bundle::BundleWriter::Create(std::move(fd), kCompressionLevel));
  return WriteBundle({.files = *files_, .jit = std::move(*jit_).Take()}, request_.depth,
                     std::move(writer));
}

Result<BundleSummary> RecordingBundle::WriteAside() {
  TRY_ASSIGN(UniqueFd fd, aside_->Duplicate());
  TRY_ASSIGN(BundleSummary summary, WriteTo(std::move(fd)));
  TRY(std::move(*aside_).Commit(OldBundle::kKeep));
  return summary;
}

Result<BundleSummary> RecordingBundle::WriteInto(const std::filesystem::path& recording) {
  const UniqueFd file(::open(recording.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return FailErrno(recording.native(), errno);
  struct stat before = {};
  if (::fstat(file.get(), &before) != 0) return FailErrno(recording.native(), errno);
  if (!S_ISREG(before.st_mode)) {
    return Fail(ErrorCode::kUnsupported, recording.native() + ": not a regular file");
  }
  const auto embed = [&]() -> Result<BundleSummary> {
    TRY_ASSIGN(const std::uint64_t offset, bundle::BeginEmbedding(file.get()));
    UniqueFd copy(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
    if (!copy) return FailErrno(recording.native(), errno);
    TRY_ASSIGN(BundleSummary summary, WriteTo(std::move(copy)));
    TRY(bundle::EndEmbedding(file.get(), offset));
    return summary;
  };
  Result<BundleSummary> summary = embed();
  // Without its footer it would be nothing but what a reader has to skip.
  if (!summary && ::ftruncate(file.get(), before.st_size) != 0) {
    return FailErrno(recording.native(), errno);
  }
  return summary;
}

}  // namespace perftape

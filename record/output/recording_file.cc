// SPDX-License-Identifier: Apache-2.0
#include "record/output/recording_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <iterator>
#include <utility>

namespace perftape::record {
namespace {

// What a full disk costs first. They describe the BPF programs that ran, and are much larger than
// all others.
constexpr perfdata::FeatureBit kExpendable[] = {perfdata::FeatureBit::kBpfBtf,
                                                perfdata::FeatureBit::kBpfProgInfo};

// A pipe contains a feature in one record. BPF_PROG_INFO of very many programs does not fit.
void RemovePipeIncompatibleFeatures(std::vector<perfdata::Feature>& features,
                                    std::vector<std::string>& warnings) {
  std::erase_if(features, [&](const perfdata::Feature& feature) {
    if (feature.bit == perfdata::FeatureBit::kTracingData) return false;
    std::vector<std::byte> payload;
    perfdata::EncodeFeature(feature.value, payload);
    const bool fits = payload.size() <= perfdata::kMaxRecordSize - 2 * sizeof(std::uint64_t);
    if (!fits) {
      warnings.push_back("left out, too large for a pipe: feature " +
                         perfdata::FeatureName(feature.bit));
    }
    return !fits;
  });
}

}  // namespace

std::optional<std::filesystem::path> NameOfOpenFile(int fd) {
  struct stat status = {};
  // /proc appends " (deleted)" to the path of a deleted file. A name may also end so.
  if (::fstat(fd, &status) != 0 || status.st_nlink == 0) return std::nullopt;
  std::array<char, PATH_MAX> path = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  if (length <= 0) return std::nullopt;
  return std::string(path.data(), static_cast<std::size_t>(length));
}

RecordingFile::RecordingFile(const RecordingFileOptions& options,
                             std::vector<perfdata::Feature> features, perfdata::Writer writer)
    : path_(options.path),
      is_stdout_(options.target.is_stdout()),
      sync_(options.sync),
      features_(std::move(features)),
      writer_(std::move(writer)) {}

Result<RecordingFile> RecordingFile::Create(const RecordingFileOptions& options,
                                            std::span<const perfdata::Event> events,
                                            std::vector<perfdata::Feature> features,
                                            std::vector<std::string>& warnings) {
  perfdata::WriterOptions how = {.old = options.old,
                                 .compression_level = options.compression_level};
  if (options.target.is_stream()) {
    RemovePipeIncompatibleFeatures(features, warnings);
    TRY_ASSIGN(perfdata::Writer pipe,
               perfdata::Writer::CreatePipe(options.path, events, features, how, options.stop));
    return RecordingFile(options, std::move(features), std::move(pipe));
  }
  std::ranges::copy_if(features, std::back_inserter(how.required_features),
                       [](const perfdata::Feature& feature) {
                         return feature.bit == perfdata::FeatureBit::kTracingData;
                       });
  TRY_ASSIGN(perfdata::Writer writer, perfdata::Writer::Create(options.path, events, how));
  RecordingFile file(options, std::move(features), std::move(writer));
  TRY_ASSIGN(file.file_, file.writer_.DuplicateFile());
  return file;
}

Status RecordingFile::Sync() const {
  if (sync_ && file_ && fdatasync(file_.get()) != 0) return FailErrno(path_.native(), errno);
  return {};
}

Status RecordingFile::Publish() {
  TRY(writer_.Publish());
  if (file_) published_path_ = NameOfOpenFile(file_.get());
  return {};
}

Result<FinishedRecording> RecordingFile::Finish(std::vector<perfdata::Feature> more) && {
  std::ranges::move(more, std::back_inserter(features_));
  TRY_ASSIGN(const perfdata::FinishedFile written,
             std::move(writer_).FinishInRoom(features_, kExpendable));
  FinishedRecording finished{.bytes = written.size};
  for (const perfdata::FeatureBit bit : written.left_out) {
    finished.warnings.push_back(path_.native() +
                                ": left out, the disk has no room for it: feature " +
                                perfdata::FeatureName(bit));
  }
  return finished;
}

std::filesystem::path RecordingFile::requested_path() const {
  return is_stdout_ ? std::filesystem::path() : path_;
}

std::optional<std::filesystem::path> RecordingFile::CurrentPath() const {
  if (!file_) return std::nullopt;
  return NameOfOpenFile(file_.get());
}

}  // namespace perftape::record

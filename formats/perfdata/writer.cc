// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/writer.h"

#include <unistd.h>

#include <cerrno>

#include "formats/base/stream_write.h"

namespace perftape::perfdata {
namespace {

// A single write within one page, so a reader sees all of it or nothing.
Status WriteHeaderTail(int fd, const HeaderTail& header) {
  return WriteAllAt(fd, std::as_bytes(std::span(&header, 1)), kDataSizeAt);
}

// Ignores that a device or a pipe cannot be synced. Reports the write errors of file systems.
Status Sync(int fd) {
  if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS) return FailErrno("sync", errno);
  return {};
}

}  // namespace

Result<Writer> Writer::Create(const std::filesystem::path& path, std::span<const Event> events,
                              const WriterOptions& options) {
  TRY_ASSIGN(const OutputTarget target, ResolveOutput(path));
  if (target.descriptor >= 0 || target.is_named_pipe || IsTerminal(target)) {
    return Fail(ErrorCode::kInvalidArgument,
                target.name + ": a perf.data file cannot be written to a pipe");
  }
  Writer writer;
  TRY(writer.StartCompressor(options));
  TRY(writer.OpenOutput(target, options));
  FileStart head = FileHead(events, options.required_features);
  if (auto written = WriteAllAt(writer.fd(), head.bytes, 0); !written) {
    return Fail(InContext(writer.name_, std::move(written).error()));
  }
  writer.required_features_ = std::move(head.features);
  writer.data_offset_ = writer.data_end_ = head.bytes.size();
  return writer;
}

Result<Writer> Writer::CreatePipe(const std::filesystem::path& path, std::span<const Event> events,
                                  std::span<const Feature> features, const WriterOptions& options,
                                  const std::stop_token& stop) {
  TRY_ASSIGN(const OutputTarget target, ResolveOutput(path));
  Writer writer;
  TRY(writer.OpenOutput(target, options, stop));
  TRY(writer.StartPipe(events, features, options));
  return writer;
}

Status Writer::OpenOutput(const OutputTarget& target, const WriterOptions& options,
                          const std::stop_token& stop) {
  name_ = target.name;
  if (target.is_stream()) {
    TRY_ASSIGN(fd_, OpenStream(target, stop));
    stop_ = stop;
    return {};
  }
  TRY_ASSIGN(StagedFile staged, StagedFile::Create(target, Readers::kOwner, options.old));
  staged_.emplace(std::move(staged));
  return {};
}

Status Writer::StartPipe(std::span<const Event> events, std::span<const Feature> features,
                         const WriterOptions& options) {
  container_ = Container::kPipe;
  TRY(StartCompressor(options));
  std::vector<Feature> all(features.begin(), features.end());
  if (compressor_) {
    all.push_back({FeatureBit::kCompressed, RawFeature{compressor_->FeaturePayload()}});
  }
  TRY_ASSIGN(pending_, PipeHead(events, all));
  return {};
}

Status Writer::StartCompressor(const WriterOptions& options) {
  if (!options.compression_level) return {};
  TRY_ASSIGN(RecordCompressor compressor, RecordCompressor::Create(*options.compression_level));
  compressor_.emplace(std::move(compressor));
  return {};
}

Status Writer::Append(Bytes records) {
  if (compressor_) return compressor_->Append(records, pending_);
  pending_.insert(pending_.end(), records.begin(), records.end());
  return {};
}

Result<std::uint64_t> Writer::AppendPlain(Bytes bytes) {
  if (compressor_) TRY(compressor_->Flush(pending_));
  const std::uint64_t offset = size() + pending_.size();
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  return offset;
}

std::optional<Compression> Writer::compression() const {
  if (!compressor_) return std::nullopt;
  return compressor_->compression();
}

Status Writer::Commit() {
  if (failed_) return Fail(ErrorCode::kIo, name_ + ": an earlier write failed");
  if (compressor_) TRY(compressor_->Flush(pending_));
  if (pending_.empty()) return {};
  if (auto written = WritePending(); !written) {
    failed_ = true;
    // Frees the space of the bytes that were not committed, which other programs may need on a full
    // disk.
    if (container_ == Container::kFile) (void)!ftruncate(fd(), static_cast<off_t>(size()));
    return Fail(InContext(name_, std::move(written).error()));
  }
  pending_.clear();
  return {};
}

Status Writer::CommitInstead(Bytes records) {
  if (container_ == Container::kPipe) {
    return Fail(ErrorCode::kUnsupported, name_ + ": the stream ends inside a record");
  }
  if (compressor_) compressor_->Drop();
  pending_.assign(records.begin(), records.end());
  failed_ = false;
  return Commit();
}

Result<UniqueFd> Writer::DuplicateFile() const {
  if (container_ == Container::kPipe || !staged_) return UniqueFd();
  UniqueFd copy = Duplicate(fd());
  if (!copy) return FailErrno(name_, errno);
  return copy;
}

// table_ after the old end of the data becomes a record. A copy of it is written after the new end,
// before data.size is set to that end.
Status Writer::WritePending() {
  if (container_ == Container::kPipe) {
    TRY(WriteToReader(fd(), pending_, stop_));
    data_end_ += pending_.size();
    return {};
  }
  const std::uint64_t end = size() + pending_.size();
  pending_.insert(pending_.end(), table_.begin(), table_.end());
  TRY(WriteAllAt(fd(), pending_, size()));
  const std::uint64_t data_size = end - data_offset_;
  TRY(WriteAllAt(fd(), std::as_bytes(std::span(&data_size, 1)), kDataSizeAt));
  header_.data_size = data_size;
  data_end_ = end;
  return {};
}

Status Writer::Publish() {
  if (!staged_ || staged_->is_published()) return {};
  const bool needs_table = compressor_ || !required_features_.empty();
  if (needs_table && container_ == Container::kFile && table_.empty()) TRY(MakeReadable());
  return Rename();
}

// Writes the features that perf needs before the file is published (TableInARecord).
Status Writer::MakeReadable() {
  HeaderTail header = header_;
  const std::vector<std::byte> compressed =
      compressor_ ? compressor_->FeaturePayload() : std::vector<std::byte>();
  std::vector<std::byte> table = TableInARecord(data_end_, required_features_, compressed, header);
  TRY(WriteAllAt(fd(), table, data_end_));
  TRY(WriteHeaderTail(fd(), header));
  header_ = header;
  table_ = std::move(table);
  return {};
}

Status Writer::Rename() {
  return staged_ ? staged_->Publish() : Status();
}

Result<std::uint64_t> Writer::Finish(std::span<const Feature> features) && {
  TRY_ASSIGN(const FinishedFile finished, std::move(*this).FinishInRoom(features, {}));
  return finished.size;
}

Result<FinishedFile> Writer::FinishInRoom(std::span<const Feature> features,
                                          std::span<const FeatureBit> expendable) && {
  TRY(Commit());
  FinishedFile finished{.size = data_end_, .left_out = {}};
  if (container_ == Container::kFile) {
    TRY_ASSIGN(finished, WriteWhatFits({features.begin(), features.end()}, expendable));
  } else if (staged_) {
    TRY(Sync(fd()));
  }
  TRY(Rename());
  return finished;
}

Result<FinishedFile> Writer::WriteWhatFits(std::vector<Feature> features,
                                           std::span<const FeatureBit> expendable) {
  FinishedFile finished;
  Result<std::uint64_t> end = WriteFeatures(features);
  for (const FeatureBit bit : expendable) {
    if (end || end.error().code != ErrorCode::kIo) break;
    const auto is_it = [&](const Feature& feature) { return feature.bit == bit; };
    if (std::erase_if(features, is_it) == 0) continue;
    finished.left_out.push_back(bit);
    end = WriteFeatures(features);
  }
  if (!end) return Fail(InContext(name_, std::move(end).error()));
  finished.size = *end;
  return finished;
}

// Returns the offset of their end.
Result<std::uint64_t> Writer::WriteFeatures(std::span<const Feature> features) {
  std::vector<Feature> all;
  for (const Feature& feature : features) {
    if (feature.bit != FeatureBit::kCompressed) all.push_back(feature);
  }
  if (compressor_) {
    all.push_back({FeatureBit::kCompressed, RawFeature{compressor_->FeaturePayload()}});
  }
  // table_ becomes a record.
  HeaderTail header = {.data_size = size() - data_offset_};
  const std::vector<std::byte> table = FeatureTable(all, size(), header);
  Status written = WriteAllAt(fd(), table, size());
  if (written) written = WriteHeaderTail(fd(), header);
  if (written) written = Sync(fd());
  if (written) return size() + table.size();
  // A published file can still be opened without features.
  (void)WriteHeaderTail(fd(), header_);
  (void)!ftruncate(fd(), static_cast<off_t>(size()));
  return Fail(std::move(written).error());
}

}  // namespace perftape::perfdata

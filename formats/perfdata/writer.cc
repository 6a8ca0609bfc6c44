// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/writer.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace perftape::perfdata {
namespace {

// For file systems that know no other way: for an instant there is no file `to`.
Status RenameInTwoSteps(const std::filesystem::path& from, const std::filesystem::path& to,
                        const std::string& old) {
  if (rename(to.c_str(), old.c_str()) != 0 && errno != ENOENT) return FailErrno(old, errno);
  if (rename(from.c_str(), to.c_str()) != 0) return FailErrno(to.native(), errno);
  return {};
}

// Gives `from` the name `to`; what had it becomes `to`.old. At no instant is there no file `to`,
// where the file system can exchange names, and no file is lost that another recorder gave the name
// to meanwhile.
Status RenameKeepingOld(const std::filesystem::path& from, const std::filesystem::path& to) {
  const std::string old = to.native() + ".old";
  const auto rename_with = [&](unsigned flags) {
    return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0;
  };
  while (true) {
    if (rename_with(RENAME_EXCHANGE)) break;
    if (errno != ENOENT) return RenameInTwoSteps(from, to, old);
    if (rename_with(RENAME_NOREPLACE)) return {};
    if (errno != EEXIST) return RenameInTwoSteps(from, to, old);
  }
  if (rename(from.c_str(), old.c_str()) == 0) return {};
  const int error_number = errno;
  rename_with(RENAME_EXCHANGE);  // or what had the name would go away with the unpublished file
  return FailErrno(old, error_number);
}

bool IsDirectory(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// One write within the header's page, which nobody sees half of.
Status WriteHeaderTail(int fd, const HeaderTail& header) {
  return WriteAllAt(fd, std::as_bytes(std::span(&header, 1)), kDataSizeAt);
}

// A device or a pipe cannot be synced; what a file system cannot write must be heard of.
Status Sync(int fd) {
  if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS) return FailErrno("sync", errno);
  return {};
}

}  // namespace

Result<Writer> Writer::Create(const std::filesystem::path& path, std::span<const Event> events,
                              const WriterOptions& options) {
  Writer writer;
  TRY(writer.StartCompressor(options));
  TRY(writer.OpenFile(path, options.old));
  const std::vector<std::byte> head = FileHead(events);
  if (auto written = WriteAllAt(writer.fd_.get(), head, 0); !written) {
    return Fail(InContext(path.native(), std::move(written).error()));
  }
  writer.data_offset_ = writer.data_end_ = head.size();
  return writer;
}

Result<Writer> Writer::ToPipe(UniqueFd fd, std::span<const Event> events,
                              std::span<const Feature> features, const WriterOptions& options) {
  Writer writer;
  writer.fd_ = std::move(fd);
  writer.path_ = "pipe";
  TRY(writer.StartPipe(events, features, options));
  return writer;
}

Result<Writer> Writer::CreatePipe(const std::filesystem::path& path, std::span<const Event> events,
                                  std::span<const Feature> features, const WriterOptions& options) {
  Writer writer;
  TRY(writer.OpenFile(path, options.old));
  TRY(writer.StartPipe(events, features, options));
  return writer;
}

Status Writer::OpenFile(const std::filesystem::path& path, OldFile old) {
  path_ = path;
  old_ = old;
  struct stat status = {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    // A device such as /dev/null is written to, never renamed over.
    fd_ = UniqueFd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  } else {
    // Known now, before what is going to be recorded has begun.
    const std::string kept = path.native() + ".old";
    if (exists && old == OldFile::kKeep && IsDirectory(kept)) return FailErrno(kept, EISDIR);
    // Readable by its owner only, as perf makes it: a profile tells what a machine does.
    std::string temporary = path.native() + ".XXXXXX";
    fd_ = UniqueFd(mkostemp(temporary.data(), O_CLOEXEC));
    if (fd_) temporary_path_ = temporary;
  }
  if (!fd_) return FailErrno(path.native(), errno);
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

Writer::~Writer() {
  if (fd_ && !temporary_path_.empty()) unlink(temporary_path_.c_str());
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
  if (failed_) return Fail(ErrorCode::kIo, path_.native() + ": an earlier write failed");
  if (compressor_) TRY(compressor_->Flush(pending_));
  if (pending_.empty()) return {};
  if (auto written = WritePending(); !written) {
    failed_ = true;
    // Give back what was not committed: on a full disk someone else may need it.
    if (container_ == Container::kFile) (void)!ftruncate(fd_.get(), static_cast<off_t>(size()));
    return Fail(InContext(path_.native(), std::move(written).error()));
  }
  pending_.clear();
  return {};
}

Status Writer::CommitInstead(Bytes records) {
  if (container_ == Container::kPipe) {
    return Fail(ErrorCode::kUnsupported, path_.native() + ": ends within a record");
  }
  if (compressor_) compressor_->Drop();
  pending_.assign(records.begin(), records.end());
  failed_ = false;
  return Commit();
}

Result<UniqueFd> Writer::DuplicateFile() const {
  struct stat status = {};
  if (fstat(fd_.get(), &status) != 0) return FailErrno(path_.native(), errno);
  if (container_ == Container::kPipe || !S_ISREG(status.st_mode)) return UniqueFd();
  UniqueFd copy(fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy) return FailErrno(path_.native(), errno);
  return copy;
}

// What lies behind the end becomes a record; the same bytes lie behind the new end, before it is
// told.
Status Writer::WritePending() {
  if (container_ == Container::kPipe) {
    TRY(WriteAll(fd_.get(), pending_));
    data_end_ += pending_.size();
    return {};
  }
  const std::uint64_t end = size() + pending_.size();
  pending_.insert(pending_.end(), table_.begin(), table_.end());
  TRY(WriteAllAt(fd_.get(), pending_, size()));
  const std::uint64_t data_size = end - data_offset_;
  TRY(WriteAllAt(fd_.get(), std::as_bytes(std::span(&data_size, 1)), kDataSizeAt));
  header_.data_size = data_size;
  data_end_ = end;
  return {};
}

Status Writer::Publish() {
  if (temporary_path_.empty()) return {};
  if (compressor_ && container_ == Container::kFile && table_.empty()) TRY(MakeReadable());
  return Rename();
}

// A compressed file needs a feature before it has any.
Status Writer::MakeReadable() {
  HeaderTail header = header_;
  std::vector<std::byte> table = TableInARecord(data_end_, compressor_->FeaturePayload(), header);
  TRY(WriteAllAt(fd_.get(), table, data_end_));
  TRY(WriteHeaderTail(fd_.get(), header));
  header_ = header;
  table_ = std::move(table);
  return {};
}

Status Writer::Rename() {
  if (temporary_path_.empty()) return {};
  if (old_ == OldFile::kKeep) {
    TRY(RenameKeepingOld(temporary_path_, path_));
  } else if (rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    return FailErrno(path_.native(), errno);
  }
  temporary_path_.clear();
  return {};
}

Result<std::uint64_t> Writer::Finish(std::span<const Feature> features) && {
  TRY(Commit());
  std::uint64_t written = data_end_;
  if (container_ == Container::kFile) {
    const Result<std::uint64_t> end = WriteFeatures(features);
    if (!end) {
      // Without them what is published still opens.
      (void)WriteHeaderTail(fd_.get(), header_);
      (void)!ftruncate(fd_.get(), static_cast<off_t>(size()));
      return Fail(InContext(path_.native(), end.error()));
    }
    written = *end;
  } else if (!temporary_path_.empty()) {
    TRY(Sync(fd_.get()));
  }
  TRY(Rename());
  return written;
}

// Returns where they end.
Result<std::uint64_t> Writer::WriteFeatures(std::span<const Feature> features) {
  std::vector<Feature> all;
  for (const Feature& feature : features) {
    if (feature.bit != FeatureBit::kCompressed) all.push_back(feature);
  }
  if (compressor_) {
    all.push_back({FeatureBit::kCompressed, RawFeature{compressor_->FeaturePayload()}});
  }
  // What lay behind the records to be found is a record now.
  HeaderTail header = {.data_size = size() - data_offset_};
  const std::vector<std::byte> table = FeatureTable(all, size(), header);
  TRY(WriteAllAt(fd_.get(), table, size()));
  TRY(WriteHeaderTail(fd_.get(), header));
  TRY(Sync(fd_.get()));
  return size() + table.size();
}

}  // namespace perftape::perfdata

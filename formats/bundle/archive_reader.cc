// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "formats/base/bytes.h"
#include "formats/base/progress.h"
#include "formats/bundle/layout.h"
#include "formats/bundle/library_versions.h"

namespace perftape::bundle {
namespace {

constexpr std::size_t kPage = 4096;
// Of members, so that ELF readers can use the mapped bytes.
constexpr std::uint64_t kAlignment = 16;

struct FreeArchive {
  void operator()(archive* tar) const { archive_read_free(tar); }
};
using ArchivePtr = std::unique_ptr<archive, FreeArchive>;

// Passes the archive to libarchive in pieces, and notes whether libarchive asked for more bytes
// than there are.
struct Source {
  explicit Source(Bytes bytes) : left(bytes), size(bytes.size()) {}

  Bytes left;
  std::size_t size;
  bool asked_beyond_end = false;
  ProgressMeter progress{0};

  static la_ssize_t Read(archive* /*tar*/, void* self, const void** piece) {
    auto& source = *static_cast<Source*>(self);
    const std::size_t size = std::min(source.left.size(), kIoSize);
    if (size == 0) source.asked_beyond_end = true;
    *piece = source.left.data();
    source.left = source.left.subspan(size);
    source.progress.MoveTo(source.size - source.left.size(), 0);
    return static_cast<la_ssize_t>(size);
  }
};

// The unlinked file. Pages of zeros become holes, so that a bomb of zeros does not fill the disk.
class Spool {
 public:
  static Result<Spool> Create() {
    TRY_ASSIGN(UniqueFd fd, CreateUnlinked());
    return Spool(std::move(fd));
  }

  std::uint64_t size() const { return size_; }
  std::uint64_t holes() const { return holes_; }  // in bytes
  void Align() { size_ = (size_ + kAlignment - 1) / kAlignment * kAlignment; }

  Status Append(Bytes bytes) {
    while (!bytes.empty()) {
      const std::size_t to_page = kPage - size_ % kPage;
      const Bytes piece = bytes.first(std::min(bytes.size(), to_page));
      const bool is_hole = IsZero(piece);
      if (is_hole) TRY(Flush());
      if (is_hole) holes_ += piece.size();
      if (!is_hole && pending_.empty()) pending_at_ = size_;
      if (!is_hole) pending_.insert(pending_.end(), piece.begin(), piece.end());
      size_ += piece.size();
      bytes = bytes.subspan(piece.size());
    }
    return Flush();
  }

  Result<MappedFile> Map() && {
    if (ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0) return FailErrno("$TMPDIR", errno);
    return MappedFile::FromFd(fd_.get(), "$TMPDIR");
  }

 private:
  explicit Spool(UniqueFd fd) : fd_(std::move(fd)) {}

  Status Flush() {
    if (pending_.empty()) return {};
    if (auto written = WriteAllAt(fd_.get(), pending_, pending_at_); !written) {
      return Fail(InContext("$TMPDIR", std::move(written).error()));
    }
    pending_.clear();
    return {};
  }

  UniqueFd fd_;
  std::uint64_t size_ = 0, holes_ = 0;
  std::vector<std::byte> pending_;  // written at pending_at_
  std::uint64_t pending_at_ = 0;
};

std::unexpected<Error> TooMuch(std::string_view what, std::uint64_t limit) {
  return Fail(ErrorCode::kUnsupported, "archive: unpacks to more than the limit of " +
                                           std::to_string(limit) + " " + std::string(what));
}

std::unexpected<Error> DamagedMember(archive* tar, const Source& source, std::uint64_t number) {
  const char* why = archive_error_string(tar);
  return Fail(source.asked_beyond_end ? ErrorCode::kTruncated : ErrorCode::kCorrupt,
              "archive: member " + std::to_string(number) + ": " +
                  (why == nullptr ? "cannot be read" : why));
}

class Unpacking {
 public:
  Unpacking(ArchivePtr tar, Source& source, Spool spool, const UnpackLimits& limits)
      : tar_(std::move(tar)), source_(source), spool_(std::move(spool)), limits_(limits) {}

  Result<UnpackedArchive> Run() {
    for (std::uint64_t entries = 0;; ++entries) {
      archive_entry* entry = nullptr;
      const int status = archive_read_next_header(tar_.get(), &entry);
      if (status == ARCHIVE_EOF) break;
      if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return Damage();
      if (entries == limits_.members) return TooMuch("members", limits_.members);
      TRY(AddEntry(entry));
    }
    TRY_ASSIGN(MappedFile file, std::move(spool_).Map());
    return UnpackedArchive{std::move(file), std::move(members_), passed_over_};
  }

 private:
  std::unexpected<Error> Damage() const {
    return DamagedMember(tar_.get(), source_, members_.size() + passed_over_.sum());
  }

  // Checks the size before the bytes are read, because the bytes of ignored members are unpacked
  // too.
  Status CheckSize(std::uint64_t size) {
    const auto unpacked = static_cast<std::uint64_t>(archive_filter_bytes(tar_.get(), 0));
    const std::uint64_t most = limits_.total + limits_.zeros;
    if (unpacked > most || size > most - unpacked) return TooMuch("bytes", most);
    return {};
  }

  Status AddEntry(archive_entry* entry) {
    TRY(CheckSize(static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0))));
    const auto type = archive_entry_filetype(entry);
    if (type == AE_IFDIR) return {};
    const bool plain = archive_entry_hardlink(entry) == nullptr &&
                       (type == AE_IFLNK || (type == AE_IFREG && !IsSparse(entry)));
    if (!plain) return Ignore(passed_over_.kinds);
    const char* as_written = archive_entry_pathname(entry);
    auto name = CleanName(as_written == nullptr ? "" : as_written);
    if (!name) return Ignore(passed_over_.unsafe_names);
    UnpackedMember member{.name = *std::move(name)};
    if (type == AE_IFLNK) {
      const char* target = archive_entry_symlink(entry);
      member.target = target == nullptr ? "" : target;
      if (!StaysInside(member.name, member.target)) return Ignore(passed_over_.unsafe_names);
    }
    if (!names_.insert(member.name).second) return Ignore(passed_over_.duplicates);
    if (type == AE_IFREG) TRY(ReadContent(member));
    members_.push_back(std::move(member));
    return {};
  }

  static bool IsSparse(archive_entry* entry) { return archive_entry_sparse_count(entry) > 0; }

  static Status Ignore(std::uint64_t& count) {
    ++count;
    return {};
  }

  Status ReadContent(UnpackedMember& member) {
    spool_.Align();
    member.offset = spool_.size();
    while (true) {
      const la_ssize_t got = archive_read_data(tar_.get(), buffer_.data(), buffer_.size());
      if (got == 0) break;
      if (got < 0) return Damage();
      TRY(spool_.Append(Bytes(buffer_).first(static_cast<std::size_t>(got))));
      const auto unpacked = static_cast<std::uint64_t>(archive_filter_bytes(tar_.get(), 0));
      const std::uint64_t zeros = std::min(spool_.holes(), limits_.zeros);
      if (unpacked > zeros && unpacked - zeros > limits_.total) {
        return TooMuch("bytes", limits_.total);
      }
    }
    member.size = spool_.size() - member.offset;
    return {};
  }

  ArchivePtr tar_;
  Source& source_;
  Spool spool_;
  UnpackLimits limits_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kIoSize);
  std::vector<UnpackedMember> members_;
  std::unordered_set<std::string> names_;
  PassedOver passed_over_;
};

// Enables the filters that libarchive implements itself. Others would start programs.
Status SupportFilters(archive* tar) {
  for (const auto support : {&archive_read_support_filter_zstd, &archive_read_support_filter_bzip2,
                             &archive_read_support_filter_gzip, &archive_read_support_filter_xz}) {
    if (support(tar) != ARCHIVE_OK) return Fail(ErrorCode::kUnsupported, archive_error_string(tar));
  }
  return {};
}

// The number of bytes that an archive of `size` bytes may unpack to.
std::uint64_t LimitOf(std::uint64_t size, const UnpackLimits& limits) {
  if (size >= limits.total / std::max<std::uint64_t>(limits.ratio, 1)) return limits.total;
  return std::min(limits.total, std::max(size * limits.ratio, limits.always));
}

Result<ArchivePtr> NewReader() {
  ArchivePtr tar(archive_read_new());
  if (tar == nullptr) return FailErrno("archive", ENOMEM);
  TRY(SupportFilters(tar.get()));
  return tar;
}

// `source` must outlive the result.
Result<ArchivePtr> OpenTar(Source& source) {
  TRY_ASSIGN(ArchivePtr tar, NewReader());
  archive_read_support_format_tar(tar.get());
  if (archive_read_open(tar.get(), &source, nullptr, &Source::Read, nullptr) != ARCHIVE_OK) {
    return Fail(source.asked_beyond_end ? ErrorCode::kTruncated : ErrorCode::kCorrupt,
                "archive: is neither a tar nor a compressed one");
  }
  // There may be two filters: one compression, and the file itself. With several compressions, the
  // ratios would multiply.
  if (archive_filter_count(tar.get()) > 2) {
    return Fail(ErrorCode::kUnsupported, "archive: is compressed more than once");
  }
  return tar;
}

// The error for compressed input that is not a tar. Its offset is where the next read would start.
std::unexpected<Error> Unexpandable(archive* reader, Bytes compressed, const Source& source) {
  const char* why = archive_error_string(reader);
  return Fail(
      source.asked_beyond_end ? ErrorCode::kTruncated : ErrorCode::kCorrupt,
      fmt::format("at {:#x}: the compressed data cannot be expanded: {}",
                  compressed.size() - source.left.size(), why == nullptr ? "it is damaged" : why));
}

}  // namespace

Result<MappedFile> Expand(Bytes compressed, const UnpackLimits& limits) {
  Source source(compressed);
  TRY_ASSIGN(const ArchivePtr reader, NewReader());
  archive_read_support_format_raw(reader.get());
  archive_read_support_format_empty(reader.get());
  archive_entry* entry = nullptr;
  if (archive_read_open(reader.get(), &source, nullptr, &Source::Read, nullptr) != ARCHIVE_OK) {
    return Unexpandable(reader.get(), compressed, source);
  }
  TRY_ASSIGN(Spool spool, Spool::Create());
  const int status = archive_read_next_header(reader.get(), &entry);
  if (status == ARCHIVE_EOF) return std::move(spool).Map();
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
    return Unexpandable(reader.get(), compressed, source);
  const std::uint64_t most = LimitOf(compressed.size(), limits);
  std::vector<std::byte> buffer(kIoSize);
  while (true) {
    const la_ssize_t got = archive_read_data(reader.get(), buffer.data(), buffer.size());
    if (got == 0) return std::move(spool).Map();
    if (got < 0) return Unexpandable(reader.get(), compressed, source);
    TRY(spool.Append(Bytes(buffer).first(static_cast<std::size_t>(got))));
    if (spool.size() > most) {
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("at {:#x}: expands to more than the limit of {} bytes",
                              compressed.size() - source.left.size(), most));
    }
  }
}

std::vector<std::byte> ExpandBeginning(Bytes compressed, std::size_t size) {
  Source source(compressed);
  const Result<ArchivePtr> reader = NewReader();
  if (!reader) return {};
  archive_read_support_format_raw(reader->get());
  archive_entry* entry = nullptr;
  if (archive_read_open(reader->get(), &source, nullptr, &Source::Read, nullptr) != ARCHIVE_OK ||
      archive_read_next_header(reader->get(), &entry) < ARCHIVE_WARN) {
    return {};
  }
  std::vector<std::byte> bytes(size);
  const la_ssize_t got = archive_read_data(reader->get(), bytes.data(), bytes.size());
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

Result<UnpackedArchive> Unpack(Bytes archive_bytes, const UnpackLimits& limits) {
  Source source(archive_bytes);
  TRY_ASSIGN(ArchivePtr tar, OpenTar(source));
  UnpackLimits effective = limits;
  effective.total = LimitOf(archive_bytes.size(), limits);
  TRY_ASSIGN(Spool spool, Spool::Create());
  AddWorkToProgress(archive_bytes.size(), 1);
  auto unpacked = Unpacking(std::move(tar), source, std::move(spool), effective).Run();
  source.progress.Finish(archive_bytes.size(), 0);
  return unpacked;
}

Result<std::optional<std::vector<std::byte>>> ReadFirstMember(Bytes archive_bytes,
                                                              std::string_view name,
                                                              std::size_t most) {
  Source source(archive_bytes);
  TRY_ASSIGN(const ArchivePtr tar, OpenTar(source));
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(tar.get(), &entry);
  if (status == ARCHIVE_EOF) return std::nullopt;
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return DamagedMember(tar.get(), source, 0);
  const char* const found = archive_entry_pathname(entry);
  if (found == nullptr || found != name || archive_entry_filetype(entry) != AE_IFREG) {
    return std::nullopt;
  }
  const auto size = static_cast<std::size_t>(std::max<la_int64_t>(archive_entry_size(entry), 0));
  if (size > most) return TooMuch("bytes", most);
  std::vector<std::byte> bytes(size);
  const la_ssize_t got = archive_read_data(tar.get(), bytes.data(), size);
  if (got < 0 || static_cast<std::size_t>(got) != size) return DamagedMember(tar.get(), source, 0);
  return bytes;
}

LibraryVersion LibarchiveVersion() {
  const std::string_view text = archive_version_string();  // "libarchive 3.6.2"
  return {.name = "libarchive", .version = std::string(text.substr(text.rfind(' ') + 1))};
}

}  // namespace perftape::bundle

// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/archive_writer.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace perftape::bundle {
namespace {

struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using EntryPtr = std::unique_ptr<archive_entry, FreeEntry>;

constexpr std::size_t kChunkSize = std::size_t{1} << 20;

}  // namespace

struct ArchiveWriter::Stream {
  archive* tar = nullptr;
  UniqueFd fd;
  std::uint64_t size = 0;
  std::optional<Error> error;  // of the file; libarchive does not report it

  std::unexpected<Error> Failure() const {
    if (error) return Fail(*error);
    const char* why = archive_error_string(tar);
    return Fail(ErrorCode::kIo, why == nullptr ? "archive: cannot be written" : why);
  }

  static la_ssize_t Write(archive* /*tar*/, void* self, const void* from, std::size_t size) {
    auto& stream = *static_cast<Stream*>(self);
    const Bytes bytes(static_cast<const std::byte*>(from), size);
    if (auto written = WriteAll(stream.fd.get(), bytes); !written) {
      stream.error = std::move(written).error();
      return -1;
    }
    stream.size += size;
    return static_cast<la_ssize_t>(size);
  }
};

void ArchiveWriter::Free::operator()(Stream* stream) const {
  if (stream->tar != nullptr) {
    archive_write_fail(stream->tar);  // leaves an unfinished archive without an end
    archive_write_free(stream->tar);
  }
  delete stream;
}

ArchiveWriter::ArchiveWriter(std::unique_ptr<Stream, Free> stream) : stream_(std::move(stream)) {}

template <class AddFilter>
Result<ArchiveWriter> ArchiveWriter::CreateWith(UniqueFd fd, const AddFilter& add_filter) {
  std::unique_ptr<Stream, Free> stream(new Stream);
  stream->fd = std::move(fd);
  stream->tar = archive_write_new();
  if (stream->tar == nullptr) return FailErrno("archive", ENOMEM);
  archive* tar = stream->tar;
  if (archive_write_set_format_gnutar(tar) != ARCHIVE_OK || add_filter(tar) != ARCHIVE_OK ||
      archive_write_set_bytes_in_last_block(tar, 1) != ARCHIVE_OK ||
      archive_write_open(tar, stream.get(), nullptr, &Stream::Write, nullptr) != ARCHIVE_OK) {
    return stream->Failure();
  }
  return ArchiveWriter(std::move(stream));
}

Result<ArchiveWriter> ArchiveWriter::Create(UniqueFd fd, int level) {
  return CreateWith(std::move(fd), [&](archive* tar) {
    const std::string compression = std::to_string(std::clamp(level, 1, 22));
    const int added = archive_write_add_filter_zstd(tar);
    if (added != ARCHIVE_OK) return added;
    return archive_write_set_filter_option(tar, "zstd", "compression-level", compression.c_str());
  });
}

Result<ArchiveWriter> ArchiveWriter::CreateBzip2(UniqueFd fd) {
  return CreateWith(std::move(fd),
                    [](archive* tar) { return archive_write_add_filter_bzip2(tar); });
}

Status ArchiveWriter::AddFile(const std::string& name, Bytes content) {
  const EntryPtr entry(archive_entry_new());
  archive_entry_copy_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  archive_entry_set_mtime(entry.get(), 0, 0);
  if (archive_write_header(stream_->tar, entry.get()) != ARCHIVE_OK) return stream_->Failure();
  while (!content.empty()) {
    const Bytes piece = content.first(std::min(content.size(), kChunkSize));
    const la_ssize_t written = archive_write_data(stream_->tar, piece.data(), piece.size());
    if (written <= 0) return stream_->Failure();
    content = content.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Status ArchiveWriter::AddLink(const std::string& name, const std::string& target) {
  const EntryPtr entry(archive_entry_new());
  archive_entry_copy_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFLNK);
  archive_entry_set_perm(entry.get(), 0777);
  archive_entry_copy_symlink(entry.get(), target.c_str());
  archive_entry_set_mtime(entry.get(), 0, 0);
  if (archive_write_header(stream_->tar, entry.get()) != ARCHIVE_OK) return stream_->Failure();
  return {};
}

Result<std::uint64_t> ArchiveWriter::Finish() && {
  if (archive_write_close(stream_->tar) != ARCHIVE_OK) return stream_->Failure();
  archive_write_free(std::exchange(stream_->tar, nullptr));
  return stream_->size;
}

}  // namespace perftape::bundle

// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/writer.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace perftape::perfdata {
namespace {

// struct perf_file_header, tools/perf/util/header.h: where its fields lie.
constexpr std::uint64_t kFileHeaderSize = 104;
constexpr std::uint64_t kPipeHeaderSize = 16;
constexpr std::uint64_t kDataSizeAt = 48;
constexpr std::uint64_t kFeatureBitsAt = 72;

constexpr std::uint64_t kMagic = 0x32454c4946524550;  // "PERFILE2" on a little-endian machine

std::uint64_t AlignedSize(std::uint64_t size) {
  return (size + 7) / 8 * 8;
}

void AppendSection(std::uint64_t offset, std::uint64_t size, std::vector<std::byte>& out) {
  ByteWriter at(out);
  at.Fixed(offset);
  at.Fixed(size);
}

// { perf_event_header; perf_event_attr attr; u64 ids[]; }
Status AppendAttrRecord(const Event& event, std::vector<std::byte>& out) {
  const std::size_t size =
      sizeof(RecordHeader) + event.attr.size + event.ids.size() * sizeof(std::uint64_t);
  if (size > kMaxRecordSize) {
    return Fail(ErrorCode::kUnsupported, "an event on more CPUs than an ATTR record can tell of");
  }
  ByteWriter at(out);
  at.Fixed(RecordType::kHeaderAttr);
  at.Fixed(std::uint16_t{0});
  at.Fixed(static_cast<std::uint16_t>(size));
  EncodeAttr(event.attr, out);
  at.Words(WordArray(event.ids), event.ids.size());
  return {};
}

// A pipe has no EVENT_DESC that perf would read names from: EVENT_UPDATE carries them.
Status AppendNameRecord(const Event& event, std::vector<std::byte>& out) {
  std::vector<std::byte> name;
  ByteWriter(name).Name(event.name);
  const EventUpdate update{.update_type = EventUpdate::kName,
                           .id = event.ids.empty() ? 0 : event.ids.front(),
                           .data = name};
  return Encode(update, 0, out);
}

// Gives `from` the name `to`; what had it becomes `to`.old. At no instant is there no file `to`,
// where the file system can exchange names.
Status RenameKeepingOld(const std::filesystem::path& from, const std::filesystem::path& to) {
  const std::string old = to.native() + ".old";
  const auto exchange = [&] {
    return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0;
  };
  if (exchange()) {
    if (rename(from.c_str(), old.c_str()) == 0) return {};
    const int error_number = errno;
    exchange();  // or what had the name before would go away with the unpublished file
    return FailErrno(old, error_number);
  }
  if (errno != ENOENT && rename(to.c_str(), old.c_str()) != 0 && errno != ENOENT) {
    return FailErrno(old, errno);
  }
  if (rename(from.c_str(), to.c_str()) != 0) return FailErrno(to.native(), errno);
  return {};
}

}  // namespace

Result<Writer> Writer::Create(const std::filesystem::path& path, std::span<const Event> events,
                              OldFile old) {
  Writer writer;
  writer.path_ = path;
  writer.old_ = old;
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    // A device such as /dev/null is written to, never renamed over.
    writer.fd_ = UniqueFd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  } else {
    // Readable by its owner only, as perf makes it: a profile tells what a machine does.
    std::string temporary = path.native() + ".XXXXXX";
    writer.fd_ = UniqueFd(mkostemp(temporary.data(), O_CLOEXEC));
    if (writer.fd_) writer.temporary_path_ = temporary;
  }
  if (!writer.fd_) return FailErrno(path.native(), errno);
  TRY(writer.WriteHeader(events));
  return writer;
}

Status Writer::WriteHeader(std::span<const Event> events) {
  const std::uint64_t attr_size = events.empty() ? EventAttr::kSize : events.front().attr.size;
  std::vector<std::byte> ids, attrs;
  for (const Event& event : events) {
    AppendSection(kFileHeaderSize + ids.size(), event.ids.size() * sizeof(std::uint64_t), attrs);
    ByteWriter(ids).Words(WordArray(event.ids), event.ids.size());
  }
  // Each attribute stands before the section of its ids.
  std::vector<std::byte> table;
  for (std::size_t i = 0; i < events.size(); ++i) {
    EventAttr attr = events[i].attr;
    attr.size = static_cast<std::uint32_t>(attr_size);
    EncodeAttr(attr, table);
    ByteWriter(table).Blob(Bytes(attrs).subspan(i * 16, 16), 16);
  }
  data_offset_ = AlignedSize(kFileHeaderSize + ids.size() + table.size());

  std::vector<std::byte> header;
  ByteWriter at(header);
  at.Fixed(kMagic);
  at.Fixed(kFileHeaderSize);
  at.Fixed(attr_size + 16);
  AppendSection(kFileHeaderSize + ids.size(), table.size(), header);
  AppendSection(data_offset_, 0, header);
  AppendSection(0, 0, header);  // event_types
  at.Padding(kFeatureBits / 8);
  at.Blob(ids, ids.size());
  at.Blob(table, table.size());
  at.Padding(data_offset_ - header.size());
  if (auto written = WriteAllAt(fd_.get(), header, 0); !written) {
    return Fail(InContext(path_.native(), std::move(written).error()));
  }
  file_size_ = data_offset_;
  return {};
}

Result<Writer> Writer::ToPipe(UniqueFd fd, std::span<const Event> events,
                              std::span<const Feature> features) {
  Writer writer;
  writer.container_ = Container::kPipe;
  writer.fd_ = std::move(fd);
  writer.path_ = "pipe";
  ByteWriter at(writer.pending_);
  at.Fixed(kMagic);
  at.Fixed(kPipeHeaderSize);
  for (const Event& event : events) TRY(AppendAttrRecord(event, writer.pending_));
  for (const Feature& feature : features) {
    std::vector<std::byte> payload;
    EncodeFeature(feature.value, payload);
    const HeaderFeature record{.bit = std::to_underlying(feature.bit), .payload = payload};
    TRY(Encode(record, 0, writer.pending_));
  }
  for (const Event& event : events) TRY(AppendNameRecord(event, writer.pending_));
  return writer;
}

Writer::~Writer() {
  if (fd_ && !temporary_path_.empty()) unlink(temporary_path_.c_str());
}

Status Writer::Append(Bytes records) {
  pending_.insert(pending_.end(), records.begin(), records.end());
  return {};
}

Status Writer::Commit() {
  if (failed_) return Fail(ErrorCode::kIo, path_.native() + ": an earlier write failed");
  if (pending_.empty()) return {};
  Status written = container_ == Container::kPipe ? WriteAll(fd_.get(), pending_)
                                                  : WriteAllAt(fd_.get(), pending_, file_size_);
  if (written && container_ == Container::kFile) {
    const std::uint64_t data_size = file_size_ + pending_.size() - data_offset_;
    written = WriteAllAt(fd_.get(), std::as_bytes(std::span(&data_size, 1)), kDataSizeAt);
  }
  if (!written) {
    failed_ = true;
    // Give back what was not committed: on a full disk someone else may need it.
    if (container_ == Container::kFile) {
      (void)!ftruncate(fd_.get(), static_cast<off_t>(file_size_));
    }
    return Fail(InContext(path_.native(), std::move(written).error()));
  }
  file_size_ += pending_.size();
  pending_.clear();
  return {};
}

Status Writer::Publish() {
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
  if (container_ == Container::kFile) {
    if (auto written = WriteFeatures(features); !written) {
      // Without its features the recording still opens.
      const std::array<std::uint64_t, kFeatureBits / 64> none = {};
      (void)WriteAllAt(fd_.get(), std::as_bytes(std::span(none)), kFeatureBitsAt);
      (void)!ftruncate(fd_.get(), static_cast<off_t>(file_size_));
      (void)Publish();
      return Fail(InContext(path_.native(), std::move(written).error()));
    }
  }
  TRY(Publish());
  return file_size_;
}

// A table of { offset, size } in the order of the bits, then the sections. The bits come last.
Status Writer::WriteFeatures(std::span<const Feature> features) {
  std::vector<const Feature*> sorted;
  for (const Feature& feature : features) sorted.push_back(&feature);
  std::ranges::sort(sorted, {}, [](const Feature* feature) { return feature->bit; });

  std::array<std::uint64_t, kFeatureBits / 64> bits = {};
  std::vector<std::byte> table, sections;
  const std::uint64_t sections_at = file_size_ + sorted.size() * 16;
  for (const Feature* feature : sorted) {
    const std::size_t start = sections.size();
    EncodeFeature(feature->value, sections);
    AppendSection(sections_at + start, sections.size() - start, table);
    const auto bit = std::to_underlying(feature->bit);
    bits[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  TRY(WriteAllAt(fd_.get(), table, file_size_));
  TRY(WriteAllAt(fd_.get(), sections, sections_at));
  TRY(WriteAllAt(fd_.get(), std::as_bytes(std::span(bits)), kFeatureBitsAt));
  // A device or a pipe cannot be synced; what a file system cannot write must be heard of.
  if (fsync(fd_.get()) != 0 && errno != EINVAL && errno != EROFS) return FailErrno("sync", errno);
  file_size_ = sections_at + sections.size();
  return {};
}

}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
// Writes a perf.data that perf can open at any time. Records are appended after the committed ones,
// and one 8-byte pwrite of data.size commits them. perf reads a file without feature bits whose
// data.size is smaller than its data. It reads nothing of a file whose data.size is too large
// (tools/perf/util/session.c, perf_session__read_header). file_parts.h explains how compressed
// files follow these rules (TableInARecord).
//
//   TRY_ASSIGN(Writer writer, Writer::Create("perf.data", events, {.compression_level = 1}));
//   TRY(writer.Append(record));        // collected in memory
//   TRY(writer.Commit());              // now in the file, whatever happens next
//   TRY(writer.Publish());             // now under its name; the old file is perf.data.old
//   TRY(std::move(writer).Finish(features));
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/output_target.h"
#include "formats/base/result.h"
#include "formats/base/staged_file.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/compressor.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/file_parts.h"
#include "formats/perfdata/header.h"

namespace perftape::perfdata {

// Who appends many records commits them after about so many bytes.
inline constexpr std::size_t kCommitSize = std::size_t{1} << 20;

// A receiver of encoded records: the Writer, or a vector in a test.
template <class Sink>
concept RecordSink = requires(Sink& sink, Bytes record) {
  { sink.Append(record) } -> std::same_as<Status>;
};

struct WriterOptions {
  OldFile old = OldFile::kKeep;
  std::optional<int> compression_level = {};  // of zstd, 1 to 22; without one nothing is compressed
  // In file mode, features without which perf cannot open the file: TRACING_DATA. They are written
  // with the header, so that the file can be read before Finish, which gets them again. At most
  // two.
  std::vector<Feature> required_features = {};
};

// A file after FinishInRoom.
struct FinishedFile {
  std::uint64_t size = 0;            // in bytes
  std::vector<FeatureBit> left_out;  // features for which the disk had no room
};

class Writer {
 public:
  // A file-mode writer. Until Publish, the file has a temporary name in the directory of `path`.
  // Only its owner may read it, unless it replaces a file that others may read. Header, ids and
  // attributes are written at once. `events` are copied. kInvalidArgument for a compression level
  // that zstd does not support, and for an output that requires a pipe's stream (a named pipe, a
  // terminal, a descriptor of this process); kNotFound, kPermission, kIo.
  static Result<Writer> Create(const std::filesystem::path& path, std::span<const Event> events,
                               const WriterOptions& options = {});

  // A pipe-mode writer into a stream, or into a file that is published as in file mode. It writes
  // the header, HEADER_ATTR and EVENT_UPDATE for each event, and HEADER_FEATURE for each of
  // `features`. These must not include features of file mode only, such as BUILD_ID. The options
  // decide whether COMPRESSED is added. For a named pipe, waits for a reader until `stop` is
  // requested. After that, Commit fails if the reader has stalled (WriteToReader).
  static Result<Writer> CreatePipe(const std::filesystem::path& path, std::span<const Event> events,
                                   std::span<const Feature> features,
                                   const WriterOptions& options = {},
                                   const std::stop_token& stop = {});

  Writer(Writer&&) noexcept = default;
  Writer& operator=(Writer&&) = delete;
  // Removes a file that was never published. A published file stays as last committed.
  ~Writer() = default;

  Container container() const { return container_; }

  // Appends one or several whole records.
  Status Append(Bytes records);

  // Appends bytes that must not be inside COMPRESSED records: records followed by bytes that their
  // size does not count, and these bytes, in any number of calls. Returns the file offset at which
  // the bytes will begin.
  Result<std::uint64_t> AppendPlain(Bytes bytes);

  // Writes the appended records, then commits them with data.size (a pipe has no commit). After an
  // error (kIo: disk full) the file stays as it was at the last Commit.
  Status Commit();

  // After a failed Commit, drops the records appended since the last successful one, and commits
  // `records` instead, uncompressed. Nothing may be appended after that; Finish may follow.
  // kUnsupported for a pipe, because it has received a part of the failed bytes.
  Status CommitInstead(Bytes records);

  // Renames the file to its final name. OldFile selects what happens to an existing file. Does
  // nothing for a pipe. Call it when the file is worth opening.
  Status Publish();

  // Commits, writes the feature sections after the data, then their bits into the header, and
  // syncs. Adds the feature COMPRESSED to a compressed file. For a pipe, only commits. Publishes
  // the file if that has not happened. If the features cannot be written (kIo: disk full), a
  // published file stays without them. Returns the size of the file in bytes, or the bytes written
  // to the pipe.
  Result<std::uint64_t> Finish(std::span<const Feature> features) &&;

  // The same, but if the features cannot be written, leaves out those of `expendable`, one more
  // each time, in this order, until the others fit.
  Result<FinishedFile> FinishInRoom(std::span<const Feature> features,
                                    std::span<const FeatureBit> expendable) &&;

  // A new descriptor of the file for reading and writing, to append a bundle after Finish. The name
  // may belong to another file by then. An empty descriptor for a pipe or a stream.
  Result<UniqueFd> DuplicateFile() const;

  // The compression of all committed records; nothing if the file is not compressed.
  std::optional<Compression> compression() const;

  // The committed bytes of the file or of the pipe.
  std::uint64_t size() const { return data_end_ + table_.size(); }
  // The bytes that the next Commit writes; those of an unfinished compressed block are missing.
  std::uint64_t uncommitted_bytes() const { return pending_.size(); }

 private:
  Writer() = default;
  Status OpenOutput(const OutputTarget& target, const WriterOptions& options,
                    const std::stop_token& stop = {});
  Status StartPipe(std::span<const Event> events, std::span<const Feature> features,
                   const WriterOptions& options);
  Status StartCompressor(const WriterOptions& options);
  int fd() const { return staged_ ? staged_->fd() : fd_.get(); }
  Status WritePending();
  Status MakeReadable();
  Status Rename();
  // After an error, the file is as before.
  Result<std::uint64_t> WriteFeatures(std::span<const Feature> features);
  Result<FinishedFile> WriteWhatFits(std::vector<Feature> features,
                                     std::span<const FeatureBit> expendable);

  Container container_ = Container::kFile;
  std::string name_;                  // for messages
  UniqueFd fd_;                       // for a stream
  std::stop_token stop_;              // the same
  std::optional<StagedFile> staged_;  // for a file
  HeaderTail header_;                 // as in the file
  std::vector<PlacedFeature> required_features_;
  std::uint64_t data_offset_ = 0;
  std::uint64_t data_end_ = 0;      // the end of the committed records
  std::vector<std::byte> table_;    // in a published file: the feature table after data_end_, if
                                    // perf needs one
  std::vector<std::byte> pending_;  // appended but not written, compressed if the file is
  std::optional<RecordCompressor> compressor_;
  bool failed_ = false;
};

}  // namespace perftape::perfdata

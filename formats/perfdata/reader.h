// SPDX-License-Identifier: Apache-2.0
// An opened perf.data: its events, its features, and a cursor over its records. Callers see no
// difference between a file and a pipe's stream, PERFILE2 and the older PERFFILE, either byte
// order, compressed or not, one file or a directory of files.
//
//   TRY_ASSIGN(Input input, Input::Open(path));
//   TRY_ASSIGN(const Reader reader, Reader::Open(input));
//   RecordCursor cursor = reader.records();
//   while (true) {
//     TRY_ASSIGN(const std::optional<RecordView> record, cursor.Next());
//     if (!record) break;
//     ...
//   }
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/input.h"
#include "formats/base/result.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/header.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/record_cursor.h"
#include "formats/perfdata/tracepoints.h"

namespace perftape::perfdata {

// Whether `input` is a perf.data: it begins with the magic, or is a directory with a file `data`.
bool IsPerfData(const Input& input);

// The kallsyms file in a perf.data directory (perf record --kcore), or nothing
// (tools/perf/util/data.c, perf_data__kallsyms_name).
std::optional<std::filesystem::path> KallsymsOf(const Input& input);

class Reader {
 public:
  // Reads header, attributes and features. `input` must live as long as the Reader and all views
  // and cursors that it returns.
  //
  // In a pipe's stream that was saved to a file, Open reads all records once, for HEADER_ATTR,
  // HEADER_FEATURE and EVENT_UPDATE. If the stream is still being read from a pipe, Open reads only
  // the records before the first sample or round, where perf writes them. Any other stream is
  // copied first, because its header has offsets of later sections.
  //
  // Damage that leaves the records readable (in features, sizes, attributes that EVENT_DESC
  // repeats) is no error; problems() lists it. kTruncated and kCorrupt, with the offset, if no
  // event is found; kIo, kNotFound.
  static Result<Reader> Open(Input& input);
  // The same for bytes that outlive the Reader.
  static Result<Reader> FromBytes(Bytes file);

  Container container() const { return container_; }
  int version() const { return version_; }  // 2, and 1 for PERFFILE
  std::endian order() const { return order_; }
  const EventTable& events() const { return *events_; }
  // The offset and size of the data section. For a pipe, all bytes after the header. If
  // is_stream(), the size is 0.
  std::uint64_t data_offset() const { return data_offset_; }
  std::uint64_t data_size() const { return data_size_; }
  // All bytes of the file, or of the main file of a directory. Empty if is_stream().
  Bytes file() const { return file_; }
  // The number of files data.0, data.1, … of a directory.
  std::size_t further_files() const { return further_.size(); }

  // The section of a feature, if the file has it.
  std::optional<Bytes> feature(FeatureBit bit) const;
  // All features that are present, in the order of their bits, with their sections.
  const std::map<FeatureBit, Bytes>& features() const { return features_; }
  // The typed value, if the feature is present and well formed.
  std::optional<FeatureValue> DecodedFeature(FeatureBit bit) const;
  // The text of a text feature; empty if the feature is missing.
  std::string text(FeatureBit bit) const;

  // The damage that Open found and ignored: "feature BUILD_ID: …".
  std::span<const std::string> problems() const { return problems_; }

  // A cursor at the first record. If is_stream(), it can be called only once.
  RecordCursor records(Compressed compressed = Compressed::kExpand) const;
  // A cursor at the record at a file offset. Not for a directory, nor if is_stream().
  RecordCursor records_from(std::uint64_t file_offset) const;
  bool is_stream() const { return stream_ != nullptr; }

 private:
  // The file data.N of a directory.
  struct FurtherFile {
    std::uint32_t number = 0;
    MappedFile file;
  };

  Reader() = default;
  static Result<Reader> OpenDirectory(const std::filesystem::path& directory);
  static Result<Reader> OpenStream(Input& stream);
  Status OpenFile(Bytes file);
  void OpenPipe(Bytes file);
  bool ReadStreamHead(Input& stream);
  void AddPipeRecord(const RecordView& record);
  std::uint64_t EndOfSections() const;
  void ReadFeatureTable(Bytes file, std::span<const std::uint64_t> bitmap);
  Status FinishEvents();
  void ReadFirstRecord();
  void NameEvents();

  Bytes file_;
  std::optional<MappedFile> main_;    // for a directory: its file `data`
  std::vector<FurtherFile> further_;  // by number
  Input* stream_ = nullptr;
  Container container_ = Container::kFile;
  int version_ = 2;
  std::endian order_ = std::endian::native;
  std::shared_ptr<EventTable> events_ = std::make_shared<EventTable>();  // shared by its cursors
  std::uint64_t data_offset_ = 0, data_size_ = 0;
  std::map<FeatureBit, Bytes> features_;
  std::deque<std::vector<std::byte>> feature_copies_;  // for a stream
  std::map<std::uint64_t, std::string> names_by_id_;   // from EVENT_UPDATE
  Tracepoints tracepoints_;                            // by config
  std::vector<std::string> problems_;
};

}  // namespace perftape::perfdata

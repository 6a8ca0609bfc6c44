// SPDX-License-Identifier: Apache-2.0
// An opened perf.data: its events, its features, and a cursor over its records. File and pipe
// format differ up to the events and are alike from there on.
//
//   TRY_ASSIGN(const Reader reader, Reader::FromBytes(file.bytes()));
//   RecordCursor cursor = reader.records();
//   while (true) {
//     TRY_ASSIGN(const std::optional<RecordView> record, cursor.Next());
//     if (!record) break;
//     ...
//   }
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// True where the bytes open a perf.data of any kind: "PERFILE2" in either byte order.
bool LooksLikePerfData(Bytes beginning);

// Walks the records of a section. Views stay valid as long as the file's bytes.
class RecordCursor {
 public:
  RecordCursor(Bytes section, std::uint64_t file_offset, std::endian order)
      : left_(section), file_offset_(file_offset), order_(order) {}

  // The next record; nothing at the end. kTruncated or kCorrupt, naming the offset, where no whole
  // record follows; after an error the cursor is at its end.
  Result<std::optional<RecordView>> Next();

 private:
  Bytes left_;
  std::uint64_t file_offset_;
  std::endian order_;
};

enum class Container : std::uint8_t { kFile, kPipe };

class EventTable {
 public:
  void Add(Event event);
  void AddId(std::size_t index, std::uint64_t id);

  std::span<const Event> all() const { return events_; }
  Event& operator[](std::size_t index) { return events_[index]; }
  const Event& operator[](std::size_t index) const { return events_[index]; }
  std::size_t size() const { return events_.size(); }

  // The event of an id; the first one for id 0, as perf does for synthesized records, and where
  // there is only one; null for an unknown id.
  const Event* FindById(std::uint64_t id) const;
  // Its place in all().
  std::size_t IndexOf(const Event& event) const {
    return static_cast<std::size_t>(&event - events_.data());
  }

  // The event that a record belongs to: by IDENTIFIER or ID where there are several events. Tool
  // records belong to the first. Null for an unknown id.
  const Event* EventOf(const RecordView& record) const;

 private:
  std::vector<Event> events_;
  std::unordered_map<std::uint64_t, std::size_t> by_id_;
};

class Reader {
 public:
  // `file` must live as long as the Reader and all that it hands out. Reads header, attributes and
  // features; of a pipe, all records once, for the HEADER_ATTR, HEADER_FEATURE and EVENT_UPDATE
  // among them. What is wrong with features is no error: they are missing then, and problems() says
  // so.
  static Result<Reader> FromBytes(Bytes file);

  Container container() const { return container_; }
  std::endian order() const { return order_; }
  const EventTable& events() const { return events_; }
  // The data section: where it starts in the file and how long it is; of a pipe, all after the
  // header.
  std::uint64_t data_offset() const { return data_offset_; }
  std::uint64_t data_size() const { return data_size_; }

  // The section of a feature, if the file has it.
  std::optional<Bytes> feature(FeatureBit bit) const;
  // All features that are present, in the order of their bits, with their sections.
  const std::map<FeatureBit, Bytes>& features() const { return features_; }
  // The typed value, if the feature is present and well formed.
  std::optional<FeatureValue> DecodedFeature(FeatureBit bit) const;
  // A text feature's text; empty where it is missing.
  std::string text(FeatureBit bit) const;

  // What was wrong but could be passed over: "feature BUILD_ID: …".
  std::span<const std::string> problems() const { return problems_; }

  // A cursor at the first record; as often as wanted.
  RecordCursor records() const;

 private:
  Reader() = default;
  Status OpenFile(Bytes file);
  Status OpenPipe(Bytes file);
  Status ReadAttrs(Bytes file, Bytes attrs, std::uint64_t entry_size);
  void ReadFeatureTable(Bytes file, std::span<const std::uint64_t> bitmap);
  void NameEvents();

  Bytes file_;
  Container container_ = Container::kFile;
  std::endian order_ = std::endian::native;
  EventTable events_;
  std::uint64_t data_offset_ = 0, data_size_ = 0;
  std::map<FeatureBit, Bytes> features_;
  std::map<std::uint64_t, std::string> names_by_id_;  // of EVENT_UPDATE
  std::vector<std::string> problems_;
};

}  // namespace perftape::perfdata

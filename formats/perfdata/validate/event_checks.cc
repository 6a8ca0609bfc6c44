// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <bit>
#include <unordered_map>
#include <vector>

#include "formats/perfdata/header.h"
#include "formats/perfdata/validate/checks.h"

namespace perftape::perfdata {
namespace {

constexpr std::uint64_t kTrailerBits = kTid | kTime | kId | kStreamId | kCpu | kIdentifier;
constexpr std::uint64_t kKnownSampleBits = (std::uint64_t{kWeightStruct} << 1) - 1;

// PERF_ATTR_SIZE_VER6, 7 and 8: the largest attributes that perf 5.10, 6.1 and 6.12 accept.
constexpr std::uint32_t kSizeOf510 = 120, kSizeOf61 = 128, kSizeOf612 = 136, kSizeOf73 = 144;

// The index of the word with the id, from the start of a sample (IdPosition) or from the end of
// other records (TrailerIdPosition); -1 if there is no id. Source: tools/perf/util/evsel.c,
// __perf_evsel__calc_id_pos and calc_is_pos.
int IdPosition(std::uint64_t sample_type) {
  if ((sample_type & kIdentifier) != 0) return 0;
  if ((sample_type & kId) == 0) return -1;
  return std::popcount(sample_type & (kIp | kTid | kTime | kAddr));
}
int TrailerIdPosition(std::uint64_t sample_type) {
  if ((sample_type & kIdentifier) != 0) return 1;
  if ((sample_type & kId) == 0) return -1;
  return 1 + std::popcount(sample_type & (kCpu | kStreamId));
}

class EventChecks {
 public:
  EventChecks(const Reader& reader, Report& report)
      : reader_(reader), events_(reader.events().all()), report_(report) {
    FindOffsets();
  }

  void Check() {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      CheckAttr(i);
      CheckSampleType(i);
    }
    CheckIdSections();
    CheckTracepoints();
    CheckRead();
    if (events_.size() > 1) CheckTogether();
  }

 private:
  bool is_file() const { return reader_.container() == Container::kFile; }

  // Finds the offset of each attribute: in the table of a file, or in the HEADER_ATTR records of a
  // pipe.
  void FindOffsets() {
    if (is_file()) {
      std::vector<std::string> ignored;
      const auto header = ReadFileHeader(reader_.file(), reader_.order(), ignored);
      for (std::size_t i = 0; header && i < events_.size(); ++i) {
        offsets_.push_back(header->attrs.offset + i * header->attr_size);
      }
      if (header && header->attrs.size < header->attr_size) {
        report_.AddAt(Rule::kEventNone, kAttrsAt, "the attribute table is empty");
      }
    } else {
      RecordCursor cursor = reader_.records(Compressed::kStepOver);
      while (offsets_.size() < events_.size()) {
        const auto record = cursor.Next();
        if (!record || !*record) break;
        if ((*record)->type == RecordType::kHeaderAttr) offsets_.push_back((*record)->file_offset);
      }
    }
    offsets_.resize(events_.size());
  }

  template <class... Values>
  void Add(Rule rule, std::size_t event, fmt::format_string<Values...> text, Values&&... values) {
    report_.AddAt(rule, offsets_[event],
                  fmt::format("event {} ({}): {}", event, events_[event].name,
                              fmt::format(text, std::forward<Values>(values)...)));
  }

  void CheckAttr(std::size_t i) {
    const EventAttr& attr = events_[i].attr;
    // In a pipe, perf ignores the bytes of an attribute beyond its own size.
    if (!is_file() || attr.size <= kSizeOf510) return;
    if (attr.size <= kSizeOf61) {
      Add(Rule::kEventAttrNewerThan510, i, "the attribute has {} bytes", attr.size);
      return;
    }
    Readers breaks = Readers::kPerf510 | Readers::kPerf61;
    if (attr.size > kSizeOf612) breaks = kOldPerf;
    if (attr.size > kSizeOf73) breaks = breaks | Readers::kPerf73;
    report_.AddAt(
        Rule::kEventAttrNewer, offsets_[i],
        fmt::format("event {} ({}): the attribute has {} bytes", i, events_[i].name, attr.size),
        breaks | Readers::kPerfInject);
  }

  void CheckSampleType(std::size_t i) {
    const EventAttr& attr = events_[i].attr;
    const SampleFormat& format = events_[i].format;
    if ((attr.sample_type & ~kKnownSampleBits) != 0) {
      Add(Rule::kEventSampleTypeUnknown, i, "sample_type {:#x} has the unknown bits {:#x}",
          attr.sample_type, attr.sample_type & ~kKnownSampleBits);
    }
    if ((format.Has(kRegsUser) && format.regs_user_mask == 0) ||
        (format.Has(kRegsIntr) && format.regs_intr_mask == 0)) {
      Add(Rule::kEventRegsWithoutMask, i, "registers are sampled with an empty mask");
    }
    if (!format.Has(kIp)) Add(Rule::kEventIpMissing, i, "sample_type has no IP");
    if (!format.Has(kTime)) Add(Rule::kEventTimeMissing, i, "sample_type has no TIME");
    if (!format.Has(kTid)) Add(Rule::kEventTidMissing, i, "sample_type has no TID");
    if (!format.sample_id_all) Add(Rule::kEventTrailerMissing, i, "sample_id_all is not set");
  }

  // Checks the ids of the attribute table. perf does not read those of EVENT_DESC.
  void CheckIdSections() {
    if (!is_file()) return;
    std::vector<std::string> ignored;
    const auto header = ReadFileHeader(reader_.file(), reader_.order(), ignored);
    const auto table = header ? BytesOf(header->attrs, reader_.file()) : std::nullopt;
    if (!table || header->attr_size < EventAttr::kSmallestSize + sizeof(Section)) return;
    for (std::uint64_t at = 0, i = 0; table->size() - at >= header->attr_size && i < events_.size();
         at += header->attr_size, ++i) {
      ByteReader section_at(table->subspan(at + header->attr_size - sizeof(Section)),
                            reader_.order());
      Section ids;
      SectionLayout(section_at, ids);
      if (!BytesOf(ids, reader_.file())) {
        Add(Rule::kEventIdsOutside, i, "the ids have {} bytes at {:#x}, but the file has {}",
            ids.size, ids.offset, reader_.file().size());
      } else if (ids.size == 0 && events_.size() > 1) {
        Add(Rule::kEventIdsMissing, i, "the event has no id");
      }
    }
  }

  void CheckTracepoints() {
    // In a pipe, the formats are in a TRACING_DATA record, which may come later.
    if (!is_file() || reader_.feature(FeatureBit::kTracingData)) return;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].attr.type != kTypeTracepoint) continue;
      Add(Rule::kEventTracepointWithoutFormat, i, "the file has no format of tracepoint {}",
          events_[i].attr.config);
    }
  }

  // Checks only the first event, like perf.
  void CheckRead() {
    if (!is_file() || events_.empty()) return;
    const EventAttr& attr = events_.front().attr;
    if ((attr.sample_type & kRead) == 0 || (attr.read_format & kReadId) != 0) return;
    Add(Rule::kEventReadWithoutId, 0, "read_format {:#x} has no ID", attr.read_format);
  }

  void CheckTogether() {
    const EventAttr& first = events_.front().attr;
    std::unordered_map<std::uint64_t, std::size_t> owners;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const EventAttr& attr = events_[i].attr;
      if (!is_file() && events_[i].ids.empty())
        Add(Rule::kEventIdsMissing, i, "the event has no id");
      if (IdPosition(attr.sample_type) < 0) {
        Add(Rule::kEventIdUnrecorded, i, "sample_type {:#x} has neither IDENTIFIER nor ID",
            attr.sample_type);
      } else if (IdPosition(attr.sample_type) != IdPosition(first.sample_type) ||
                 TrailerIdPosition(attr.sample_type) != TrailerIdPosition(first.sample_type)) {
        Add(Rule::kEventIdPosition, i,
            "the offset of the id differs from that of the first event (sample_type {:#x}, {:#x})",
            attr.sample_type, first.sample_type);
      }
      if (attr.Has(kSampleIdAll) != first.Has(kSampleIdAll)) {
        Add(Rule::kEventSampleIdAllDiffers, i,
            "sample_id_all differs from that of the first event");
      } else if (attr.Has(kSampleIdAll) &&
                 ((attr.sample_type ^ first.sample_type) & kTrailerBits) != 0) {
        Add(Rule::kEventTrailerDiffers, i,
            "the trailer differs from that of the first event (sample_type {:#x}, {:#x})",
            attr.sample_type, first.sample_type);
      }
      for (const std::uint64_t id : events_[i].ids) {
        const auto [owner, is_new] = owners.try_emplace(id, i);
        if (is_new || owner->second == i) continue;
        Add(Rule::kEventIdDuplicate, i, "event {} has the same id {}", owner->second, id);
      }
    }
  }

  static constexpr std::uint64_t kAttrsAt = 24;  // of struct perf_file_header

  const Reader& reader_;
  std::span<const Event> events_;
  Report& report_;
  std::vector<std::uint64_t> offsets_;
};

}  // namespace

void CheckEvents(const Reader& reader, Report& report) {
  EventChecks(reader, report).Check();
}

}  // namespace perftape::perfdata

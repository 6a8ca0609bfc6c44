// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/event_checks.h"

#include <fmt/format.h>

#include <bit>
#include <unordered_map>
#include <vector>

#include "formats/perfdata/header.h"

namespace perftape::perfdata {
namespace {

constexpr std::uint64_t kTrailerBits = kTid | kTime | kId | kStreamId | kCpu | kIdentifier;
constexpr std::uint64_t kKnownSampleBits = (std::uint64_t{kWeightStruct} << 1) - 1;

// PERF_ATTR_SIZE_VER6, 7, 8: what perf 5.10, 6.1 and 6.12 know.
constexpr std::uint32_t kSizeOf510 = 120, kSizeOf61 = 128, kSizeOf612 = 136;

// Where the id is, counted in words from the front of a sample and from the end of other records
// (tools/perf/util/evsel.c, __perf_evsel__calc_id_pos and calc_is_pos); -1 where it is not.
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

  // Where each attribute is: in the table of a file, or in the HEADER_ATTR records of a pipe.
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
    if (!is_file() || attr.size <= kSizeOf510) return;  // in a pipe perf cuts what it does not know
    if (attr.size <= kSizeOf61) {
      Add(Rule::kEventAttrNewerThan510, i, "attribute of {} bytes", attr.size);
      return;
    }
    const Readers breaks = attr.size > kSizeOf612 ? kOldPerf : Readers::kPerf510 | Readers::kPerf61;
    report_.AddAt(
        Rule::kEventAttrNewer, offsets_[i],
        fmt::format("event {} ({}): attribute of {} bytes", i, events_[i].name, attr.size),
        breaks | Readers::kPerfInject);
  }

  void CheckSampleType(std::size_t i) {
    const EventAttr& attr = events_[i].attr;
    const SampleFormat& format = events_[i].format;
    if ((attr.sample_type & ~kKnownSampleBits) != 0) {
      Add(Rule::kEventSampleTypeUnknown, i, "sample_type {:#x}", attr.sample_type);
    }
    if ((format.Has(kRegsUser) && format.regs_user_mask == 0) ||
        (format.Has(kRegsIntr) && format.regs_intr_mask == 0)) {
      Add(Rule::kEventRegsWithoutMask, i, "no register is asked for");
    }
    if (!format.Has(kIp)) Add(Rule::kEventIpMissing, i, "no IP");
    if (!format.Has(kTime)) Add(Rule::kEventTimeMissing, i, "no TIME");
    if (!format.Has(kTid)) Add(Rule::kEventTidMissing, i, "no TID");
    if (!format.sample_id_all) Add(Rule::kEventTrailerMissing, i, "no sample_id_all");
  }

  // As the attribute table tells of the ids: perf does not look into EVENT_DESC for them.
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
        Add(Rule::kEventIdsOutside, i, "{} bytes of ids at {:#x}", ids.size, ids.offset);
      } else if (ids.size == 0 && events_.size() > 1) {
        Add(Rule::kEventIdsMissing, i, "no id");
      }
    }
  }

  void CheckTracepoints() {
    // In a pipe the formats come as a record, which may be late.
    if (!is_file() || reader_.feature(FeatureBit::kTracingData)) return;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].attr.type != kTypeTracepoint) continue;
      Add(Rule::kEventTracepointWithoutFormat, i, "tracepoint {}, whose format is not there",
          events_[i].attr.config);
    }
  }

  // perf looks at the first event only.
  void CheckRead() {
    if (!is_file() || events_.empty()) return;
    const EventAttr& attr = events_.front().attr;
    if ((attr.sample_type & kRead) == 0 || (attr.read_format & kReadId) != 0) return;
    Add(Rule::kEventReadWithoutId, 0, "read_format {:#x}", attr.read_format);
  }

  void CheckTogether() {
    const EventAttr& first = events_.front().attr;
    std::unordered_map<std::uint64_t, std::size_t> owners;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const EventAttr& attr = events_[i].attr;
      if (!is_file() && events_[i].ids.empty()) Add(Rule::kEventIdsMissing, i, "no id");
      if (IdPosition(attr.sample_type) < 0) {
        Add(Rule::kEventIdUnrecorded, i, "sample_type {:#x}", attr.sample_type);
      } else if (IdPosition(attr.sample_type) != IdPosition(first.sample_type) ||
                 TrailerIdPosition(attr.sample_type) != TrailerIdPosition(first.sample_type)) {
        Add(Rule::kEventIdPosition, i, "sample_type {:#x}, the first event's is {:#x}",
            attr.sample_type, first.sample_type);
      }
      if (attr.Has(kSampleIdAll) != first.Has(kSampleIdAll)) {
        Add(Rule::kEventSampleIdAllDiffers, i, "unlike the first event");
      } else if (attr.Has(kSampleIdAll) &&
                 ((attr.sample_type ^ first.sample_type) & kTrailerBits) != 0) {
        Add(Rule::kEventTrailerDiffers, i, "sample_type {:#x}, the first event's is {:#x}",
            attr.sample_type, first.sample_type);
      }
      for (const std::uint64_t id : events_[i].ids) {
        const auto [owner, is_new] = owners.try_emplace(id, i);
        if (is_new || owner->second == i) continue;
        Add(Rule::kEventIdDuplicate, i, "id {} is also event {}'s", id, owner->second);
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

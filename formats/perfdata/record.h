// SPDX-License-Identifier: Apache-2.0
// The records of a perf.data as values. Numbers are copied, strings and arrays are views into the
// record, so a value lives as long as the RecordView it came from. What one lies where is told in
// layout.h, once for Decode and Encode.
//
//   TRY_ASSIGN(const Mmap2 mmap, Decode<Mmap2>(record, event.format, order));
//   Encode(mmap, SampleId{.time = now}, event.format, misc, out);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/attr.h"

namespace perftape::perfdata {

// One record as it lies in the file, copied freely.
struct RecordView {
  RecordType type = {};
  std::uint16_t misc = 0;
  Bytes payload = {};             // what follows the 8 bytes of header
  std::uint64_t file_offset = 0;  // of the header; of the COMPRESSED record around it
  std::endian order = std::endian::native;
  // Whether the views live as long as the file's bytes. Else, where the record came out of a
  // COMPRESSED one or through a pipe, only until the cursor's next Next().
  bool is_lasting = true;
  // 0 is the file itself, or DIR/data of a directory; n the file DIR/data.(n-1).
  std::uint16_t part = 0;
  // Where the record begins in what a COMPRESSED one expands to; -1 of one that lies in the file.
  std::int32_t inside = -1;
  Bytes behind = {};  // of AUXTRACE and TRACING_DATA: what follows them, uncounted by their size

  std::size_t size() const { return payload.size() + sizeof(RecordHeader); }
  CpuMode cpumode() const { return static_cast<CpuMode>(misc & kMiscCpumodeMask); }
};

// Where a record is, for people: "0x1a8", "0x1a8+0x30" inside a COMPRESSED record,
// "data.2:0x1a8" in a directory.
std::string PlaceOf(const RecordView& record);

// Whether Linux or perf, up to 6.19, has records of this type.
bool IsKnown(RecordType type);

// "PERF_RECORD_MMAP2" without its prefix; "type 99" for what is not known here.
std::string RecordName(RecordType type);

// The sample_id trailer of a kernel record; fields that the event does not carry are zero.
struct SampleId {
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t time = 0;
  std::uint64_t id = 0;  // from ID or IDENTIFIER
  std::uint64_t stream_id = 0;
  std::uint32_t cpu = 0;
};

struct Mmap {
  static constexpr RecordType kType = RecordType::kMmap;
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t start = 0, length = 0, page_offset = 0;
  std::string_view filename = {};
};

using BuildId = perftape::BuildId;

struct Mmap2 {
  static constexpr RecordType kType = RecordType::kMmap2;
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t start = 0, length = 0, page_offset = 0;
  // Either device and inode, or a build id (misc bit kMiscMmapBuildId, since Linux 5.12).
  std::uint32_t device_major = 0, device_minor = 0;
  std::uint64_t inode = 0, inode_generation = 0;
  BuildId build_id = {};
  std::uint32_t protection = 0, flags = 0;
  std::string_view filename = {};
};

struct Comm {
  static constexpr RecordType kType = RecordType::kComm;
  std::uint32_t pid = 0, tid = 0;
  std::string_view comm = {};
};

// FORK and EXIT. pid == ppid in a FORK means a new thread.
struct Task {
  std::uint32_t pid = 0, ppid = 0, tid = 0, ptid = 0;
  std::uint64_t time = 0;
};
struct Fork : Task {
  static constexpr RecordType kType = RecordType::kFork;
};
struct Exit : Task {
  static constexpr RecordType kType = RecordType::kExit;
};

struct Lost {
  static constexpr RecordType kType = RecordType::kLost;
  std::uint64_t event_id = 0, count = 0;
};

struct LostSamples {
  static constexpr RecordType kType = RecordType::kLostSamples;
  std::uint64_t count = 0;
};

// THROTTLE and UNTHROTTLE.
struct Throttle {
  static constexpr RecordType kType = RecordType::kThrottle;
  std::uint64_t time = 0, id = 0, stream_id = 0;
};

struct NamespaceLink {
  std::uint64_t device = 0, inode = 0;
};
struct Namespaces {
  static constexpr RecordType kType = RecordType::kNamespaces;
  std::uint32_t pid = 0, tid = 0;
  WordArray links = {};  // pairs of device and inode: net, uts, ipc, pid, user, mnt, cgroup
};

struct Ksymbol {
  static constexpr RecordType kType = RecordType::kKsymbol;
  std::uint64_t address = 0;
  std::uint32_t length = 0;
  std::uint16_t symbol_type = 0;  // 1 BPF program, 2 out of line (trampolines)
  std::uint16_t flags = 0;        // 1: the symbol goes away
  std::string_view name = {};

  static constexpr std::uint16_t kTypeBpf = 1;
  static constexpr std::uint16_t kUnregister = 1;
};

struct BpfEvent {
  static constexpr RecordType kType = RecordType::kBpfEvent;
  std::uint16_t event_type = 0;  // 1 load, 2 unload
  std::uint16_t flags = 0;
  std::uint32_t id = 0;
  std::array<std::uint8_t, 8> tag = {};

  static constexpr std::uint16_t kLoad = 1;
};

struct Cgroup {
  static constexpr RecordType kType = RecordType::kCgroup;
  std::uint64_t id = 0;
  std::string_view path = {};
};

struct SwitchCpuWide {
  static constexpr RecordType kType = RecordType::kSwitchCpuWide;
  std::uint32_t next_prev_pid = 0, next_prev_tid = 0;
};

struct TextPoke {
  static constexpr RecordType kType = RecordType::kTextPoke;
  std::uint64_t address = 0;
  std::uint16_t old_length = 0, new_length = 0;
  Bytes bytes = {};  // old, then new, then padding
};

// Tool records: they have no trailer.
struct HeaderBuildId {
  static constexpr RecordType kType = RecordType::kHeaderBuildId;
  std::int32_t pid = -1;
  BuildId build_id = {};
  std::string_view filename = {};
};

struct IdIndexEntry {
  std::uint64_t id = 0, index = 0, cpu = 0, tid = 0;
};
struct IdIndex {
  static constexpr RecordType kType = RecordType::kIdIndex;
  WordArray words = {};  // entry by entry: id, place of the CPU among those of its event, cpu, tid
};

struct EventUpdate {
  static constexpr RecordType kType = RecordType::kEventUpdate;
  std::uint64_t update_type = 0;
  std::uint64_t id = 0;
  Bytes data = {};  // a name, for kName

  static constexpr std::uint64_t kName = 2;
};

struct HeaderFeature {
  static constexpr RecordType kType = RecordType::kHeaderFeature;
  std::uint64_t bit = 0;
  Bytes payload = {};
};

struct FinishedRound {
  static constexpr RecordType kType = RecordType::kFinishedRound;
};
struct FinishedInit {
  static constexpr RecordType kType = RecordType::kFinishedInit;
};

// A SAMPLE; which of its fields were recorded, the event's SampleFormat says.
struct Sample {
  static constexpr RecordType kType = RecordType::kSample;
  std::uint64_t id = 0;  // from IDENTIFIER or ID
  std::uint64_t ip = 0;
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t time = 0;
  std::uint64_t addr = 0;
  std::uint64_t stream_id = 0;
  std::uint32_t cpu = 0;
  std::uint64_t period = 0;
  WordArray read = {};       // the READ block, as words; its shape follows from read_format
  WordArray callchain = {};  // leaf first, context markers included
  Bytes raw = {};
  std::uint64_t branch_hw_index = 0;
  WordArray branches = {};         // three words each: from, to, flags
  WordArray branch_counters = {};  // one word each, where recorded
  std::uint64_t regs_user_abi = 0;
  WordArray regs_user = {};
  Bytes stack_user = {};              // only the bytes that are valid
  std::uint64_t stack_user_size = 0;  // as reserved in the record
  std::uint64_t weight = 0;
  std::uint64_t data_src = 0;
  std::uint64_t transaction = 0;
  std::uint64_t regs_intr_abi = 0;
  WordArray regs_intr = {};
  std::uint64_t phys_addr = 0;
  std::uint64_t cgroup = 0;
  std::uint64_t data_page_size = 0;
  std::uint64_t code_page_size = 0;
  Bytes aux = {};
};

// A record's value. kTruncated, naming the record and its offset, where the record is shorter than
// what it says it holds. `format` is that of the record's event (Reader::EventOf).
template <class Record>
Result<Record> Decode(const RecordView& record, const SampleFormat& format);
Result<Sample> DecodeSample(const RecordView& record, const SampleFormat& format);
// Of a sample that DecodeSample refuses: the fields up to PERIOD, which have their places whatever
// follows, if the record has them all.
std::optional<Sample> SalvageSample(const RecordView& record, const SampleFormat& format);

// The trailer of a kernel record that is no SAMPLE; all zero where the event has none, or the
// record is too short for it.
SampleId DecodeSampleId(const RecordView& record, const SampleFormat& format);

// When a record happened, from the sample or the trailer; 0 where it does not say.
std::uint64_t TimeOf(const RecordView& record, const SampleFormat& format);

// Appends one whole record to `out`: header, body, trailer (for kernel records, as `format` says).
// kInvalidArgument where it would be larger than kMaxRecordSize; then nothing is appended.
template <class Record>
Status Encode(const Record& value, const SampleId& trailer, const SampleFormat& format,
              std::uint16_t misc, std::vector<std::byte>& out);
// For tool records, which have no trailer.
template <class Record>
Status Encode(const Record& value, std::uint16_t misc, std::vector<std::byte>& out) {
  return Encode(value, SampleId{}, SampleFormat{}, misc, out);
}
Status EncodeSample(const Sample& sample, const SampleFormat& format, std::uint16_t misc,
                    std::vector<std::byte>& out);

// The misc bits that say a cpu mode.
constexpr std::uint16_t MiscOf(CpuMode mode) {
  return static_cast<std::uint16_t>(mode);
}

}  // namespace perftape::perfdata

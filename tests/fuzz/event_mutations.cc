// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/event_mutations.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <optional>
#include <utility>

#include "formats/perfdata/reader.h"
#include "tests/fuzz/record_mutations.h"
#include "tests/support/compressed.h"

namespace perftape::fuzz {
namespace {

using perfdata::Compressed;
using perfdata::Container;
using perfdata::Event;
using perfdata::Reader;
using perfdata::RecordType;
using perfdata::RecordView;
using perfdata::Sample;
using perfdata::SampleFormat;

std::ptrdiff_t Steps(std::size_t count) {
  return static_cast<std::ptrdiff_t>(count);
}

// struct perf_event_attr
constexpr std::size_t kSampleTypeField = 24, kReadFormatField = 32, kFlagsField = 40,
                      kBranchTypeField = 72;

// The offsets of a file's attributes, in its table or in the ATTR records of a pipe.
struct LocatedAttr {
  Buffer* bytes;
  std::size_t at, size;
};

std::vector<LocatedAttr> AttrsOf(Anatomy& anatomy) {
  std::vector<LocatedAttr> attrs;
  if (anatomy.container == Container::kPipe) {
    for (Buffer& record : anatomy.records) {
      if (TypeOf(record, anatomy.order) != RecordType::kHeaderAttr) continue;
      if (record.size() >= kHeaderSize + perfdata::EventAttr::kSmallestSize) {
        attrs.push_back({&record, kHeaderSize, record.size() - kHeaderSize});
      }
    }
    return attrs;
  }
  const auto entry = Load<std::uint64_t>(anatomy.head, kAttrSizeField, anatomy.order);
  auto at = Load<std::uint64_t>(anatomy.head, kAttrsField, anatomy.order);
  auto left = Load<std::uint64_t>(anatomy.head, kAttrsField + 8, anatomy.order);
  if (entry < perfdata::EventAttr::kSmallestSize || at < perfdata::FileHeader::kSize) return attrs;
  while (left >= entry && at < anatomy.head.size() && anatomy.head.size() - at >= entry) {
    attrs.push_back({&anatomy.head, at, entry});
    at += entry;
    left -= entry;
  }
  return attrs;
}

void Toggle(const LocatedAttr& attr, std::size_t field, std::uint64_t bit, std::endian order) {
  if (field + sizeof bit > attr.size) return;
  const auto bits = Load<std::uint64_t>(*attr.bytes, attr.at + field, order);
  Store(*attr.bytes, attr.at + field, bits ^ bit, order);
}

void ToggleAny(const LocatedAttr& attr, Dice& dice, std::endian order) {
  constexpr unsigned kSampleBits = 25, kReadBits = 5;
  switch (dice.Below(8)) {
    case 0:
      // Our order of the flags is that of little-endian files; in others another flag is toggled.
      Toggle(attr, kFlagsField, perfdata::kSampleIdAll, order);
      break;
    case 1:
      Toggle(attr, kReadFormatField, std::uint64_t{1} << dice.Below(kReadBits), order);
      break;
    case 2:
      Toggle(attr, kBranchTypeField,
             dice.OneIn(2) ? perfdata::kBranchHwIndex : perfdata::kBranchCounters, order);
      break;
    default:
      Toggle(attr, kSampleTypeField, std::uint64_t{1} << dice.Below(kSampleBits), order);
  }
}

// Contents for a field of a sample that its event did not record before.
class Contents {
 public:
  explicit Contents(Dice& dice) : dice_(dice) {
    for (std::uint64_t& word : words_) word = dice.OneIn(4) ? dice.Word() : 0x401000 + dice.Bits();
    words_[0] = perfdata::kContextKernel;
  }

  void Fill(Sample& sample, const SampleFormat& before, const SampleFormat& now) {
    const std::uint64_t added = now.sample_type & ~before.sample_type;
    if ((added & perfdata::kCallchain) != 0) sample.callchain = Words(dice_.Below(8));
    if ((added & perfdata::kRaw) != 0)
      sample.raw = Bytes(std::as_bytes(std::span(words_))).first(12);
    if ((added & perfdata::kBranchStack) != 0) sample.branches = Words(3 * dice_.Below(4));
    if ((now.branch_sample_type & perfdata::kBranchCounters) != 0) {
      sample.branch_counters = Words(sample.branches.size() / 3);
    }
    if ((added & perfdata::kStackUser) != 0) {
      sample.stack_user = std::as_bytes(std::span(words_)).first(32);
      sample.stack_user_size = 64;
    }
    if ((added & perfdata::kRegsUser) != 0) {
      sample.regs_user_abi = 2;
      sample.regs_user = Words(static_cast<std::size_t>(std::popcount(now.regs_user_mask)));
    }
    if ((added & perfdata::kRegsIntr) != 0) {
      sample.regs_intr_abi = 2;
      sample.regs_intr = Words(static_cast<std::size_t>(std::popcount(now.regs_intr_mask)));
    }
    if ((added & perfdata::kAux) != 0) sample.aux = std::as_bytes(std::span(words_)).first(16);
    if (now.Has(perfdata::kRead) &&
        ((added & perfdata::kRead) != 0 || before.read_format != now.read_format)) {
      sample.read = ReadBlock(now.read_format);
    }
  }

 private:
  WordArray Words(std::size_t count) {
    return WordArray(std::span<const std::uint64_t>(words_).first(std::min(count, words_.size())));
  }

  // The words for read_format; in a group, those of two members.
  WordArray ReadBlock(std::uint64_t read_format) {
    constexpr std::uint64_t kTimes =
        perfdata::kReadTotalTimeEnabled | perfdata::kReadTotalTimeRunning;
    constexpr std::uint64_t kPerMember = perfdata::kReadId | perfdata::kReadLost;
    const auto times = static_cast<std::size_t>(std::popcount(read_format & kTimes));
    const auto each = 1 + static_cast<std::size_t>(std::popcount(read_format & kPerMember));
    if ((read_format & perfdata::kReadGroup) == 0) return Words(times + each);
    words_[0] = 2;
    return Words(1 + times + 2 * each);
  }

  Dice& dice_;
  std::array<std::uint64_t, 72> words_ = {};
};

// Re-encodes the record in the new format; an undecodable record does not change.
void Reencode(Buffer& bytes, const RecordView& record, const SampleFormat& before,
              const SampleFormat& now, Dice& dice) {
  Buffer out;
  if (record.type == RecordType::kSample) {
    auto sample = DecodeSample(record, before);
    if (!sample) return;
    Contents contents(dice);
    contents.Fill(*sample, before, now);
    if (!EncodeSample(*sample, now, record.misc, out)) return;
  } else if (std::to_underlying(record.type) < perfdata::kFirstToolType) {
    const std::size_t trailer = before.trailer_size();
    if (record.payload.size() < trailer) return;
    const perfdata::SampleId id = DecodeSampleId(record, before);
    // Takes the trailer of an encoded COMM, without its body.
    Buffer comm;
    if (!Encode(perfdata::Comm{}, id, now, 0, comm)) return;
    out.resize(kHeaderSize);
    Store(out, 4, record.misc, std::endian::native);
    out.insert(out.end(), record.payload.begin(), record.payload.end() - Steps(trailer));
    out.insert(out.end(), comm.end() - Steps(now.trailer_size()), comm.end());
    Store(out, 0, record.type, std::endian::native);
    CorrectSizes(out, 0, std::endian::native);
  } else {
    return;
  }
  bytes = std::move(out);
}

// The event of each record, and the old formats.
struct Before {
  SampleFormat format;
  std::vector<std::size_t> records;
};

std::optional<Before> RecordsOf(const Buffer& file, std::size_t event_index) {
  const auto reader = Reader::FromBytes(file);
  if (!reader || event_index >= reader->events().size()) return {};
  Before before{reader->events()[event_index].format, {}};
  perfdata::RecordCursor cursor = reader->records(Compressed::kStepOver);
  for (std::size_t i = 0;; ++i) {
    const auto record = cursor.Next();
    if (!record || !*record) return before;
    const Event* event = reader->events().EventOf(**record);
    if (event != nullptr && reader->events().IndexOf(*event) == event_index) {
      before.records.push_back(i);
    }
  }
}

RecordView ViewOf(const Buffer& record) {
  return {.type = TypeOf(record, std::endian::native),
          .misc = Load<std::uint16_t>(record, 4, std::endian::native),
          .payload = Bytes(record).subspan(kHeaderSize)};
}

// Returns whether a record may be compressed: AUX traces, tracing data and records that define
// events may not.
bool MayBeCompressed(const Buffer& record, std::endian order) {
  switch (TypeOf(record, order)) {
    case RecordType::kHeaderAttr:
    case RecordType::kHeaderFeature:
    case RecordType::kHeaderTracingData:
    case RecordType::kAuxtrace:
      return false;
    default:
      return true;
  }
}

std::vector<Buffer> CompressedAs(const Buffer& content, bool as_compressed2, Dice& dice) {
  const Buffer frame = ZstdFrame(content);
  const std::size_t most = dice.OneIn(2) ? 65000 : 16 + dice.Below(4096);
  std::vector<Buffer> records;
  for (std::size_t at = 0; at < frame.size(); at += most) {
    const Bytes piece = Bytes(frame).subspan(at, std::min(most, frame.size() - at));
    Buffer record;
    ByteWriter writer(record);
    writer.Fixed(as_compressed2 ? RecordType::kCompressed2 : RecordType::kCompressed);
    writer.Fixed(std::uint32_t{0});
    if (as_compressed2) writer.Fixed(std::uint64_t{piece.size()});
    writer.Blob(piece, piece.size());
    if (as_compressed2) writer.Padding((8 - piece.size() % 8) % 8);
    CorrectSizes(record, 0, std::endian::native);
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace

void ChangeSampleLayout(Anatomy& anatomy, Dice& dice) {
  const std::vector<LocatedAttr> attrs = AttrsOf(anatomy);
  if (attrs.empty()) return;
  const std::size_t index = dice.Below(attrs.size());
  const std::optional<Before> before = RecordsOf(Assemble(anatomy), index);
  const LocatedAttr& attr = attrs[index];
  ToggleAny(attr, dice, anatomy.order);
  if (!before || anatomy.order != std::endian::native) return;
  const auto changed =
      perfdata::DecodeAttr(Bytes(*attr.bytes).subspan(attr.at, attr.size), anatomy.order);
  if (!changed) return;
  const SampleFormat now = FormatOf(*changed);
  for (const std::size_t i : before->records) {
    if (i >= anatomy.records.size()) break;
    if (BytesBehind(anatomy.records[i], anatomy.order) != 0) continue;
    const Buffer as_it_was = anatomy.records[i];
    Reencode(anatomy.records[i], ViewOf(as_it_was), before->format, now, dice);
  }
}

void ChangeAttr(Anatomy& anatomy, Dice& dice) {
  const std::vector<LocatedAttr> attrs = AttrsOf(anatomy);
  if (attrs.empty()) return;
  const LocatedAttr& attr = attrs[dice.Below(attrs.size())];
  const std::size_t at = attr.at + dice.Below(attr.size / 8) * 8;
  if (dice.OneIn(3)) {
    Store(*attr.bytes, at + dice.Below(2) * 4, static_cast<std::uint32_t>(dice.Word()),
          anatomy.order);
  } else {
    const auto bits = Load<std::uint64_t>(*attr.bytes, at, anatomy.order);
    Store(*attr.bytes, at, bits ^ std::uint64_t{1} << dice.Below(64), anatomy.order);
  }
}

void Compress(Anatomy& anatomy, Dice& dice) {
  if (anatomy.order != std::endian::little || anatomy.records.empty()) return;
  const Run run = RunOf(anatomy.records.size(), dice);
  std::vector<Buffer> kept;
  Buffer content;
  for (std::size_t i = run.begin; i < run.end; ++i) {
    Buffer& record = anatomy.records[i];
    if (MayBeCompressed(record, anatomy.order)) {
      content.insert(content.end(), record.begin(), record.end());
    } else {
      kept.push_back(std::move(record));
    }
  }
  for (Buffer& record : CompressedAs(content, dice.OneIn(2), dice)) {
    kept.push_back(std::move(record));
  }
  const auto begin = anatomy.records.begin() + Steps(run.begin);
  const auto end = anatomy.records.begin() + Steps(run.end);
  const auto position = anatomy.records.erase(begin, end);
  anatomy.records.insert(position, std::make_move_iterator(kept.begin()),
                         std::make_move_iterator(kept.end()));
}

void Decompress(Anatomy& anatomy, Dice& /*dice*/) {
  constexpr std::size_t kMostRecords = 20'000;
  Buffer data;
  for (const Buffer& record : anatomy.records)
    data.insert(data.end(), record.begin(), record.end());
  perfdata::RecordCursor cursor(data, 0, anatomy.order);
  std::vector<Buffer> records;
  std::size_t outer = 0;
  while (records.size() < kMostRecords) {
    const auto record = cursor.Next();
    if (!record || !*record) break;
    const RecordView& view = **record;
    const bool is_inside = view.inside >= 0;
    const bool is_compressed =
        view.type == RecordType::kCompressed || view.type == RecordType::kCompressed2;
    if (!is_inside && !is_compressed && outer < anatomy.records.size()) {
      records.push_back(anatomy.records[outer]);
    }
    if (!is_inside) ++outer;
    if (!is_inside) continue;
    Buffer inner(kHeaderSize);
    Store(inner, 0, view.type, anatomy.order);
    Store(inner, 4, view.misc, anatomy.order);
    inner.insert(inner.end(), view.payload.begin(), view.payload.end());
    CorrectSizes(inner, 0, anatomy.order);
    records.push_back(std::move(inner));
  }
  if (!records.empty()) anatomy.records = std::move(records);
}

}  // namespace perftape::fuzz

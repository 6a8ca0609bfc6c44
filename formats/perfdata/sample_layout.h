// SPDX-License-Identifier: Apache-2.0
// The fields of SAMPLE and of the sample_id trailer, in their order, for reading, writing and
// showing (kernel_layout.h explains how). The id is shown where it is first, or with ID's position
// in a trailer, whichever bit selects it. perf_output_sample and perf_event__output_id_sample in
// kernel/events/core.c define the order. It differs from the order of the bits in sample_type.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>

#include "formats/base/bytes.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/field.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

template <class T, class Record>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Record>;

// The facts outside of a record's body on which the layout of the body depends.
struct RecordShape {
  std::uint16_t misc = 0;
  const SampleFormat& format;
};

// { u64 nr; u64 entries[nr][words]; }
template <class Cursor, class WordsRef>
void EntriesLayout(Cursor& at, WordsRef& entries, std::uint64_t words, const auto&... info) {
  std::uint64_t count = entries.size() / words;
  at.Count(count, words * kWordSize);
  at.Words(entries, count * words, info...);
}

// The same, shown as a list with the description of each word of an entry.
template <class Cursor, class WordsRef>
void TableLayout(Cursor& at, WordsRef& entries, std::string_view name,
                 std::initializer_list<FieldInfo> columns) {
  if constexpr (kShows<Cursor>) {
    at.Table(name, {{entries, columns}});
  } else {
    EntriesLayout(at, entries, columns.size());
  }
}

// An array of bytes, which is shown as a whole.
template <class Cursor, class ArrayRef>
void ByteArrayLayout(Cursor& at, ArrayRef& bytes, const FieldInfo& info) {
  if constexpr (kShows<Cursor>) {
    at.Blob(std::as_bytes(std::span(bytes)), bytes.size(), info);
  } else {
    for (auto& byte : bytes) at.Fixed(byte);
  }
}

// The size and the bytes of a build id are shown as one field.
template <class Cursor>
void ShowBuildId(Cursor& at, const BuildId& build_id) {
  if constexpr (kShows<Cursor>) at.Id(build_id, as::Text("build_id"));
}

// The sample_id trailer.
template <class Cursor, MaybeConst<SampleId> Ref>
void TrailerLayout(Cursor& at, Ref& trailer, const SampleFormat& format) {
  if (format.Has(kTid)) {  // { { u32 pid, tid; } && PERF_SAMPLE_TID
    at.Fixed(trailer.pid, as::Id("pid"));
    at.Fixed(trailer.tid, as::Id("tid"));
  }
  if (format.Has(kTime))
    at.Fixed(trailer.time, as::Number("time"));  //   { u64 time; } && PERF_SAMPLE_TIME
  bool has_id = format.Has(kId);
  if constexpr (kShows<Cursor>) has_id = has_id || format.Has(kIdentifier);
  if (has_id) at.Fixed(trailer.id, as::Number("id"));  //   { u64 id; } && PERF_SAMPLE_ID
  if (format.Has(kStreamId))
    at.Fixed(trailer.stream_id, as::Number("stream_id"));  //   { u64 stream_id; }
  if (format.Has(kCpu)) {                                  //   { u32 cpu, res; }
    at.Fixed(trailer.cpu, as::Id("cpu"));
    at.Padding(4);
  }
  if (format.Has(kIdentifier)) at.Fixed(trailer.id);  //   { u64 id; } && PERF_SAMPLE_IDENTIFIER }
}

// The READ block as words. Without PERF_FORMAT_GROUP: value, time_enabled, time_running, id, lost.
// With it: nr, time_enabled, time_running, then value, id, lost for each member. All except value
// and nr are present only if read_format has their bit.
template <class Cursor, class WordsRef>
void ReadLayout(Cursor& at, WordsRef& read, std::uint64_t read_format, const auto&... info) {
  std::uint64_t words = read.size();
  if constexpr (Cursor::kReads) {
    const auto bits =
        static_cast<std::uint64_t>(std::popcount(read_format & (kReadId | kReadLost)));
    const auto times = static_cast<std::uint64_t>(
        std::popcount(read_format & (kReadTotalTimeEnabled | kReadTotalTimeRunning)));
    words = 1 + times + bits;
    if ((read_format & kReadGroup) != 0) {
      std::uint64_t members = 0;
      Cursor ahead = at;
      ahead.Fixed(members);
      if (members > at.remaining() / sizeof(std::uint64_t)) at.Break();
      words = at.ok() ? 1 + times + members * (1 + bits) : 0;
    }
  }
  at.Words(read, words, info...);
}

// The number of words of vector registers at the cursor, with the four words that describe them.
template <class Cursor>
std::uint64_t CountSimdWords(Cursor ahead) {
  constexpr std::uint64_t kHead = 4;
  std::uint64_t vectors = 0, vector_words = 0, predicates = 0, predicate_words = 0;
  ahead.Fixed(vectors);          // { u64 nr_vectors;
  ahead.Fixed(vector_words);     //   u64 vector_qwords;
  ahead.Fixed(predicates);       //   u64 nr_pred;
  ahead.Fixed(predicate_words);  //   u64 pred_qwords;
  // More words than any record has. The products of smaller numbers do not overflow.
  constexpr std::uint64_t kTooMany = kMaxRecordSize;
  if (std::max({vectors, vector_words, predicates, predicate_words}) > kTooMany) return kTooMany;
  return kHead + vectors * vector_words + predicates * predicate_words;  // u64 data[]; }
}

template <class Cursor, class WordsRef>
void RegsLayout(Cursor& at, std::uint64_t abi, WordsRef& regs, std::uint64_t mask,
                const FieldInfo& info) {
  // abi 0 is PERF_SAMPLE_REGS_ABI_NONE: the task had no registers, and none are recorded.
  const auto count = abi == 0 ? 0 : static_cast<std::uint64_t>(std::popcount(mask));
  at.Words(regs, count, info);
}

template <class Cursor, class WordsRef>
void SimdRegsLayout(Cursor& at, std::uint64_t abi, WordsRef& simd, const FieldInfo& info) {
  std::uint64_t words = simd.size();
  if constexpr (Cursor::kReads) words = (abi & kRegsAbiSimd) == 0 ? 0 : CountSimdWords(at);
  at.Words(simd, words, info);
}

template <class Cursor, class SampleRef>
void BranchStackLayout(Cursor& at, SampleRef& sample, const SampleFormat& format) {
  std::uint64_t count = sample.branches.size() / 3;
  at.Fixed(count);  // { u64 nr;
  if ((format.branch_sample_type & kBranchHwIndex) != 0) {
    at.Fixed(sample.branch_hw_index, as::Signed("hw_idx"));
  }
  if constexpr (Cursor::kReads) {
    if (count > at.remaining() / 24) at.Break();
    if (!at.ok()) count = 0;
  }
  if constexpr (Cursor::kReads || kShows<Cursor>) {  //   { u64 from, to, flags; } lbr[nr];
    at.Words(sample.branches, count * 3, as::In(Form::kBranches, "branches"));
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      at.Fixed(sample.branches[3 * i]);
      at.Fixed(sample.branches[3 * i + 1]);
      at.Fixed(BranchFlagsAt(sample.branches, i));
    }
  }
  if ((format.branch_sample_type & kBranchCounters) != 0) {
    at.Words(sample.branch_counters, count, as::Hex("branch_counters"));  //   u64 counters[nr]; }
  }
}

template <class Cursor, class SampleRef>
void StackUserLayout(Cursor& at, SampleRef& sample) {
  if constexpr (kShows<Cursor>) {
    return at.Blob(sample.stack_user, sample.stack_user_size, as::Blob("stack_user"));
  }
  at.Fixed(sample.stack_user_size);  // { u64 size;
  if (sample.stack_user_size == 0) return;
  if constexpr (Cursor::kReads) {
    std::uint64_t valid = 0;
    at.Blob(sample.stack_user, sample.stack_user_size);
    at.Fixed(valid);
    sample.stack_user = sample.stack_user.first(std::min(valid, sample.stack_user.size()));
  } else {
    const std::uint64_t valid =
        std::min<std::uint64_t>(sample.stack_user.size(), sample.stack_user_size);
    at.Blob(sample.stack_user, sample.stack_user_size);  //   char data[size];
    at.Fixed(valid);                                     //   u64 dyn_size; }
  }
}

template <class Cursor, class SampleRef>
void SampleLayout(Cursor& at, SampleRef& sample, const SampleFormat& format) {
  bool has_id = format.Has(kIdentifier);
  if constexpr (kShows<Cursor>) has_id = has_id || format.Has(kId);
  if (has_id) at.Fixed(sample.id, as::Number("id"));        // { u64 id; }
  if (format.Has(kIp)) at.Fixed(sample.ip, as::Hex("ip"));  // { u64 ip; }
  if (format.Has(kTid)) {                                   // { u32 pid, tid; }
    at.Fixed(sample.pid, as::Id("pid"));
    at.Fixed(sample.tid, as::Id("tid"));
  }
  if (format.Has(kTime)) at.Fixed(sample.time, as::Number("time"));  // { u64 time; }
  if (format.Has(kAddr)) at.Fixed(sample.addr, as::Hex("addr"));     // { u64 addr; }
  if (format.Has(kId)) at.Fixed(sample.id);                          // { u64 id; }
  if (format.Has(kStreamId))
    at.Fixed(sample.stream_id, as::Number("stream_id"));  // { u64 stream_id; }
  if (format.Has(kCpu)) {                                 // { u32 cpu, res; }
    at.Fixed(sample.cpu, as::Id("cpu"));
    at.Padding(4);
  }
  if (format.Has(kPeriod)) at.Fixed(sample.period, as::Number("period"));  // { u64 period; }
  if (format.Has(kRead)) ReadLayout(at, sample.read, format.read_format, as::Hex("read"));
  if (format.Has(kCallchain)) {  // { u64 nr, ips[nr]; }
    std::uint64_t count = sample.callchain.size();
    at.Fixed(count);
    at.Words(sample.callchain, count, as::In(Form::kCallchain, "callchain"));
  }
  if (format.Has(kRaw)) {  // { u32 size; char data[size]; }
    auto size = static_cast<std::uint32_t>(sample.raw.size());
    at.Fixed(size);
    at.Blob(sample.raw, size, as::Blob("raw"));
  }
  if (format.Has(kBranchStack)) BranchStackLayout(at, sample, format);
  if (format.Has(kRegsUser)) {  // { u64 abi; u64 regs[weight(mask)]; }
    at.Fixed(sample.regs_user_abi, as::Number("regs_user_abi"));
    RegsLayout(at, sample.regs_user_abi, sample.regs_user, format.regs_user_mask,
               as::Hex("regs_user"));
    SimdRegsLayout(at, sample.regs_user_abi, sample.regs_user_simd,
                   as::Optional(as::Hex("regs_user_simd")));
  }
  if (format.Has(kStackUser)) StackUserLayout(at, sample);
  // WEIGHT_STRUCT has the same offset and size as WEIGHT: one word.
  if (format.Has(kWeight) || format.Has(kWeightStruct))
    at.Fixed(sample.weight, as::Number("weight"));
  if (format.Has(kDataSrc))
    at.Fixed(sample.data_src, as::In(Form::kDataSource, "data_src"));  // { u64 data_src; }
  if (format.Has(kTransaction))
    at.Fixed(sample.transaction, as::Hex("transaction"));  // { u64 transaction; }
  if (format.Has(kRegsIntr)) {                             // { u64 abi; u64 regs[…]; }
    at.Fixed(sample.regs_intr_abi, as::Number("regs_intr_abi"));
    RegsLayout(at, sample.regs_intr_abi, sample.regs_intr, format.regs_intr_mask,
               as::Hex("regs_intr"));
    SimdRegsLayout(at, sample.regs_intr_abi, sample.regs_intr_simd,
                   as::Optional(as::Hex("regs_intr_simd")));
  }
  if (format.Has(kPhysAddr))
    at.Fixed(sample.phys_addr, as::Hex("phys_addr"));  // { u64 phys_addr; }
  if (format.Has(kSampleCgroup)) at.Fixed(sample.cgroup, as::Number("cgroup"));  // { u64 cgroup; }
  if (format.Has(kDataPageSize))
    at.Fixed(sample.data_page_size, as::Number("data_page_size"));  // { u64 data_page_size; }
  if (format.Has(kCodePageSize))
    at.Fixed(sample.code_page_size, as::Number("code_page_size"));  // { u64 code_page_size; }
  if (format.Has(kAux)) {  // { u64 size; char data[size]; }
    std::uint64_t size = sample.aux.size();
    at.Fixed(size);
    at.Blob(sample.aux, size, as::Blob("aux"));
  }
}

}  // namespace perftape::perfdata

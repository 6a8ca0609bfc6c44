// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/plain_sample.h"

#include "formats/perfdata/sample_layout.h"

namespace perftape::perfdata {
namespace {

// The fields of one word, and the callchain, which follows them.
constexpr std::uint64_t kPlainBits =
    kIdentifier | kIp | kTid | kTime | kAddr | kId | kStreamId | kCpu | kPeriod | kCallchain;

// A cursor for a layout that finds the offset of a field in the record.
class OffsetFinder {
 public:
  static constexpr bool kReads = false;

  explicit OffsetFinder(const void* field) : field_(field) {}

  template <class T>
  void Fixed(const T& value, const auto&... /*info*/) {
    CheckField(&value);
    at_ += sizeof value;
  }
  void Padding(std::size_t size) { at_ += size; }
  // The count is the word before the words.
  template <class WordsRef>
  void Words(const WordsRef& words, std::uint64_t, const auto&... /*info*/) {
    if (&words == field_) offset_ = at_ - sizeof(std::uint64_t);
  }
  template <class BytesRef>
  void Blob(const BytesRef&, std::uint64_t, const auto&... /*info*/) {}

  std::size_t end() const { return at_; }
  // The offset in bytes, or `otherwise` if the record does not have the field.
  std::size_t OffsetOr(std::size_t otherwise) const {
    return offset_ == kNone ? otherwise : offset_;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void CheckField(const void* field) {
    if (field == field_) offset_ = at_;
  }

  const void* field_;
  std::size_t at_ = 0;
  std::size_t offset_ = kNone;
};

}  // namespace

PlainSampleReader::PlainSampleReader(const SampleFormat& format)
    : is_plain_((format.sample_type & ~kPlainBits) == 0) {
  if (!is_plain_) return;
  const Sample sample;
  const auto word_of = [&](const auto& field) {
    OffsetFinder finder(&field);
    SampleLayout(finder, sample, format);
    fixed_words_ = static_cast<std::uint8_t>(finder.end() / kWordSize);
    return static_cast<std::uint8_t>(finder.OffsetOr(kNone * kWordSize) / kWordSize);
  };
  ip_ = word_of(sample.ip);
  tid_ = word_of(sample.pid);
  time_ = word_of(sample.time);
  addr_ = word_of(sample.addr);
  cpu_ = word_of(sample.cpu);
  period_ = word_of(sample.period);
  chain_ = word_of(sample.callchain);
}

}  // namespace perftape::perfdata

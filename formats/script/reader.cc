// SPDX-License-Identifier: Apache-2.0
#include "formats/script/reader.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "formats/script/extra_line.h"
#include "formats/script/words.h"

namespace perftape::script {
namespace {

// Whether a line can be the first one of a sample. A frame begins with a tab, or with an address.
bool MayBeHead(std::string_view line) {
  // "... FP chain: nr:12" is a line of perf script -D.
  return !line.starts_with('\t') && !line.starts_with("..") && !line.starts_with(". ");
}

// Whether it is the line of a record of perf script -D: "0 2488437657339 0x26228 [0x220]:
// PERF_RECORD_SAMPLE(IP, 0x1): 7/7: 0xffffffff81068283 period: 1495736 addr: 0".
bool IsDumpedRecord(std::string_view line) {
  return IsDigit(line.front()) && line.find("]: PERF_RECORD_") != std::string_view::npos;
}

// Returns the number in "PERF_RECORD_LOST lost 461".
std::uint64_t LostIn(std::string_view text) {
  constexpr std::string_view kLost = " lost ";
  const std::size_t mark = text.find(kLost);
  if (mark == std::string_view::npos) return 0;
  return ParseNumber(FirstWord(text.substr(mark + kLost.size()))).value_or(0);
}

// Whether a line below a callchain is what -F +phys_addr and the sizes of pages print there: in 16
// columns, and without a tab. `last` is the frame before it: a chain with names has no frame
// without any.
bool IsPhysicalAddress(std::string_view line, const Frame& last) {
  constexpr std::size_t kColumns = 16;
  const std::string_view text = TrimLeft(line);
  const std::size_t columns = line.size() - text.size() + FirstWord(text).size();
  const bool has_names = !last.symbol.empty() || !last.dso.empty();
  return has_names && columns == kColumns && line.find('\t') == std::string_view::npos &&
         IsOfNumbers(TrimRight(text));
}

// Whether a frame has the offset of bpftrace: "read+72 (/usr/lib/libc.so.6)".
bool HasDecimalOffset(std::string_view line) {
  std::string_view text = TrimRight(line);
  if (text.ends_with(')')) text = text.substr(0, std::min(text.rfind(" ("), text.size()));
  const std::size_t plus = text.rfind('+');
  return plus != std::string_view::npos && IsNumber(text.substr(plus + 1));
}

// Whether the head of a sample has what no other text has by chance.
bool IsCertain(const Head& head) {
  return head.time_ns && (!head.event.empty() || head.is_record);
}

}  // namespace

bool Reader::Next(Sample& sample) {
  lines_.Release();
  sample.frames.clear();
  bool has_sample = has_next_ && BeginSample(std::exchange(next_, {}), sample);
  has_next_ = false;
  for (std::string_view line; lines_.Next(line);) {
    if (TrimRight(line).empty()) {
      DropFirstLine();
      after_ = After::kNothing;
      is_after_empty_line_ = true;
      if (has_sample) return true;
      continue;
    }
    if (IsComment(line)) {
      ReadComment(line, header_);
      continue;
    }
    const bool may_begin = MayBeHead(line) && !IsTraceError(line) && !IsDumpedRecord(line);
    auto head = may_begin ? ParseHead(line) : std::nullopt;
    if (!head && may_begin && after_ == After::kNothing) head = ParseThreadLine(line);
    const bool begins = head && (head->time_ns || !IsBlank(line.front()));
    if (Head short_head; !begins && BeginsWithFrame(line, short_head)) {
      has_sample = BeginSample(short_head, sample);
      AddLine(line, sample);
      continue;
    }
    is_after_empty_line_ = false;
    DropFirstLine();
    if (begins && has_sample) {
      has_next_ = true;
      next_ = *head;
      return true;
    }
    if (begins) {
      has_sample = BeginSample(*head, sample);
    } else if (!may_begin || !KeepFirstLine(line)) {
      AddLine(line, sample);
    }
    if (!has_sample) lines_.Release();
  }
  DropFirstLine();
  return has_sample;
}

bool Reader::BeginsWithFrame(std::string_view line, Head& head) {
  if (after_ != After::kNothing || !IsIndentedFrame(line)) return false;
  const bool has_first_line = std::exchange(first_line_number_, 0) != 0;
  if (!has_first_line && !is_after_empty_line_) return false;
  head = has_first_line ? ParseShortHead(first_line_).value_or(Head()) : Head{.tid = kNoId};
  return true;
}

bool Reader::KeepFirstLine(std::string_view line) {
  if (after_ != After::kNothing) return false;
  const auto head = ParseShortHead(line);
  if (!head) return false;
  // A period alone looks like what some fields print.
  if (!head->period && ClassifyExtraLine(line) != ExtraLine::kNone) return false;
  if (line.find(kRecordMark) != std::string_view::npos) return false;
  first_line_ = line;
  first_line_number_ = lines_.number();
  return true;
}

void Reader::DropFirstLine() {
  const std::uint64_t number = std::exchange(first_line_number_, 0);
  if (number != 0 && ClassifyExtraLine(first_line_) == ExtraLine::kNone) CountBadLine(number);
}

// Returns false for a record, and for a metric.
bool Reader::BeginSample(const Head& head, Sample& sample) {
  if (head.is_record) CountRecord(head.rest);
  if (head.is_record || head.is_metric) {
    after_ = After::kRecord;
    return false;
  }
  after_ = After::kSample;
  begin_ = lines_.position();
  sample.head = head;
  has_head_frame_ = false;
  if (const auto frame = ParseFrameAtEnd(head.rest, header_.writer)) {
    sample.frames.push_back(*frame);
    sample.frames.back().text = frame->text;
    has_head_frame_ = true;
  }
  return true;
}

// Adds a line that does not begin a sample.
void Reader::AddLine(std::string_view line, Sample& sample) {
  const bool is_indented = IsBlank(line.front());
  const std::size_t record = is_indented ? std::string_view::npos : line.find(kRecordMark);
  if (record != std::string_view::npos) {
    after_ = After::kRecord;
    return CountRecord(line.substr(record));
  }
  if (after_ == After::kRecord && is_indented && !IsTraceError(line)) return;
  if (after_ == After::kSample && AddFrame(line, sample)) return;
  AddExtraLine(line);
}

// Adds a frame, or the source line of one. Returns whether the text is one.
bool Reader::AddFrame(std::string_view line, Sample& sample) {
  if (!sample.frames.empty() && IsPhysicalAddress(line, sample.frames.back())) return false;
  // perf prints a callchain, or a frame in the first line. With a chain, the first line has the
  // text of a tracepoint, or the fields of a memory access.
  if (std::exchange(has_head_frame_, false) && IsIndentedFrame(line)) sample.frames.clear();
  const bool is_indented = IsBlank(line.front());
  const std::string_view text = TrimRight(TrimLeft(line));
  const auto frame = ParseFrame(text, header_.writer);
  if (frame && (is_indented || frame->is_inlined || !frame->dso.empty())) {
    const bool has_room =
        sample.frames.size() < kMostFrames && lines_.position() - begin_ < kMostBytes;
    has_room ? sample.frames.push_back(*frame) : CountBadLine();
    return true;
  }
  const bool is_branch = text.ends_with('/') || text.starts_with('|');
  return !sample.frames.empty() && !is_branch && ParseSourceLine(text, sample.frames.back());
}

void Reader::AddExtraLine(std::string_view line) {
  switch (ClassifyExtraLine(line)) {
    case ExtraLine::kNone:
      return CountBadLine();
    case ExtraLine::kOrdinary:
      return;
    case ExtraLine::kTraceError:
      if (counts_.trace_errors++ == 0) counts_.first_trace_error = MessageOfTraceError(line);
      return;
    case ExtraLine::kLostChunks:
      counts_.lost_chunks += ChunksIn(line);
      return;
  }
}

void Reader::CountRecord(std::string_view text) {
  ++counts_.records;
  const std::string_view type = text.substr(0, text.find_first_of(" :"));
  if (type == "PERF_RECORD_LOST") counts_.lost_records += LostIn(text);
  if (type == "PERF_RECORD_LOST_SAMPLES") counts_.lost_samples += LostIn(text);
}

void Reader::CountBadLine(std::uint64_t number) {
  if (counts_.bad_lines++ == 0) counts_.first_bad_line = number;
}

ReaderCounts Reader::counts() const {
  ReaderCounts counts = counts_;
  const bool is_first = counts.bad_lines == 0 || lines_.first_too_long() < counts.first_bad_line;
  if (lines_.too_long() != 0 && is_first) counts.first_bad_line = lines_.first_too_long();
  counts.bad_lines += lines_.too_long();
  return counts;
}

bool IsScript(std::string_view beginning) {
  if (beginning.find('\0') != std::string_view::npos) return false;
  if (BeginsWithHeader(beginning)) return true;
  bool may_be_head = false;
  bool may_begin_short = true;  // a sample with few fields, whose frames may be in the next line
  while (!beginning.empty()) {
    const std::size_t end = std::min(beginning.find('\n'), beginning.size());
    const std::string_view whole_line = beginning.substr(0, end);
    const std::string_view line = TrimRight(whole_line);
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
    if (line.empty()) may_begin_short = true;
    if (line.empty() || IsComment(line)) continue;
    // The offsets of bpftrace are decimal, and it prints stacks without a head.
    if (may_begin_short && IsIndentedFrame(line) && !HasDecimalOffset(line)) return true;
    if (may_be_head) {
      const auto frame = ParseFrame(TrimLeft(line), Writer::kPerf);
      const bool is_certain = frame && (frame->dso.starts_with('/') || frame->dso.starts_with('['));
      if (frame && (IsBlank(line.front()) ? !frame->dso.empty() : is_certain)) return true;
    }
    const auto head = MayBeHead(line) ? ParseHead(line) : std::nullopt;
    if (head && IsCertain(*head)) return true;
    may_be_head = head.has_value();
    may_begin_short = ParseThreadLine(whole_line) || ParseShortHead(line);
  }
  return false;
}

}  // namespace perftape::script

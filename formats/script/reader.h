// SPDX-License-Identifier: Apache-2.0
// Reads the text that `perf script` prints, sample by sample. Memory does not grow with the text.
//
//   Reader reader(input);
//   for (Sample sample; reader.Next(sample);) { ... }
//   if (input.error()) ...
//
// A sample ends at an empty line, at the first line of the next sample, or at the end. Frames need
// no indentation, because mails and tickets remove it. Lines that perf script does not print are
// counted (extra_line.h has those that it prints besides samples and records).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/input.h"
#include "formats/script/frame_line.h"
#include "formats/script/head_line.h"
#include "formats/script/header.h"
#include "formats/script/lines.h"

namespace perftape::script {

struct Sample {
  Head head;
  std::vector<Frame> frames;  // innermost first; empty if the sample has none
};

// The content of the text besides samples.
struct ReaderCounts {
  std::uint64_t bad_lines = 0;
  std::uint64_t first_bad_line = 0;  // its number, from 1
  std::uint64_t records = 0;         // PERF_RECORD_ lines
  std::uint64_t lost_records = 0;    // the numbers in those of type LOST
  std::uint64_t lost_samples = 0;    // the same for LOST_SAMPLES
  std::uint64_t lost_chunks = 0;     // of perf's message about LOST records
  std::uint64_t trace_errors = 0;
  std::string first_trace_error = {};  // "Lost trace data"
};

class Reader {
 public:
  // More frames of a sample, and frames after this many bytes, are bad lines.
  static constexpr std::size_t kMostFrames = 65'536;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;

  // `input` must outlive this object. A stream is consumed.
  explicit Reader(Input& input) : lines_(input) {}
  // Reads a text, which must outlive this object.
  explicit Reader(std::string_view text) : lines_(text) {}

  // Reads the next sample. Its texts are valid until the next call. Returns false at the end, also
  // if reading a stream fails.
  bool Next(Sample& sample);

  // Of the comments before the last sample.
  const Header& header() const { return header_; }
  ReaderCounts counts() const;
  std::uint64_t position() const { return lines_.position(); }  // in bytes

 private:
  enum class After : std::uint8_t { kNothing, kSample, kRecord };

  // Whether `line` is the first frame of a sample whose first line has too few fields to be
  // recognized. Sets `head` to these fields.
  bool BeginsWithFrame(std::string_view line, Head& head);
  // Keeps a line that may be such a first line, until the next line shows whether it is one.
  bool KeepFirstLine(std::string_view line);
  void DropFirstLine();
  void AddLine(std::string_view line, Sample& sample);
  bool BeginSample(const Head& head, Sample& sample);
  void CountRecord(std::string_view text);
  bool AddFrame(std::string_view line, Sample& sample);
  void AddExtraLine(std::string_view line);
  void CountBadLine() { CountBadLine(lines_.number()); }
  void CountBadLine(std::uint64_t number);

  Lines lines_;
  Header header_;
  ReaderCounts counts_;
  After after_ = After::kNothing;  // what lines belong to
  bool has_next_ = false;          // next_ is the first line of the next sample
  Head next_;
  bool is_after_empty_line_ = true;
  std::string first_line_;               // KeepFirstLine
  std::uint64_t first_line_number_ = 0;  // 0: none is kept
  std::uint64_t begin_ = 0;              // of the sample, in bytes
  bool has_head_frame_ = false;          // the only frame of the sample is of its first line
};

// Returns whether a text is that of perf script, from its first bytes: it has the first line of a
// sample, with a time or with a frame in the next line, or begins with the header of perf script.
bool IsScript(std::string_view beginning);

}  // namespace perftape::script

// SPDX-License-Identifier: Apache-2.0
// The C expressions after the format in `print fmt` of a tracepoint: fields (REC->pid), numbers,
// operators, casts, and the kernel's functions for output
// (include/trace/stages/stage3_trace_output.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/tracepoints.h"

namespace perftape::perfdata {

// A parsed expression (print_parser.h). Its texts are views of the parsed text, which must outlive
// it.
struct PrintExpression {
  enum class Kind : std::uint8_t {
    kNumber,
    kText,         // "R"
    kField,        // REC->name, __get_str(name), __get_dynamic_array(name)
    kFieldLength,  // __get_dynamic_array_len(name)
    kElement,      // REC->name[operands[0]]
    kUnary,        // `operation` of operands[0]
    kBinary,       // `operation` of operands[0] and operands[1]
    kConditional,  // operands[0] ? operands[1] : operands[2]
    kCast,         // to `cast_bits` bits
    kFlags,        // __print_flags(operands[0], text, choices)
    kSymbolic,     // __print_symbolic(operands[0], choices)
    kHex,          // __print_hex(operands[0], operands[1]), with `text` between bytes
    kArray,        // __print_array(operands[0], operands[1], operands[2])
  };
  // {0x1, "S"}
  struct Choice {
    std::uint64_t value = 0;
    std::string_view text;
  };

  Kind kind = Kind::kNumber;
  std::uint64_t number = 0;
  std::string_view text = {};       // of a text or delimiter; the name of a field
  std::string_view operation = {};  // "+", "<<", "&&"
  unsigned cast_bits = 64;
  bool cast_is_signed = false;
  std::vector<PrintExpression> operands = {};
  std::vector<Choice> choices = {};
};

// A sample of the tracepoint.
struct PrintedSample {
  const TracepointFormat& format;
  Bytes raw;
};

// The value as a number. 0 for a text, for what is missing in the sample, and for what C does not
// define.
std::uint64_t NumberOf(const PrintExpression& expression, const PrintedSample& sample);

// Appends the value as %s prints it.
void AppendTextOf(std::string& out, const PrintExpression& expression, const PrintedSample& sample);

}  // namespace perftape::perfdata

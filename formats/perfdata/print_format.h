// SPDX-License-Identifier: Apache-2.0
// The text of a tracepoint's sample by the line `print fmt` of its format file, as libtraceevent
// writes it (tep_print_event, TEP_PRINT_INFO).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/print_expression.h"
#include "formats/perfdata/tracepoints.h"

namespace perftape::perfdata {

class PrintFormat {
 public:
  // Parses the text after "print fmt:": a format of printf(3) and its arguments. Nothing if
  // something in it is not understood. `text` must outlive the result.
  static std::optional<PrintFormat> Parse(std::string_view text);

  // Appends the text of a sample. What is missing in it is 0 or empty.
  void Append(std::string& out, const PrintedSample& sample) const;

 private:
  // A text without conversions, and the conversion behind it.
  struct Piece {
    std::string text;
    char conversion = 0;  // 'd', 's', ...; 0 for none
    unsigned bits = 32;   // of an integer
    int width = 0, precision = -1;
    bool width_is_argument = false, precision_is_argument = false;
    bool is_left = false, has_zeros = false, has_prefix = false, has_plus = false;
    char extension = 0;  // of %p
  };

  bool ParseConversion(std::string_view& rest, Piece& piece);
  void AppendValue(std::string& out, const Piece& piece, const PrintExpression& argument,
                   const PrintedSample& sample) const;

  std::vector<Piece> pieces_;
  std::vector<PrintExpression> arguments_;
};

}  // namespace perftape::perfdata

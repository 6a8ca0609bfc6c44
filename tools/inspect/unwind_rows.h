// SPDX-License-Identifier: Apache-2.0
// The rows of an unwind table as text or JSON.
#pragma once

#include <cstddef>
#include <string>

#include "formats/unwind/table.h"

namespace perftape::inspect {

// The names of the columns, as a line.
std::string UnwindTableHead();

// Returns "401126\trsp+16\tc-16\tc-8\t-\n". `row` is an index in table.rows().
std::string UnwindRowText(const unwind::Table& table, std::size_t row);

// Returns {"unwind_row":{"address":"0x401126","cfa":"rsp+16","fp":"c-16","ra":"c-8"}} and "\n".
std::string UnwindRowJson(const unwind::Table& table, std::size_t row);

}  // namespace perftape::inspect

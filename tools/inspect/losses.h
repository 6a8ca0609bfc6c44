// SPDX-License-Identifier: Apache-2.0
// What a recording lacks, as text and as JSON.
#pragma once

#include <string>

#include "convert/records/losses.h"

namespace perftape::inspect {

// Returns the sums by event, CPU and cause, then each record with its time.
std::string LossesText(const records::Losses& losses);
// Returns one line: {"losses":{"source":"recording.json","lost":[...],"records":[...]}}.
std::string LossesJson(const records::Losses& losses);

}  // namespace perftape::inspect

// SPDX-License-Identifier: Apache-2.0
// Labels from the RAW data of tracepoints: the fields that the user asked for, by name. An integer
// becomes a number, any other field a text. For latency probes, errors and addresses are texts, too
// (latency_text.h).
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/model/profile_builder.h"
#include "formats/base/bytes.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/tracepoints.h"

namespace perftape::convert {

// Returns the names of the fields of all events.
std::set<std::string> FieldNamesOf(const perfdata::EventTable& events);

// Reads the fields `names` from samples. The first two arguments must outlive the object.
class FieldReader {
 public:
  // `arch` is that of the recording, as HEADER_ARCH has it.
  FieldReader(const perfdata::EventTable& events, std::span<const std::string> names,
              std::string arch);

  bool reads_nothing() const { return names_.empty(); }
  // Returns the values of the fields that the sample has. Equal values give equal bytes. `event` is
  // the index of its event. Valid until the next call.
  std::string_view Read(std::size_t event, Bytes raw);

 private:
  struct Wanted {
    std::uint32_t name = 0;  // index in names_
    const perfdata::TracepointField* field = nullptr;
    std::endian order = std::endian::native;
    const std::string* event = nullptr;  // its name
  };

  std::span<const std::string> names_;
  std::string arch_;
  std::vector<std::vector<Wanted>> wanted_;  // by event
  std::vector<std::byte> values_;
};

// Appends the labels of `values`, which a FieldReader of the same names returned. Their keys are
// FieldLabelKey of the names.
void AppendFieldLabels(std::string_view values, std::span<const std::string> names,
                       ProfileBuilder& builder, std::vector<Label>& labels);

}  // namespace perftape::convert

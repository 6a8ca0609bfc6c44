// SPDX-License-Identifier: Apache-2.0
// The fields of a record, told one by one under the names of perf_event.h: as text, as JSON, or
// whatever listens makes of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/record.h"

namespace perftape::inspect {

// Who listens. Names are plain words; views end with the call.
class RecordFields {
 public:
  virtual ~RecordFields() = default;

  virtual void Number(std::string_view name, std::uint64_t value) = 0;
  virtual void Signed(std::string_view name, std::int64_t value) = 0;
  virtual void Real(std::string_view name, double value) = 0;
  virtual void Hex(std::string_view name, std::uint64_t value) = 0;
  virtual void Word(std::string_view name, std::string_view value) = 0;  // without spaces
  virtual void Text(std::string_view name, std::string_view value) = 0;  // as it lies in the file
  virtual void Words(std::string_view name, std::span<const std::string> values) = 0;
  virtual void Blob(std::string_view name, Bytes value) = 0;
  // A list of things with fields of their own: OpenItem and CloseItem around those of each.
  virtual void OpenList(std::string_view name, std::size_t count) = 0;
  virtual void OpenItem() = 0;
  virtual void CloseItem() = 0;
  virtual void CloseList() = 0;
  // What follows is in the sample_id trailer.
  virtual void Trailer() = 0;
  // Why the fields could not be told: "cut off".
  virtual void Remark(std::string_view remark) = 0;

  // -1 stands for "none" in pids and CPUs.
  void Id(std::string_view name, std::uint32_t value) {
    Signed(name, static_cast<std::int32_t>(value));
  }
};

// Tells all fields of a record. One that ends inside its fields, that is of no event or of a type
// without known fields is told as its bytes, with a remark.
void TellFields(const perfdata::RecordView& record, const perfdata::EventTable& events,
                RecordFields& to);

}  // namespace perftape::inspect

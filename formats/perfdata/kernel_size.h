// SPDX-License-Identifier: Apache-2.0
// Computes the real size of KSYMBOL, BPF_EVENT and TEXT_POKE records. The kernel adds the size of
// the trailer to header.size once for each event that receives the record, and never resets it
// (kernel/events/core.c of Linux 5.1 to 7.0: perf_event_ksymbol_output, perf_event_bpf_output,
// perf_event_text_poke_output; the functions for all other records restore the size). If several
// events listen, all but the first receive a record of this layout:
//
//   header | body | trailer | bytes that were in the ring before, counted by header.size
//
// A reader that looks for the trailer at the end of the record finds a wrong id and a wrong time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// Whether header.size of records of this type may count too many bytes.
constexpr bool MayHaveExcess(RecordType type) {
  constexpr std::uint32_t kTypes = std::uint32_t{1} << std::to_underlying(RecordType::kKsymbol) |
                                   std::uint32_t{1} << std::to_underlying(RecordType::kBpfEvent) |
                                   std::uint32_t{1} << std::to_underlying(RecordType::kTextPoke);
  const auto number = std::to_underlying(type);
  return number < 32 && (kTypes >> number & 1) != 0;
}

// The size of a record from a kernel ring without the excess bytes: header, body and trailer.
// Returns record.size() if the record has no excess, and for all other types.
std::size_t KernelSize(const RecordView& record, const SampleFormat& format);

// A record of a file without the bytes after its trailer. RecordView::excess is their number.
//
// Other writers may pad the name of a KSYMBOL more than the kernel does. Then the trailer is at the
// end of the record. So the ids decide: the trailer is at the first offset at which an event of the
// file has the id. The end of the body is tried first, then the end of the record. If neither id
// belongs to an event (ids are not recorded, or 0), the trailer follows the body, unless all bytes
// there are zero like padding.
RecordView WithoutExcess(const RecordView& record, const EventTable& events);

}  // namespace perftape::perfdata

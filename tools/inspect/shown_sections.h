// SPDX-License-Identifier: Apache-2.0
// The sections of perftape-inspect, each as text and as JSON. A function for all of a section
// returns its lines; the records and the samples are printed one by one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "convert/records/losses.h"
#include "convert/records/sample_rows.h"
#include "convert/records/statistics.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::inspect {

// The header: its container, its events with their attributes, its features. As text, one line per
// fact, "name: value". A fact with several parts has them on indented lines.
std::string HeaderText(const perfdata::Reader& reader);

// Returns the most important lines of the text: container, data section, events, the machine, the
// command, the bundle and the trigger.
std::string HeaderSummary(const perfdata::Reader& reader);

// Returns the line that says why a flight recorder wrote the file. Nothing if `trigger`
// (recording_notes.h) is empty.
std::string TriggerText(std::string_view trigger);

// Returns one line with its end:
//
//   {"header":{"schema":"perftape-inspect/1","format":"file","byte_order":"little",
//    "data":{"offset":"0xf0","size":688},
//    "events":[{"name":"cpu-clock","ids":[101],"attr":{"type":1,"size":112,…}}],
//    "features":{"HOSTNAME":"builder","NRCPUS":{"nr_cpus_online":2,"nr_cpus_avail":2},…},
//    "problems":[]}}
//
// An attribute has the field names of perf_event_attr, for fields that are not 0. A feature has the
// names of perf's struct perf_env and header.c. Offsets, addresses and bit masks are strings in
// hex. Bits with names are lists of them. Bytes that are not UTF-8 become U+FFFD.
std::string HeaderJson(const perfdata::Reader& reader);

// A record on one line, with all fields by name. For inspecting files, and for golden texts that
// show every change of meaning.
//
//   0x1a8 MMAP2 misc 0x2 size 112: pid 186 tid 186 start 0x401000 … | time 64571619301 cpu 1
//
// Returns the line without a line end. Names are escaped for a terminal. A record that ends inside
// its fields has a remark. A record of a type without known fields is shown as bytes.
std::string RecordText(const perfdata::RecordView& record, const perfdata::EventTable& events);

// Returns one line with its end:
//
//   {"record":{"offset":"0x1a8","type":"COMM","misc":0,"size":40,"pid":7,"tid":7,"comm":"sh",
//    "sample_id":{"pid":7,"tid":7,"time":64571619301,"cpu":1}}}
//
// Addresses and bit masks are strings in hex, because JSON readers may keep only 53 bits of a
// number. Bytes are one string of hex digits. A record whose fields could not be decoded has a
// "remark".
std::string RecordJson(const perfdata::RecordView& record, const perfdata::EventTable& events);

// Whether the table has a column with the fields of tracepoints.
enum class FieldColumn : std::uint8_t { kNone, kLast };

// "event\tcomm\tpid\ttid\tcpu\ttime_ns\tperiod\tip\tdso\tnframes\tframes\n"; kLast adds
// "\tfields".
std::string SampleTableHead(FieldColumn column = FieldColumn::kNone);

// Returns one line. Addresses are hexadecimal without 0x, and frames are separated by commas.
// Control characters in names are escaped, so that a name is always a single column. The fields of
// a tracepoint are separated by spaces: prev_comm="ls" prev_pid=7. A wakeup has woken="ls"
// woken_tid=7.
std::string RowText(const records::SampleRow& row, FieldColumn column = FieldColumn::kNone);

// Returns a line with its end:
//
//   {"sample":{"event":"cycles","comm":"ls","pid":7,"tid":7,"cpu":0,"time_ns":1000,"period":10,
//    "ip":"0x401136","dso":"ls","frames":["0x401136"]}}
//
// Addresses are strings, because many JSON readers keep only 53 bits of a number. cpu is null if it
// was not recorded. "cgroup" is the path of the control group, if recorded. "fields" is an object
// with the fields of a tracepoint by name, if the file has its format. Bytes of names that are not
// UTF-8 become U+FFFD.
std::string SampleJson(const records::SampleRow& row);

// Returns the lines that `perf report --stats` prints for the same file.
std::string StatisticsLikePerf(const records::Statistics& statistics,
                               const perfdata::EventTable& events);

// Returns first these lines. Then follow the losses, the periods, and the shares of comms and dsos,
// largest first.
std::string StatisticsText(const records::Statistics& statistics,
                           const perfdata::EventTable& events);

// Returns one line:
//
//   {"stats":{"schema":"perftape-inspect/1","records":{"SAMPLE":13},"events":[
//    {"name":"cycles","samples":13,"period":130,"lost_samples":0}],
//    "lost":{"LOST":0,"LOST_SAMPLES":0},"skipped_samples":0}}
//
// LOST counts records of any type, LOST_SAMPLES counts samples; a sum would count some losses
// twice. If counting stopped before the end of the file, "damage" has the reason.
std::string StatisticsJson(const records::Statistics& statistics,
                           const perfdata::EventTable& events);

// What a recording lacks. Returns the sums by event, CPU and cause, then each record with its time.
std::string LossesText(const records::Losses& losses);
// Returns one line:
//
//   {"losses":{"schema":"perftape-inspect/1","source":"recording.json",…,"records":[…]}}
std::string LossesJson(const records::Losses& losses);

// The findings of a validation. Returns "0x1a8 error record-size-alignment: MMAP has 57 bytes, not
// a multiple of 8; breaks perf-7.3\n", one line for each listed finding, in file order. Control
// characters in names are escaped.
std::string FindingsText(const perfdata::Report& report);

// Returns the number of findings of each rule with the rule's meaning, and the readers that cannot
// read the file.
std::string VerdictText(const perfdata::Report& report);

// Returns one line:
//
//   {"validate":{"schema":"perftape-inspect/1","clean":false,"errors":1,…,"breaks":["perf-7.3"],
//    "findings":[{"rule":"record-size-alignment","severity":"error","offset":424,
//    "place":"0x1a8","record":"MMAP","message":"MMAP has 57 bytes, not a multiple of 8",
//    "breaks":["perf-7.3"]}],"counts":{"record-size-alignment":1}}}
//
// Bytes of names that are not UTF-8 become U+FFFD.
std::string ValidationJson(const perfdata::Report& report);

}  // namespace perftape::inspect

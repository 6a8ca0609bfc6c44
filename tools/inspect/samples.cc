// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "convert/model/label_keys.h"
#include "formats/base/text.h"
#include "formats/json/write.h"
#include "formats/perfdata/visit_fields.h"
#include "tools/common/cli/escape.h"
#include "tools/inspect/json_fields.h"
#include "tools/inspect/shown_sections.h"

namespace perftape::inspect {
namespace {

using perfdata::TracepointField;
using records::SampleRow;
using Json = json::Value;

// Appends "prev_comm="ls" prev_pid=7".
void AppendFields(const perfdata::TracepointFormat& format, Bytes raw, std::string& out) {
  std::string_view separator;
  for (const TracepointField& field : format.fields) {
    if (field.is_common()) continue;
    const auto value = perfdata::ValueOf(field, raw, format.order);
    if (!value) continue;
    const std::string_view quote = field.content == TracepointField::Content::kText ? "\"" : "";
    AppendFormat(out, "{}{}={}{}{}", std::exchange(separator, " "),
                 cli::EscapeForTerminal(field.name), quote, cli::EscapeForTerminal(TextOf(*value)),
                 quote);
  }
}

}  // namespace

std::string SampleTableHead(FieldColumn column) {
  return fmt::format("event\tcomm\tpid\ttid\tcpu\ttime_ns\tperiod\tip\tdso\tnframes\tframes{}\n",
                     column == FieldColumn::kLast ? "\tfields" : "");
}

std::string RowText(const SampleRow& row, FieldColumn column) {
  // pid, tid and time are unsigned, as in perf: 4294967295 in a sample of an exited task, 2^64-1 if
  // no time was recorded (tools/perf/util/evsel.c, evsel__parse_sample).
  std::string text = fmt::format(
      "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:x}\t{}\t{}\t", cli::EscapeForTerminal(row.event),
      cli::EscapeForTerminal(row.comm), row.pid, row.tid,
      row.cpu ? static_cast<std::int64_t>(*row.cpu) : -1, row.time_ns.value_or(UINT64_MAX),
      row.period, row.ip, cli::EscapeForTerminal(row.dso), row.frames.size());
  for (const std::uint64_t& frame : row.frames) {
    if (&frame != &row.frames.front()) text += ',';
    std::array<char, 16> digits;
    text.append(digits.data(), std::to_chars(digits.begin(), digits.end(), frame, 16).ptr);
  }
  if (column == FieldColumn::kLast) text += '\t';
  if (column == FieldColumn::kLast && row.tracepoint) AppendFields(*row.tracepoint, row.raw, text);
  if (column == FieldColumn::kLast && row.woken) {
    AppendFormat(text, "{}=\"{}\" {}={}", convert::kWokenLabel,
                 cli::EscapeForTerminal(row.woken->comm), convert::kWokenTidLabel, row.woken->tid);
  }
  text += '\n';
  return text;
}

std::string SampleJson(const SampleRow& row) {
  Json frames = Json::EmptyList();
  for (const std::uint64_t frame : row.frames) frames.push_back(fmt::format("{:#x}", frame));
  Json fields = {{"event", row.event},
                 {"comm", row.comm},
                 {"pid", row.pid},
                 {"tid", row.tid},
                 {"cpu", row.cpu ? Json(*row.cpu) : Json(nullptr)},
                 {"time_ns", row.time_ns ? Json(*row.time_ns) : Json(nullptr)},
                 {"period", row.period},
                 {"ip", fmt::format("{:#x}", row.ip)},
                 {"dso", row.dso}};
  if (row.cgroup) fields["cgroup"] = *row.cgroup;
  if (row.woken) fields["woken"] = {{"comm", row.woken->comm}, {"tid", row.woken->tid}};
  fields["frames"] = std::move(frames);
  if (row.tracepoint) {
    JsonFields to(fields);
    VisitTracepointFields(*row.tracepoint, row.raw, to);
  }
  const Json json = {{"sample", std::move(fields)}};
  return json::Text(json, json::Layout::kOneLine);
}

}  // namespace perftape::inspect

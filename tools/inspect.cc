// SPDX-License-Identifier: Apache-2.0
// perftape-inspect: prints a perf.data as text or JSON.
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/counted.h"
#include "formats/base/input.h"
#include "formats/base/output_file.h"
#include "formats/bundle/expanded_input.h"
#include "formats/elf/elf_file.h"
#include "formats/json/write.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/validate.h"
#include "formats/unwind/rule_text.h"
#include "formats/unwind/table.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/inspect/command_line.h"
#include "tools/inspect/shown_sections.h"
#include "tools/mains.h"

namespace perftape::inspect {
namespace {

using perfdata::Reader;

// Each of these functions prints a section, and returns the damage that ended it early.
using Damage = std::optional<Error>;

Result<Damage> PrintStatistics(const Reader& reader, const Plan& plan, OutputFile& out) {
  records::Statistics statistics = records::CountRecords(reader, plan.threads);
  TRY(out.Write(plan.form == Form::kJson ? StatisticsJson(statistics, reader.events())
                                         : StatisticsText(statistics, reader.events())));
  const std::uint64_t unread = statistics.skipped_samples + statistics.cut_off_samples;
  if (!statistics.damage && unread != 0) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{} of an unknown event or cut off, the first at {}",
                             Counted(unread, "sample"), statistics.first_unread)};
  }
  return std::move(statistics.damage);
}

Result<Damage> PrintRecords(const Reader& reader, Form form, OutputFile& out) {
  perfdata::RecordCursor cursor = reader.records();
  while (true) {
    Result<std::optional<perfdata::RecordView>> record = cursor.Next();
    if (!record) return std::move(record).error();
    if (!*record) return std::nullopt;
    TRY(out.Write(form == Form::kJson ? RecordJson(**record, reader.events())
                                      : RecordText(**record, reader.events()) + '\n'));
  }
}

Result<Damage> PrintSamples(const Reader& reader, const Plan& plan, OutputFile& out,
                            cli::Console& console) {
  const Form form = plan.form;
  if (form == Form::kText) TRY(out.Write(SampleTableHead(plan.field_column)));
  records::SampleRows rows(reader);
  while (true) {
    Result<std::optional<records::SampleRow>> row = rows.Next();
    if (!row) return std::move(row).error();
    if (!*row) break;
    TRY(out.Write(form == Form::kJson ? SampleJson(**row) : RowText(**row, plan.field_column)));
  }
  if (rows.without_user_frames() != 0) {
    console.Note(
        fmt::format("{} without user frames: the record with them (CALLCHAIN_DEFERRED) is not in "
                    "the file",
                    Counted(rows.without_user_frames(), "sample")));
  }
  std::string words;
  if (rows.skipped() != 0) {
    words = fmt::format("not in the table, because of an unknown event or cut off: {}",
                        Counted(rows.skipped(), "sample"));
  }
  if (rows.cut_off() != 0) {
    words += fmt::format("{}without frames, because cut off: {}", words.empty() ? "" : "; ",
                         Counted(rows.cut_off(), "sample"));
  }
  if (words.empty()) return std::nullopt;
  return Error{ErrorCode::kCorrupt,
               fmt::format("{}; the first is at {}", words, rows.first_unread())};
}

Result<Damage> PrintValidation(const Reader& reader, Form form, OutputFile& out) {
  const perfdata::Report report = Validate(reader);
  TRY(out.Write(form == Form::kJson ? ValidationJson(report)
                                    : FindingsText(report) + VerdictText(report)));
  const std::uint64_t errors = report.CountOf(perfdata::Severity::kError);
  if (errors == 0) return std::nullopt;
  return Error{ErrorCode::kCorrupt, fmt::format("some readers cannot read all of the file: {}",
                                                Counted(errors, "error"))};
}

Result<Damage> PrintLosses(const Reader& reader, Form form, OutputFile& out) {
  TRY_ASSIGN(records::Losses losses, records::FindLosses(reader));
  TRY(out.Write(form == Form::kJson ? LossesJson(losses) : LossesText(losses)));
  return std::move(losses.damage);
}

Result<Damage> Print(Section section, const Reader& reader, const Plan& plan, OutputFile& out,
                     cli::Console& console) {
  const Form form = plan.form;
  switch (section) {
    case Section::kSummary:
      TRY(out.Write(form == Form::kJson ? HeaderJson(reader) : HeaderSummary(reader)));
      return std::nullopt;
    case Section::kHeader:
      TRY(out.Write(form == Form::kJson ? HeaderJson(reader) : HeaderText(reader)));
      return std::nullopt;
    case Section::kStatistics:
      return PrintStatistics(reader, plan, out);
    case Section::kLosses:
      return PrintLosses(reader, form, out);
    case Section::kRecords:
      return PrintRecords(reader, form, out);
    case Section::kSamples:
      return PrintSamples(reader, plan, out, console);
    case Section::kValidation:
      return PrintValidation(reader, form, out);
  }
  return std::nullopt;
}

using UnwindRowFields = std::vector<std::pair<std::string_view, std::string>>;

UnwindRowFields FieldsOf(const unwind::Table& table, std::size_t row) {
  const unwind::RuleText text = unwind::TextOf(table.rules()[table.rows()[row].rule],
                                               unwind::RegisterNamesOf(table.machine()));
  UnwindRowFields fields = {{"cfa", text.cfa}};
  if (text.ra.empty()) return fields;
  fields.emplace_back("fp", text.fp);
  fields.emplace_back("ra", text.ra);
  fields.emplace_back("bx", text.bx);
  if (!text.flags.empty()) fields.emplace_back("flags", text.flags);
  return fields;
}

std::uint64_t AddressOf(const unwind::Table& table, std::size_t row) {
  return table.base().value + table.rows()[row].pc;
}

// The names of the columns, as a line.
std::string UnwindTableHead() {
  return "address\tcfa\tfp\tra\tbx\tflags\n";
}

// Returns "401126\trsp+16\tc-16\tc-8\t-\n". `row` is an index in table.rows().
std::string UnwindRowText(const unwind::Table& table, std::size_t row) {
  constexpr std::size_t kColumns = 5;
  std::string line = fmt::format("{:x}", AddressOf(table, row));
  const UnwindRowFields fields = FieldsOf(table, row);
  for (const auto& [name, value] : fields) line.append("\t").append(value);
  for (std::size_t i = fields.size(); i < kColumns; ++i) line += "\t-";
  return line + '\n';
}

// Returns {"unwind_row":{"address":"0x401126","cfa":"rsp+16","fp":"c-16","ra":"c-8"}} and "\n".
std::string UnwindRowJson(const unwind::Table& table, std::size_t row) {
  json::Value json = {{"address", fmt::format("{:#x}", AddressOf(table, row))}};
  for (const auto& [name, value] : FieldsOf(table, row)) json[std::string(name)] = value;
  return json::Text({{"unwind_row", std::move(json)}}, json::Layout::kOneLine);
}

Result<int> PrintUnwindTable(const Plan& plan) {
  TRY_ASSIGN(const elf::ElfFile file, elf::ElfFile::Open(plan.unwind_table));
  Result<unwind::Table> table = unwind::Table::Build(file);
  if (!table) return Fail(InContext(plan.unwind_table, std::move(table).error()));
  TRY_ASSIGN(OutputFile out, OutputFile::Create("-"));
  if (plan.form == Form::kText) TRY(out.Write(UnwindTableHead()));
  for (std::size_t row = 0; row < table->rows().size(); ++row) {
    TRY(out.Write(plan.form == Form::kJson ? UnwindRowJson(*table, row)
                                           : UnwindRowText(*table, row)));
  }
  TRY(std::move(out).Commit());
  return cli::kDone;
}

bool ShowsSamples(const Plan& plan) {
  return plan.sections.contains(Section::kSamples) || plan.sections.contains(Section::kStatistics);
}

// Whether the samples of a stream may have to be completed from later records. The attributes are
// its first records.
bool MustCompleteSamples(const Input& stream) {
  const Result<Reader> head = Reader::FromBytes(stream.beginning());
  return head && perfdata::SampleCompletion::MayBeNeeded(head->events());
}

Result<int> Run(const Plan& plan, cli::Console& console) {
  if (!plan.unwind_table.empty()) return PrintUnwindTable(plan);
  TRY_ASSIGN(Input input, bundle::OpenExpanded(plan.input));
  const std::string& name = input.name();
  // A pipe is read as it arrives. But that is possible only for a single section, and for none that
  // reads the records twice.
  const bool reads_twice = plan.sections.contains(Section::kValidation) ||
                           plan.sections.contains(Section::kLosses) ||
                           (ShowsSamples(plan) && MustCompleteSamples(input));
  if (input.is_stream() && (plan.sections.size() > 1 || reads_twice)) TRY(input.All());
  Result<Reader> reader = Reader::Open(input);
  if (!reader) return Fail(InContext(name, std::move(reader).error()));

  TRY_ASSIGN(OutputFile out, OutputFile::Create("-"));
  int status = cli::kDone;
  for (const std::string& problem : reader->problems()) {
    console.Warning(fmt::format("{}: {}", name, problem));
    status = cli::kDegraded;
  }
  for (const Section section : plan.sections) {
    TRY_ASSIGN(const Damage damage, Print(section, *reader, plan, out, console));
    if (!damage) continue;
    console.Warning(fmt::format("{}: {}", name, damage->message));
    status = cli::kDegraded;
  }
  TRY(std::move(out).Commit());
  return status;
}

}  // namespace

int Main(int argc, char** argv) noexcept {
  return cli::Main<Plan>({InspectCommand(), &PlanOf, &Run, &Confine}, argc, argv);
}

}  // namespace perftape::inspect

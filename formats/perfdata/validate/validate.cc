// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/validate.h"

#include <algorithm>

#include "formats/perfdata/rounds.h"
#include "formats/perfdata/validate/checks.h"
#include "formats/perfdata/validate/compression_checks.h"
#include "formats/perfdata/validate/loss_checks.h"
#include "formats/perfdata/validate/mapping_checks.h"
#include "formats/perfdata/validate/pipe_checks.h"
#include "formats/perfdata/validate/process_checks.h"
#include "formats/perfdata/validate/record_checks.h"
#include "formats/perfdata/validate/round_checks.h"
#include "formats/perfdata/validate/sample_checks.h"
#include "formats/perfdata/validate/stream_checks.h"

namespace perftape::perfdata {
namespace {

// The checks that read the records in file order.
class FileOrder {
 public:
  FileOrder(const Reader& reader, Report& report)
      : reader_(reader),
        report_(report),
        records_(reader, report),
        samples_(reader, report),
        mappings_(reader, report),
        rounds_(reader, report),
        losses_(report),
        compression_(reader, report),
        stream_(reader, report),
        pipe_(reader, report) {}

  void Check() {
    RecordCursor cursor = reader_.records();
    while (true) {
      const Result<std::optional<RecordView>> record = cursor.Next();
      if (!record) CheckDamage(record.error());
      if (!record || !*record) break;
      CheckRecord(**record);
    }
    rounds_.Finish();
    losses_.Finish();
    stream_.Finish();
  }

 private:
  void CheckRecord(const RecordView& record) {
    const Event* event = reader_.events().EventOf(record);
    records_.Check(record, event);
    samples_.Check(record, event);
    mappings_.Check(record, event);
    rounds_.Check(record, event);
    losses_.Check(record, event);
    compression_.Check(record);
    stream_.Check(record);
    pipe_.Check(record, event);
    if (record.inside >= 0) return;
    end_ = record;
    end_.file_offset += record.stored_size() + record.appended.size();
    end_.payload = {};
  }

  // Reports the error that stopped the cursor: a damaged record in the file, or in the bytes that a
  // COMPRESSED record expands to.
  void CheckDamage(const Error& error) {
    const std::uint64_t data_end = reader_.data_offset() + reader_.data_size();
    const bool in_file = end_.part == 0 && end_.file_offset < data_end;
    if (!in_file && compression_.last()) {
      report_.Add(Rule::kCompressedDamaged, *compression_.last(), [&] { return error.message; });
      return;
    }
    const Bytes left = in_file ? reader_.file().subspan(end_.file_offset) : Bytes();
    RecordHeader header = {};
    ByteReader at(left.first(std::min<std::size_t>(left.size(), data_end - end_.file_offset)),
                  reader_.order());
    at.Fixed(header.type);
    at.Fixed(header.misc);
    at.Fixed(header.size);
    RecordView end = end_;
    end.type = header.type;
    const auto message = [&] { return error.message; };
    if (at.ok() && header.size < sizeof header) {
      report_.Add(Rule::kRecordSizeBelowHeader, end, message);
    } else if (header.type == RecordType::kHeaderTracingData) {
      report_.Add(Rule::kTracingDataUndecodable, end, message);
    } else if (reader_.container() == Container::kPipe && header.type != RecordType::kAuxtrace) {
      // perf reads a pipe up to the last whole record and shows everything before it.
      report_.Add(Rule::kRecordCut, end, message, Readers::kHotspot);
    } else {
      report_.Add(Rule::kRecordCut, end, message);
    }
  }

  const Reader& reader_;
  Report& report_;
  RecordChecks records_;
  SampleChecks samples_;
  MappingChecks mappings_;
  RoundChecks rounds_;
  LossChecks losses_;
  CompressionChecks compression_;
  StreamChecks stream_;
  PipeChecks pipe_;
  // At the end of the last record; without a payload.
  RecordView end_ = {.file_offset = reader_.data_offset()};
};

void CheckInTimeOrder(const Reader& reader, Report& report) {
  ProcessChecks processes(reader, report);
  InTimeOrder records(reader.records(), reader.events());
  while (true) {
    const Result<std::optional<RecordView>> record = records.Next();
    if (!record || !*record) break;
    processes.Check(**record, reader.events().EventOf(**record));
  }
  processes.Finish();
}

}  // namespace

Report Validate(const Reader& reader) {
  Report report;
  CheckHeader(reader, report);
  CheckFeatures(reader, report);
  CheckEvents(reader, report);
  FileOrder(reader, report).Check();
  CheckInTimeOrder(reader, report);
  return report;
}

}  // namespace perftape::perfdata

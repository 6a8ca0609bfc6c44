// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as the notes of a recording, and as a file of rules: both are read or refused
// with a message. Notes that were written are read as they were, and have a diagnosis.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

#include "convert/diagnose/facts.h"
#include "convert/diagnose/findings.h"
#include "convert/diagnose/rules.h"
#include "formats/bundle/recording_notes.h"

namespace perftape::diagnose {
namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

// A cause is an earlier finding, and all have texts.
void CheckDiagnosis(const Diagnosis& diagnosis) {
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
    const Finding& finding = diagnosis.findings[i];
    Check(!finding.cause || *finding.cause < i);
    Check(std::isfinite(finding.measurement.value));
    Check(!SubjectOf(finding.measurement).empty() && !SentenceOf(finding).empty());
  }
}

void DiagnoseNotes(std::string_view json, const RuleSet& rules) {
  auto notes = bundle::DecodeNotes(json);
  if (!notes) return;
  // The first time, what no recorder writes is left out.
  const auto written = bundle::DecodeNotes(bundle::EncodeNotes(*notes));
  Check(written.has_value());
  const auto again = bundle::DecodeNotes(bundle::EncodeNotes(*written));
  Check(again.has_value() && *again == *written);
  RecordedInput input{.notes = std::make_shared<const bundle::RecordingNotes>(*std::move(notes)),
                      .events = {"latency:dns", "tcp:tcp_receive_reset"}};
  CheckDiagnosis(Diagnose(MakeFacts(convert::Profile(), {input}, {}), rules));
}

}  // namespace
}  // namespace perftape::diagnose

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perftape;
  const std::string_view text = AsText(std::as_bytes(std::span(data, size)));
  diagnose::RuleSet rules;
  (void)rules.ChangeAll(text);
  diagnose::DiagnoseNotes(text, rules);
  return 0;
}

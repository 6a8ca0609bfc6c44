// SPDX-License-Identifier: Apache-2.0
// The findings of a diagnosis: measurements beyond the threshold of a rule, causes before their
// symptoms; what was fine; and what could not be seen.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/diagnose/facts.h"
#include "convert/diagnose/measurements.h"
#include "convert/diagnose/rules.h"

namespace perftape::diagnose {

struct Finding {
  ActiveRule rule;
  Measurement measurement;
  std::optional<std::size_t> cause =
      {};  // the index of the finding that explains it, an earlier one
};

// A rule that looked at something and found nothing.
struct Passed {
  ActiveRule rule;
  std::size_t measurements = 0;  // how many
  Measurement largest;           // of them
};

struct Diagnosis {
  // The most severe cause first; each cause is followed by the findings that it explains.
  std::vector<Finding> findings;
  std::vector<Passed> passed;  // in the order of the rules
  std::vector<std::string>
      gaps;  // one sentence for each thing that could not be seen, with the reason

  // Returns the severity of the most severe finding; nothing without findings.
  std::optional<Severity> worst() const;
};

Diagnosis Diagnose(const Facts& facts, const RuleSet& rules);

// Returns what a finding is about: "/app", "python3 (4711) in /app", "peer 10.0.0.1:80".
std::string SubjectOf(const Measurement& measurement);
// Returns the sentence of a finding: "the CPU limit stopped its tasks in 87.5 % of the periods (35
// of 40, …)".
std::string SentenceOf(const Finding& finding);

}  // namespace perftape::diagnose

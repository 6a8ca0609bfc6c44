// SPDX-License-Identifier: Apache-2.0
// The samples of a profile as the threads of a Firefox profile: one for each event and thread.
//
// A sample's time is in its label "timestamp_ns". Without times, sample n of a thread (counted from
// 0) is at n * interval, so that profiles without times can be opened, too.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "convert/export/rank.h"
#include "convert/export/to_folded.h"
#include "convert/model/profile.h"
#include "formats/perfdata/event_meanings.h"

namespace perftape::viewers {

struct FirefoxSample {
  std::int64_t time_ns = 0;  // since the first sample of the profile; not negative
  convert::StackId stack = {};
  std::int64_t number = 0;     // FoldedNumber
  std::int64_t period = 0;     // in the event's unit
  std::string_view comm = {};  // the name of the thread at this time
};

struct FirefoxThread {
  convert::EventId event = {};
  std::int32_t pid = -1, tid = -1;  // -1 if unknown
  std::string_view comm = {};       // the last one; empty if unknown
  std::string_view process_name = {};
  // Whether it is of the first event that this pid and tid have. It has the markers of all.
  bool is_first = false;
  bool has_times = true;                    // of all samples
  std::vector<FirefoxSample> samples = {};  // by time
};

struct FirefoxThreads {
  std::vector<FirefoxThread> threads;  // the default event's first; by pid and tid
  std::int64_t interval_ns = 0;
  std::int64_t first_time_ns = 0;  // the time of the first sample on the recording's clock
};

// Returns the threads of all samples whose number is not 0. Of `options`, uses `value`.
FirefoxThreads FirefoxThreadsOf(const convert::Profile& profile,
                                const convert::FoldedOptions& options, const convert::Ranks& ranks);

// What the period of an event's samples measures.
using perfdata::PeriodMeaning;
PeriodMeaning PeriodMeaningOf(const convert::Profile& profile, convert::EventId event);

}  // namespace perftape::viewers

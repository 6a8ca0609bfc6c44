// SPDX-License-Identifier: Apache-2.0
// The samples in the traces of Chrome (the Trace Event Format), which its Performance panel and
// Puppeteer save:
//
//   {"traceEvents":[
//     {"name":"thread_name","ph":"M","pid":7,"tid":1,"args":{"name":"CrRendererMain"}},
//     {"name":"Profile","ph":"P","id":"0x1","pid":7,"tid":1,"args":{"data":{"startTime":1000}}},
//     {"name":"ProfileChunk","ph":"P","id":"0x1","pid":7,"tid":2,"args":{"data":{
//       "cpuProfile":{"nodes":[{"id":2,"parent":1,"callFrame":{...}}],"samples":[2,2]},
//       "timeDeltas":[100,100],"endTime":1300}}}]}
//
// The object may be only its array of events. React Native's Hermes (.cpuprofile) and others write
// samples and frames beside the events:
//
//   {"traceEvents":[],"samples":[{"pid":1,"tid":"2","ts":"5","sf":2,"name":"","weight":"1"}],
//    "stackFrames":{"1":{"name":"[root]"},"2":{"name":"f(index.js:1:2)","parent":1}}}
#pragma once

#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "formats/json_profiles/cpuprofile.h"

namespace perftape::json_profiles {

bool IsChromeTrace(std::string_view beginning);

// Returns a profile for each thread with samples, in the order of the text; none if no event has
// samples. Returns the errors of json::Walk.
Result<std::vector<CpuProfileFile>> ReadChromeTrace(std::string_view text);

}  // namespace perftape::json_profiles

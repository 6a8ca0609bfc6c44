// SPDX-License-Identifier: Apache-2.0
// The markers of a Firefox profile: waits and who ended them, programs from exec or fork to exit,
// names, losses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/export/frame_texts.h"
#include "convert/export/viewers/firefox_tables.h"
#include "convert/export/viewers/firefox_threads.h"
#include "convert/export/viewers/text_output.h"
#include "convert/model/profile.h"
#include "convert/model/task_event.h"

namespace perftape::viewers {

// The end of a wait.
struct FirefoxWaker {
  std::string_view comm = {};
  std::int32_t tid = -1;
  std::int64_t time_ns = 0;  // since the first sample
  convert::StackId stack = {};
};

struct FirefoxMarker {
  enum class Type : std::uint8_t { kComm, kWait, kTask, kLoss };
  Type type = {};
  std::int64_t start_ns = 0;                // since the first sample
  std::optional<std::int64_t> end_ns = {};  // nothing for an instant
  convert::TextId name = 0;
  std::string text = {};
  const FirefoxWaker* waker = nullptr;  // of a wait, if known
};

// The value of meta.markerSchema.
extern const char* const kFirefoxMarkerSchema;

class FirefoxMarkers {
 public:
  // The arguments must outlive this object. Markers that begin before the first sample or end after
  // the last one are cut there. Those that are completely outside are left out, except losses.
  // Events of threads without samples are left out.
  FirefoxMarkers(const convert::Profile& profile, const FirefoxThreads& threads,
                 const convert::TaskEvents& events, convert::FrameTexts& texts);

  // Returns the markers of a thread, by time. Only the first thread of a pid and tid has some.
  // Valid as long as this object.
  std::vector<FirefoxMarker> Of(const FirefoxThread& thread) const;

 private:
  void ReadWakers();
  void AddWaits(const FirefoxThread& thread, std::vector<FirefoxMarker>& markers) const;
  void AddCommChanges(const FirefoxThread& thread, std::vector<FirefoxMarker>& markers) const;
  void AddTasks(const FirefoxThread& thread, std::vector<FirefoxMarker>& markers) const;
  void AddLosses(std::vector<FirefoxMarker>& markers) const;
  std::int64_t Cut(std::int64_t time_ns) const;

  const convert::Profile& profile_;
  const FirefoxThreads& threads_;
  convert::FrameTexts& texts_;
  convert::TaskEvents events_;  // by time
  // By the tid that was woken, and the start of its wait.
  std::map<std::pair<std::int64_t, std::int64_t>, FirefoxWaker> wakers_;
  std::int64_t last_time_ns_ = 0;
};

// Writes the value of "markers".
Status WriteFirefoxMarkers(const std::vector<FirefoxMarker>& markers, const FirefoxTables& tables,
                           TextOutput& out);

}  // namespace perftape::viewers

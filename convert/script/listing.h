// SPDX-License-Identifier: Apache-2.0
// Prints the records of a perf.data as lines, as `perf script` does. Two passes over the file: the
// first collects all addresses, so that they are named at once; the second prints.
//
//   Listing listing(reader, first_pass, options);
//   listing.Collect();
//   listing.frames().Name(sources, origin, report);
//   TRY(listing.Print(write));
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/import/import_report.h"
#include "convert/script/frames.h"
#include "convert/script/head_text.h"
#include "convert/script/options.h"
#include "convert/script/trace_text.h"
#include "convert/script/walk.h"
#include "convert/unwind/sample_unwinder.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/deliveries.h"

namespace perftape::listing {

class Listing {
 public:
  // Writes some lines. `event` is the name of the event that they belong to.
  using Write = std::function<Status(std::string_view event, std::string_view lines)>;

  // All arguments must outlive this object. `options` must fit the reader's events (Fit).
  Listing(const perfdata::Reader& reader, const convert::FirstPass& first_pass,
          const Options& options);

  // Makes callchains of copied stacks from now on.
  void SetUnwinder(offline_unwind::SampleUnwinder& unwinder) { unwinder_ = &unwinder; }

  // Whether names of functions or lines are printed.
  bool needs_names() const;
  void Collect();
  Frames& frames() { return frames_; }

  // What could not be read.
  struct Report {
    std::uint64_t unread = 0;  // samples
    std::string first_unread;
    std::optional<Error> damage;  // that ended the file early
  };
  // Fails as `write` does.
  Result<Report> Print(const Write& write);

 private:
  // How the samples of an event are printed.
  struct Event {
    FieldSet fields;
    std::size_t style = 0;       // the index of the fields
    std::string name_text = {};  // as it is printed: aligned, with a colon
    bool has_chains = false;
    bool has_symbol_address = false;  // the address of its samples is resolved
    bool is_selected = true;
    bool is_printed() const { return is_selected && !fields.is_empty(); }
  };

  bool Selects(const perfdata::Sample& sample, const Event& event, Walk& walk) const;
  bool SelectsFrame(FrameId frame) const;
  bool NeedsAddress(const Event& event) const;
  bool NeedsBranches() const;
  void CollectSample(Walk& walk, const Event& event);
  ChainId CollectChain(Walk& walk);
  std::uint32_t NextId() { return ids_[next_id_++]; }

  Status PrintSample(Walk& walk, perfdata::Deliveries& deliveries, const Write& write);
  void AppendStart(Walk& walk, const Event& event, const perfdata::Delivery& delivery);
  void AppendMemory(const perfdata::Sample& sample, const Event& event, bool has_struct);
  void AppendStack(const Event& event, bool has_chain, std::uint32_t stack);
  void AppendRest(Walk& walk, const Event& event);
  Status PrintRecord(Walk& walk, const Write& write);
  Event& EventOf(const perfdata::Event& event) { return events_[reader_.events().IndexOf(event)]; }

  const perfdata::Reader& reader_;
  const convert::FirstPass& first_pass_;
  const Options& options_;
  const std::string arch_;
  std::optional<convert::TimeWindow> window_;
  std::vector<Event> events_;  // as in the reader
  FieldSet needed_;            // of any event
  offline_unwind::SampleUnwinder* unwinder_ = nullptr;
  perfdata::CallchainReader callchains_;
  Frames frames_;
  // What Collect found for each selected sample: the id of its own address if it is selected by
  // that, of its callchain or address, of the address that it accessed, and of its branches.
  std::vector<std::uint32_t> ids_;
  std::size_t next_id_ = 0;
  HeadText head_text_;
  TraceText trace_text_;
  std::size_t data_source_width_ = 0;
  std::string text_;
};

}  // namespace perftape::listing

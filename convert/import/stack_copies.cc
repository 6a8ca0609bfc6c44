// SPDX-License-Identifier: Apache-2.0
#include "convert/import/stack_copies.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "convert/unwind/sample_unwinder.h"
#include "formats/base/build_id.h"

namespace perftape::convert {
namespace {

// Returns the first event with copies, or null.
const perfdata::Event* EventWithCopies(const perfdata::EventTable& events) {
  const auto found = std::ranges::find_if(events.all(), [](const perfdata::Event& event) {
    return offline_unwind::HasStackCopies(event.format);
  });
  return found == events.all().end() ? nullptr : &*found;
}

}  // namespace

bool UnwindsStacks(const perfdata::Reader& reader, const ImportOptions& options) {
  return options.find_binary && EventWithCopies(reader.events()) != nullptr;
}

// The supported processors are little endian.
std::optional<unwind::Machine> RecordedMachine(const perfdata::Reader& reader) {
  if (reader.order() != std::endian::little) return std::nullopt;
  const perfdata::Event* event = EventWithCopies(reader.events());
  const std::uint64_t mask = event == nullptr ? 0 : event->format.regs_user_mask;
  return offline_unwind::MachineOf(reader.text(perfdata::FeatureBit::kArch), mask);
}

offline_unwind::SampleUnwinder MakeUnwinder(const perfdata::Reader& reader,
                                            const ImportOptions& options,
                                            const FirstPass& first_pass,
                                            offline_unwind::BinaryTables& tables,
                                            offline_unwind::PackedLocations* locations) {
  return offline_unwind::SampleUnwinder(
      {.machine = RecordedMachine(reader),
       .most_frames = options.max_stack,
       .regions_of =
           [&first_pass](const offline_unwind::SampledProcess& process) {
             return first_pass.history.RegionsOf(process.pid, process.epoch);
           },
       .table_of = [&first_pass,
                    &tables](const perfdata::Dso& dso) -> const offline_unwind::BinaryTable& {
         const auto id = BuildId::FromHex(first_pass.build_ids.Of(dso, dso.path));
         return tables.TableOf(dso.path, id.value_or(BuildId{}));
       },
       .locations = locations,
       .compiled = first_pass.jit.rules().empty() ? nullptr : &first_pass.jit.rules()});
}

}  // namespace perftape::convert

// SPDX-License-Identifier: Apache-2.0
#include "convert/records/sample_shares.h"

namespace perftape::records {

using perfdata::CpuMode;

void SampleShares::Apply(const perfdata::RecordView& record, const perfdata::SampleFormat& format) {
  processes_.Apply(record, format);
  ++state_;
  dso_names_.Apply(record);
}

void SampleShares::Add(const perfdata::Sample& sample, CpuMode mode,
                       std::span<const perfdata::Delivery> deliveries) {
  Share& of_comm = OfComm(sample.tid);
  Share& of_dso = OfDso(sample, mode);
  for (const perfdata::Delivery& delivery : deliveries) {
    for (Share* share : {&of_comm, &of_dso}) share->Add({.samples = 1, .period = delivery.period});
  }
}

SharesByName SampleShares::by_dso() const {
  SharesByName shares;
  for (const auto& [key, share] : dsos_) {
    shares[dso_names_.NameOf(key.dso, key.pid)].Add(share);
  }
  return shares;
}

Share& SampleShares::OfComm(std::uint32_t tid) {
  KnownComm& known = known_comms_[tid % known_comms_.size()];
  if (known.state != state_ || known.tid != tid) {
    const std::string comm = CommName(tid, processes_.KnownCommOf(tid));
    known = {.state = state_, .tid = tid, .share = &comms_[comm]};
  }
  return *known.share;
}

Share& SampleShares::OfDso(const perfdata::Sample& sample, CpuMode mode) {
  // All processes have the same kernel.
  const std::uint32_t pid = mode == CpuMode::kKernel ? 0 : sample.pid;
  // Libraries are close together, each some megabytes long.
  KnownRange& known = known_ranges_[(pid + (sample.ip >> 20)) % known_ranges_.size()];
  const bool is_known = known.state == state_ && known.pid == pid && known.mode == mode &&
                        known.start <= sample.ip && sample.ip < known.end;
  if (is_known) return *known.share;

  const perfdata::Region* region = processes_.Find(sample.pid, mode, sample.ip);
  if (region == nullptr) return dsos_[DsoKey{}];
  const bool is_generated = HoldsGeneratedCode(*region->dso);
  Share& share = dsos_[{.dso = region->dso, .pid = is_generated ? sample.pid : 0}];
  // Find may extend the kernel's range beyond its end. Addresses there are not cached.
  known = {.state = state_,
           .pid = pid,
           .mode = mode,
           .start = region->start,
           .end = region->end,
           .share = &share};
  return share;
}

}  // namespace perftape::records

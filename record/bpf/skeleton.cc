// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/skeleton.h"

#include <bpf/libbpf.h>

namespace perftape::record {

void DestroyLink::operator()(bpf_link* link) const {
  bpf_link__destroy(link);
}

}  // namespace perftape::record

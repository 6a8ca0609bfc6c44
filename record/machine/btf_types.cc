// SPDX-License-Identifier: Apache-2.0
#include "record/machine/btf_types.h"

#include <bpf/btf.h>

namespace perftape::record {

void FreeBtf::operator()(btf* types) const {
  btf__free(types);
}

}  // namespace perftape::record

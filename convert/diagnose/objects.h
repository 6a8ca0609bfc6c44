// SPDX-License-Identifier: Apache-2.0
// What a sample is about, from the labels that its fields became (convert/import/field_labels.h):
// the peer, file, lock or device of a call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::diagnose {

// The fields that these functions read.
std::vector<std::string> ObjectFields();

// Returns the text of a field; empty if the sample does not have it.
std::string FieldText(const convert::Profile& profile, convert::LabelsId labels,
                      std::string_view field);
// Returns the object of a call: "example.com at 10.0.0.1:53", "/var/lib/db", "lock 0x7f0000",
// "system call 44", "device 259:0". Empty if the sample has none.
std::string ObjectOf(const convert::Profile& profile, convert::LabelsId labels);
// Returns the address of the other end in a sample of a tracepoint of TCP, "10.0.0.1:80"; empty if
// it has none.
std::string PeerOf(const convert::Profile& profile, convert::LabelsId labels);

// Whether an object is a file that is not a device or in /proc or /sys: its calls wait for a disk
// or a server, not for another process.
bool IsOrdinaryFile(std::string_view object);

}  // namespace perftape::diagnose

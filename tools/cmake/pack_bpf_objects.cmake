# SPDX-License-Identifier: Apache-2.0
# cmake "-DOBJECTS=x.bpf.o;…" -DJOINED=FILE -DOUTPUT=x.inc -P pack_bpf_objects.cmake
# Writes the constants of record/bpf/packed_objects.cc: the file JOINED, which has all objects in this order, compressed,
# and the name and size of each. Compressed together, by xz, they are a third of what zstd makes of each.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/packed_data.cmake)

set(packed ${JOINED}.xz)
file(ARCHIVE_CREATE OUTPUT ${packed} PATHS ${JOINED} FORMAT raw COMPRESSION XZ)
append_bytes(kPackedObjects ${packed})
string(APPEND source "constexpr PackedObjectRow kObjectRows[] = {\n")
foreach(object IN LISTS OBJECTS)
  cmake_path(GET object STEM name)
  file(SIZE ${object} size)
  string(APPEND source "    {\"${name}\", ${size}},\n")
endforeach()
file(WRITE ${OUTPUT} "${source}};\n")

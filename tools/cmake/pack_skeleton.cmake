# SPDX-License-Identifier: Apache-2.0
# cmake -DSKELETON=x.skel.h -DOBJECT=x.bpf.o -P pack_skeleton.cmake
# Replaces the object in a skeleton of bpftool by a compressed one, which is a fifth of it. bpftool returns the object
# from a function NAME_bpf__elf_bytes; its other content is kept.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/packed_data.cmake)

file(READ ${SKELETON} text)
string(FIND "${text}" "__elf_bytes(size_t *sz)\n{\n" start)
if(start EQUAL -1)
  message(FATAL_ERROR "${SKELETON}: has no function elf_bytes: bpftool is older than 5.16 or writes something new")
endif()
string(SUBSTRING "${text}" 0 ${start} before)
string(SUBSTRING "${text}" ${start} -1 function)
string(FIND "${function}" "\n}\n" end)
string(SUBSTRING "${function}" ${end} -1 after)

cmake_path(GET OBJECT STEM name)
set(source "#include \"formats/base/packed_data.h\"\nnamespace perftape {\n")
append_packed_file(${name}_object ${OBJECT})
string(APPEND source "}  // namespace perftape\n")
file(WRITE ${SKELETON} "${source}${before}__elf_bytes(size_t *sz)
{
	static const std::vector<std::byte> object = perftape::UnpackBytes(perftape::${name}_object);
	*sz = object.size();
	return object.data();${after}")

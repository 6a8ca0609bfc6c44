# SPDX-License-Identifier: Apache-2.0
# cmake -DSKELETON=x.skel.h -DNAME=x -P shorten_skeleton.cmake
# Replaces the object in a skeleton of bpftool by a call of PackedObject. bpftool returns the object from a function
# NAME_bpf__elf_bytes; its other content is kept.
cmake_minimum_required(VERSION 3.25)
file(READ ${SKELETON} text)
string(FIND "${text}" "__elf_bytes(size_t *sz)\n{\n" start)
if(start EQUAL -1)
  message(FATAL_ERROR "${SKELETON}: has no function elf_bytes: bpftool is older than 5.16 or writes something new")
endif()
string(SUBSTRING "${text}" 0 ${start} before)
string(SUBSTRING "${text}" ${start} -1 function)
string(FIND "${function}" "\n}\n" end)
string(SUBSTRING "${function}" ${end} -1 after)
file(WRITE ${SKELETON} "#include \"record/bpf/packed_objects.h\"
${before}__elf_bytes(size_t *sz)
{
	const perftape::Bytes object = perftape::record::PackedObject(\"${NAME}\");
	*sz = object.size();
	return object.data();${after}")

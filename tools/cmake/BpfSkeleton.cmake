# SPDX-License-Identifier: Apache-2.0
# perftape_bpf_skeletons(NAME x.bpf.c …)
# Builds each x.bpf.c -> x.bpf.o (clang, bpftool) -> x.skel.h (bpftool), and a header packed_bpf_objects.inc with all
# objects, compressed together (record/bpf/packed_objects). Defines the interface library NAME, which has these headers.
# Options of clang for one program are the variable options_of_x.bpf.c.
#
# perftape_bpf_compile(x.bpf.c ARCHITECTURE OUTPUT)
# Compiles x.bpf.c with the registers of x86 or arm64, which needs no machine of that architecture.
include_guard()

find_program(PERFTAPE_BPF_CLANG NAMES clang clang-14 clang-19 REQUIRED)
find_program(PERFTAPE_BPFTOOL NAMES bpftool PATHS /usr/sbin /usr/local/sbin /sbin REQUIRED)

# As in the macros __TARGET_ARCH_* of the programs.
string(REGEX REPLACE "^(aarch64|arm64)$" "arm64" PERFTAPE_BPF_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
string(REGEX REPLACE "^x86_64$" "x86" PERFTAPE_BPF_ARCHITECTURE ${PERFTAPE_BPF_ARCHITECTURE})

function(perftape_bpf_compile source architecture output)
  # BTF has the names of the source files: without paths, it is the same wherever it is built.
  set(relative_paths -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -fdebug-compilation-dir=.)
  set(warnings -Wall -Wextra)
  if(CMAKE_COMPILE_WARNING_AS_ERROR)  # CMake applies it only to its own targets
    list(APPEND warnings -Werror)
  endif()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${PERFTAPE_BPF_CLANG} -target bpf -g -O2 ${options_of_${source}} ${warnings} ${relative_paths}
            -D__TARGET_ARCH_${architecture} -I${PROJECT_SOURCE_DIR}
            -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${output} -MD -MF ${output}.d -MT ${output}
    DEPENDS ${source}
    DEPFILE ${output}.d
    COMMENT "BPF ${source} for ${architecture}" VERBATIM)
endfunction()

# Sets `object`, and appends the skeleton to `skeletons`.
function(perftape_bpf_object source)
  string(REPLACE ".bpf.c" "" stem ${source})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${stem}.bpf.o)
  set(compiled ${CMAKE_CURRENT_BINARY_DIR}/${stem}.compiled.o)
  set(skeleton ${CMAKE_CURRENT_BINARY_DIR}/${stem}.skel.h)
  perftape_bpf_compile(${source} ${PERFTAPE_BPF_ARCHITECTURE} ${compiled})
  # Leaves the BTF, but not the DWARF, which is a third of the file.
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${PERFTAPE_BPFTOOL} gen object ${object} ${compiled}
    DEPENDS ${compiled}
    COMMENT "BPF ${stem}.bpf.o" VERBATIM)
  set(shorten ${PROJECT_SOURCE_DIR}/tools/cmake/shorten_skeleton.cmake)
  add_custom_command(
    OUTPUT ${skeleton}
    COMMAND ${PERFTAPE_BPFTOOL} gen skeleton ${object} name ${stem}_bpf > ${skeleton}
    COMMAND ${CMAKE_COMMAND} -DSKELETON=${skeleton} -DNAME=${stem} -P ${shorten}
    DEPENDS ${object} ${shorten}
    COMMENT "Skeleton ${stem}.skel.h" VERBATIM)
  set(object ${object} PARENT_SCOPE)
  set(skeletons ${skeletons} ${skeleton} PARENT_SCOPE)
endfunction()

function(perftape_bpf_skeletons name)
  foreach(source IN LISTS ARGN)
    perftape_bpf_object(${source})
    list(APPEND objects ${object})
  endforeach()
  set(packed ${CMAKE_CURRENT_BINARY_DIR}/packed_bpf_objects.inc)
  set(pack ${PROJECT_SOURCE_DIR}/tools/cmake/pack_bpf_objects.cmake)
  set(joined ${CMAKE_CURRENT_BINARY_DIR}/bpf_objects)
  add_custom_command(
    OUTPUT ${packed}
    COMMAND ${CMAKE_COMMAND} -E cat ${objects} > ${joined}
    COMMAND ${CMAKE_COMMAND} "-DOBJECTS=${objects}" -DJOINED=${joined} -DOUTPUT=${packed} -P ${pack}
    DEPENDS ${objects} ${pack} ${PROJECT_SOURCE_DIR}/tools/cmake/packed_data.cmake
    COMMENT "Packing BPF objects" VERBATIM)
  add_custom_target(${name}_files DEPENDS ${skeletons} ${packed})
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}_files)
  target_include_directories(${name} SYSTEM INTERFACE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

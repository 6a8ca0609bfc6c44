# SPDX-License-Identifier: Apache-2.0
# perftape_bpf_skeleton(NAME x.bpf.c [OPTIONS option …])
# Builds x.bpf.c -> x.bpf.o (clang, bpftool) -> x.skel.h (bpftool), which contains the object compressed, and defines the
# interface library NAME.
include_guard()

find_program(PERFTAPE_BPF_CLANG NAMES clang clang-14 clang-19 REQUIRED)
find_program(PERFTAPE_BPFTOOL NAMES bpftool PATHS /usr/sbin /usr/local/sbin /sbin REQUIRED)

function(perftape_bpf_skeleton name source)
  cmake_parse_arguments(ARG "" "" "OPTIONS" ${ARGN})
  cmake_path(GET source STEM LAST_ONLY with_bpf)
  string(REPLACE ".bpf" "" stem ${with_bpf})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${stem}.bpf.o)
  set(compiled ${CMAKE_CURRENT_BINARY_DIR}/${stem}.compiled.o)
  set(skeleton ${CMAKE_CURRENT_BINARY_DIR}/${stem}.skel.h)
  string(REGEX REPLACE "^(aarch64|arm64)$" "arm64" arch ${CMAKE_SYSTEM_PROCESSOR})
  string(REGEX REPLACE "^x86_64$" "x86" arch ${arch})
  # BTF has the names of the source files: without paths, it is the same wherever it is built.
  set(relative_paths -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -fdebug-compilation-dir=.)
  set(warnings -Wall -Wextra)
  if(CMAKE_COMPILE_WARNING_AS_ERROR)  # CMake applies it only to its own targets
    list(APPEND warnings -Werror)
  endif()
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${PERFTAPE_BPF_CLANG} -target bpf -g -O2 ${ARG_OPTIONS} ${warnings} ${relative_paths}
            -D__TARGET_ARCH_${arch} -I${PROJECT_SOURCE_DIR}
            -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${compiled} -MD -MF ${object}.d -MT ${object}
    # Leaves the BTF, but not the DWARF, which is a third of the file.
    COMMAND ${PERFTAPE_BPFTOOL} gen object ${object} ${compiled}
    DEPENDS ${source}
    DEPFILE ${object}.d
    COMMENT "BPF ${source}" VERBATIM)
  set(pack ${PROJECT_SOURCE_DIR}/tools/cmake/pack_skeleton.cmake)
  add_custom_command(
    OUTPUT ${skeleton}
    COMMAND ${PERFTAPE_BPFTOOL} gen skeleton ${object} name ${stem}_bpf > ${skeleton}
    COMMAND ${CMAKE_COMMAND} -DSKELETON=${skeleton} -DOBJECT=${object} -P ${pack}
    DEPENDS ${object} ${pack} ${PROJECT_SOURCE_DIR}/tools/cmake/packed_data.cmake
    COMMENT "Skeleton ${stem}.skel.h" VERBATIM)
  add_custom_target(${name}_files DEPENDS ${skeleton})
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}_files)
  target_include_directories(${name} SYSTEM INTERFACE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

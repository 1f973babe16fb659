# The modules of each layer, from the lowest up. Everything that needs to know them has them from here: the build, the test
# that a wrong include does not build, the unit tests.
set(CELLGATE_LAYERS
  "sidecar/base"
  "protocol,sidecar/async"
  "sidecar/tls,sidecar/jupyter,sidecar/mcp,sidecar/wrappers,sidecar/sandbox,sidecar/store,sidecar/record,sidecar/changes"
  "sidecar/gate,sidecar/images"
  "sidecar/tools,sidecar/packages,sidecar/egress"
  "sidecar/session,sidecar/checks"
  "sidecar/service"
  "sidecar/daemon"
  "sidecar/agent"
  "sidecar/cli")

# cellgate_join(SOURCES): six files at a time are compiled as one, which share what they include: a third of the time.
# CMake's UNITY_BUILD does the same with whole paths (until 4.0), which keep ccache from finding what another clone compiled.
# Sources that are named with whole paths stay as they are: generated ones, and those with options of their own.
function(cellgate_join variable)
  set(joined "")
  set(texts "")
  set(text "")
  set(count 0)
  foreach(source ${${variable}})
    if(IS_ABSOLUTE ${source})
      list(APPEND joined ${source})
      continue()
    endif()
    string(APPEND text "#include \"${source}\"\n")
    math(EXPR count "${count} + 1")
    math(EXPR rest "${count} % 6")
    if(rest EQUAL 0)
      list(APPEND texts "${text}")
      set(text "")
    endif()
  endforeach()
  if(text)
    list(APPEND texts "${text}")
  endif()
  set(number 0)
  foreach(text ${texts})
    set(file ${CMAKE_CURRENT_BINARY_DIR}/Unity/unity_${number}.cpp)
    file(GENERATE OUTPUT ${file} CONTENT "${text}")
    list(APPEND joined ${file})
    math(EXPR number "${number} + 1")
  endforeach()
  set(${variable} ${joined} PARENT_SCOPE)
endfunction()

# cellgate_module(NAME [SMALL] SOURCES … DEPENDS … PRIVATE_DEPENDS … LIBRARIES …): DEPENDS are modules on lower layers, which
# users of this module see too; PRIVATE_DEPENDS are those of its sources alone. LIBRARIES are outside libraries. SMALL:
# what parses arguments, connects and prints runs once, so it is compiled for size. That keeps the sidecar, which is the
# same program, small.
function(cellgate_module name)
  cmake_parse_arguments(MODULE "SMALL" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  # In the messages' generated files each has its own functions of the same names.
  if(CELLGATE_UNITY AND NOT name STREQUAL "protocol")
    cellgate_join(MODULE_SOURCES)
  endif()
  add_library(cellgate_${name} STATIC ${MODULE_SOURCES})
  target_include_directories(cellgate_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  if(MODULE_SMALL)
    target_compile_options(cellgate_${name} PRIVATE ${CELLGATE_SMALL})
    target_precompile_headers(cellgate_${name} REUSE_FROM cellgate_pch_small)
  else()
    target_precompile_headers(cellgate_${name} REUSE_FROM cellgate_pch)
  endif()
  target_include_directories(cellgate_${name} PUBLIC include)
  target_link_libraries(cellgate_${name} PUBLIC cellgate_options ${MODULE_LIBRARIES} PRIVATE ${MODULE_PRIVATE_LIBRARIES})
  get_property(layer GLOBAL PROPERTY CELLGATE_LAYER_OF_${name})
  foreach(module ${MODULE_DEPENDS} ${MODULE_PRIVATE_DEPENDS})
    get_property(lower GLOBAL PROPERTY CELLGATE_LAYER_OF_${module})
    if(NOT lower LESS layer)
      message(FATAL_ERROR "${name} (layer ${layer}) cannot use ${module} (layer ${lower}): "
              "a module uses only modules on lower layers")
    endif()
    if(module IN_LIST MODULE_DEPENDS)
      target_link_libraries(cellgate_${name} PUBLIC cellgate_${module})
    else()
      target_link_libraries(cellgate_${name} PRIVATE cellgate_${module})
    endif()
  endforeach()
  list(TRANSFORM MODULE_PRIVATE_DEPENDS PREPEND "private:")
  string(APPEND table "${name};${layer};${CMAKE_CURRENT_SOURCE_DIR};${MODULE_DEPENDS};${MODULE_PRIVATE_DEPENDS}\n")
  set_property(GLOBAL APPEND_STRING PROPERTY CELLGATE_MODULES "${table}")
endfunction()

# cellgate_generate(WHAT): C++ from schemas/, into the current folder of the build, each time that they change.
function(cellgate_generate what)
  file(GLOB schemas CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/schemas/*.json ${PROJECT_SOURCE_DIR}/schemas/*.py
    ${PROJECT_SOURCE_DIR}/schemas/generator/*.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schemas})
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/schemas/generate.py ${what} ${CMAKE_CURRENT_BINARY_DIR}
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# cellgate_add_modules(): the modules of all layers, in order; their list goes to modules.txt, for
# tests/architecture/test_modules.py.
function(cellgate_add_modules)
  set(layer 0)
  foreach(modules ${CELLGATE_LAYERS})
    string(REPLACE "," ";" modules ${modules})
    foreach(module ${modules})
      cmake_path(GET module FILENAME name)
      set_property(GLOBAL PROPERTY CELLGATE_LAYER_OF_${name} ${layer})
      list(APPEND folders ${module})
    endforeach()
    math(EXPR layer "${layer} + 1")
  endforeach()
  foreach(folder ${folders})
    add_subdirectory(${PROJECT_SOURCE_DIR}/${folder})
  endforeach()
  get_property(table GLOBAL PROPERTY CELLGATE_MODULES)
  file(WRITE ${PROJECT_BINARY_DIR}/modules.txt "${table}")
endfunction()

"""Rules for BUILD files that find their sources by themselves: a new file in a folder needs no change in its BUILD."""

# Loops over elements pay for -O3; the rest of the library is -O2 (tools/flags.bazelrc).
OPTIMIZE = select({
    "//tools:optimized": ["-O3"],
    "//conditions:default": [],
})

def _include_all_impl(ctx):
    lines = ["// Generated: every header of a folder (see BUILD).", "#pragma once", ""]
    lines += sorted(['#include "%s"' % header.short_path for header in ctx.files.hdrs])
    ctx.actions.write(ctx.outputs.out, "\n".join(lines) + "\n")
    return [DefaultInfo(files = depset([ctx.outputs.out]))]

include_all = rule(
    implementation = _include_all_impl,
    doc = "Writes the header `out` that includes each of `hdrs`, in the order of their names.",
    attrs = {
        "hdrs": attr.label_list(allow_files = [".h"]),
        "out": attr.output(mandatory = True),
    },
)

def weft_binaries(deps, testonly = False, common_visibility = None, copts = []):
    """One program for each .cc of the folder, named as the file; a .cc with a header of its name belongs to `:common`.

    Args:
      deps: what every program of the folder links.
      testonly: whether the programs are only for tests and measurements.
      common_visibility: who else may use `:common`.
      copts: flags for these sources alone.
    """
    headers = native.glob(["*.h"], allow_empty = True)
    helpers = [header[:-len(".h")] + ".cc" for header in headers]
    native.cc_library(
        name = "common",
        testonly = testonly,
        srcs = native.glob(helpers, allow_empty = True) if helpers else [],
        hdrs = headers,
        copts = copts,
        visibility = common_visibility,
        deps = deps,
    )
    for source in native.glob(["*.cc"], exclude = helpers, allow_empty = True):
        native.cc_binary(
            name = source[:-len(".cc")],
            testonly = testonly,
            srcs = [source],
            copts = copts,
            visibility = ["//tests:__subpackages__"],
            # What users run is an eighth smaller without its symbols; measurements keep them for profilers.
            linkopts = [] if testonly else select({
                "//tools:optimized": ["-Wl,--strip-all"],
                "//conditions:default": [],
            }),
            deps = deps + [":common"],
        )

def sources(name):
    """A filegroup of all C++ sources of a package, for the tests that read them as text."""
    native.filegroup(
        name = name,
        srcs = native.glob(["**/*.cc", "**/*.h", "**/*.inc"], allow_empty = True),
        visibility = ["//tests:__subpackages__"],
    )

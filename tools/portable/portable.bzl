"""Kernels for two instruction sets in one binary.

With --config=portable everything is compiled for x86-64-v3 (AVX2, FMA), and the kernels a second time for x86-64-v4
(AVX-512); which of them a process uses is chosen when it starts (choose.cc). No source knows of it. Otherwise there is
one build, as the flags say.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _archive(library):
    """The static library of a cc_library, without those of its deps."""
    archives = [f for f in library[DefaultInfo].files.to_list() if f.extension == "a" and not f.path.endswith(".pic.a")]
    if len(archives) != 1:
        fail("%s has %d static libraries, expected one" % (library.label, len(archives)))
    return archives[0]

def _two_builds_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    baseline = _archive(ctx.attr.baseline)
    avx512 = _archive(ctx.attr.avx512)
    out = ctx.actions.declare_file("lib%s.a" % ctx.label.name)
    ctx.actions.run(
        executable = ctx.file._script,
        arguments = [
            out.path,
            baseline.path,
            avx512.path,
            toolchain.nm_executable,
            toolchain.ld_executable,
            toolchain.objcopy_executable,
            toolchain.objdump_executable,
            toolchain.ar_executable,
            toolchain.compiler_executable,
        ],
        inputs = depset([baseline, avx512], transitive = [toolchain.all_files]),
        outputs = [out],
        # gcc looks for `as` in the PATH.
        use_default_shell_env = True,
        mnemonic = "WeftTwoBuilds",
        progress_message = "Joining the kernels for AVX2 and AVX-512",
    )
    return [DefaultInfo(files = depset([out]))]

_two_builds = rule(
    implementation = _two_builds_impl,
    attrs = {
        "avx512": attr.label(mandatory = True, providers = [CcInfo]),
        "baseline": attr.label(mandatory = True, providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_script": attr.label(default = ":two_builds.sh", allow_single_file = True),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def kernel_library(name, srcs, hdrs, copts, deps, visibility):
    """A cc_library of kernels; with --config=portable one that holds two builds of them.

    Args:
      name: of the library.
      srcs: its sources.
      hdrs: its headers.
      copts: flags for these sources alone.
      deps: what they include.
      visibility: who may use the library.
    """
    once = name + "_once"
    native.cc_library(name = once, srcs = srcs, hdrs = hdrs, copts = copts, visibility = visibility, deps = deps)
    native.cc_library(
        name = name + "_avx512",
        srcs = srcs,
        hdrs = hdrs,
        copts = copts + ["-march=x86-64-v4"],
        tags = ["manual"],
        deps = deps,
    )
    _two_builds(name = name + "_two_builds", avx512 = name + "_avx512", baseline = once, tags = ["manual"])
    native.cc_library(
        name = name + "_portable",
        srcs = [name + "_two_builds", "//tools/portable:choose.cc"],
        hdrs = hdrs,
        tags = ["manual"],
        visibility = visibility,
        deps = deps,
    )
    native.alias(
        name = name,
        actual = select({
            "//tools:portable": name + "_portable",
            "//conditions:default": once,
        }),
        visibility = visibility,
    )
